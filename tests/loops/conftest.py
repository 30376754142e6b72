"""Closed robots that the tests of loops share: those of the catalogue, and one with a ball joint and a passive spin."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

import appell
from appell.loops.closed import close
from appell.loops.closed_robot import ClosedRobot
from appell.read import read_toml

RSSR = """
name = "rssr"
actuators = ["crank"]
home = { crank = 0.3, rocker = 1.2, swivel = [0.0, 0.38, 0.0, 0.925] }

[[links]]
name = "ground"
[[links]]
name = "crank_arm"
mass = 1.0
centre = [0.1, 0.02, 0.01]
inertia = [0.002, 0.01, 0.011]
[[links]]
name = "rod"
mass = 0.8
centre = [0.25, 0.03, 0.0]
inertia = [0.004, 0.02, 0.021]
[[links]]
name = "rocker_arm"
mass = 1.2
centre = [0.0, 0.0, 0.2]
inertia = [0.02, 0.02, 0.003]

[[joints]]
name = "crank"
kind = "continuous"
parent = "ground"
child = "crank_arm"
damping = 0.3
[[joints]]
name = "swivel"
kind = "ball"
parent = "crank_arm"
child = "rod"
origin = { xyz = [0.2, 0.0, 0.05] }
[[joints]]
name = "rocker"
kind = "continuous"
parent = "ground"
child = "rocker_arm"
axis = [0.0, 1.0, 0.0]
origin = { xyz = [0.5, 0.1, -0.3] }
armature = 0.01

[[closures]]
name = "ball"
kind = "point"
first = { link = "rod", xyz = [0.5, 0.0, 0.0] }
second = { link = "rocker_arm", xyz = [0.0, 0.0, 0.4] }
"""
"""A crank and a rocker across it, joined by a rod with balls at both ends: the rod is free to spin."""

SMALL = ("five-bar", "mobile-arm", "rssr")
LARGE = ("four-bar", "delta", "stewart")


@functools.cache
def _load(name: str) -> ClosedRobot:
    robot = close(read_toml(RSSR)) if name == "rssr" else appell.load(name)
    assert isinstance(robot, ClosedRobot)
    return robot


@pytest.fixture(scope="session")
def closed() -> Callable[[str], ClosedRobot]:
    """Return a function from a name to a closed robot, made once."""
    return _load


@pytest.fixture(scope="session", params=SMALL)
def robot(request: pytest.FixtureRequest) -> ClosedRobot:
    """Return each closed robot of few joints in turn."""
    return _load(request.param)


@pytest.fixture(scope="session", params=SMALL + LARGE)
def any_robot(request: pytest.FixtureRequest) -> ClosedRobot:
    """Return each closed robot in turn, for what must be shown of the large ones too: they take long to compile."""
    return _load(request.param)
