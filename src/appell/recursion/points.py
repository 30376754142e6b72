"""Points fixed to bodies: positions, velocities and accelerations.

All in world axes. The velocity is linear in v, so the same program run on unit velocities gives the points' Jacobians.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from appell.model.model import WORLD, Model
from appell.recursion.gibbs import Acceleration, accelerations
from appell.recursion.kinematics import Scalars, Velocity, links, velocities, world_poses
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import ZERO, add, cross, matvec


class Place(NamedTuple):
    """A point of a body: the body's index (or `WORLD`) and the position in the body's frame."""

    body: int
    position: Vector


def velocity_at(rotation: Matrix, moving: Velocity, r: Vector) -> Vector:
    """Return R_WB (ṡ + ω × r) of a body's point."""
    return matvec(rotation, add(moving.linear, cross(moving.angular, r)))


def acceleration_at(model: Model, rotation: Matrix, moving: Acceleration, r: Vector) -> Vector:
    """Return R_WB (s̈ + Ωr) + g of a body's point: the recursion starts from −gravity, which is no motion."""
    return add(matvec(rotation, add(moving.origin, matvec(moving.tensor, r))), model.gravity)


def positions(model: Model, q: Scalars, places: Sequence[Place]) -> tuple[Vector, ...]:
    """Return p = p_WB + R_WB r of every point."""
    poses = world_poses(model, q)
    return tuple(r if body == WORLD else poses[body].apply(r) for body, r in places)


def point_velocities(model: Model, q: Scalars, v: Scalars, places: Sequence[Place]) -> tuple[Vector, ...]:
    """Return ṗ = R_WB (ṡ + ω × r) of every point."""
    poses, moving = world_poses(model, q), velocities(model, links(model, q), v)
    return tuple(ZERO if body == WORLD else velocity_at(poses[body].rotation, moving[body], r) for body, r in places)


def point_accelerations(
    model: Model, q: Scalars, v: Scalars, a: Scalars, places: Sequence[Place]
) -> tuple[Vector, ...]:
    """Return p̈ of every point."""
    poses = world_poses(model, q)
    moving = accelerations(model, links(model, q), v, a)
    return tuple(
        ZERO if body == WORLD else acceleration_at(model, poses[body].rotation, moving[body], r) for body, r in places
    )
