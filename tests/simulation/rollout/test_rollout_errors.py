"""What a rollout refuses, and in which words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import appell
from appell.control import PD, PointToPoint
from appell.errors import InputError
from appell.simulation.rollout.rollout import rollout

DT = 2e-3

Q, V, TAU = np.zeros((2, 6)), np.zeros((2, 6)), np.zeros((2, 10, 6))
BAD = TAU.copy()
BAD[1, 4, 2] = np.nan
MISTAKES: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "size of q0": ((Q[:, :5], V, TAU, DT), {}, "q0: expected (..., 6), got (..., 5)"),
    "size of tau": ((Q, V, TAU[..., :4], DT), {}, "tau: expected (..., 6), got (..., 4)"),
    "not a number": ((Q, V, BAD, DT), {}, "tau: element (1, 4, 2) is nan"),
    "infinite start": ((Q, V + np.inf, TAU, DT), {}, "v0: element (0, 0) is inf"),
    "text": ((Q, V, "fast", DT), {}, "tau: expected real numbers"),
    "zero dt": ((Q, V, TAU, 0.0), {}, "dt: expected a time step above zero, got 0.0"),
    "infinite dt": ((Q, V, TAU, np.inf), {}, "dt: expected a time step above zero, got inf"),
    "text dt": ((Q, V, TAU, "1"), {}, "dt: expected a time step above zero, got '1'"),
    "no steps": ((Q, V, None, DT), {}, "steps: no argument has an axis of steps"),
    "zero steps": ((Q, V, None, DT), {"steps": 0}, "steps: expected an integer of at least 1, got 0"),
    "empty tau": ((Q, V, TAU[:, :0], DT), {}, "steps: expected one number of steps, at least 1, got tau 0"),
    "two numbers of steps": ((Q, V, TAU, DT), {"steps": 9}, "got tau 10, steps 9"),
    "one step of ten": ((Q, V, TAU, DT), {"steps": 1}, "got tau 10, steps 1"),
    "goals of other robots": (
        (Q, V, TAU, DT),
        {"control": PD(appell.load("puma560"), np.zeros((4, 6)), 1.0, 1.0)},
        "the leading axes do not broadcast (q0 (2,), v0 (2,), tau (2,), goal q (4,)",
    ),
    "size of parameters": (
        (Q, V, TAU, DT),
        {"parameters": np.zeros(5)},
        "parameters: expected (..., 84), got (..., 5)",
    ),
    "half steps": ((Q, V, None, DT), {"steps": 2.5}, "steps: expected an integer of at least 1, got 2.5"),
    "save_every": ((Q, V, TAU, DT), {"save_every": 3}, "save_every: 3 does not divide 10 steps"),
    "every zero": ((Q, V, TAU, DT), {"save_every": 0}, "save_every: expected an integer of at least 1"),
    "method": ((Q, V, TAU, DT), {"method": "rk5"}, "method: unknown method 'rk5'; known: "),
    "leading axes": (
        (np.zeros((3, 6)), V, TAU, DT),
        {},
        "the leading axes do not broadcast (q0 (3,), v0 (2,), tau (2,)",
    ),
    "control": ((Q, V, TAU, DT), {"control": print}, "control: expected a joint control law such as"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_told(mistake):
    arguments, options, text = MISTAKES[mistake]
    with pytest.raises(InputError, match=re.escape(text)):
        rollout(appell.load("puma560"), *arguments, **options)


def test_a_law_of_another_robot_is_refused():
    law = PointToPoint(appell.load("two-link"), [0.0] * 2, 1.0, 1.0)
    with pytest.raises(InputError, match="joints of the control law's robot differ"):
        rollout(appell.load("puma560"), Q, V, TAU, DT, control=law)


def test_a_quaternion_of_other_length_is_refused():
    robot = appell.load("two-link", floating=True)
    q0 = np.tile(robot.neutral(), (2, 1))
    q0[1, 3:7] *= 1.1
    with pytest.raises(InputError, match=r"quaternion of joint 'root' of sample \(1,\) has norm 1\.1"):
        rollout(robot, q0, np.zeros(robot.nv), None, DT, steps=3)


def test_no_robot_at_all_is_no_mistake():
    run = rollout(appell.load("puma560"), np.zeros((0, 6)), np.zeros(6), None, DT, steps=3)
    assert run.q.shape == (0, 4, 6)
