"""Closed-form inverse kinematics: every branch of every arm, singular and unreachable poses, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.planning.analytic_ik import arm_of
from appell.planning.goal import pose

ARMS = ("puma560", "puma600", "stanford", "rx90")
Rows = list[dict[str, Any]]
MEETING: Rows = [
    {"d": 0.3},
    {"alpha": 1.2},
    {"alpha": -0.9, "a": 0.4, "d": 0.1},
    {"alpha": 1.1, "a": 0.05, "d": 0.5},
    {"alpha": -1.3},
    {"alpha": 1.4},
]
"""An arm whose first two axes meet and whose second and third are skew."""
INDUSTRIAL: Rows = [
    {"d": 0.4},
    {"alpha": "-90 deg", "a": 0.15, "theta": "-90 deg"},
    {"a": 0.6},
    {"alpha": "-90 deg", "a": 0.12, "d": 0.62},
    {"alpha": "90 deg"},
    {"alpha": "-90 deg", "d": 0.1},
]
"""An arm with its shoulder off axis 1, upright at zero, and the flange before the wrist."""


def arm(name: str) -> appell.Robot:
    rows = {"meeting": MEETING, "industrial": INDUSTRIAL}.get(name)
    if rows is None:
        return appell.load(name)
    inertial = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}
    return appell.from_dh([{**row, **inertial} for row in rows], modified=True)


ROUNDED: Rows = [
    {"d": 0.0},
    {"alpha": -1.0},
    {"a": 0.432, "d": 0.15},
    {"alpha": 1.0, "a": -0.02, "d": 0.433},
    {"alpha": -1.0},
    {"alpha": 1.0},
]
"""The PUMA 600 with the signs of its right angles."""
ALL = (*ARMS, "meeting", "industrial")


@pytest.mark.parametrize("name", ALL)
def test_every_branch_that_is_reached_has_the_pose(name, rng):
    robot = arm(name)
    goal = robot.pose(robot.random(rng, 200), "dh6")
    found = appell.planning.analytic_ik(robot, goal)
    apart = np.abs(robot.pose(found.q, "dh6") - goal[:, None])[found.is_reached]
    assert apart.max() < 1e-10
    assert found.is_reached.any(axis=-1).all()


@pytest.mark.parametrize("name", ALL)
def test_one_branch_is_the_configuration_that_the_pose_came_from(name, rng):
    robot = arm(name)
    q = robot.random(rng, 200)
    found = appell.planning.analytic_ik(robot, robot.pose(q, "dh6"))
    apart = np.abs(np.exp(1j * found.q) - np.exp(1j * q[:, None])).max(axis=-1)
    assert apart.min(axis=-1).max() < 1e-7


@pytest.mark.parametrize("name", ARMS)
def test_all_eight_branches_of_the_papers_arms_reach_what_one_reaches(name, rng):
    robot = arm(name)
    found = appell.planning.analytic_ik(robot, robot.pose(robot.random(rng, 200), "dh6"))
    assert found.is_reached.all()


@pytest.mark.parametrize("name", ALL)
def test_the_branches_of_a_pose_differ(name, rng):
    robot = arm(name)
    found = appell.planning.analytic_ik(robot, robot.pose(robot.random(rng, 50), "dh6"))
    turns = np.exp(1j * found.q)
    apart = np.abs(turns[:, :, None] - turns[:, None]).max(axis=-1) + 9.0 * np.eye(8)
    both = found.is_reached[:, :, None] & found.is_reached[:, None]
    assert apart[both].min() > 1e-6


@pytest.mark.parametrize("name", ["puma560", "puma600", "rx90"])
def test_elbow_up_has_the_elbow_above_the_line_from_shoulder_to_wrist(name, rng):
    robot = arm(name)
    goal = robot.pose(robot.random(rng, 100), "dh6")
    found = appell.planning.analytic_ik(robot, goal)
    shoulder, elbow, wrist = (robot.pose(found.q, f"joint{i}")[..., :3, 3] for i in (2, 3, 5))
    side = robot.pose(found.q, "joint2")[..., :3, :3] @ robot.model.bodies[1].joint.axis
    flat = [x - ((x * side).sum(-1, keepdims=True)) * side for x in (elbow - shoulder, wrist - shoulder)]
    along = (flat[0] * flat[1]).sum(-1, keepdims=True) / (flat[1] ** 2).sum(-1, keepdims=True)
    above = (flat[0] - along * flat[1])[..., 2]
    # where the wrist passes over the shoulder the line is steep, and which side of it is up a convention
    is_flat = np.abs(flat[1][..., 2]) < 0.5 * np.linalg.norm(flat[1], axis=-1)
    labels = np.broadcast_to(found.labels[:, 1], is_flat.shape)
    np.testing.assert_array_equal(np.sign(above)[is_flat], labels[is_flat])


@pytest.mark.parametrize("name", ["puma560", "puma600", "rx90"])
def test_the_wrist_label_is_the_sign_of_the_fifth_joint(name, rng):
    robot = arm(name)
    found = appell.planning.analytic_ik(robot, robot.pose(robot.random(rng, 100), "dh6"))
    np.testing.assert_array_equal(np.sign(found.q[..., 4]), np.broadcast_to(found.labels[:, 2], (100, 8)))


@pytest.mark.parametrize("name", ALL)
def test_a_singular_wrist_is_reached_all_the_same(name, rng):
    robot = arm(name)
    q = robot.random(rng, 50)
    q[:, 4] = 0.0
    found = appell.planning.analytic_ik(robot, robot.pose(q, "dh6"))
    assert np.isfinite(found.q).all()
    assert found.is_reached.any(axis=-1).all()


@pytest.mark.parametrize("name", ["puma560", "puma600", "rx90", "industrial", "meeting"])
def test_what_is_out_of_reach_is_said_to_be_and_has_no_nan(name):
    robot = arm(name)
    found = appell.planning.analytic_ik(robot, pose([5.0, 1.0, 2.0], [0.3, 0.2, 0.1]))
    assert not found.is_reached.any()
    assert np.isfinite(found.q).all()
    assert found.error.min() > 1.0


def test_a_stretched_arm_points_at_what_it_cannot_reach():
    robot = arm("rx90")
    found = appell.planning.analytic_ik(robot, pose([3.0, 1.0, 0.5]))
    hand = robot.pose(found.q, "dh6")[..., :3, 3]
    np.testing.assert_allclose(
        hand / np.linalg.norm(hand, axis=-1, keepdims=True), [np.array([3, 1, 0.5]) / 10.25**0.5] * 8
    )


def test_joints_take_the_turns_that_bring_them_within_their_limits(rng):
    robot = arm("puma560")
    q = robot.random(rng, 300)
    found = appell.planning.analytic_ik(robot, robot.pose(q, "dh6"))
    same = np.abs(np.exp(1j * found.q) - np.exp(1j * q[:, None])).max(axis=-1) < 1e-6
    assert found.is_within[same].all()


@pytest.mark.parametrize(("miss", "meets"), [(0.0, True), (4e-7, False)])
def test_axes_that_meet_but_for_the_rounding_of_a_file_are_taken_to_meet(rng, miss, meets):
    """An axis that is turned by 1.5708 and set off along itself misses the wrist's centre by 4e-6 of the offset."""
    exact = arm("puma600")
    rows = [{key: 1.5708 * np.sign(x) if key == "alpha" else x for key, x in row.items()} for row in ROUNDED]
    rows[5]["a"] = miss
    robot = appell.from_dh([{**row, "mass": 1.0, "inertia": [0.1, 0.1, 0.1]} for row in rows], modified=True)
    assert arm_of(robot.model, 5).is_exact == meets
    goal = exact.pose(rng.uniform(-1.0, 1.0, (20, 6)), "dh6")
    found = appell.planning.analytic_ik(robot, goal)
    assert found.is_reached.mean() > 0.95  # where two branches meet, rounding may leave none
    apart = np.abs(robot.pose(found.q, "dh6") - goal[:, None])[found.is_reached]
    assert apart.max() < 1e-9


def test_picking_a_branch_that_misses_is_an_error():
    found = appell.planning.analytic_ik(arm("rx90"), pose([5.0, 0.0, 0.0]))
    with pytest.raises(InputError, match="does not reach the goal"):
        found.pick(1, 1, 1)


@pytest.mark.parametrize(
    ("robot", "reason"),
    [
        ("two-link", "not an arm of six joints"),
        ("chain", "do not meet in a point"),
    ],
)
def test_other_robots_are_refused_with_the_reason(robot, reason, rng):
    given = appell.random_chain(6, rng) if robot == "chain" else appell.load(robot)
    with pytest.raises(InputError, match=reason):
        appell.planning.analytic_ik(given, np.eye(4))


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        (np.eye(3), "expected poses"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "reflection"),
        (np.diag([2.0, 1.0, 1.0, 1.0]), "orthogonal"),
        (pose([1.0, 2.0, 3.0]).T, "transposed"),
    ],
)
def test_what_is_no_pose_is_refused(goal, message):
    with pytest.raises(InputError, match=message):
        appell.planning.analytic_ik(arm("puma600"), goal)
