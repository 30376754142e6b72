"""The equations of motion as a field: q̇ and a of every state, which an integrator follows.

The stages of a Runge–Kutta step leave the unit sphere of a quaternion by a little. There the field is the plain formula
q̇ = ½ q ⊗ (ω, 0), at right angles to q, so that no length is lost or won to first order; positions and accelerations see
the rotation of q/‖q‖ (:func:`appell.spatial.rotation.from_quaternion` divides by ‖q‖²) and do not depend on the length.
"""

from __future__ import annotations

from appell.model.model import Model
from appell.recursion.kinematics import Scalars
from appell.spatial.scalar import Scalar


def coordinate_rates(model: Model, q: Scalars, v: Scalars) -> Scalars:
    """Return q̇, joint by joint."""
    rates: list[Scalars] = []
    for body, at, along in zip(model.bodies, model.q_slices, model.v_slices, strict=True):
        rates += body.joint.type.rates(q[at], v[along])
    return tuple(rates)


def speeds(model: Model, q: Scalars, rates: Scalars) -> Scalars:
    """Return the v whose coordinate rates are given, joint by joint."""
    found: list[Scalars] = []
    for body, at in zip(model.bodies, model.q_slices, strict=True):
        found += body.joint.type.speeds(q[at], rates[at])
    return tuple(found)


def transport(model: Model, v: Scalars, u: Scalars) -> Scalars:
    """Return what is added to u̇ in axes that do not turn, joint by joint: ω × u of linear velocities of joints."""
    found: list[Scalar] = []
    for body, along in zip(model.bodies, model.v_slices, strict=True):
        found += body.joint.type.transport(v[along], u[along])
    return tuple(found)
