"""Passivity-based inverse dynamics M·a_r + C·v_r + G, with Ṁ − 2C skew, as one recursion.

C of :mod:`appell.recursion.coriolis` is ∫ uₖ·u̇ⱼ dm. So C v_r + M a_r = ∫ uₖ·ż dm with z = Σ uⱼ v_rⱼ the reference
velocity of every point, ż its rate while the point moves with the robot: in a body of angular velocity ω, whose
reference is (ω_r, s_r),

    ż = ṡ_r + Ω_r x,   Ω_r = ω̇_r~ + ω̃_r ω̃,                                                                   (1)

and the loads of :mod:`appell.recursion.gibbs` follow with Ω_r for Ω.
"""

from __future__ import annotations

from typing import NamedTuple

from appell.model.model import Model
from appell.recursion.gibbs import Acceleration, inertial_load
from appell.recursion.joint_forces import spring_forces
from appell.recursion.kinematics import JointMotion, Link, Load, Scalars, gathered, joint_motions, links, project
from appell.recursion.rates import transport
from appell.recursion.sweep import around
from appell.spatial.inertia import NULL
from appell.spatial.scalar import Scalar, Vector
from appell.spatial.vector import ZERO, add, cross, madd, matmul, matvec, negate, skew


class Referred(NamedTuple):
    """The motion of a body in its own frame: its ω, and the rate of its reference, whose Ω is that of Eq. (1)."""

    omega: Vector
    reference: Acceleration


def passive_inverse_dynamics(model: Model, q: Scalars, v: Scalars, v_r: Scalars, a_r: Scalars) -> Scalars:
    """Return M a_r + C(q, v) v_r + G(q), rotor inertia and springs included, damping and friction not."""
    chain = links(model, q)
    speeds, wanted, rates = (joint_motions(model, x) for x in (v, v_r, a_r))
    tau: dict[int, Scalar] = {}

    def out(i: int, parent: tuple[Referred, Load]) -> tuple[Referred, Load]:
        motion = refer(chain[i], speeds[i], wanted[i], rates[i], parent[0])
        return motion, inertial_load(chain[i].inertia, motion.reference)

    def back(i: int, state: tuple[Referred, Load], below: list[tuple[int, Load]]) -> Load:
        total = gathered(chain, state[1], below)
        tau.update(zip(model.velocities(i), project(model, i, total.moment, total.force), strict=True))
        return total

    base = Referred(ZERO, Acceleration(ZERO, ZERO, NULL, negate(model.gravity)))
    around(model, (base, Load(ZERO, ZERO)), out, back)
    rows = enumerate(zip(model.joint_parameters, a_r, transport(model, v, v_r), spring_forces(model, q), strict=True))
    return tuple(tau[k] + own.armature * (rate + turn) + spring for k, (own, rate, turn, spring) in rows)


def refer(link: Link, speed: JointMotion, wanted: JointMotion, rate: JointMotion, parent: Referred) -> Referred:
    """Return the motion of a body from its parent's, its joint's, and its joint's reference."""
    before = parent.reference
    omega = add(link.down(parent.omega), speed.angular)
    carried = link.down(before.omega)
    omega_r = add(carried, wanted.angular)
    # ω̇_r = Rᵀω̇_rp + Σw a_r + ω × Σw v_r
    alpha = add(add(link.down(before.alpha), rate.angular), cross(omega, wanted.angular))
    # s̈_r = Rᵀ(s̈_rp + Ω_rp p) + Σl a_r + ω × Σl v_r + Rᵀω_rp × Σl v
    origin = add(link.down(add(before.origin, matvec(before.tensor, link.position))), rate.linear)
    origin = add(origin, add(cross(omega, wanted.linear), cross(carried, speed.linear)))
    tensor = madd(skew(alpha), matmul(skew(omega_r), skew(omega)))
    return Referred(omega, Acceleration(omega_r, alpha, tensor, origin))
