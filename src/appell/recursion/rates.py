"""The equations of motion as a field: q̇ and a of every state, which an integrator follows.

The stages of a Runge–Kutta step leave the unit sphere of a quaternion by a little. There the field is the plain formula
q̇ = ½ q ⊗ (ω, 0), at right angles to q, so that no length is lost or won to first order; positions and accelerations see
the rotation of q/‖q‖ (:func:`appell.spatial.rotation.from_quaternion` divides by ‖q‖²) and do not depend on the length.
"""

from __future__ import annotations

from appell.recursion.kinematics import Scalars, posed
from appell.recursion.sweep import Tree


def coordinate_rates(model: Tree, q: Scalars, v: Scalars) -> Scalars:
    """Return q̇, joint by joint."""
    tree = posed(model, q)
    return tree.vector(tree.each(lambda body: body.joint.type.rates(body.at(q), body.of(v))))


def speeds(model: Tree, q: Scalars, rates: Scalars) -> Scalars:
    """Return the v whose coordinate rates are given, joint by joint."""
    tree = posed(model, q)
    return tree.vector(tree.each(lambda body: body.joint.type.speeds(body.at(q), body.at(rates))))


def transport(model: Tree, v: Scalars, u: Scalars) -> Scalars:
    """Return what is added to u̇ in axes that do not turn, joint by joint: ω × u of linear velocities of joints."""
    tree = posed(model, ())
    return tree.vector(tree.each(lambda body: body.joint.type.transport(body.of(v), body.of(u))))
