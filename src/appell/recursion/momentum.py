"""Sums over all bodies: mass, mass centre, momentum and the matrix that takes v to it; and the motion of frames.

Momentum is linear first, then angular about the mass centre, both in world axes (the "centroidal" momentum).
"""

from __future__ import annotations

from appell.model.model import WORLD, Model
from appell.model.parameters import n_parameters
from appell.recursion.gibbs import accelerations
from appell.recursion.inertia_matrix import Rows, composite_bodies, unit_momentum
from appell.recursion.kinematics import Load, Scalars, jacobian, links, velocities, world_poses
from appell.recursion.points import acceleration_at, velocity_at
from appell.spatial.inertia import UNITS
from appell.spatial.pose import Pose
from appell.spatial.scalar import Scalar, Vector, nonzero
from appell.spatial.vector import ZERO, add, cross, matvec, scale, sub


def total_mass(model: Model) -> Scalar:
    """Return the mass of all moving bodies [kg]."""
    return sum((body.inertia.mass for body in model.bodies), start=0.0)


def centre_of_mass(model: Model, q: Scalars) -> Vector:
    """Return Σ (m p + R h) / Σ m in the world."""
    first: Vector = ZERO
    for body, pose in zip(model.bodies, world_poses(model, q), strict=True):
        first = add(first, add(scale(body.inertia.mass, pose.position), matvec(pose.rotation, body.inertia.first)))
    return scale(1.0 / nonzero(total_mass(model)), first)


def about(centre: Vector, pose: Pose, momentum: Load) -> Scalars:
    """Return a body's momentum, and its angular momentum about a place of the world, in world axes."""
    linear, spin = (matvec(pose.rotation, part) for part in momentum)
    return (*linear, *add(spin, cross(sub(pose.position, centre), linear)))


def momentum_matrix(model: Model, q: Scalars) -> Rows:
    """Return A, 6×nv, with A·v the momentum: per velocity the composite body's own, seen from the mass centre."""
    poses, whole = world_poses(model, q), composite_bodies(model, links(model, q))
    centre = centre_of_mass(model, q)
    columns: list[Scalars] = []
    for i, body in enumerate(model.bodies):
        columns += [about(centre, poses[i], unit_momentum(whole[i], column)) for column in body.joint.columns]
    return tuple(zip(*columns, strict=True)) if columns else ((),) * 6


def momentum(model: Model, q: Scalars, v: Scalars) -> Scalars:
    """Return the linear momentum and the angular momentum about the mass centre."""
    total: Scalars = (0.0,) * 6
    centre = centre_of_mass(model, q)
    moving = velocities(model, links(model, q), v)
    for body, pose, velocity in zip(model.bodies, world_poses(model, q), moving, strict=True):
        own = about(centre, pose, unit_momentum(body.inertia, velocity))
        total = tuple(x + y for x, y in zip(total, own, strict=True))
    return total


def momentum_regressor(model: Model, q: Scalars, v: Scalars) -> Rows:
    """Return Y, 6 rows, with Y·π the momentum: that of every parameter at 1, about the mass centre of the model."""
    columns: list[Scalars] = []
    centre = centre_of_mass(model, q)
    for pose, moving in zip(world_poses(model, q), velocities(model, links(model, q), v), strict=True):
        columns += [about(centre, pose, unit_momentum(unit, moving)) for unit in UNITS]
    columns += [(0.0,) * 6] * (n_parameters(model) - len(columns))
    return tuple(zip(*columns, strict=True)) if columns else ((),) * 6


def velocity(model: Model, q: Scalars, v: Scalars, frame: str) -> Scalars:
    """Return a frame's velocity, linear first, in world axes."""
    body, placement = model.frame_index[frame].body, model.frame_index[frame].placement
    if body == WORLD:
        return (0.0,) * 6
    rotation = world_poses(model, q)[body].rotation
    moving = velocities(model, links(model, q), v)[body]
    return (*velocity_at(rotation, moving, placement.position), *matvec(rotation, moving.angular))


def acceleration(model: Model, q: Scalars, v: Scalars, a: Scalars, frame: str) -> Scalars:
    """Return a frame's classical acceleration: second derivative of its position, then of its angle, in world axes."""
    body, placement = model.frame_index[frame].body, model.frame_index[frame].placement
    if body == WORLD:
        return (0.0,) * 6
    rotation = world_poses(model, q)[body].rotation
    motion = accelerations(model, links(model, q), v, a)[body]
    return (*acceleration_at(model, rotation, motion, placement.position), *matvec(rotation, motion.alpha))


def wrench_forces(model: Model, q: Scalars, wrench: Scalars, frame: str) -> Scalars:
    """Return Jᵀ·w: the joint forces of a wrench on a frame, force first, in world axes."""
    rows = jacobian(model, q, frame)
    forces: list[Scalar] = [0.0] * model.nv
    for row, w in zip(rows, wrench, strict=True):
        forces = [force + entry * w for force, entry in zip(forces, row, strict=True)]
    return tuple(forces)
