"""Weighted tasks of inverse kinematics: residuals and their Jacobians, preferences, limits, batches, every kind."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy

import appell
from appell.errors import InputError
from appell.model.model import Frame, Model
from appell.planning.descent import logarithm
from appell.planning.tasks import CentreOfMass, Orientation, Position, Posture
from appell.robot.kind import FILE
from appell.spatial.pose import Pose

Rotation = scipy.spatial.transform.Rotation
PUMA = appell.load("puma560")
TOOLED = PUMA.with_frame("tool", PUMA.link_names[-1], [0.1, 0.05, 0.2])
HALF_TURNS = [np.diag([1.0, -1.0, -1.0]), np.diag([-1.0, 1.0, -1.0]), np.diag([-1.0, -1.0, 1.0])]
REST = np.array([0.2, 0.7, -0.9, 0.1, 0.6, -0.3])


def rows(matrix):
    return tuple(tuple(map(float, row)) for row in matrix)


# Residuals


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-6, 1e-2, 0.1, 1.0, 2.0, 3.0, np.pi - 1e-3, np.pi - 1e-9])
def test_the_rotation_vector_is_scipys_at_every_angle(angle, rng):
    for axis in rng.normal(size=(20, 3)):
        vector = angle * axis / np.linalg.norm(axis)
        found, _ = logarithm(rows(Rotation.from_rotvec(vector).as_matrix()))
        np.testing.assert_allclose(found, vector, atol=2e-15 + 1e-15 * angle)


def test_half_a_turn_has_a_rotation_vector_of_length_pi(rng):
    axes = rng.normal(size=(20, 3))
    matrices = [2.0 * np.outer(x, x) / (x @ x) - np.eye(3) for x in axes]
    for R in (*HALF_TURNS, *matrices):
        found, _ = logarithm(rows(R))
        assert np.linalg.norm(found) == pytest.approx(np.pi, rel=1e-14)
        np.testing.assert_allclose(Rotation.from_rotvec(found).as_matrix(), R, atol=1e-14)


@pytest.mark.parametrize("angle", [1e-9, 1e-3, 9e-3, 1.1e-2, 0.5, 2.0, 3.1])
def test_the_inverse_left_jacobian_takes_the_angular_velocity_to_the_rate_of_the_vector(angle, rng):
    step = 1e-6
    for axis, omega in zip(*rng.normal(size=(2, 10, 3)), strict=True):
        R = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis))
        _, inverse = logarithm(rows(R.as_matrix()))
        ahead, behind = (logarithm(rows((Rotation.from_rotvec(s * omega) * R).as_matrix()))[0] for s in (step, -step))
        slope = (np.array(ahead) - np.array(behind)) / (2.0 * step)
        np.testing.assert_allclose(np.array(inverse) @ omega, slope, atol=1e-8)


@pytest.mark.parametrize("name", ["puma560", "five-bar", "stewart", "agile-wrist", "mobile-arm"])
def test_jacobians_of_tasks_are_those_of_their_residuals(name, rng):
    from appell.planning.descent import FRAMES  # noqa: PLC0415

    robot = appell.load(name)
    q, step = robot.random(rng, 1)[0], 1e-6
    embedding, goal = robot.kind.embedding(FILE), tuple(Rotation.random(rng=rng).as_matrix().ravel())
    for task, (residual, size) in FRAMES.items():
        frame = None if task == "CentreOfMass" else robot.frame_names[-1]

        def value(q, residual=residual, goal=goal[:size], frame=frame):
            return residual(embedding.at(tuple(map(float, q))), goal, frame)

        found = np.array(value(q).rows, dtype=float)
        for k, unit in enumerate(np.eye(robot.nv)):
            ahead, behind = (np.array(value(robot.integrate(q, s * unit)).value, dtype=float) for s in (step, -step))
            np.testing.assert_allclose(found[:, k], (ahead - behind) / (2.0 * step), atol=1e-7, err_msg=task)


# Tasks


def test_a_goal_that_is_half_a_turn_away_is_reached():
    robot = appell.load("puma600")
    start = np.array([0.3, -0.8, 2.5, 0.4, 0.6, -0.2])
    goal = np.tile(robot.pose(start, "dh6"), (3, 1, 1))
    goal[:, :3, :3] = goal[:, :3, :3] @ HALF_TURNS
    found = appell.inverse_kinematics(robot, goal, "dh6", guess=start, restarts=0)
    assert found.is_reached.any()
    assert appell.inverse_kinematics(robot, goal, "dh6", guess=start).is_reached.all()


def test_axes_of_weight_zero_are_free_and_do_not_count():
    found = appell.inverse_kinematics(PUMA, tasks=[Position([9.0, 9.0, 0.3], "dh6", weight=(0.0, 0.0, 2.0))])
    assert found.is_reached
    assert PUMA.pose(found.q, "dh6")[2, 3] == pytest.approx(0.3, abs=1e-9)
    assert found.residuals[0] <= 1e-9


def test_an_orientation_may_leave_the_rotation_about_an_axis_of_the_target_free(rng):
    targets = Rotation.random(40, rng=rng).as_matrix()
    place = PUMA.pose(REST, "dh6")[:3, 3]
    task = Orientation(targets, "dh6", weight=(0.0, 1.0, 1.0))
    found = appell.inverse_kinematics(PUMA, place, "dh6", tasks=[task])
    whole = appell.inverse_kinematics(PUMA, place, "dh6", tasks=[Orientation(targets, "dh6")])
    axes = PUMA.pose(found.q, "dh6")[:, :3, 0]
    np.testing.assert_allclose(axes[found.is_reached], targets[found.is_reached, :, 0], atol=1e-8)
    assert found.is_reached.sum() > whole.is_reached.sum()


def test_the_centre_of_mass_goes_to_its_target(rng):
    target = PUMA.centre_of_mass(PUMA.random(rng, 10))
    found = appell.inverse_kinematics(PUMA, tasks=[CentreOfMass(target)])
    assert found.is_reached.all()
    np.testing.assert_allclose(PUMA.centre_of_mass(found.q), target, atol=1e-8)


def test_a_preference_does_not_keep_a_goal_from_being_reached_and_is_as_near_as_the_goal_allows(rng):
    places = TOOLED.pose(TOOLED.random(rng, 30), "tool")[:, :3, 3]
    plain = appell.inverse_kinematics(TOOLED, places, "tool", guess=REST)
    found = appell.inverse_kinematics(TOOLED, places, "tool", guess=REST, tasks=[Posture(REST, weight=0.1)])
    assert found.is_reached.all()
    assert found.position_error.max() <= 1e-9
    away, before = (np.linalg.norm(x.q - REST, axis=-1) for x in (found, plain))
    assert np.median(away) < 0.98 * np.median(before)
    np.testing.assert_allclose(found.residuals[:, 1], away, atol=1e-12)
    # at the least distance on the goal's manifold its direction has no part along motions that keep the goal
    low, high = TOOLED.limits.lower, TOOLED.limits.upper
    inside = ((found.q > low + 0.05) & (found.q < high - 0.05)).all(axis=-1)
    assert inside.sum() > 5
    for q in found.q[inside]:
        J = TOOLED.jacobian(q, "tool")[:3]
        free = np.eye(6) - np.linalg.pinv(J) @ J
        assert np.linalg.norm(free @ (q - REST)) < 0.1 * np.linalg.norm(q - REST) + 0.02


def test_weights_set_the_balance_of_tasks_that_exclude_each_other():
    one, two = np.array([0.5, 0.1, 0.4]), np.array([0.5, 0.3, 0.4])
    places = []
    for weight in (1.0, 3.0):
        tasks = [Position(one, "dh6"), Position(two, "dh6", weight)]
        found = appell.inverse_kinematics(PUMA, tasks=tasks, restarts=3)
        assert not found.is_reached
        places.append(PUMA.pose(found.q, "dh6")[:3, 3])
        np.testing.assert_allclose(places[-1], (one + weight**2 * two) / (1.0 + weight**2), atol=1e-6)


def test_a_posture_beyond_the_limits_ends_at_the_limits():
    high = PUMA.limits.upper
    found = appell.inverse_kinematics(PUMA, tasks=[Posture(high + 1.0, weight=1.0)])
    np.testing.assert_array_equal(found.q, high)
    assert found.is_reached


def test_a_posture_with_a_tolerance_is_a_goal():
    away = appell.inverse_kinematics(
        PUMA, PUMA.pose(REST, "dh6"), "dh6", guess=REST + 0.3, tasks=[Posture(REST + 0.5, tolerance=1e-3)], restarts=2
    )
    assert not away.is_reached
    near = appell.inverse_kinematics(
        PUMA, PUMA.pose(REST, "dh6"), "dh6", guess=REST + 0.3, tasks=[Posture(REST, tolerance=1e-3)], restarts=2
    )
    assert near.is_reached


def test_a_solution_does_not_depend_on_the_rest_of_its_batch(rng):
    goals = PUMA.pose(PUMA.random(rng, 12), "dh6")
    tasks = [Posture(REST)]
    whole = appell.inverse_kinematics(PUMA, goals, "dh6", guess=REST, restarts=0, tasks=tasks, tolerance=1e-6)
    for goal, q in zip(goals, whole.q, strict=True):
        one = appell.inverse_kinematics(PUMA, goal, "dh6", guess=REST, restarts=0, tasks=tasks, tolerance=1e-6)
        np.testing.assert_allclose(one.q, q, rtol=0.0, atol=1e-12)


def test_targets_of_several_tasks_broadcast(rng):
    places = PUMA.pose(PUMA.random(rng, (4, 1)), "dh6")[..., :3, 3]
    postures = REST + 0.1 * rng.normal(size=(3, 6))
    found = appell.inverse_kinematics(PUMA, places, "dh6", tasks=[Posture(postures)])
    assert found.q.shape == (4, 3, 6)
    assert found.residuals.shape == (4, 3, 2)
    assert found.iterations.shape == (4, 3)


def test_iterations_count_the_steps_to_the_tolerance():
    there = appell.inverse_kinematics(PUMA, PUMA.pose(REST, "dh6"), "dh6", guess=REST)
    assert there.iterations == 0
    loose, tight = (
        appell.inverse_kinematics(PUMA, PUMA.pose(REST, "dh6"), "dh6", guess=REST + 0.3, tolerance=x).iterations
        for x in (1e-2, 1e-9)
    )
    assert 0 < loose < tight < 40


# Robots of other kinds


@pytest.mark.parametrize(
    ("name", "frame"), [("stewart", "platform"), ("delta", "platform"), ("five-bar", "tips/first")]
)
def test_closed_robots_have_tasks_too(name, frame, rng):
    robot = appell.load(name)
    q = robot.random(rng, 4)
    tasks = [Position(robot.pose(q, frame)[:, :3, 3], frame), CentreOfMass(robot.centre_of_mass(q)), Posture()]
    found = appell.inverse_kinematics(robot, tasks=tasks)
    assert found.is_reached.all()
    assert np.max(robot.closure_error(found.q)) < 1e-10
    np.testing.assert_allclose(robot.centre_of_mass(found.q), robot.centre_of_mass(q), atol=1e-8)


def test_a_robot_on_wheels_prefers_a_posture_of_its_arm(rng):
    robot = appell.load("mobile-arm")
    goal = robot.pose(robot.random(rng, 5), "forearm")[:, :3, 3]
    found = appell.inverse_kinematics(robot, goal, "forearm", tasks=[Posture()])
    assert found.is_reached.all()
    assert found.residuals.shape == (5, 2)


def test_a_robot_of_a_hundred_bodies_is_solved(rng):
    link = appell.load("two-link").model.bodies[1]
    bodies = [replace(link, name=f"b{k}", parent=k - 1, joint=replace(link.joint, name=f"j{k}")) for k in range(100)]
    robot = appell.load(Model("snake", tuple(bodies), (Frame("tip", 99, Pose()),)))
    assert robot.kind.is_looped
    goal = robot.pose(0.1 * rng.normal(size=(3, 100)), "tip")
    found = appell.inverse_kinematics(robot, goal, "tip", tasks=[Posture()], restarts=0)
    assert found.is_reached.all()
    np.testing.assert_allclose(robot.pose(found.q, "tip"), goal, atol=1e-8)


def test_a_floating_base_keeps_its_feet_and_moves_its_centre_of_mass(tree, rng):
    shape = [("free", 0), *itertools.chain(*(((("revolute", 0)), ("revolute", 1), ("revolute", 1)) for _ in range(2)))]
    robot = appell.load(tree(rng, shape))
    q = robot.random(rng, 5)
    tasks = [Position(robot.pose(q, "tip")[:, :3, 3], "tip"), CentreOfMass(robot.centre_of_mass(q)), Posture()]
    found = appell.inverse_kinematics(robot, tasks=tasks, restarts=5)
    assert found.is_reached.all()
    np.testing.assert_allclose(robot.centre_of_mass(found.q), robot.centre_of_mass(q), atol=1e-8)


# Refusals


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([], "expected a goal or tasks, got neither"),
        (["hand"], "expected a list of tasks such as appell.tasks.Position"),
        (7, "expected a list of tasks"),
        ([Position([0.0, 0.0])], r"Position: target: expected positions \(..., 3\), got an array of shape \(2,\)"),
        ([Position([0.0, 0.0, np.inf])], "Position: target: .* not finite"),
        ([Position([0.0, 0.0, 0.0], "hand")], "has no frame 'hand'"),
        ([Position([0.0, 0.0, 0.0], weight=-1.0)], "Position: weight: expected one number of at least 0"),
        ([Position([0.0, 0.0, 0.0], tolerance=0.0)], "Position: tolerance: expected a positive number"),
        ([Orientation(2.0 * np.eye(3))], "Orientation: target: expected a rotation"),
        ([Orientation(np.eye(2))], r"Orientation: target: expected rotations \(..., 3, 3\)"),
        ([Posture([0.0])], "Posture: target"),
        ([Posture(weight=[1.0, 2.0])], "Posture: weight: expected one number of at least 0, or 6 of them"),
        ([Position(np.zeros((2, 3))), Posture(np.zeros((3, 6)))], "do not broadcast"),
    ],
)
def test_what_does_not_fit_is_refused(tasks, message):
    with pytest.raises(InputError, match=message):
        appell.inverse_kinematics(PUMA, tasks=tasks)


def test_a_robot_without_joints_is_refused():
    rock = appell.load(Model("rock", (), (Frame("tip", -1, Pose()),)))
    with pytest.raises(InputError, match="'rock' has no joint that moves"):
        appell.inverse_kinematics(rock, [0.0, 0.0, 0.0])
