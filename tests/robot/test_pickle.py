"""Robots go to other processes and come back: pickled, copied, before and after use, and their methods with them."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appell
from appell.robot.robot import Robot
from tests.support.kinds import arguments, driven

CATALOGUE = ["puma560", "five-bar", "agile-wrist"]
STARTS = [name for name in ("fork", "spawn", "forkserver") if name in multiprocessing.get_all_start_methods()]


def again(given: Any) -> Any:
    """Return a robot or a bound method after pickling."""
    found = pickle.loads(pickle.dumps(given))
    assert type(found) is type(given)
    return found


COPIES: dict[str, Callable[[Any], Any]] = {"pickle": again, "copy": copy.copy, "deepcopy": copy.deepcopy}


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_is_the_same_robot(each, states, way):
    given = arguments(each, "inverse_dynamics", states)
    expected = each.inverse_dynamics(*given)  # so that it has been used
    found = COPIES[way](each)
    assert repr(found) == repr(each)
    assert (found.independent, found.actuators, found.frame_names) == (
        each.independent,
        each.actuators,
        each.frame_names,
    )
    np.testing.assert_array_equal(found.parameters, each.parameters)
    np.testing.assert_array_equal(found.neutral(), each.neutral())
    np.testing.assert_array_equal(found.inverse_dynamics(*given), expected)


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_of_a_robot_never_used_works(each, states, way):
    fresh = COPIES[way](Robot(each.kind))
    given = arguments(each, "inverse_dynamics", states)
    np.testing.assert_array_equal(fresh.inverse_dynamics(*given), each.inverse_dynamics(*given))


@pytest.mark.parametrize("way", COPIES)
def test_a_copy_keeps_the_robots_formulation(way):
    robot = COPIES[way](appell.load("puma560").using("newton-euler"))
    assert robot.operations("inverse_dynamics").formulation == "newton-euler"


def test_a_copy_keeps_the_independent_velocities():
    robot = again(appell.load("five-bar").with_independent(["mot1", "free1"]))
    assert robot.independent == ["mot1", "free1"]


def test_a_copied_robot_takes_no_compiled_code_along(each, states):
    each.inverse_dynamics(*arguments(each, "inverse_dynamics", states))
    assert len(pickle.dumps(each)) <= len(pickle.dumps(Robot(each.kind)))


@pytest.mark.parametrize("way", COPIES)
def test_bound_methods_are_copied(each, states, way):
    call = COPIES[way](each.mass_matrix)
    np.testing.assert_array_equal(call(states.q), each.mass_matrix(states.q))


def test_bound_methods_of_a_robot_never_used_are_pickled(each, states):
    call = pickle.loads(pickle.dumps(Robot(each.kind).gravity))
    np.testing.assert_array_equal(call(states.q), each.gravity(states.q))


# Other processes


def torque(task: tuple[Robot, Any, Any, Any]) -> Any:
    """Return the torques of a motion; a process imports this by name."""
    robot, q, v, a = task
    return robot.inverse_dynamics(q, v, a)


def motion(name: str) -> tuple[Robot, Any, Any, Any]:
    robot, rng = appell.load(name), np.random.default_rng(3)
    q, (v, a) = robot.random(rng, 5), rng.normal(size=(2, 5, robot.nv))
    robot.inverse_dynamics(q, v, driven(robot, a))  # so that it has been used before
    return robot, q, v, driven(robot, a)


@pytest.mark.parametrize("start", STARTS)
def test_robots_work_in_other_processes(start):
    tasks = [motion(name) for name in CATALOGUE]
    with multiprocessing.get_context(start).Pool(2) as pool:
        found = pool.map(torque, tasks)
    for task, x in zip(tasks, found, strict=True):
        np.testing.assert_array_equal(x, torque(task))


@pytest.mark.parametrize("start", STARTS)
def test_bound_methods_work_in_other_processes(start):
    robot, q, v, a = motion("puma560")
    with multiprocessing.get_context(start).Pool(2) as pool:
        found = pool.starmap(robot.inverse_dynamics, list(zip(q, v, a, strict=True)))
    np.testing.assert_array_equal(found, robot.inverse_dynamics(q, v, a))


def test_joblib_takes_robots_and_methods():
    joblib = pytest.importorskip("joblib")
    robot, q, v, a = motion("five-bar")
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(robot.inverse_dynamics)(*row) for row in zip(q, v, a, strict=True))
    np.testing.assert_array_equal(found, robot.inverse_dynamics(q, v, a))
