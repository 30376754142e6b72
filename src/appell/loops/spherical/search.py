"""Searches of spherical robots: postures of given motor angles, and random regular postures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from appell.errors import InputError, ModelError
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from appell.loops.spherical.kind import Spherical


REGULAR = 0.1
"""Smallest distance of random postures from every singularity, at most 1."""
STEPS, RESTARTS = 60, 30
"""Newton steps of one attempt, and attempts after the first."""
LONGEST = 0.3
"""The longest step [rad]: beyond it the equations are no longer nearly linear."""
CLOSED = 1e-12
"""Greatest gap, a difference of cosines, of a posture that is found."""


def random(robot: Spherical, rng: np.random.Generator, wanted: int) -> Array:
    """Return postures around home, uniform in the Euler angles among those that are regular."""
    home, spread = robot.neutral(), robot.mechanism.spread
    found, kept = np.empty((wanted, 3)), 0
    for _ in range(1000):
        if kept == wanted:
            return found
        q = home + spread * rng.uniform(-1.0, 1.0, (max(4 * (wanted - kept), 16), 3))
        q = q[is_regular(robot, q)][: wanted - kept]
        found[kept : kept + len(q)] = q
        kept += len(q)
    raise ModelError(
        f"robot '{robot.model.name}' has hardly a regular posture within {spread:g} rad of its home; choose another "
        "home"
    )


def is_regular(robot: Spherical, q: Array) -> Array:
    """Return which postures are inside the workspace and away from every singularity."""
    inside = (robot.call("discriminants")(q) > 0.0).all(axis=-1)
    result: Array = np.zeros(inside.shape, dtype=bool)
    measure = robot.singularities(q[inside])
    worst = np.minimum(measure.serial.min(axis=-1), np.minimum(measure.parallel, measure.coordinates))
    result[inside] = worst > REGULAR
    return result


def forward_kinematics(robot: Spherical, theta: Array, guess: Array) -> Array:
    """Return q with e₂(θ)·e₃(q) = cos α₂ for every leg, each leg on its own branch.

    Newton's method with damping from the guess, on all samples at once. Samples that end without a posture, or with a
    leg on its other branch, whose motor angles would not be these, start again at random around the guess and home.
    """
    leading = np.broadcast_shapes(theta.shape[:-1], guess.shape[:-1])
    target = np.broadcast_to(theta, (*leading, theta.shape[-1])).reshape(-1, theta.shape[-1])
    near = np.broadcast_to(guess, (*leading, 3)).reshape(-1, 3)
    q = np.array(near)
    rng = np.random.default_rng(0)
    missing = np.arange(len(q))
    for attempt in range(RESTARTS + 1):
        if attempt:
            around = near[missing] if attempt % 2 else robot.neutral()
            reach = 2.0 * robot.mechanism.spread * min(1.0, 2.0 * attempt / RESTARTS)
            q[missing] = around + reach * rng.uniform(-1.0, 1.0, (len(missing), 3))
        q[missing] = _newton(robot, q[missing], target[missing])
        missing = missing[~_is_found(robot, q[missing], target[missing])]
        if not len(missing):
            return q.reshape((*leading, 3))
    index = tuple(int(i) for i in np.unravel_index(int(missing[0]), leading)) if leading else ()
    sample = f" of sample {index}" if index else ""
    angles = ", ".join(f"{x:.4g}" for x in target[missing[0]])
    raise InputError(
        f"theta{sample}: no posture of robot '{robot.model.name}' with motor angles ({angles}) rad was found in "
        f"{RESTARTS + 1} attempts; use a guess nearer to one, or check the motor angles"
    )


def _newton(robot: Spherical, q: Array, theta: Array) -> Array:
    """Return where damped Newton steps lead: (JᵀJ + λ)·step = −Jᵀgap with λ that falls as the gap does."""
    closure = robot.call("leg_closure")
    for _ in range(STEPS):
        gap, slope = closure(q, theta)
        size = np.abs(gap).max(axis=-1)
        if (size < CLOSED / 100.0).all():
            break
        transposed = np.swapaxes(slope, -1, -2)
        damping = np.minimum(size**2, 1e-2)[:, None, None] * np.eye(3) + 1e-15 * np.eye(3)
        step = np.linalg.solve(transposed @ slope + damping, -(transposed @ gap[..., None]))[..., 0]
        length = np.linalg.norm(step, axis=-1, keepdims=True)
        q = q + step * np.minimum(1.0, LONGEST / np.maximum(length, LONGEST))
    return q


def _is_found(robot: Spherical, q: Array, theta: Array) -> Array:
    gap, _ = robot.call("leg_closure")(q, theta)
    found: Array = (np.abs(gap).max(axis=-1) < CLOSED) & (robot.call("discriminants")(q) > 0.0).all(axis=-1)
    if found.any():
        difference = np.angle(
            np.exp(1j * (robot.tree_configuration(q[found])[..., list(robot.facts.actuated)] - theta[found]))
        )
        found[found] = np.abs(difference).max(axis=-1) < 1e-3  # the other branch is farther off than any rounding
    return found
