"""Small robots that the simulator's tests share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import appell

FREE = """
name = "{name}"
[[links]]
name = "world"
[[links]]
name = "body"
mass = 2.0
inertia = {inertia}
[[joints]]
name = "free"
kind = "free"
parent = "world"
child = "body"
"""

DUMMY = """
name = "dummy"
[[links]]
name = "world"
[[links]]
name = "torso"
mass = 8.0
inertia = [0.2, 0.25, 0.1]
[[joints]]
name = "free"
kind = "free"
parent = "world"
child = "torso"
"""

LIMB = """
[[links]]
name = "upper{k}"
mass = 1.5
centre = [0.0, 0.0, -0.15]
inertia = [0.012, 0.012, 0.001]
[[joints]]
name = "shoulder{k}"
kind = "ball"
parent = "torso"
child = "upper{k}"
origin = {{ xyz = [{x}, {y}, {z}] }}
[[links]]
name = "lower{k}"
mass = 1.0
centre = [0.0, 0.0, -0.15]
inertia = [0.008, 0.008, 0.0006]
[[joints]]
name = "elbow{k}"
kind = "revolute"
parent = "upper{k}"
child = "lower{k}"
axis = [0.0, 1.0, 0.0]
origin = {{ xyz = [0.0, 0.0, -0.3] }}
[[links]]
name = "tip{k}"
[[joints]]
name = "end{k}"
kind = "fixed"
parent = "lower{k}"
child = "tip{k}"
origin = {{ xyz = [0.0, 0.0, -0.3] }}
"""


@pytest.fixture(scope="session")
def robot_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], appell.Robot]:
    """Return a function from the text of a toml file to its robot."""

    def make(text: str) -> appell.Robot:
        place = tmp_path_factory.mktemp("robot") / "robot.toml"
        place.write_text(text, encoding="utf-8")
        robot: appell.Robot = appell.load(place)
        return robot

    return make


@pytest.fixture(scope="session")
def free_text() -> str:
    """Return the toml of a free body of 2 kg, with places for its name and its inertia."""
    return FREE


@pytest.fixture(scope="session")
def ball(robot_of: Callable[[str], appell.Robot]) -> appell.Robot:
    """Return a free body of 2 kg whose only point is its mass centre."""
    return robot_of(FREE.format(name="ball", inertia="[0.1, 0.1, 0.1]"))


@pytest.fixture(scope="session")
def brick(robot_of: Callable[[str], appell.Robot]) -> appell.Robot:
    """Return a free body of 2 kg with three different moments of inertia."""
    return robot_of(FREE.format(name="brick", inertia="[0.02, 0.05, 0.06]"))


@pytest.fixture(scope="session")
def dummy(robot_of: Callable[[str], appell.Robot]) -> appell.Robot:
    """Return a floating figure: a torso with four limbs of a ball and a hinge."""
    places = [(0.0, 0.2, 0.25), (0.0, -0.2, 0.25), (0.0, 0.1, -0.25), (0.0, -0.1, -0.25)]
    limbs = [LIMB.format(k=k, x=x, y=y, z=z) for k, (x, y, z) in enumerate(places)]
    return robot_of(DUMMY + "".join(limbs))
