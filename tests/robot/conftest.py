"""A robot of every kind, for what every verb of every kind must take."""

from __future__ import annotations

import pytest

from appell.robot.robot import Robot
from tests.support.kinds import States, random_states
from tests.support.pool import LONG, OF_EACH_KIND, pool


@pytest.fixture(scope="session", params=OF_EACH_KIND)
def each(request: pytest.FixtureRequest) -> Robot:
    """Return a robot of each kind: trees, floating, coupled, closed, spherical, long."""
    return pool(request.param)


@pytest.fixture(scope="session")
def states(each: Robot) -> States:
    """Return states of each robot."""
    return random_states(each, 4)


@pytest.fixture(scope="session", params=[name for name in OF_EACH_KIND if name != LONG])
def short(request: pytest.FixtureRequest) -> Robot:
    """Return a robot of each kind that is written out."""
    return pool(request.param)
