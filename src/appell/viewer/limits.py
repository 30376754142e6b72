"""Joints near their limits, and their warning colours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from appell.robot.robot import Robot
from appell.spatial.scalar import Array
from appell.viewer.html import AMBER, RED, notice

NEAR = 0.05
"""A coordinate is near a limit within this share of its range; of a range with one end, within this many rad or m."""
AT = 1e-6
"""A coordinate is at a limit within this share."""


class Near(NamedTuple):
    """A coordinate near a limit: its name, its value, the limit, and whether it is at the limit or beyond."""

    name: str
    value: float
    limit: float
    is_reached: bool


def near_limits(names: Sequence[str], values: Iterable[float], bounds: Iterable[tuple[float, float]]) -> list[Near]:
    """Return the coordinates near a limit, given lower and upper limits, infinite where there are none.

    >>> near_limits(["a", "b", "c"], [0.98, 0.5, -1.0], [(0.0, 1.0), (0.0, 1.0), (-1.0, math.inf)])
    [Near(name='a', value=0.98, limit=1.0, is_reached=False), Near(name='c', value=-1.0, limit=-1.0, is_reached=True)]
    """
    found = []
    for name, x, (low, high) in zip(names, values, bounds, strict=True):
        span = high - low if math.isfinite(high - low) else 1.0
        for limit, gap in ((low, x - low), (high, high - x)):
            if gap < NEAR * span:
                found.append(Near(name, x, limit, gap <= AT * span))
                break
    return found


def robot_limits(robot: Robot, q: Array) -> list[Near]:
    """Return the joints of one coordinate that are near a limit at q.

    >>> import appell
    >>> robot = appell.load("puma560")
    >>> [near.name for near in robot_limits(robot, robot.limits.upper)] == robot.joint_names
    True
    """
    single = [(name, at[0]) for name, at in robot.places("q").items() if len(at) == 1]
    lower, upper = robot.limits.lower, robot.limits.upper
    bounds = [(float(lower[k]), float(upper[k])) for _, k in single]
    return near_limits([name for name, _ in single], [float(q[k]) for _, k in single], bounds)


def limit_line(found: Sequence[Near]) -> str:
    """Return the line of the panel that names the joints near their limits."""
    if not found:
        return ""
    text = ", ".join(f"{near.name} {'at' if near.is_reached else 'near'} {near.limit:.4g}" for near in found)
    return notice(f"limits: {text}", RED if any(near.is_reached for near in found) else AMBER)


def slider_colours(sliders: Sequence[Any], names: Sequence[str], found: Sequence[Near]) -> str:
    """Return a style sheet that colours the sliders of joints near their limits."""
    states = {near.name: near.is_reached for near in found}
    rules = []
    for slider, name in zip(sliders, names, strict=True):
        if name in states:
            colour = RED if states[name] else AMBER
            parts = ", ".join(f'[id="{slider._impl.uuid}"] .mantine-Slider-{part}' for part in ("bar", "thumb"))
            rules.append(f"{parts} {{ background: {colour} !important; border-color: {colour} !important }}")
    return f"<style>{' '.join(rules)}</style>"
