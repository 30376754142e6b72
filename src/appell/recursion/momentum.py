"""Sums over all bodies: mass, mass centre, momentum and the matrix that takes v to it; and the motion of frames.

Momentum is linear first, then angular about the mass centre, both in world axes (the "centroidal" momentum).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from appell.model.model import Model
from appell.model.parameters import n_parameters
from appell.recursion.inertia_matrix import composite_bodies, unit_momentum
from appell.recursion.kinematics import NO_LOAD, Load, Scalars, carried, frame_columns, placed, posed, velocities
from appell.recursion.points import accelerations_at, velocities_at
from appell.recursion.sweep import Body, Executor, PerBody, Rows, Tree
from appell.spatial.inertia import UNITS, Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Scalar, Vector, nonzero
from appell.spatial.vector import ZERO, add, cross, matvec, scale, sub


class Moments(NamedTuple):
    """Mass, first moment and momentum of a body with all that it carries."""

    mass: Scalar
    first: Vector
    momentum: Load = NO_LOAD


def total_mass(model: Model) -> Scalar:
    """Return the mass of all moving bodies [kg]."""
    return sum((body.inertia.mass for body in model.bodies), start=0.0)


def whole(tree: Executor, momentum: Callable[[Body], Load] = lambda body: NO_LOAD) -> Moments:
    """Return the moments Σ m, Σ m p + R h of all bodies in the world, and the sum of what momentum they have."""

    def own(body: Body) -> Moments:
        return Moments(body.inertia.mass, body.inertia.first, momentum(body))

    def back(body: Body, x: Moments) -> Moments:
        first = add(body.link.up(x.first), scale(x.mass, body.link.position))
        return Moments(x.mass, first, carried(body.link, x.momentum))

    return tree.inward(Moments(0.0, ZERO), own, back).world


def centre_of_mass(model: Tree, q: Scalars) -> Vector:
    """Return Σ (m p + R h) / Σ m in the world."""
    return centre(whole(posed(model, q)))


def centre(x: Moments) -> Vector:
    """Return the mass centre; the origin of a robot without mass."""
    return scale(1.0 / nonzero(x.mass), x.first)


def about(centre: Vector, pose: Pose, momentum: Load) -> Scalars:
    """Return a body's momentum, and its angular momentum about a place of the world, in world axes."""
    linear, spin = (matvec(pose.rotation, part) for part in momentum)
    return (*linear, *add(spin, cross(sub(pose.position, centre), linear)))


def first_moment(inertia: Inertia, pose: Pose) -> Vector:
    """Return m p + R h of a body."""
    return add(scale(inertia.mass, pose.position), matvec(pose.rotation, inertia.first))


def central(tree: Executor, poses: PerBody) -> Vector:
    """Return the mass centre of bodies whose poses are known."""
    first = tree.each(lambda body: first_moment(body.inertia, poses[body]))
    mass = tree.total(0.0, tree.each(lambda body: body.inertia.mass))
    return scale(1.0 / nonzero(mass), tree.total(ZERO, first))


def momentum_matrix(model: Tree, q: Scalars) -> Rows:
    """Return A, 6×nv, with A·v the momentum: per velocity the composite body's own, seen from the mass centre."""
    tree = posed(model, q)
    poses = placed(tree)
    middle, whole = central(tree, poses), composite_bodies(tree).totals

    def columns(body: Body) -> list[Scalars]:
        return [about(middle, poses[body], unit_momentum(whole[body], column)) for column in body.columns]

    return tree.columns(6, tree.each(columns))


def momentum(model: Tree, q: Scalars, v: Scalars) -> Scalars:
    """Return the linear momentum and the angular momentum about the mass centre."""
    tree = posed(model, q)
    moving = velocities(tree, v)
    found = whole(tree, lambda body: unit_momentum(body.inertia, moving[body]))
    linear, spin = found.momentum
    return (*linear, *sub(spin, cross(centre(found), linear)))


def momentum_regressor(model: Model, q: Scalars, v: Scalars) -> Rows:
    """Return Y, 6 rows, with Y·π the momentum: that of every parameter at 1, about the mass centre of the model."""
    columns: list[Scalars] = []
    tree = posed(model, q)
    poses = placed(tree)
    middle = central(tree, poses)
    for _, pose, moving in zip(model.bodies, poses, velocities(tree, v), strict=False):
        columns += [about(middle, pose, unit_momentum(unit, moving)) for unit in UNITS]
    columns += [(0.0,) * 6] * (n_parameters(model) - len(columns))
    return tuple(zip(*columns, strict=True)) if columns else ((),) * 6


def velocity(model: Tree, q: Scalars, v: Scalars, frame: str) -> Scalars:
    """Return a frame's velocity, linear first, in world axes."""
    (found,) = velocities_at(posed(model, q, [model.frame_index[frame]]), v)
    return found


def acceleration(model: Tree, q: Scalars, v: Scalars, a: Scalars, frame: str) -> Scalars:
    """Return a frame's classical acceleration: second derivative of its position, then of its angle, in world axes."""
    (found,) = accelerations_at(posed(model, q, [model.frame_index[frame]]), v, a)
    return found


def wrench_forces(model: Tree, q: Scalars, wrench: Scalars, frame: str) -> Scalars:
    """Return Jᵀ·w: the joint forces of a wrench on a frame, force first, in world axes."""
    tree = posed(model, q, [model.frame_index[frame]])
    columns = frame_columns(tree)

    def forces(body: Body) -> list[Scalar]:
        own = [zip(column, wrench, strict=True) for column in columns[body]]
        return [sum((x * y for x, y in pairs), start=0.0) for pairs in own]

    return tree.vector(tree.each(forces))
