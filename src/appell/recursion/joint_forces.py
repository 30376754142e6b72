"""Joint forces: rotor inertia, viscous damping, Coulomb friction and springs.

A spring has the potential energy ½k s², a damper dissipates the power d ṡ², for a stretch s = Σ cₖqₖ − s₀ of joints
with one coordinate. A joint's own has c = 1, one between joints any
coefficients (:attr:`appell.model.model.Model.stretches`):

    τₖ = Iₐ·(a + ω × v) + d·v + f·sign(v) + k·s,   and of every spring between joints   τₖ += cₖ·(k·s + d·ṡ)

A rotor has the kinetic energy ½Iₐv². Its force is Iₐ·a, plus Iₐ·ω × v for the linear velocities of free and planar
joints, whose axes turn with ω (:meth:`appell.model.joints.Kind.transport`): Lagrange's equations of this energy.
"""

from __future__ import annotations

from appell.model.model import Model, Stretch
from appell.recursion.elimination import is_zero
from appell.recursion.kinematics import Scalars, posed
from appell.recursion.sweep import Body, Tree
from appell.spatial.scalar import Scalar, sign


def joint_forces(model: Tree, q: Scalars, v: Scalars, a: Scalars) -> Scalars:
    """Return the forces of rotor inertia, damping, Coulomb friction and springs on every velocity."""

    def own(body: Body) -> Scalars:
        speeds = body.of(v)
        turns = body.joint.type.transport(speeds, speeds)
        rows = zip(body.parameters, spring_stretches(body, q), speeds, body.of(a), turns, strict=True)
        return tuple([joint_force(*x, stretch, speed, rate + turn) for x, stretch, speed, rate, turn in rows])

    tree = posed(model, q)
    between = tree.named(between_joints, q, v)
    return tuple(x + y for x, y in zip(tree.vector(tree.each(own)), between, strict=True))


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


def spring_forces(model: Tree, q: Scalars) -> Scalars:
    """Return the forces of all springs: ∂V/∂q of their potential."""

    def own(body: Body) -> Scalars:
        return tuple([x.stiffness * s for x, s in zip(body.parameters, spring_stretches(body, q), strict=True)])

    tree = posed(model, q)
    between = tree.named(between_joints, q, (0.0,) * model.nv)
    return tuple(x + y for x, y in zip(tree.vector(tree.each(own)), between, strict=True))


def between_joints(model: Model, q: Scalars, v: Scalars) -> Scalars:
    """Return the forces of springs and dampers between joints."""
    forces: list[Scalar] = [0.0] * model.nv
    for spring, stretch in zip(model.springs, model.stretches, strict=True):
        force = spring.stiffness * stretched(stretch, q) + spring.damping * stretch_rate(stretch, v)
        for _, k, c in stretch.terms:
            forces[k] = forces[k] + c * force
    return tuple(forces)


def stretches(body: Body, q: Scalars) -> Scalars:
    """Return for each velocity the stretch of its joint's own spring; 0 for joints with several coordinates."""
    own = body.at(q)
    return (own[0] - body.joint.spring_reference,) if len(own) == 1 else (0.0,) * body.joint.type.nv


def spring_stretches(body: Body, q: Scalars) -> Scalars:
    """Return the same where the joint has a spring, 0 where it has none."""
    is_stiff = any(not is_zero(own.stiffness) for own in body.parameters)
    return stretches(body, q) if is_stiff else (0.0,) * body.joint.type.nv


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
