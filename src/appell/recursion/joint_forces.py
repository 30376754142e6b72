"""What a joint itself resists with: rotor inertia, viscous damping and Coulomb friction."""

from __future__ import annotations

from appell.model.model import Model
from appell.recursion.kinematics import Scalars
from appell.spatial.scalar import sign


def joint_forces(model: Model, v: Scalars, a: Scalars) -> Scalars:
    """Return armature·a + damping·v + friction·sign(v) for every velocity."""
    result = []
    for body, where in zip(model.bodies, model.v_slices, strict=True):
        joint = body.joint
        for speed, rate in zip(v[where], a[where], strict=True):
            force = joint.armature * rate + joint.damping * speed
            result.append(force + joint.friction * sign(speed) if joint.friction else force)
    return tuple(result)
