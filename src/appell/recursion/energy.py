"""Kinetic and potential energy."""

from __future__ import annotations

from appell.model.model import Model
from appell.recursion.kinematics import Scalars, Velocity, links, velocities, world_poses
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Scalar
from appell.spatial.vector import add, cross, dot, matvec, scale


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
