"""Inverse dynamics by Newton and Euler (Luh, Walker and Paul 1980): the classic that Gibbs–Appell is compared with.

Each body's force F = m r̈_G and moment N = I_G ω̇ + ω × I_G ω, then the forces and moments that joints transmit.
"""

from __future__ import annotations

from appell.model.model import Model
from appell.recursion.joint_forces import joint_forces
from appell.recursion.kinematics import Link, Load, Scalars, links, project
from appell.recursion.sweep import inward
from appell.recursion.vector_form import central, motions
from appell.spatial.scalar import Scalar
from appell.spatial.vector import add, cross, matvec, scale


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Scalars:
    """Return τ, joint friction and rotor inertia included."""
    tau = forces(model, links(model, q), v, a)
    return tuple(t + e for t, e in zip(tau, joint_forces(model, q, v, a), strict=True))


def forces(model: Model, chain: list[Link], v: Scalars, a: Scalars) -> Scalars:
    """Return τ without joint friction and rotor inertia."""
    moving = motions(model, chain, v, a)

    def step(i: int, below: list[tuple[int, Load]]) -> Load:
        centre, tensor = central(model.bodies[i].inertia)
        omega, alpha = moving[i].omega, moving[i].alpha
        force = scale(model.bodies[i].inertia.mass, moving[i].centre)  # F = m r̈_G
        moment = add(matvec(tensor, alpha), cross(omega, matvec(tensor, omega)))  # N = I ω̇ + ω × I ω
        moment = add(moment, cross(centre, force))
        for child, load in below:
            received = chain[child].up(load.force)
            force = add(force, received)
            moment = add(add(moment, chain[child].up(load.moment)), cross(chain[child].position, received))
        return Load(force, moment)

    tau: list[Scalar] = []
    for i, load in enumerate(inward(model, step)):
        tau.extend(project(model, i, load.moment, load.force))
    return tuple(tau)
