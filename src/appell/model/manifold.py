"""Configurations on a manifold: neutral and random ones, integration of a motion, difference of two.

For most joints q has one number per velocity, and q ⊕ δ is a sum. A free joint has q ⊕ δ = X(q)·exp(δ) with δ =
(linear, angular) in the body frame, a ball joint the angular part of it, a planar joint the same in its plane;
quaternions are normalised. All functions take NumPy arrays with any leading axes and work joint by joint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from appell.model.model import Joint, Model
from appell.spatial import quaternion
from appell.spatial.scalar import Array


class Chart(NamedTuple):
    """The manifold of one joint type: the four functions of this module for its own coordinates."""

    neutral: tuple[float, ...]
    random: Callable[[np.random.Generator, Joint, tuple[int, ...]], Array]
    integrate: Callable[[Array, Array], Array]
    difference: Callable[[Array, Array], Array]


def neutral(model: Model) -> Array:
    """Return the configuration with every joint at zero and identity quaternions."""
    return np.array([x for body in model.bodies for x in chart(body.joint).neutral], dtype=float)


def random(model: Model, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return random configurations within the joint limits, ±π or ±1 m by default, with uniform rotations."""
    parts = [chart(body.joint).random(rng, body.joint, shape) for body in model.bodies]
    return np.concatenate(parts, axis=-1) if parts else np.zeros((*shape, 0))


def integrate(model: Model, q: Array, delta: Array) -> Array:
    """Return q ⊕ δ."""
    return _jointwise(model, model.nq, lambda c, x, y: c.integrate(x, y), (q, model.q_slices), (delta, model.v_slices))


def difference(model: Model, start: Array, end: Array) -> Array:
    """Return the δ with start ⊕ δ = end."""
    return _jointwise(
        model, model.nv, lambda c, x, y: c.difference(x, y), (start, model.q_slices), (end, model.q_slices)
    )


def _jointwise(
    model: Model,
    size: int,
    apply: Callable[[Chart, Array, Array], Array],
    first: tuple[Array, tuple[slice, ...]],
    second: tuple[Array, tuple[slice, ...]],
) -> Array:
    if not any(body.joint.kind in _CHARTS for body in model.bodies):
        return apply(_FLAT, first[0], second[0])
    shape = np.broadcast_shapes(first[0].shape[:-1], second[0].shape[:-1])
    parts = [
        np.broadcast_to(result, (*shape, result.shape[-1]))
        for body, i, j in zip(model.bodies, first[1], second[1], strict=True)
        for result in (apply(chart(body.joint), first[0][..., i], second[0][..., j]),)
    ]
    return np.concatenate(parts, axis=-1) if parts else np.zeros((*shape, size))


def chart(joint: Joint) -> Chart:
    """Return the manifold of a joint."""
    return _CHARTS.get(joint.kind) or _FLAT._replace(neutral=(0.0,) * joint.type.nq)


def _random_vector(rng: np.random.Generator, joint: Joint, shape: tuple[int, ...]) -> Array:
    lower, upper = joint.limits.lower, joint.limits.upper
    reach = 1.0 if joint.kind == "prismatic" else np.pi
    low = lower if np.isfinite(lower) else min(-reach, upper - 2.0 * reach if np.isfinite(upper) else -reach)
    high = upper if np.isfinite(upper) else max(reach, lower + 2.0 * reach if np.isfinite(lower) else reach)
    return rng.uniform(min(low, high), max(low, high), (*shape, joint.type.nq))


def _random_ball(rng: np.random.Generator, joint: Joint, shape: tuple[int, ...]) -> Array:
    return quaternion.normalized(rng.normal(size=(*shape, 4)))


def _random_free(rng: np.random.Generator, joint: Joint, shape: tuple[int, ...]) -> Array:
    position = rng.uniform(-1.0, 1.0, (*shape, 3))
    return np.concatenate([position, _random_ball(rng, joint, shape)], axis=-1)


def _integrate_ball(q: Array, delta: Array) -> Array:
    return quaternion.normalized(quaternion.multiply(q, quaternion.exponential(delta)))


def _difference_ball(start: Array, end: Array) -> Array:
    return quaternion.logarithm(quaternion.multiply(quaternion.conjugate(start), end))


def _integrate_free(q: Array, delta: Array) -> Array:
    step = quaternion.rotate(q[..., 3:], quaternion.left_jacobian(delta[..., 3:], delta[..., :3]))
    turned = _integrate_ball(q[..., 3:], delta[..., 3:])
    position = np.broadcast_to(q[..., :3] + step, (*turned.shape[:-1], 3))
    return np.concatenate([position, turned], axis=-1)


def _difference_free(start: Array, end: Array) -> Array:
    angular = _difference_ball(start[..., 3:], end[..., 3:])
    apart = quaternion.rotate(quaternion.conjugate(start[..., 3:]), end[..., :3] - start[..., :3])
    return np.concatenate([quaternion.left_jacobian_inverse(angular, apart), angular], axis=-1)


def _integrate_planar(q: Array, delta: Array) -> Array:
    step = quaternion.left_jacobian(
        _lifted(0.0 * delta[..., :2], delta[..., 2:]), _lifted(delta[..., :2], 0.0 * delta[..., 2:])
    )
    c, s = np.cos(q[..., 2]), np.sin(q[..., 2])
    x, y = step[..., 0], step[..., 1]
    return np.stack([q[..., 0] + c * x - s * y, q[..., 1] + s * x + c * y, q[..., 2] + delta[..., 2]], axis=-1)


def _difference_planar(start: Array, end: Array) -> Array:
    c, s, angle = np.cos(start[..., 2]), np.sin(start[..., 2]), end[..., 2:] - start[..., 2:]
    x, y = end[..., 0] - start[..., 0], end[..., 1] - start[..., 1]
    apart = np.stack([c * x + s * y, c * y - s * x], axis=-1)
    linear = quaternion.left_jacobian_inverse(_lifted(0.0 * apart, angle), _lifted(apart, 0.0 * angle))
    return np.concatenate([linear[..., :2], angle], axis=-1)


def _lifted(flat: Array, third: Array) -> Array:
    return np.concatenate([flat, third], axis=-1)


_FLAT = Chart((0.0,), _random_vector, lambda q, d: q + d, lambda start, end: end - start)
_CHARTS = {
    "ball": Chart((0.0, 0.0, 0.0, 1.0), _random_ball, _integrate_ball, _difference_ball),
    "free": Chart((0.0,) * 6 + (1.0,), _random_free, _integrate_free, _difference_free),
    "planar": Chart((0.0,) * 3, _random_vector, _integrate_planar, _difference_planar),
}
