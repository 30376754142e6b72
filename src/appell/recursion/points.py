"""Points fixed to bodies: where they are, how fast they move, and how they accelerate while the joints do not.

All in world axes. The velocity is linear in v, so the same program run on unit velocities gives the points' Jacobians.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from appell.model.model import WORLD, Model
from appell.recursion.coupling import expand_q, expand_v
from appell.recursion.gibbs import accelerations
from appell.recursion.kinematics import Scalars, links, velocities, world_poses
from appell.spatial.scalar import Vector
from appell.spatial.vector import ZERO, add, cross, matvec


class Place(NamedTuple):
    """A point of a body: the body's index (or `WORLD`) and the position in the body's frame."""

    body: int
    position: Vector


def positions(model: Model, q: Scalars, places: Sequence[Place]) -> tuple[Vector, ...]:
    """Return p = p_WB + R_WB r of every point."""
    poses = world_poses(model.whole, expand_q(model, q))
    return tuple(r if body == WORLD else poses[body].apply(r) for body, r in places)


def point_velocities(model: Model, q: Scalars, v: Scalars, places: Sequence[Place]) -> tuple[Vector, ...]:
    """Return ṗ = R_WB (ṡ + ω × r) of every point."""
    tree, tree_q = model.whole, expand_q(model, q)
    poses, moving = world_poses(tree, tree_q), velocities(tree, links(tree, tree_q), expand_v(model, v))
    result = []
    for body, r in places:
        if body == WORLD:
            result.append(ZERO)
            continue
        omega, speed = moving[body]
        result.append(matvec(poses[body].rotation, add(speed, cross(omega, r))))
    return tuple(result)


def point_drifts(model: Model, q: Scalars, v: Scalars, places: Sequence[Place]) -> tuple[Vector, ...]:
    """Return J̇·v of every point: its acceleration while all joint accelerations are zero."""
    tree, tree_q = model.whole, expand_q(model, q)
    poses = world_poses(tree, tree_q)
    moving = accelerations(tree, links(tree, tree_q), expand_v(model, v), (0.0,) * tree.nv)
    result = []
    for body, r in places:
        if body == WORLD:
            result.append(ZERO)
            continue
        # the recursion starts from −gravity, which is no motion
        carried = add(moving[body].origin, matvec(moving[body].tensor, r))
        result.append(add(matvec(poses[body].rotation, carried), tree.gravity))
    return tuple(result)
