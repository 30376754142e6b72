"""Joints that make a mass matrix singular, and a bound on the condition of a tree's M in all configurations.

The rounding error of accelerations is bounded by the largest eigenvalues of M⁻¹ and of S⁻¹, for M scaled to a unit
diagonal. These are at most C if Σ w_k v_k² ≤ C·vᵀMv for all v, with w_k = 1 and w_k = M_kk. The velocity of a joint
follows from those of its body and the body before, V_i = X V_p + S v, as v = (SᵀIS)⁻¹SᵀI (V_i − X V_p), and vᵀMv is the
sum of V_iᵀ I_i V_i. So C is the largest factor over all bodies. If it is small enough for the precision, no program
needs a guard of M.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from appell.model.model import WORLD, Body, Joint, Model
from appell.recursion.sweep import inward
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array
from appell.spatial.vector import IDENTITY, negate, skew, trace

ROUNDING = 1e-15
"""Relative size below which a diagonal entry of the mass matrix is zero."""
SINGULAR = 1e-13
"""An eigenvalue of the scaled mass matrix below this is a rounded zero."""
SHARE = 1e-3
"""Component of a unit eigenvector from which the joint of a velocity is named."""


class Massless(NamedTuple):
    """Joints that move no inertia: each `alone`, or, if there are none, several `together`."""

    alone: list[str]
    together: list[str]


def massless(velocities: Sequence[str], mass: Array, below: float = SINGULAR) -> Massless:
    """Return the joints of small pivots: zeros of the diagonal, or what small eigenvalues' vectors move.

    For its eigenvalues M is scaled to a unit diagonal; those under `below` count. `velocities` are the names of the
    rows, such as ``root[2]`` for one of several of a joint.

    >>> massless(["a", "b"], np.array([[1.0, 1.0], [1.0, 1.0]]))
    Massless(alone=[], together=['a', 'b'])
    """
    joints, size = [name.partition("[")[0] for name in velocities], np.abs(np.diagonal(mass))
    is_zero = size <= ROUNDING * size.max(initial=0.0)
    if is_zero.any():
        return Massless(_named(joints, is_zero), [])
    values, vectors = np.linalg.eigh(scaled(mass))
    share = np.abs(vectors[:, np.abs(values) < below]).max(axis=1, initial=0.0)
    return Massless([], _named(joints, share > SHARE))


def scaled(mass: Array) -> Array:
    """Return M (..., n, n) scaled to a unit diagonal, whose condition number no unit changes."""
    size = np.sqrt(np.abs(np.diagonal(mass, axis1=-2, axis2=-1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(mass / (size[..., :, None] * size[..., None, :]))


def _named(joints: Sequence[str], which: Array) -> list[str]:
    return list(dict.fromkeys(name for name, is_in in zip(joints, which, strict=True) if is_in))


SLIDE, BEYOND = 10.0, 10.0
"""Assumed travel of prismatic joints without limits [m], and margin beyond limits."""
ROUNDED = 1e-14
"""Relative size below which a moment is a rounded zero."""


class Reach(NamedTuple):
    """Σm, Σm·r and Σm·r² of a body with all that it carries, stretched out from its joint."""

    mass: float
    first: float
    second: float


def inverse_norm_bound(model: Model) -> float:
    """Return an upper bound of √(largest eigenvalues of M⁻¹ and S⁻¹ · tr M); infinity if there is none.

    >>> from appell.read.catalogue import read
    >>> inverse_norm_bound(read("puma560")) < 1e4
    True
    """
    parts = np.zeros((len(model.bodies), 2))
    trace_of_mass = 0.0
    for i, (body, reach) in enumerate(zip(model.bodies, _reaches(model), strict=True)):
        columns, inertia = _columns(body), _matrix(body.inertia)
        most = (columns[:3] ** 2).sum(axis=0) * reach.mass + (columns[3:] ** 2).sum(axis=0) * reach.second
        weights = np.stack([np.ones_like(most), most], axis=-1)
        trace_of_mass += most.sum()
        own, values = columns.T @ inertia @ columns, np.linalg.eigvalsh(inertia)
        if values[0] < -ROUNDED * values[-1] or not _is_positive(own):  # an invalid body, or one without effect
            return math.inf
        inverse = np.linalg.inv(own)
        is_on_world = body.parent == WORLD
        parts[i] += (1.0 if is_on_world else 2.0) * (np.diagonal(inverse) @ weights)
        if not is_on_world:
            pushes = inertia @ columns @ inverse  # the rows of v by V
            parts[body.parent] += 2.0 * (_moved(model, i, pushes) @ weights)
    return float(np.sqrt(np.prod(parts.max(axis=0, initial=0.0)) * trace_of_mass)) if len(parts) else 1.0


def _columns(body: Body) -> Array:
    """Return S of a body's joint (6, nv), linear first."""
    return np.array([(*c.linear, *c.angular) for c in body.joint.columns]).T


def _moved(model: Model, i: int, pushes: Array) -> Array:
    """Return eᵀ X I_p⁻¹ Xᵀ e at most, for wrenches e on a body and the inertia of the body before it."""
    joint, parent = model.bodies[i].joint, model.bodies[model.bodies[i].parent]
    p = joint.placement.position
    here = _matrix(parent.inertia.moved(Pose(IDENTITY, negate(p))))
    moves = _columns(parent) if parent.parent == WORLD else np.eye(6)  # what the body before can do
    if parent.parent == WORLD:
        moves = np.vstack([moves[:3] + np.cross(moves[3:].T, p).T, moves[3:]])
    own = moves.T @ here @ moves
    if not _is_positive(own):
        return np.full(pushes.shape[1], math.inf)
    inverse = moves @ np.linalg.inv(own) @ moves.T
    force, moment = np.linalg.norm(pushes[:3], axis=0), np.linalg.norm(pushes[3:], axis=0)
    linear, angular = (np.linalg.eigvalsh(inverse[k, k])[-1] for k in (slice(0, 3), slice(3, 6)))
    return np.asarray(2.0 * (force**2 * linear + (moment + _slide(joint) * force) ** 2 * angular))


def _reaches(model: Model) -> list[Reach]:
    def gathered(i: int, below: list[tuple[int, Reach]]) -> Reach:
        mass, second = float(model.bodies[i].inertia.mass), float(trace(model.bodies[i].inertia.second))
        first = math.sqrt(max(mass * second, 0.0))
        for child, (m, h, s) in below:
            joint = model.bodies[child].joint
            p = math.hypot(*joint.placement.position) + _slide(joint)
            mass, first, second = mass + m, first + h + p * m, second + s + 2.0 * p * h + p * p * m
        return Reach(mass, first, second)

    return inward(model, gathered)


def _slide(joint: Joint) -> float:
    """Return the travel of a joint [m]."""
    if not any(any(column.linear) for column in joint.columns):
        return 0.0
    most = max(abs(joint.limits.lower), abs(joint.limits.upper))
    return BEYOND * most if joint.kind == "prismatic" and math.isfinite(most) else SLIDE


def _is_positive(matrix: Array) -> bool:
    """Return whether a symmetric matrix is safely positive definite, whatever the units of its rows."""
    size = np.diagonal(matrix)
    if not (size > 0.0).all():
        return False
    unit = matrix / np.sqrt(np.outer(size, size))
    return bool(np.linalg.eigvalsh(unit)[0] > ROUNDED)


def _matrix(inertia: Inertia) -> Array:
    """Return the inertia of a body by its unit motions (6, 6), linear first: momentum m l − h × w, spin h × l + I w."""
    moment: Array = np.array(skew(inertia.first))
    return np.block([[inertia.mass * np.eye(3), -moment], [moment, np.array(inertia.tensor)]])
