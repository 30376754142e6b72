"""The robots of tests/support/pool.py in turn, and states of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from appell.robot.robot import Robot
from tests.support import kinds
from tests.support.kinds import States
from tests.support.pool import ALL, CLOSED, COUPLED, SPHERICAL, pool

SAMPLES = 6
LATER = ("floating hand", "five-bar", "parallelogram", "slider-crank", "disc", "biped", "plate loop", "star")
"""Robots of which make test-full sees to the laws: each has another of its kind, and compiling them takes long."""


def params(names: Iterable[str]) -> list[Any]:
    """Return the names of robots as parameters, some of them slow."""
    return [pytest.param(name, marks=pytest.mark.slow) if name in LATER else name for name in names]


@pytest.fixture(scope="session", params=params(ALL))
def robot(request: pytest.FixtureRequest) -> Robot:
    """Return each robot: trees, coupled, closed and spherical ones."""
    return pool(request.param)


@pytest.fixture(scope="session")
def states(robot: Robot) -> States:
    """Return states of each robot."""
    return kinds.random_states(robot, SAMPLES)


@pytest.fixture(scope="session", params=params([*COUPLED, *CLOSED, *SPHERICAL]))
def reduced(request: pytest.FixtureRequest) -> Robot:
    """Return each robot that has fewer velocities than its tree."""
    return pool(request.param)


@pytest.fixture(scope="session", params=params(CLOSED))
def closed_robot(request: pytest.FixtureRequest) -> Robot:
    """Return each robot with loops or wheels."""
    return pool(request.param)
