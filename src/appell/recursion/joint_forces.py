"""What a joint itself resists with: rotor inertia, viscous damping and Coulomb friction."""

from __future__ import annotations

from appell.model.model import Model
from appell.recursion.kinematics import Scalars
from appell.spatial.scalar import Scalar, sign


def joint_forces(model: Model, v: Scalars, a: Scalars) -> Scalars:
    """Return armature·a + damping·v + friction·sign(v) for every velocity."""
    rows = zip(model.joint_parameters, v, a, strict=True)
    return tuple(joint_force(*own, speed, rate) for own, speed, rate in rows)


def joint_force(armature: Scalar, damping: Scalar, friction: Scalar, speed: Scalar, rate: Scalar) -> Scalar:
    """Return what one velocity of a joint resists with."""
    return armature * rate + damping * speed + friction * sign(speed)
