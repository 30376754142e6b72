"""Sliders and robots belong together: a slider's value is where the robot is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import AppellError, InputError
from appell.model.model import Model
from appell.viewer.panel import SliderSet

KINDS = ["free", "ball", "planar", "cylindrical", "revolute", "prismatic", "helical"]


@pytest.mark.parametrize("kind", KINDS)
def test_sliders_give_back_the_configuration(kind: str, tree: Callable[..., Model], rng: Any) -> None:
    robot = appell.load(tree(rng, [(kind, 0), ("revolute", 0)]))
    moved, q = SliderSet(robot), robot.random(rng)
    again = moved.moved(robot.neutral(), moved.values(q))
    assert np.abs(robot.difference(q, again)).max() < 1e-9
    assert len(moved.sliders) == len(moved.values(q))


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_a_force_a_velocity(kind: str, tree: Callable[..., Model], rng: Any) -> None:
    robot = appell.load(tree(rng, [(kind, 0)]))
    assert len(SliderSet(robot).forces) == robot.nv


def test_a_robot_starts_inside_its_limits(robots: Any) -> None:
    robot = appell.load(robots / "panda_description" / "urdf" / "panda.urdf")
    start = SliderSet(robot).start()
    for body, where in zip(robot.model.bodies, robot.model.q_slices, strict=True):
        assert body.joint.limits.lower <= start[where.start] <= body.joint.limits.upper
    assert any(start)  # panda's zero is none of them


@pytest.mark.parametrize("name", ["five-bar", "stewart", "delta", "four-bar", "mobile-arm"])
def test_loops_stay_closed_while_a_motor_moves(name: str) -> None:
    robot = appell.load(name)
    assert robot.closure_names
    moved, q = SliderSet(robot), robot.neutral()
    wanted = moved.values(q)
    wanted[0] += 0.05
    q = moved.moved(q, wanted)
    assert robot.closure_error(q) < 1e-9
    assert np.allclose(moved.values(q), wanted, atol=1e-9)


def test_where_no_assembly_exists_the_robot_says_so() -> None:
    robot = appell.load("five-bar")
    moved = SliderSet(robot)
    wanted = moved.values(robot.neutral())
    wanted[0], wanted[1] = wanted[0] + 1.2, wanted[1] - 1.2
    with pytest.raises(AppellError, match="no assembly"):
        moved.moved(robot.neutral(), wanted)


def test_a_spherical_robot_stays_in_its_workspace() -> None:
    robot = appell.load("agile-wrist")
    moved = SliderSet(robot)
    assert np.allclose(moved.moved(robot.neutral(), [0.1, 0.2, 0.3]), [0.1, 0.2, 0.3])
    with pytest.raises(InputError, match="workspace"):
        moved.moved(robot.neutral(), [-1.25, 1.0, 0.86])


def test_holding_forces_are_gravity_of_an_open_robot(rng: Any) -> None:
    robot = appell.load("puma560")
    q = robot.random(rng)
    np.testing.assert_allclose(SliderSet(robot).holding(q), robot.gravity(q), rtol=1e-13, atol=1e-13)


def test_holding_forces_keep_a_closed_robot_still() -> None:
    robot = appell.load("five-bar")
    q = robot.neutral()
    assert np.abs(robot.forward_dynamics(q, np.zeros(robot.nv), SliderSet(robot).holding(q))).max() < 1e-9


def test_holding_forces_keep_a_spherical_robot_still() -> None:
    robot = appell.load("agile-wrist")
    q = robot.neutral() + 0.1
    assert np.abs(robot.forward_dynamics(q, np.zeros(robot.nv), SliderSet(robot).holding(q))).max() < 1e-9


def test_the_sliders_of_a_follower_are_those_of_the_joint_it_follows(robots: Any) -> None:
    robot = appell.load(robots / "panda_description" / "urdf" / "panda.urdf", mimic=True)
    moved = SliderSet(robot)
    assert [slider.label for slider in moved.sliders] == robot.joint_names
    assert len(moved.forces) == robot.nu < robot.model.nv


@pytest.mark.parametrize(
    ("name", "driven"), [("stewart", "actuators"), ("mobile-arm", "actuators"), ("sst", "joint_names")]
)
def test_there_is_a_slider_per_driven_coordinate(name: str, driven: str) -> None:
    robot = appell.load(name)
    moved = SliderSet(robot)
    assert [slider.label for slider in moved.sliders] == getattr(robot, driven)
    assert [force.name for force in moved.forces] == robot.actuators


def test_a_motor_of_a_ball_moves_it_alone(closed: Callable[[str], appell.Robot]) -> None:
    """Of a ball joint only one velocity is driven: its slider says how far the joint has moved."""
    robot = closed("rssr")
    spun = robot.with_independent([next(n for n in robot.independent if "[" in n), robot.independent[0]])
    moved, q = SliderSet(spun), spun.neutral()
    assert [slider.label for slider in moved.sliders] == spun.independent[:1]
    wanted = [moved.values(q)[0] + 0.05]
    there = moved.moved(q, wanted)
    assert spun.closure_error(there) < 1e-9
    assert moved.values(there) == pytest.approx(wanted, abs=1e-3)
