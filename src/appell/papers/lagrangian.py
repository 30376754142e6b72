"""Lagrange's equations by automatic differentiation: a check that shares no code with appell's recursions.

Along a motion through q with velocity v and acceleration a, the force on coordinate j is

    τⱼ = d/dt ∂L/∂vⱼ − ∂L/∂qⱼ,    L = Σ ½ tr(Ṗ Σ Ṗᵀ) + gᵀPΣe₄,

with P the 4×4 pose of a body and Σ = ∫ r rᵀ dm, r = (x, y, z, 1), its moments of mass. The derivatives are parts of
numbers with nilpotent units T², U², S², X² = 0: the joints are at q + Tv + Seⱼ + X(v + Ta + Ueⱼ), so that the part of P
by X is Ṗ, and τⱼ is the part of L by TU less that by S.
"""

from __future__ import annotations

import numpy as np

from appell.model.model import WORLD, Model
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array

T, U, S, X = 1, 2, 4, 8
_KEPT = {m | x for m in (0, T, U, T | U, S) for x in (0, X)}
Parts = dict[int, Array]
"""A matrix by products of the units, as bit masks."""


def product(first: Parts, second: Parts) -> Parts:
    """Return the product of matrices, without products of units that no derivative needs."""
    found: Parts = {}
    for m, a in first.items():
        for n, b in second.items():
            if not m & n and m | n in _KEPT:
                found[m | n] = found.get(m | n, 0.0) + a @ b
    return found


def transform(pose: Pose) -> Array:
    """Return a pose as a 4×4 matrix."""
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = pose.rotation, pose.position
    return found


def poses(model: Model, motion: Parts) -> list[Parts]:
    """Return the poses (…, 4, 4) of all bodies of an open robot of hinges and slides, in units as its joints (…, n)."""
    found: list[Parts] = []
    for k, body in enumerate(model.bodies):
        x, y, z = body.joint.axis
        twist = np.zeros((4, 4))
        twist[:3] = [[0, 0, 0, x], [0, 0, 0, y], [0, 0, 0, z]]
        slides = body.joint.kind == "prismatic"
        if not slides:
            twist[:3] = [[0, -z, y, 0], [z, 0, -x, 0], [-y, x, 0, 0]]
        angles = {unit: values[..., k, None, None] for unit, values in motion.items()}
        angle = angles.pop(0) + body.joint.offset
        turned = np.eye(4) + (angle if slides else np.sin(angle)) * twist + (1.0 - np.cos(angle)) * twist @ twist
        whole = {0: transform(body.joint.placement) @ turned}
        for unit, values in angles.items():  # exp of a sum is the product of exp, each of two terms
            whole = product(whole, {0: np.eye(4), unit: values * twist})
        found.append(whole if body.parent == WORLD else product(found[body.parent], whole))
    return found


def forces(model: Model, q: Array, v: Array, a: Array) -> Array:
    """Return the joint forces (…, n) of Lagrange's equations, of an open robot of hinges and slides without friction.

    >>> from appell.loading import load
    >>> robot = load("two-link")
    >>> q, v, a = np.array([0.3, 1.0]), np.array([0.5, -2.0]), np.array([1.0, 2.0])
    >>> bool(abs(forces(robot.model, q, v, a) - robot.inverse_dynamics(q, v, a)).max() < 1e-12)
    True
    """
    each = np.eye(q.shape[-1])  # the variations eⱼ, along an axis of their own
    q, v, a = (x[..., None, :] for x in (q, v, a))
    gravity = np.array([*model.gravity, 0.0])
    found: Array = np.zeros(1)
    for body, place in zip(model.bodies, poses(model, {0: q, T: v, S: each, X: v, X | T: a, X | U: each}), strict=True):
        mass, first, second = body.inertia
        moments = np.block([[np.array(second), np.array([first]).T], [np.array([first]), np.array([[mass]])]])
        at = {unit: place.get(unit, np.zeros((4, 4))) for unit in _KEPT}

        def paired(one: int, other: int, at: Parts = at, moments: Array = moments) -> Array:
            return np.asarray(np.einsum("...ij,jk,...ik->...", at[X | one], moments, at[X | other]))

        weight = at[S] @ moments[:, 3] @ gravity
        found = found + paired(0, T | U) + paired(T, U) - paired(0, S) - weight
    return found
