"""Whether two models are the same: names, order, and every number to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from appell.model.model import Model


def numbers(model: Model) -> dict[str, Any]:
    """Return all numbers of a model by what they are about; frames whatever their order."""
    found: dict[str, Any] = {"gravity": model.gravity, "base": model.base.inertia.parameters}
    for body in model.bodies:
        joint = body.joint
        found[body.name] = (body.parent, joint.axis, *body.inertia.parameters, joint.damping, joint.friction)
        found[f"{body.name} at"] = [*joint.placement.rotation, joint.placement.position, joint.axis]
        found[f"{body.name} with"] = (joint.armature, joint.offset, joint.limits.lower, joint.limits.upper)
        found[f"{body.name} drawn by"] = (joint.stiffness, joint.spring_reference)
        found[f"{body.name} up to"] = (joint.limits.velocity, joint.limits.effort)
    for frame in model.frames:
        found[f"frame {frame.name}"] = [*frame.placement.rotation, frame.placement.position, (frame.body,) * 3]
    return {name: np.hstack([np.ravel(x) for x in value]) for name, value in found.items()}


def same(one: Model, other: Model) -> None:
    """Assert that two models are equal to rounding: names, order, and every number."""
    assert [body.joint.name for body in one.bodies] == [body.joint.name for body in other.bodies]
    assert [body.name for body in one.bodies] == [body.name for body in other.bodies]
    assert one.actuators == other.actuators
    ours, theirs = numbers(one), numbers(other)
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-12, atol=1e-13, err_msg=name)
