"""Kinetic and potential energy."""

from __future__ import annotations

from appell.model.model import Model
from appell.model.parameters import PER_SPRING
from appell.recursion.joint_forces import joint_stretches, spring_stretches, stretched
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
    """Return V = −Σ g·(m p + R h) + Σ ½k s², of weight and springs.

    It is zero where every mass centre is at the height of the world's origin and no spring is stretched.
    """
    total: Scalar = 0.0
    for body, pose in zip(model.bodies, world_poses(model, q), strict=True):
        weighed = add(scale(body.inertia.mass, pose.position), matvec(pose.rotation, body.inertia.first))
        total = total - dot(model.gravity, weighed)
    for own, stretch in zip(model.joint_parameters, spring_stretches(model, q), strict=True):
        total = total + 0.5 * own.stiffness * (stretch * stretch)
    for spring, between in zip(model.springs, model.stretches, strict=True):
        stretch = stretched(between, q)
        total = total + 0.5 * spring.stiffness * (stretch * stretch)
    return total


def energy_regressor(model: Model, q: Scalars, v: Scalars) -> tuple[Scalars, Scalars]:
    """Return the rows Y with T = Y_T·π and V = Y_V·π: the energies of every parameter at 1."""
    kinetic: list[Scalar] = []
    potential: list[Scalar] = []
    for moving, pose in zip(velocities(model, links(model, q), v), world_poses(model, q), strict=True):
        kinetic += [body_energy(unit, moving) for unit in UNITS]
        turned = matvec(transpose(pose.rotation), model.gravity)
        potential += [-dot(model.gravity, pose.position), *negate(turned), *(0.0,) * 6]
    for rate, stretch in zip(v, joint_stretches(model, q), strict=True) if model.has_joint_parameters else ():
        kinetic += [0.5 * (rate * rate), 0.0, 0.0, 0.0]
        potential += [0.0, 0.0, 0.0, 0.5 * (stretch * stretch)]
    for between in model.stretches:
        stretch = stretched(between, q)
        kinetic += (0.0,) * PER_SPRING
        potential += [0.5 * (stretch * stretch), 0.0]
    return tuple(kinetic), tuple(potential)
