"""Points fixed to bodies: positions, velocities and accelerations.

All in world axes. The velocity is linear in v, so the same program run on unit velocities gives the points' Jacobians.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from appell.model.model import Frame
from appell.recursion.gibbs import acceleration_tensor, accelerations
from appell.recursion.kinematics import Scalars, placed, posed, velocities
from appell.recursion.sweep import Body, Executor, Tree
from appell.spatial.pose import Pose
from appell.spatial.scalar import Vector
from appell.spatial.vector import IDENTITY, ZERO, add, cross, matvec


class Place(NamedTuple):
    """A point of a body: the body's index (or `WORLD`) and the position in the body's frame."""

    body: int
    position: Vector


def positions(model: Tree, q: Scalars, places: Sequence[Place]) -> tuple[Vector, ...]:
    """Return p = p_WB + R_WB r of every point."""
    tree = posed(model, q, frames(places))
    poses = placed(tree)
    return tree.ends(ZERO, lambda body, placement: poses[body].apply(placement.position))


def point_velocities(model: Tree, q: Scalars, v: Scalars, places: Sequence[Place]) -> tuple[Vector, ...]:
    """Return ṗ of every point."""
    return tuple(x[:3] for x in velocities_at(posed(model, q, frames(places)), v))


def point_accelerations(model: Tree, q: Scalars, v: Scalars, a: Scalars, places: Sequence[Place]) -> tuple[Vector, ...]:
    """Return p̈ of every point."""
    return tuple(x[:3] for x in accelerations_at(posed(model, q, frames(places)), v, a))


def frames(places: Sequence[Place]) -> list[Frame]:
    """Return the frames of points, in the axes of their bodies."""
    return [Frame("", body, Pose(IDENTITY, position)) for body, position in places]


def velocities_at(tree: Executor, v: Scalars) -> tuple[Scalars, ...]:
    """Return R_WB (ṡ + ω × r) and R_WB ω of every frame that a tree leads to."""
    poses, moving = placed(tree), velocities(tree, v)

    def end(body: Body, placement: Pose) -> Scalars:
        rotation, (omega, speed) = poses[body].rotation, moving[body]
        return (*matvec(rotation, add(speed, cross(omega, placement.position))), *matvec(rotation, omega))

    return tree.ends((0.0,) * 6, end)


def accelerations_at(tree: Executor, v: Scalars, a: Scalars) -> tuple[Scalars, ...]:
    """Return R_WB (s̈ + Ωr) + g and R_WB ω̇ of every frame: the recursion starts from −gravity, which is no motion."""
    poses, moving = placed(tree), accelerations(tree, v, a)

    def end(body: Body, placement: Pose) -> Scalars:
        rotation, (omega, alpha, _, origin) = poses[body].rotation, moving[body]
        pulled = add(origin, matvec(acceleration_tensor(omega, alpha), placement.position))
        return (*add(matvec(rotation, pulled), tree.gravity), *matvec(rotation, alpha))

    return tree.ends((0.0,) * 6, end)
