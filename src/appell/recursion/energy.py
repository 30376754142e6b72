"""Kinetic and potential energy."""

from __future__ import annotations

from appell.model.model import Model
from appell.recursion.kinematics import Scalars, links, velocities, world_poses
from appell.spatial.scalar import Scalar
from appell.spatial.vector import add, cross, dot, matvec, scale


def kinetic_energy(model: Model, q: Scalars, v: Scalars) -> Scalar:
    """Return T = Σ ½ m ṡ² + ṡ·(ω × h) + ½ ω·Iω, rotors included."""
    total: Scalar = 0.0
    for body, (omega, speed) in zip(model.bodies, velocities(model, links(model, q), v), strict=True):
        m, h, tensor = body.inertia.mass, body.inertia.first, body.inertia.tensor
        own = m * dot(speed, speed) + dot(omega, matvec(tensor, omega))
        total = total + 0.5 * own + dot(speed, cross(omega, h))
    for body, where in zip(model.bodies, model.v_slices, strict=True):
        for rate in v[where]:
            total = total + 0.5 * body.joint.armature * (rate * rate)
    return total


def potential_energy(model: Model, q: Scalars) -> Scalar:
    """Return V = −Σ g·(m p + R h): zero where every mass centre is at the height of the world's origin."""
    total: Scalar = 0.0
    for body, pose in zip(model.bodies, world_poses(model, q), strict=True):
        weighed = add(scale(body.inertia.mass, pose.position), matvec(pose.rotation, body.inertia.first))
        total = total - dot(model.gravity, weighed)
    return total
