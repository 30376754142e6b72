"""Inverse dynamics from the Gibbs function, in tensor form: mata2002 section 4.1, for any tree and any joint.

The Gibbs function (acceleration energy) of a body whose origin accelerates by s̈ and whose points x accelerate by
s̈ + Ωx, with Ω = ω̇~ + ω̃², is

    S = ½ ∫ |s̈ + Ωx|² dm = ½ m s̈·s̈ + s̈·Ωh + ½ tr(Ω Σ Ωᵀ)                                              (1)

and τ = ∂S/∂a. As ∂s̈/∂aₖ and ∂ω̇/∂aₖ of all bodies beyond joint k are those of one rigid motion, the sum over bodies
becomes a recursion of a force φ and a moment χ about the body's origin (mata2002 (14)–(16)), here with the moments
m, h, Σ about the origin instead of mass centres, so that bodies without mass are no exception:

    f = ∂S/∂s̈ = m s̈ + Ωh,   t = ∂S/∂ω̇ = h × s̈ + axial(ΩΣ)                                              (2)
    φ = f + Σ_children Rφ_c,   χ = t + Σ_children (Rχ_c + p × Rφ_c)                                         (3)
    τₖ = wₖ·χ + lₖ·φ                                                                                        (4)

Gravity enters as an acceleration −g of the base.
"""

from __future__ import annotations

from typing import NamedTuple

from appell.recursion.joint_forces import joint_forces
from appell.recursion.kinematics import NO_LOAD, JointMotion, Link, Load, Scalars, carried, motions, posed, projected
from appell.recursion.sweep import Body, Executor, PerBody, Tree
from appell.spatial.inertia import NULL, Inertia
from appell.spatial.scalar import Matrix, Scalar, Vector
from appell.spatial.vector import ZERO, add, cross, dot, matvec, negate, scale


class Acceleration(NamedTuple):
    """Motion of a body in its own frame: ω, ω̇, the acceleration tensor Ω, and s̈ of its origin."""

    omega: Vector
    alpha: Vector
    tensor: Matrix
    origin: Vector


def inverse_dynamics(model: Tree, q: Scalars, v: Scalars, a: Scalars) -> Scalars:
    """Return τ = ∂S/∂a, joint friction and rotor inertia included."""
    tree, extra = posed(model, q), joint_forces(model, q, v, a)
    speeds, rates = motions(tree, v), motions(tree, a)

    def out(body: Body, parent: Acceleration) -> tuple[Acceleration, Load]:
        own = accelerate(body.link, speeds[body], rates[body], parent)
        return own, inertial_load(body.inertia, own)  # (2)

    def back(body: Body, _: Acceleration, load: Load) -> tuple[Load, Scalars]:
        return carried(body.link, load), projected(body.columns, load)  # (3), (4)

    tau = tree.vector(tree.around(falling(tree.gravity), NO_LOAD, out, back).kept)
    return tuple(t + e for t, e in zip(tau, extra, strict=True))


def falling(gravity: Vector) -> Acceleration:
    """Return the motion of the base."""
    return Acceleration(ZERO, ZERO, NULL, negate(gravity))


def accelerations(tree: Executor, v: Scalars, a: Scalars) -> PerBody:
    """Return the motion of every body, gravity included as an acceleration of the base."""
    speeds, rates = motions(tree, v), motions(tree, a)

    def step(body: Body, parent: Acceleration) -> Acceleration:
        return accelerate(body.link, speeds[body], rates[body], parent)

    return tree.outward(falling(tree.gravity), step)


def accelerate(link: Link, speed: JointMotion, rate: JointMotion, parent: Acceleration) -> Acceleration:
    """Return the motion of a body from its parent's and its joint's (mata2002 4.1, step 1)."""
    carried = link.down(parent.omega)
    omega = add(carried, speed.angular)
    # ω̇ = Rᵀω̇_p + Σw a + Rᵀω_p × Σw v
    alpha = add(add(link.down(parent.alpha), rate.angular), cross(carried, speed.angular))
    # s̈ = Rᵀ(s̈_p + Ω_p p) + Σl a + (2 Rᵀω_p + Σw v) × Σl v
    tensor = acceleration_tensor(parent.omega, parent.alpha)
    origin = link.down(add(parent.origin, matvec(tensor, link.position)))
    sliding = cross(add(carried, omega), speed.linear)
    return Acceleration(omega, alpha, acceleration_tensor(omega, alpha), add(add(origin, rate.linear), sliding))


def acceleration_tensor(omega: Vector, alpha: Vector) -> Matrix:
    """Return Ω = ω̇~ + ω̃², mata2002 (12)."""
    x, y, z = omega
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    return (
        (-(yy + zz), xy - alpha[2], xz + alpha[1]),
        (xy + alpha[2], -(xx + zz), yz - alpha[0]),
        (xz - alpha[1], yz + alpha[0], -(xx + yy)),
    )


def inertial_load(inertia: Inertia, motion: Acceleration) -> Load:
    """Return ∂S/∂s̈ and ∂S/∂ω̇ of one body, Eq. (2)."""
    force = add(scale(inertia.mass, motion.origin), matvec(motion.tensor, inertia.first))
    moment = add(cross(inertia.first, motion.origin), axial_product(motion.tensor, inertia.second))
    return Load(force, moment)


def axial_product(o: Matrix, s: Matrix) -> Vector:
    """Return the vector of ΩΣ − (ΩΣ)ᵀ for symmetric Σ in 15 multiplications, mata2002 (10)."""
    return (
        o[2][0] * s[0][1] - o[1][0] * s[0][2] + (o[2][2] - o[1][1]) * s[1][2] + o[2][1] * s[1][1] - o[1][2] * s[2][2],
        o[0][1] * s[1][2] - o[2][1] * s[0][1] + (o[0][0] - o[2][2]) * s[0][2] + o[0][2] * s[2][2] - o[2][0] * s[0][0],
        o[1][2] * s[0][2] - o[0][2] * s[1][2] + (o[1][1] - o[0][0]) * s[0][1] + o[1][0] * s[0][0] - o[0][1] * s[1][1],
    )


def bias(model: Tree, q: Scalars, v: Scalars) -> Scalars:
    """Return C(q, v)·v + G(q) and joint friction: the inverse dynamics at rest of accelerations."""
    return inverse_dynamics(model, q, v, (0.0,) * model.nv)


def gravity(model: Tree, q: Scalars) -> Scalars:
    """Return G(q): the inverse dynamics at rest."""
    still = (0.0,) * model.nv
    return inverse_dynamics(model, q, still, still)


def body_gibbs(inertia: Inertia, motion: Acceleration) -> Scalar:
    """Return the Gibbs function of one body, Eq. (1)."""
    m, h, second = inertia
    spread = sum((dot(row, matvec(second, row)) for row in motion.tensor), start=0.0)
    return 0.5 * (m * dot(motion.origin, motion.origin) + spread) + dot(motion.origin, matvec(motion.tensor, h))


def gibbs(model: Tree, q: Scalars, v: Scalars, a: Scalars) -> Scalar:
    """Return the Gibbs function S whose gradient by a is τ, Eq. (1); gravity and joint terms included."""
    tree, still = posed(model, q), joint_forces(model, q, v, (0.0,) * model.nv)
    moving = accelerations(tree, v, a)

    def own(body: Body) -> Scalar:
        rates = zip(body.parameters, body.of(still), body.of(a), strict=True)
        joint = sum((rate * (force + 0.5 * x.armature * rate) for x, force, rate in rates), start=0.0)
        return body_gibbs(body.inertia, moving[body]) + joint

    return tree.total(0.0, tree.each(own))
