"""The robots on which the laws of native code are tested: few, of every kind, from fixed seeds, each compiled once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import appell
from appell.model.model import Model
from appell.robot.robot import Robot
from tests.support.closed import (
    STAR,
    WRIST,
    biped,
    cart,
    disc,
    five_bar,
    four_bar,
    loop,
    parallelogram,
    slider_crank,
    spherical,
)
from tests.support.robots import Drawing, Shape, random_drawing, random_tree, with_followers

BRANCHES: Shape = [("revolute", 2), ("ball", 0), ("prismatic", 0)] * 28
CHAIN: Shape = [("revolute", 0), ("helical", 0), ("prismatic", 0), ("continuous", 0)]


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _drawing(seed: int, shape: Shape, *, is_floating: bool = False, has_friction: bool = True) -> Drawing:
    drawing = random_drawing(_rng(seed), shape, has_friction=has_friction, is_special=True)
    return replace(drawing, is_floating=is_floating)


DRAWINGS: dict[str, Callable[[], Drawing]] = {
    "screws": lambda: _drawing(1, CHAIN),
    "plates": lambda: _drawing(2, [("cylindrical", 0), ("planar", 0), ("continuous", 1)]),
    "balls": lambda: _drawing(3, [("ball", 0), ("revolute", 0), ("ball", 2)], has_friction=False),
    "universals": lambda: _drawing(4, [("universal", 0), ("prismatic", 0), ("universal", 1)]),
    "free body": lambda: _drawing(5, [("revolute", 0), ("free", 0), ("prismatic", 1)]),
    "floating": lambda: _drawing(6, [("revolute", 0), ("helical", 1)], is_floating=True),
}
"""Trees."""
COUPLED: dict[str, Callable[[], Drawing]] = {
    # a follower of a follower, one that stands before its source, one that turns against it
    "hand": lambda: with_followers(
        _drawing(7, [*CHAIN, ("revolute", 1)]), [(0, 2, -1.7, 0.3), (4, 0, 0.6, 0.0), (1, 3, 1.0, -0.2)]
    ),
    "floating hand": lambda: with_followers(
        _drawing(8, [("prismatic", 0), ("revolute", 1)], is_floating=True), [(0, 1, -0.4, 0.5)]
    ),
}
"""Trees some of whose joints follow others."""
CLOSED: dict[str, Callable[[], Model]] = {
    "four-bar": lambda: four_bar(_rng(9)),
    "floating four-bar": lambda: four_bar(_rng(10), is_floating=True),
    "five-bar": lambda: five_bar(_rng(11)),
    "parallelogram": lambda: parallelogram(_rng(12)),
    "slider-crank": lambda: slider_crank(_rng(13)),
    "cart": lambda: cart(_rng(14)),
    "disc": lambda: disc(_rng(15)),
    "biped": lambda: biped(_rng(17)),
    "ball loop": lambda: loop(
        _rng(16), [("revolute", 0), ("ball", 0), ("prismatic", 0), ("helical", 0)], "point", ["joint0", "joint2"]
    ),
    # tied to a body that moves
    "plate loop": lambda: loop(
        _rng(23),
        [("revolute", 0), ("planar", 0), ("cylindrical", 0), ("revolute", 0)],
        "cylindrical",
        ["joint0", "joint3"],
        socket=0,
    ),
}
"""Trees with loops, or with wheels that roll."""
SPHERICAL: dict[str, Callable[[], Robot]] = {
    "wrist": lambda: spherical(WRIST, _rng(18)),
    "star": lambda: spherical(STAR, _rng(19)),
}
"""Spherical robots in closed form."""

ALL = (*DRAWINGS, *COUPLED, *CLOSED, *SPHERICAL)
LONG = "long"
"""A tree of more bodies than are written out: short branches, so that its inertia matrix is well conditioned."""
OF_EACH_KIND = ("screws", "floating", "hand", "four-bar", "ball loop", "wrist", LONG)
"""A robot of every kind, with joint friction where the kind has any: what every verb is called on with every option."""


@functools.cache
def pool(name: str) -> Robot:
    """Return a robot by name, made once."""
    if name in SPHERICAL:
        return SPHERICAL[name]()
    if name in CLOSED:
        return appell.load(CLOSED[name]())
    if name == LONG:
        return appell.load(random_tree(_rng(20), BRANCHES, has_friction=True))
    return appell.load(COUPLED[name]().coupled if name in COUPLED else DRAWINGS[name]().model)
