"""Conversion rules of joint coordinates and velocities, one per kind of joint and library.

With x the joint coordinates and v the joint velocities, a rule has the library's coordinates y(x), the inverse, and a
map

    v' = T(x)·v,      a' = T·a + Ṫ·v,      τ' = T·τ,

whose T is orthogonal for every joint here, so that powers are equal: τ'·v' = τ·v. All functions take arrays with any
leading axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from appell.spatial import quaternion
from appell.spatial.scalar import Array


class Rule(NamedTuple):
    """A joint in another library: its number of coordinates, y(x) and the inverse, T·v, Tᵀ·v' and Ṫ·v."""

    nq: int
    given: Callable[[Array], Array] = lambda x: x
    own: Callable[[Array], Array] = lambda y: y
    turned: Callable[[Array, Array], Array] = lambda _, v: v
    back: Callable[[Array, Array], Array] = lambda _, v: v
    bias: Callable[[Array, Array], Array] = lambda _, v: np.zeros_like(v)


def plain(nq: int) -> Rule:
    """Return the rule of a joint that is equal in both."""
    return Rule(nq)


def _joined(*parts: Array) -> Array:
    leading = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return np.concatenate([np.broadcast_to(part, (*leading, part.shape[-1])) for part in parts], axis=-1)


# Quaternions: w first


def _w_first(x: Array) -> Array:
    return np.roll(x, 1, axis=-1)


def _w_last(y: Array) -> Array:
    return np.roll(y, -1, axis=-1)


def _rotated_back(x: Array, vector: Array) -> Array:
    return quaternion.rotate(quaternion.conjugate(x), vector)


W_FIRST = Rule(4, _w_first, _w_last)
"""A ball joint whose quaternion is w x y z."""

MUJOCO_FREE = Rule(
    7,
    lambda x: _joined(x[..., :3], _w_first(x[..., 3:])),
    lambda y: _joined(y[..., :3], _w_last(y[..., 3:])),
    lambda x, v: _joined(quaternion.rotate(x[..., 3:], v[..., :3]), v[..., 3:]),
    lambda x, v: _joined(_rotated_back(x[..., 3:], v[..., :3]), v[..., 3:]),
    # d/dt (R v) = R (v̇ + ω × v)
    lambda x, v: _joined(quaternion.rotate(x[..., 3:], np.cross(v[..., 3:], v[..., :3])), np.zeros_like(v[..., 3:])),
)
"""A free joint with the quaternion w x y z, the linear velocity in world axes and the angular one in the body's."""

DRAKE_FREE = Rule(
    7,
    lambda x: _joined(_w_first(x[..., 3:]), x[..., :3]),
    lambda y: _joined(y[..., 4:], _w_last(y[..., :4])),
    lambda x, v: _joined(quaternion.rotate(x[..., 3:], v[..., 3:]), quaternion.rotate(x[..., 3:], v[..., :3])),
    lambda x, v: _joined(_rotated_back(x[..., 3:], v[..., 3:]), _rotated_back(x[..., 3:], v[..., :3])),
    # d/dt (R ω) = R ω̇, and the linear part as above
    lambda x, v: _joined(np.zeros_like(v[..., 3:]), quaternion.rotate(x[..., 3:], np.cross(v[..., 3:], v[..., :3]))),
)
"""A free joint with the quaternion w x y z before the position, the angular velocity first, both in world axes."""


# Angles


def _circle(x: Array) -> Array:
    return _joined(np.cos(x), np.sin(x))


def _angle(y: Array) -> Array:
    return np.arctan2(y[..., 1:2], y[..., :1])


CIRCLE = Rule(2, _circle, _angle)
"""An angle as cosine and sine."""

PLANAR_CIRCLE = Rule(
    4, lambda x: _joined(x[..., :2], _circle(x[..., 2:])), lambda y: _joined(y[..., :2], _angle(y[..., 2:]))
)
"""A planar joint with cosine and sine of its angle."""


def _in_plane(angle: Array, v: Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([c * v[..., 0] - s * v[..., 1], s * v[..., 0] + c * v[..., 1]], axis=-1)


PLANAR_WORLD = Rule(
    3,
    turned=lambda x, v: _joined(_in_plane(x[..., 2], v[..., :2]), v[..., 2:]),
    back=lambda x, v: _joined(_in_plane(-x[..., 2], v[..., :2]), v[..., 2:]),
    # d/dt (R v) = R (v̇ + ω z × v), z × v = (−v₂, v₁)
    bias=lambda x, v: _joined(
        _in_plane(x[..., 2], v[..., 2:] * np.stack([-v[..., 1], v[..., 0]], axis=-1)), np.zeros_like(v[..., 2:])
    ),
)
"""A planar joint whose linear velocity is in the axes of the joint frame."""


def _angles(x: Array) -> Array:
    """Return roll, pitch and yaw of a quaternion x y z w; pitch in [−π/2, π/2]."""
    i, j, k, w = np.moveaxis(x, -1, 0)
    roll = np.arctan2(2.0 * (w * i + j * k), 1.0 - 2.0 * (i * i + j * j))
    # by atan2, accurate also where the sine is near one
    sine = 2.0 * (w * j - k * i)
    cosine = np.hypot(1.0 - 2.0 * (j * j + k * k), 2.0 * (w * k + i * j))
    yaw = np.arctan2(2.0 * (w * k + i * j), 1.0 - 2.0 * (j * j + k * k))
    return np.stack([roll, np.arctan2(sine, cosine), yaw], axis=-1)


def _of_angles(y: Array) -> Array:
    roll, pitch, yaw = (quaternion.exponential(y[..., k : k + 1] * np.eye(3)[k]) for k in range(3))
    return np.asarray(quaternion.multiply(yaw, quaternion.multiply(pitch, roll)))


ANGLES_WORLD = Rule(3, _angles, _of_angles, quaternion.rotate, _rotated_back)
"""A ball joint by roll, pitch and yaw, its angular velocity in the axes of the joint frame; d/dt (R ω) = R ω̇."""
