"""mata2002, sections 4.1 and 4.2 as written: gradient and Hessian of the Gibbs function.

:mod:`appell.recursion.gibbs` keeps the same force φ and moment χ, from moments about the body's origin. The paper first
carries the acceleration to the mass centre, step 1, and the force back to the origin, step 3:

    r̈ = s̈ + Ωr,   f = m r̈,   t~ = ΩJ − (ΩJ)ᵀ                                                     (9), (10), steps 1, 2
    φ = Σ_children R(f + φ)_c,   χ = r × f + t + Σ_children (Rχ_c + p × R(f + φ)_c)                  (15), (16), step 3
    τₖ = wₖ·χ + lₖ·(f + φ)                                                                          (14)

with J = ½ tr(I)·1 − I (11), Euler's tensor about the mass centre. The paper's arms are serial and revolute; here a body
has any number of children, and a joint any columns (w, l). A body without mass keeps its origin for a mass centre.

Section 4.2 gathers the first moment φ and the inertia tensor ψ of composite bodies. What is constant is computed off
line, with H a body's own tensor, s the vector to a child's origin and φ_c turned by R:

    γ = m r + Σ_children M_c s,   E = H − Σ_children M_c s̃s̃                                              step 1
    φ = γ + Σ_children φ_c,   ψ = E + Σ_children (Rψ_cRᵀ − s̃φ̃_c − (s̃φ̃_c)ᵀ)                             steps 4, 5
"""

from __future__ import annotations

from appell.model.model import Model
from appell.recursion.gibbs import accelerations, axial_product
from appell.recursion.inertia_matrix import Composite, hessian
from appell.recursion.joint_forces import joint_forces
from appell.recursion.kinematics import Load, Scalars, gathered, links, posed, project
from appell.recursion.sweep import Rows, inward
from appell.recursion.vector_form import central_moment
from appell.spatial.scalar import Scalar
from appell.spatial.vector import add, cross, madd, matmul, matvec, mscale, msub, scale, skew, transpose


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Scalars:
    """Return τ = ∂S/∂a, joint friction and rotor inertia included."""
    chain = links(model, q)
    moving = accelerations(posed(model, q), v, a)

    def step(i: int, below: list[tuple[int, Load]]) -> Load:
        inertia, motion = model.bodies[i].inertia, moving[i]
        centre, second = central_moment(inertia)
        acceleration = add(motion.origin, matvec(motion.tensor, centre))  # r̈
        force = scale(inertia.mass, acceleration)  # (9)
        moment = add(cross(centre, force), axial_product(motion.tensor, second))  # (10)
        return gathered(chain, Load(force, moment), below)  # (15), (16)

    tau: list[Scalar] = []
    for i, load in enumerate(inward(model, step)):
        tau.extend(project(model, i, load.moment, load.force))  # (14)
    return tuple(t + e for t, e in zip(tau, joint_forces(model, q, v, a), strict=True))


def bias(model: Model, q: Scalars, v: Scalars) -> Scalars:
    """Return C(q, v)·v + G(q) and joint friction: section 4.1 without the terms of the joints' accelerations."""
    return inverse_dynamics(model, q, v, (0.0,) * model.nv)


def mass_matrix(model: Model, q: Scalars) -> Rows:
    """Return D = ∂²S/∂a² (19), rotor inertia included."""
    chain = links(model, q)

    def step(i: int, below: list[tuple[int, Composite]]) -> Composite:
        mass, first, _ = inertia = model.bodies[i].inertia
        tensor = inertia.tensor
        arms = [skew(chain[child].position) for child, _ in below]
        for (child, whole), arm in zip(below, arms, strict=True):  # step 1
            mass = mass + whole.mass
            first = add(first, scale(whole.mass, chain[child].position))
            tensor = msub(tensor, mscale(whole.mass, matmul(arm, arm)))
        for (child, whole), arm in zip(below, arms, strict=True):
            turned = chain[child].up(whole.first)
            first = add(first, turned)  # step 4
            product = matmul(arm, skew(turned))
            shifted = msub(tensor, madd(product, transpose(product)))
            tensor = madd(shifted, chain[child].up_symmetric(whole.tensor))  # step 5
        return Composite(mass, first, tensor)

    wholes = inward(model, step)
    return hessian(model, chain, wholes)
