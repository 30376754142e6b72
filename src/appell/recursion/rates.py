"""The equations of motion as a field: q̇ and a of every state, which an integrator follows.

The stages of a Runge–Kutta step leave the unit sphere of a quaternion by a little. There the field is the plain formula
q̇ = ½ q ⊗ (ω, 0), at right angles to q, so that no length is lost or won to first order; positions and accelerations see
the rotation of q/‖q‖ (:func:`appell.spatial.rotation.from_quaternion` divides by ‖q‖²) and do not depend on the length.
"""

from __future__ import annotations

from collections.abc import Callable

from appell.model.model import Model
from appell.recursion.kinematics import Scalars

Dynamics = Callable[[Model, Scalars, Scalars, Scalars], Scalars]


def coordinate_rates(model: Model, q: Scalars, v: Scalars) -> Scalars:
    """Return q̇ of the robot's own coordinates, joint by joint."""
    own = model.independent
    rates: list[Scalars] = []
    for body, at, along in zip(own.bodies, own.q_slices, own.v_slices, strict=True):
        rates += body.joint.type.rates(q[at], v[along])
    return tuple(rates)


def motion(forward_dynamics: Dynamics) -> Callable[[Model, Scalars, Scalars, Scalars], tuple[Scalars, Scalars]]:
    """Return the function of q, v and τ that gives q̇ and a, by a formulation of forward dynamics."""

    def field(model: Model, q: Scalars, v: Scalars, tau: Scalars) -> tuple[Scalars, Scalars]:
        return coordinate_rates(model, q, v), forward_dynamics(model, q, v, tau)

    return field
