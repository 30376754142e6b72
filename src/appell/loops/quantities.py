"""What else a closed robot's motion has: energies, momentum, frames, the regressor, in its independent velocities.

Each is the tree's own at v = Γu and a = Γu̇ + γ (:mod:`appell.loops.reduction`), or times Γ where it is a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from appell.loops.reduction import (
    Loops,
    Posture,
    Rows,
    accelerations,
    dot,
    gathered,
    motion_columns,
    posture,
    roughness,
    velocities,
)
from appell.recursion import energy, gibbs, kinematics, momentum, regressor
from appell.recursion.kinematics import Scalars
from appell.spatial.scalar import Scalar


def regressor_matrix(loops: Loops, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return ΓᵀY_tree."""
    at = posture(loops, q)
    whole = velocities(at, v)
    rows = regressor.regressor(loops.dynamics, q, whole, accelerations(at, whole, a))
    parts = list(zip(*rows, strict=True))
    return [[dot(column, part) for part in parts] for column in motion_columns(at)], roughness(at)


def gibbs_function(loops: Loops, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return S; ∂S/∂a are the forces on the independent velocities."""
    at = posture(loops, q)
    whole = velocities(at, v)
    return gibbs.gibbs(loops.dynamics, q, whole, accelerations(at, whole, a)), roughness(at)


def kinetic_energy(loops: Loops, q: Scalars, v: Scalars) -> Any:
    """Return ½ vᵀMv."""
    at = posture(loops, q)
    return energy.kinetic_energy(loops.dynamics, q, velocities(at, v)), roughness(at)


def momentum_of(loops: Loops, q: Scalars, v: Scalars) -> Any:
    """Return the linear momentum and the angular one about the mass centre."""
    at = posture(loops, q)
    return momentum.momentum(loops.dynamics, q, velocities(at, v)), roughness(at)


def momentum_matrix(loops: Loops, q: Scalars) -> Any:
    """Return the matrix from the independent velocities to the momentum."""
    at = posture(loops, q)
    return _by_columns(at, momentum.momentum_matrix(loops.dynamics, q)), roughness(at)


def _by_columns(at: Posture, rows: Sequence[Sequence[Scalar]]) -> Rows:
    """Return X·Γ."""
    columns = motion_columns(at)
    return [[dot(row, column) for column in columns] for row in rows]


def jacobian(loops: Loops, q: Scalars, frame: str) -> Any:
    """Return the matrix from the independent velocities to a frame's velocity."""
    at = posture(loops, q)
    return _by_columns(at, kinematics.jacobian(loops.dynamics, q, frame)), roughness(at)


def velocity(loops: Loops, q: Scalars, v: Scalars, frame: str) -> Any:
    """Return a frame's velocity."""
    at = posture(loops, q)
    return momentum.velocity(loops.dynamics, q, velocities(at, v), frame), roughness(at)


def acceleration(loops: Loops, q: Scalars, v: Scalars, a: Scalars, frame: str) -> Any:
    """Return a frame's classical acceleration."""
    at = posture(loops, q)
    whole = velocities(at, v)
    return momentum.acceleration(loops.dynamics, q, whole, accelerations(at, whole, a), frame), roughness(at)


def wrench_forces(loops: Loops, q: Scalars, wrench: Scalars, frame: str) -> Any:
    """Return the forces on the independent velocities that a wrench on a frame amounts to."""
    at = posture(loops, q)
    return gathered(at, momentum.wrench_forces(loops.dynamics, q, wrench, frame)), roughness(at)
