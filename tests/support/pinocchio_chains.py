"""A spherical robot's chains in Pinocchio, an independent program: its own constrained dynamics of seven joints.

Pinocchio's recursions need joints in depth-first order. Its constraints connect points, not hinges: all axes meet in
the centre, so a point on the hinge's axis at one metre is equivalent to the hinge. One of the point's three rows is
redundant, which the proximal solver supports.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from appell.extras import extra, is_installed
from appell.model.model import WORLD, Model
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array

PROXIMAL = (1e-14, 1e-10, 100)
"""Accuracy, regularisation and greatest number of steps of Pinocchio's proximal solver."""


def has_pinocchio() -> bool:
    """Return whether Pinocchio is installed."""
    return is_installed("pinocchio")


def accelerations(model: Model, q: Array, v: Array, tau: Array) -> Array:
    """Return the accelerations (n, joints) of chains under joint torques, by Pinocchio's constraintDynamics.

    Parameters
    ----------
    model
        Chains of revolute joints about z, of :func:`appell.loops.spherical.chains.chains_of`.
    q, v, tau
        Positions, velocities and torques (n, joints) of all joints of the model, in its order [rad, rad/s, N·m].

    Raises
    ------
    InputError
        When Pinocchio is not installed.
    """
    pin = extra("pinocchio", "the check of chains needs")
    made = pin.Model()
    made.gravity.linear = np.array(model.gravity)
    joints = {WORLD: 0}
    for i in _depth_first(model):
        body = model.bodies[i]
        placement = _placed(pin, body.joint.placement)
        joints[i] = made.addJoint(joints[body.parent], pin.JointModelRZ(), placement, body.joint.name)
        inertia = pin.Inertia.FromDynamicParameters(np.array(body.inertia.parameters))
        made.appendBodyToJoint(joints[i], inertia, pin.SE3.Identity())
    order = [made.joints[joints[i]].idx_v for i in range(len(model.bodies))]
    ties, kept, data = _ties(pin, made, joints, model)
    settings = pin.ProximalSettings(*PROXIMAL)
    found = np.empty_like(q)
    there = np.argsort(order)
    for k in range(len(q)):
        state = (x[k, there] for x in (q, v, tau))
        found[k] = pin.constraintDynamics(made, data, *state, ties, kept, settings)[order]
    return found


def _ties(pin: Any, made: Any, joints: dict[int, int], model: Model) -> tuple[Any, Any, Any]:
    """Return the loops as point constraints, with their data in Pinocchio."""
    out = pin.SE3(np.eye(3), np.array([0.0, 0.0, 1.0]))
    ties, kept = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for closure in model.closures:
        ends: list[Any] = []
        for name in (closure.first, closure.second):
            frame = model.frame_index[name]
            ends += [joints[frame.body], _placed(pin, frame.placement) * out]
        ties.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, made, *ends, pin.LOCAL))
    for tie in ties:
        kept.append(tie.createData())
    data = made.createData()
    try:
        pin.initConstraintDynamics(made, data, ties, kept)
    except TypeError:  # before Pinocchio 4
        pin.initConstraintDynamics(made, data, ties)
    return ties, kept, data


def _depth_first(model: Model) -> list[int]:
    """Return the bodies in depth-first order."""

    def below(parent: int) -> list[int]:
        children = [i for i, body in enumerate(model.bodies) if body.parent == parent]
        return [x for i in children for x in (i, *below(i))]

    return below(WORLD)


def _placed(pin: Any, pose: Pose) -> Any:
    return pin.SE3(np.array(pose.rotation), np.array(pose.position))
