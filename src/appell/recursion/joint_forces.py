"""Joint forces: rotor inertia, viscous damping, Coulomb friction and springs.

A spring has the potential energy ½k s², a damper dissipates the power d ṡ², for a stretch s = Σ cₖqₖ − s₀ of joints
with one coordinate. A joint's own has c = 1 (:attr:`appell.model.model.Model.joint_stretches`), one between joints any
coefficients (:attr:`appell.model.model.Model.stretches`):

    τₖ = Iₐ·(a + ω × v) + d·v + f·sign(v) + k·s,   and of every spring between joints   τₖ += cₖ·(k·s + d·ṡ)

A rotor has the kinetic energy ½Iₐv². Its force is Iₐ·a, plus Iₐ·ω × v for the linear velocities of free and planar
joints, whose axes turn with ω (:meth:`appell.model.joints.Kind.transport`): Lagrange's equations of this energy.
"""

from __future__ import annotations

from appell.model.model import Model, Stretch
from appell.recursion.elimination import is_zero
from appell.recursion.kinematics import Scalars
from appell.recursion.rates import transport
from appell.spatial.scalar import Scalar, sign


def joint_forces(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Scalars:
    """Return the forces of rotor inertia, damping, Coulomb friction and springs on every velocity."""
    fixed_axes = tuple(x + y for x, y in zip(a, transport(model, v, v), strict=True))
    rows = zip(model.joint_parameters, spring_stretches(model, q), v, fixed_axes, strict=True)
    return between_joints(model, q, v, [joint_force(*own, *state) for own, *state in rows])


def joint_force(
    armature: Scalar,
    damping: Scalar,
    friction: Scalar,
    stiffness: Scalar,
    stretch: Scalar,
    speed: Scalar,
    rate: Scalar,
) -> Scalar:
    """Return the joint force of one velocity, whose `rate` is that in axes that do not turn."""
    return armature * rate + damping * speed + friction * sign(speed) + stiffness * stretch


def spring_forces(model: Model, q: Scalars) -> Scalars:
    """Return the forces of all springs: ∂V/∂q of their potential."""
    rows = zip(model.joint_parameters, spring_stretches(model, q), strict=True)
    return between_joints(model, q, (0.0,) * model.nv, [own.stiffness * stretch for own, stretch in rows])


def between_joints(model: Model, q: Scalars, v: Scalars, forces: list[Scalar]) -> Scalars:
    """Return forces with those of springs and dampers between joints added."""
    for spring, stretch in zip(model.springs, model.stretches, strict=True):
        force = spring.stiffness * stretched(stretch, q) + spring.damping * stretch_rate(stretch, v)
        for _, k, c in stretch.terms:
            forces[k] = forces[k] + c * force
    return tuple(forces)


def joint_stretches(model: Model, q: Scalars) -> Scalars:
    """Return for each velocity the stretch of its joint's own spring; 0 for joints with several coordinates."""
    return tuple(0.0 if stretch is None else stretched(stretch, q) for stretch in model.joint_stretches)


def spring_stretches(model: Model, q: Scalars) -> Scalars:
    """Return the same for velocities whose joint has a spring, 0 for all others."""
    rows = zip(model.joint_parameters, model.joint_stretches, strict=True)
    return tuple(0.0 if x is None or is_zero(own.stiffness) else stretched(x, q) for own, x in rows)


def stretched(stretch: Stretch, q: Scalars) -> Scalar:
    """Return Σ cₖqₖ − reference."""
    total: Scalar = -stretch.reference
    for k, _, c in stretch.terms:
        total = total + c * q[k]
    return total


def stretch_rate(stretch: Stretch, v: Scalars) -> Scalar:
    """Return Σ cₖvₖ."""
    total: Scalar = 0.0
    for _, k, c in stretch.terms:
        total = total + c * v[k]
    return total
