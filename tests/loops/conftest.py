"""The closed robots that the tests of loops go through: those of the catalogue, and one of tests/conftest.py."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from appell.robot.robot import Robot

SMALL = ("five-bar", "mobile-arm", "rssr")
LARGE = ("four-bar", "delta", "stewart")


@pytest.fixture(scope="session", params=SMALL)
def robot(request: pytest.FixtureRequest, closed: Callable[[str], Robot]) -> Robot:
    """Return each closed robot of few joints in turn."""
    return closed(request.param)


@pytest.fixture(scope="session", params=SMALL + LARGE)
def any_robot(request: pytest.FixtureRequest, closed: Callable[[str], Robot]) -> Robot:
    """Return each closed robot in turn, for what must be shown of the large ones too: they take long to compile."""
    return closed(request.param)
