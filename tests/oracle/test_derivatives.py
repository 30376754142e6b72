"""Derivatives of the dynamics of arms, a quadruped and humanoids against Pinocchio's analytical ones."""

from __future__ import annotations

import numpy as np
import pytest

import appell

pin = pytest.importorskip("pinocchio")

ARMS = ["ur_description/urdf/ur5_robot.urdf", "so_arm_description/urdf/so101.urdf", "z1_description/urdf/z1.urdf"]
QUADRUPED = "go2_description/urdf/go2.urdf"
HUMANOIDS = ["g1_description/urdf/g1_29dof_rev_1_0.urdf", "talos_data/robots/talos_reduced.urdf"]
ROBOTS = [*ARMS, QUADRUPED, *(pytest.param(path, marks=pytest.mark.slow) for path in HUMANOIDS)]


@pytest.fixture(params=ROBOTS, ids=lambda path: path.split("/")[-1])
def pair(request, robots):
    """Return a robot, Pinocchio's model of it, and where Pinocchio's velocities are among the robot's."""
    path, is_fixed = robots / request.param, request.param in ARMS
    model = pin.buildModelFromUrdf(str(path), *(() if is_fixed else (pin.JointModelFreeFlyer(),)))
    model.armature[:] = 0.0
    robot = appell.load(path, floating=not is_fixed, friction=False, armature=False)
    base = 0 if is_fixed else 6
    own = robot.joint_names[not is_fixed :]
    order = [*range(base), *(base + own.index(name) for name in list(model.names)[1 if is_fixed else 2 :])]
    assert sorted(order) == list(range(robot.nv))
    return robot, model, np.array(order)


def theirs(derivatives, model, order, q, v, x):
    """Return three blocks of derivatives, samples first, in the order of the robot's velocities."""
    data, results, back = model.createData(), [], np.argsort(order)
    more = q.shape[-1] - len(order)  # a quaternion has one number more, before all other joints
    places = np.concatenate([np.arange(more), order + more])
    for sample in zip(q[:, places], v[:, order], x[:, order], strict=True):
        by_q, by_v, last = derivatives(model, data, *sample)
        blocks = by_q, by_v, np.triu(last) + np.triu(last, 1).T
        results.append([block[np.ix_(back, back)] for block in blocks])
    return zip(*results, strict=True)


def test_inverse_dynamics_derivatives_are_pinocchios(pair, rng, agree):
    robot, model, order = pair
    q, v, a = robot.random(rng, 20), rng.normal(size=(20, robot.nv)), rng.normal(size=(20, robot.nv))
    expected = theirs(pin.computeRNEADerivatives, model, order, q, v, a)
    for block, other in zip(robot.inverse_dynamics_derivatives(q, v, a), expected, strict=True):
        agree(block, other)


def test_forward_dynamics_derivatives_are_pinocchios(pair, rng, agree):
    robot, model, order = pair
    q, v, a = robot.random(rng, 20), rng.normal(size=(20, robot.nv)), rng.normal(size=(20, robot.nv))
    tau = robot.inverse_dynamics(q, v, a)
    expected = theirs(pin.computeABADerivatives, model, order, q, v, tau)
    for block, other in zip(robot.forward_dynamics_derivatives(q, v, tau), expected, strict=True):
        agree(block, other)
