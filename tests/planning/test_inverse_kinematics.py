"""Numeric inverse kinematics: goals reached, goals out of reach, limits, any robot and frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.model.model import Frame, Limits, Model
from appell.planning.goal import misfit, pose
from appell.spatial.pose import Pose


def test_goals_that_the_arm_can_reach_are_reached(rng):
    robot = appell.load("rx90")
    goal = robot.pose(robot.random(rng, 100), "dh6")
    found = appell.inverse_kinematics(robot, goal)
    assert found.is_reached.all()
    np.testing.assert_allclose(robot.pose(found.q, "dh6"), goal, atol=1e-8)


def test_joints_keep_their_limits_whether_the_goal_is_reached_or_not(rng):
    robot = appell.load("puma560")
    free = rng.uniform(-np.pi, np.pi, (60, 6))
    found = appell.inverse_kinematics(robot, robot.pose(free, "dh6"), restarts=2)
    for q, body in zip(found.q.T, robot.model.bodies, strict=True):
        assert body.joint.limits.lower <= q.min()
        assert q.max() <= body.joint.limits.upper
    assert found.is_reached.any()
    assert not found.is_reached.all()


def test_a_position_out_of_reach_gives_the_nearest_point_and_says_so():
    robot = appell.load("two-link")
    tip = robot.frame_names[-1]
    reach = np.linalg.norm(robot.pose([0.0, 0.0], tip)[:3, 3])
    goal = robot.pose([0.7, 0.0], tip)[:3, 3] * 2.0
    found = appell.inverse_kinematics(robot, goal, tip)
    assert not found.is_reached
    assert found.error == pytest.approx(reach, rel=1e-9)
    np.testing.assert_allclose(robot.pose(found.q, tip)[:3, 3], 0.5 * goal, atol=1e-5)


def test_the_nearest_pose_of_a_goal_out_of_reach_cannot_be_bettered_nearby(rng):
    robot = appell.load("puma600")
    goal = pose([1.5, 0.4, 0.3], [0.3, 0.5, 0.1])
    found = appell.inverse_kinematics(robot, goal, restarts=5)
    moved = found.q + 1e-3 * rng.normal(size=(500, 6))
    left = misfit(robot.pose(moved, "dh6"), goal)
    assert not found.is_reached
    assert np.linalg.norm(left, axis=-1).min() >= found.error - 1e-9


def test_a_guess_decides_among_branches(rng):
    robot = appell.load("puma600")
    q = np.array([0.3, -0.8, 2.5, 0.4, 0.6, -0.2])
    branches = appell.planning.analytic_ik(robot, robot.pose(q, "dh6"))
    found = appell.inverse_kinematics(robot, robot.pose(q, "dh6"), guess=branches.q + 0.02)
    np.testing.assert_allclose(found.q, branches.q, atol=1e-8)


def test_a_batch_has_the_shape_of_its_goals_and_guesses(rng):
    robot = appell.load("rx90")
    goal = robot.pose(robot.random(rng, (3, 1)), "dh6")
    found = appell.inverse_kinematics(robot, goal, guess=np.zeros((2, 6)))
    assert found.q.shape == (3, 2, 6)
    assert found.is_reached.shape == (3, 2)


def test_no_goals_give_no_joints():
    robot = appell.load("rx90")
    assert appell.inverse_kinematics(robot, np.zeros((0, 4, 4))).q.shape == (0, 6)
    assert appell.planning.analytic_ik(robot, np.zeros((0, 4, 4))).q.shape == (0, 8, 6)


def test_the_same_seed_gives_the_same_joints(rng):
    robot = appell.load("stanford")
    goal = robot.pose(robot.random(rng, 20), "dh6")
    first, second = (appell.inverse_kinematics(robot, goal, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.q, second.q)


def test_a_tree_with_a_free_base_and_a_ball_joint_reaches_with_any_frame(tree, rng):
    shape = [("free", 0), ("revolute", 0), ("ball", 1)]
    robot = appell.load(tree(rng, shape))
    goal = robot.pose(robot.random(rng, 10), "tip")
    found = appell.inverse_kinematics(robot, goal, "tip")
    assert found.is_reached.all()
    quaternions = found.q[:, 3:7]
    np.testing.assert_allclose(np.linalg.norm(quaternions, axis=-1), 1.0, atol=1e-12)


@pytest.mark.parametrize(
    ("goal", "arguments", "message"),
    [
        (np.eye(5), {}, "expected poses"),
        (np.nan, {}, "not finite"),
        (np.eye(4), {"frame": "hand"}, "has no frame 'hand'"),
        (np.eye(4), {"guess": [0.0]}, "guess: expected"),
        (np.tile(np.eye(4), (3, 1, 1)), {"guess": np.zeros((2, 6))}, "do not broadcast"),
        (np.eye(4), {"tolerance": 0.0}, "tolerance: expected a positive number"),
    ],
)
def test_what_does_not_fit_is_refused(goal, arguments, message):
    with pytest.raises(InputError, match=message):
        appell.inverse_kinematics(appell.load("puma600"), goal, **arguments)


# Robots with loops, wheels, a closed form, many joints


@pytest.mark.parametrize(
    ("name", "frame"),
    [
        ("stewart", "platform"),
        ("delta", "platform"),
        ("five-bar", "distal1"),
        ("mobile-arm", "forearm"),
        ("mobile-arm", "right_wheel"),
        ("agile-wrist", "platform"),
        ("sst", "platform"),
    ],
)
def test_robots_of_every_kind_reach_what_they_can_reach(name, frame, rng):
    robot = appell.load(name)
    goal = robot.pose(robot.random(rng, 8), frame)
    found = appell.inverse_kinematics(robot, goal, frame)
    assert found.is_reached.all()
    np.testing.assert_allclose(robot.pose(found.q, frame), goal, atol=1e-8)
    assert np.max(robot.closure_error(found.q)) < 1e-10


def test_a_closed_robot_goes_as_near_as_its_loops_allow_and_says_so():
    robot = appell.load("five-bar")
    goal = 5.0 * robot.pose(robot.neutral(), "tips/first")[:3, 3] + [5.0, 0.0, 0.0]
    found = appell.inverse_kinematics(robot, goal, "tips/first", restarts=3)
    assert not found.is_reached
    assert robot.closure_error(found.q) < 1e-10
    nearby = robot.integrate(found.q, 1e-4 * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]))
    assert np.linalg.norm(robot.pose(nearby, "tips/first")[:, :3, 3] - goal, axis=-1).min() >= found.error - 1e-6


def test_actuators_keep_their_limits(rng):
    free = appell.load("five-bar")
    bodies = [
        replace(body, joint=replace(body.joint, limits=Limits(low - 0.1, low + 0.1)))
        if body.joint.name in free.actuators
        else body
        for body, low in zip(free.model.bodies, free.neutral(), strict=True)
    ]
    robot = free.with_model(replace(free.model, bodies=tuple(bodies)))
    goals = free.pose(free.random(rng, 20), "tips/first")[:, :3, 3]
    motors = robot.actuator_positions(appell.inverse_kinematics(robot, goals, "tips/first", restarts=2).q)
    home = robot.actuator_positions(robot.neutral())
    assert np.abs(motors - home).max() == pytest.approx(0.1, abs=1e-12)


@pytest.mark.slow  # test_tasks.py has a robot of a hundred bodies
def test_a_planar_arm_of_forty_joints_reaches(rng):
    """More joints than rows: the smaller of the two systems is solved, of rank three."""
    link = appell.load("two-link").model.bodies[1]
    bodies = [replace(link, name=f"b{k}", parent=k - 1, joint=replace(link.joint, name=f"j{k}")) for k in range(40)]
    robot = appell.load(Model("snake", tuple(bodies), (Frame("tip", 39, Pose()),)))
    goal = robot.pose(robot.random(rng, 5), "tip")
    assert appell.inverse_kinematics(robot, goal, "tip").is_reached.all()
