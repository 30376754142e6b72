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


@pytest.mark.parametrize(
    ("file", "feet"),
    [
        ("anymal_b_simple_description/robots/anymal.urdf", ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]),
        ("solo_description/robots/solo12.urdf", ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]),
    ],
)
def test_a_robot_on_its_feet_moves_pinocchios_centre_of_mass_and_keeps_its_feet(robots, file, feet, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", appell.AppellWarning)
        robot = appell.load(robots / file, floating=True)
    model = pin.buildModelFromUrdf(str(robots / file), pin.JointModelFreeFlyer())
    data = model.createData()
    order = [0, 1, 2, 3, 4, 5, 6, *(model.joints[model.getJointId(name)].idx_q for name in robot.joint_names[1:])]
    start = robot.neutral()
    start[7:] = np.tile([0.0, 0.7, -1.4], 4)
    stands = {foot: robot.pose(start, foot)[:3, 3] for foot in feet}
    centres = robot.centre_of_mass(start) + 0.04 * rng.uniform(-1.0, 1.0, size=(6, 3))
    steps = [appell.tasks.Position(place, foot) for foot, place in stands.items()]
    tasks = [*steps, appell.tasks.CentreOfMass(centres), appell.tasks.Posture(start)]
    found = appell.inverse_kinematics(robot, tasks=tasks, guess=start, restarts=0)
    assert found.is_reached.all()
    for q, centre in zip(found.q, centres, strict=True):
        theirs = np.zeros(model.nq)
        theirs[order] = q
        np.testing.assert_allclose(pin.centerOfMass(model, data, theirs), centre, atol=1e-8)
        pin.framesForwardKinematics(model, data, theirs)
        for foot, place in stands.items():
            np.testing.assert_allclose(data.oMf[model.getFrameId(foot)].translation, place, atol=1e-8)
