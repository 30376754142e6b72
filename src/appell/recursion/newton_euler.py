"""Inverse dynamics by Newton and Euler (Luh, Walker and Paul 1980): the classic that Gibbs–Appell is compared with.

Each body's force F = m r̈_G and moment N = I_G ω̇ + ω × I_G ω, then the forces and moments that joints transmit.
"""

from __future__ import annotations

from typing import NamedTuple

from appell.model.model import Model
from appell.recursion.joint_forces import joint_forces
from appell.recursion.kinematics import Scalars, links, project
from appell.recursion.sweep import inward
from appell.recursion.vector_form import central, motions
from appell.spatial.scalar import Scalar, Vector
from appell.spatial.vector import add, cross, matvec, scale


class Wrench(NamedTuple):
    """The force and the moment about its origin that a body receives from its parent."""

    force: Vector
    moment: Vector


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Scalars:
    """Return τ, joint friction and rotor inertia included."""
    chain, moving = links(model, q), motions(model, q, v, a)

    def step(i: int, below: list[tuple[int, Wrench]]) -> Wrench:
        centre, tensor = central(model.bodies[i].inertia)
        omega, alpha = moving[i].omega, moving[i].alpha
        force = scale(model.bodies[i].inertia.mass, moving[i].centre)  # F = m r̈_G
        moment = add(matvec(tensor, alpha), cross(omega, matvec(tensor, omega)))  # N = I ω̇ + ω × I ω
        moment = add(moment, cross(centre, force))
        for child, wrench in below:
            received = chain[child].up(wrench.force)
            force = add(force, received)
            moment = add(add(moment, chain[child].up(wrench.moment)), cross(chain[child].position, received))
        return Wrench(force, moment)

    tau: list[Scalar] = []
    for i, wrench in enumerate(inward(model, step)):
        tau.extend(project(model, i, wrench.moment, wrench.force))
    return tuple(t + e for t, e in zip(tau, joint_forces(model, v, a), strict=True))
