"""Kinetic and potential energy."""

from __future__ import annotations

from appell.model.model import Model
from appell.model.parameters import PER_VELOCITY
from appell.recursion.kinematics import Scalars, Velocity, links, velocities, world_poses
from appell.spatial.inertia import UNITS, Inertia
from appell.spatial.scalar import Scalar
from appell.spatial.vector import add, cross, dot, matvec, negate, scale, transpose


def body_energy(inertia: Inertia, moving: Velocity) -> Scalar:
    """Return ½ m ṡ² + ṡ·(ω × h) + ½ ω·Iω of one body."""
    omega, speed = moving
    own = inertia.mass * dot(speed, speed) + dot(omega, matvec(inertia.tensor, omega))
    return 0.5 * own + dot(speed, cross(omega, inertia.first))


def kinetic_energy(model: Model, q: Scalars, v: Scalars) -> Scalar:
    """Return T = Σ ½ m ṡ² + ṡ·(ω × h) + ½ ω·Iω, rotors included."""
    total: Scalar = 0.0
    for body, moving in zip(model.bodies, velocities(model, links(model, q), v), strict=True):
        total = total + body_energy(body.inertia, moving)
    for own, rate in zip(model.joint_parameters, v, strict=True):
        total = total + 0.5 * own.armature * (rate * rate)
    return total


def potential_energy(model: Model, q: Scalars) -> Scalar:
    """Return V = −Σ g·(m p + R h): zero where every mass centre is at the height of the world's origin."""
    total: Scalar = 0.0
    for body, pose in zip(model.bodies, world_poses(model, q), strict=True):
        weighed = add(scale(body.inertia.mass, pose.position), matvec(pose.rotation, body.inertia.first))
        total = total - dot(model.gravity, weighed)
    return total


def energy_regressor(model: Model, q: Scalars, v: Scalars) -> tuple[Scalars, Scalars]:
    """Return the rows Y with T = Y_T·π and V = Y_V·π: the energies of every parameter at 1."""
    kinetic: list[Scalar] = []
    potential: list[Scalar] = []
    for moving, pose in zip(velocities(model, links(model, q), v), world_poses(model, q), strict=True):
        kinetic += [body_energy(unit, moving) for unit in UNITS]
        turned = matvec(transpose(pose.rotation), model.gravity)
        potential += [-dot(model.gravity, pose.position), *negate(turned), *(0.0,) * 6]
    for rate in v if model.has_friction else ():
        kinetic += [0.5 * (rate * rate), *(0.0,) * (PER_VELOCITY - 1)]
        potential += (0.0,) * PER_VELOCITY
    return tuple(kinetic), tuple(potential)
