"""Derivatives of the dynamics of arms against Pinocchio's analytical ones."""

from __future__ import annotations

import numpy as np
import pytest

import appell

pin = pytest.importorskip("pinocchio")

ARMS = ["ur_description/urdf/ur5_robot.urdf", "so_arm_description/urdf/so101.urdf", "z1_description/urdf/z1.urdf"]


@pytest.fixture(params=ARMS, ids=lambda path: path.split("/")[-1])
def arm(request, robots):
    path = robots / request.param
    model = pin.buildModelFromUrdf(str(path))
    model.armature[:] = 0.0
    robot = appell.load(path, friction=False)
    assert list(model.names)[1:] == robot.joint_names
    return robot, model


def test_inverse_dynamics_derivatives_are_pinocchios(arm, rng, agree):
    robot, model = arm
    data = model.createData()
    q, v, a = robot.random(rng, 20), rng.normal(size=(20, robot.nv)), rng.normal(size=(20, robot.nv))
    ours = robot.inverse_dynamics_derivatives(q, v, a)
    theirs = []
    for sample in zip(q, v, a, strict=True):
        by_q, by_v, by_a = pin.computeRNEADerivatives(model, data, *sample)
        theirs.append((by_q.copy(), by_v.copy(), np.triu(by_a) + np.triu(by_a, 1).T))
    for block, expected in zip(ours, zip(*theirs, strict=True), strict=True):
        agree(block, expected)


def test_forward_dynamics_derivatives_are_pinocchios(arm, rng, agree):
    robot, model = arm
    data = model.createData()
    q, v, a = robot.random(rng, 20), rng.normal(size=(20, robot.nv)), rng.normal(size=(20, robot.nv))
    tau = robot.inverse_dynamics(q, v, a)
    ours = robot.forward_dynamics_derivatives(q, v, tau)
    theirs = []
    for sample in zip(q, v, tau, strict=True):
        by_q, by_v, inverse = pin.computeABADerivatives(model, data, *sample)
        theirs.append((by_q.copy(), by_v.copy(), np.triu(inverse) + np.triu(inverse, 1).T))
    for block, expected in zip(ours, zip(*theirs, strict=True), strict=True):
        agree(block, expected)
