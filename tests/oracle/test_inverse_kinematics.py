"""Numeric inverse kinematics on robots nobody here wrote: Pinocchio finds the frame where the goal is."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import appell

pin = pytest.importorskip("pinocchio")


@pytest.mark.parametrize(
    ("file", "frame"),
    [
        ("ur_description/urdf/ur5_robot.urdf", "tool0"),
        ("panda_description/urdf/panda.urdf", "panda_hand"),
    ],
)
def test_the_joints_found_put_pinocchios_frame_at_the_goal(robots, file, frame, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", appell.AppellWarning)  # of inertias that no body has: real files do it
        robot = appell.load(robots / file)
    model = pin.buildModelFromUrdf(str(robots / file))
    data = model.createData()
    order = [model.joints[model.getJointId(name)].idx_q for name in robot.joint_names]
    goals = []
    for q in robot.random(rng, 40):
        theirs = np.zeros(model.nq)
        theirs[order] = q
        pin.framesForwardKinematics(model, data, theirs)
        goals.append(data.oMf[model.getFrameId(frame)].homogeneous)
    found = appell.inverse_kinematics(robot, np.array(goals), frame)
    assert found.is_reached.all()
    for q, goal in zip(found.q, goals, strict=True):
        theirs = np.zeros(model.nq)
        theirs[order] = q
        pin.framesForwardKinematics(model, data, theirs)
        np.testing.assert_allclose(data.oMf[model.getFrameId(frame)].homogeneous, goal, atol=1e-8)
        assert (q >= model.lowerPositionLimit[order]).all()
        assert (q <= model.upperPositionLimit[order]).all()
