"""Drawings of the papers: block diagrams, frames, the arcs of spherical robots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.results.style import COLOURS, figure, matplotlib
from appell.robot.robot import Robot
from appell.shapes.skeleton import skeleton
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

WIDE, HIGH = 1.75, 0.55
"""Size of a block."""
Point = tuple[float, float]


def block_diagram(blocks: Sequence[tuple[float, float, str]], arrows: Sequence[tuple[Sequence[Point], str]]) -> Drawn:
    """Return a block diagram: blocks by their lower left corner, and arrows along points, each with its text."""
    right, top = max(x for x, _, _ in blocks) + WIDE, max(y for _, y, _ in blocks) + HIGH
    drawn = figure(8.0, 2.2)
    axes = drawn.subplots()
    axes.set(xlim=(-0.05, right + 0.25), ylim=(-0.05, top + 0.5))
    axes.axis("off")
    for x, y, text in blocks:
        axes.add_patch(matplotlib(".patches").Rectangle((x, y), WIDE, HIGH, fill=False, edgecolor=COLOURS[0]))
        axes.text(x + 0.5 * WIDE, y + 0.5 * HIGH, text, ha="center", va="center", fontsize=7.5)
    for points, text in arrows:
        axes.plot(*zip(*points[:-1], strict=True), color=COLOURS[6], lw=0.9)
        axes.annotate("", points[-1], points[-2], arrowprops={"arrowstyle": "->", "shrinkA": 0, "shrinkB": 0})
        middle = len(points) // 2 - 1
        (x0, y0), (x1, y1) = points[middle : middle + 2]
        axes.text(0.5 * (x0 + x1), 0.5 * (y0 + y1) + 0.05, text, ha="left" if x0 == x1 else "center", fontsize=7.5)
    return drawn


def space(width: float = 6.4, height: float = 5.2) -> tuple[Drawn, Any]:
    """Return a figure with 3D axes."""
    drawn = figure(width, height)
    axes: Any = drawn.add_subplot(projection="3d")
    axes.set(xlabel="x", ylabel="y", zlabel="z")
    axes.view_init(elev=24, azim=40)
    return drawn, axes


def arrow(axes: Any, vector: Array, name: str, colour: str, start: Sequence[float] | Array = (0.0, 0.0, 0.0)) -> None:
    """Draw a vector with its name at its tip."""
    axes.quiver(*start, *vector, color=colour, lw=1.2, arrow_length_ratio=0.1)
    axes.text(*(np.asarray(start) + 1.1 * vector), name, color=colour, fontsize=8)


def great_arc(first: Array, last: Array) -> Array:
    """Return the great arc (31, 3) from one unit vector to another.

    >>> great_arc(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))[15].round(3)
    array([0.707, 0.707, 0.   ])
    """
    angle = math.acos(float(first @ last))
    part = np.linspace(0.0, 1.0, 31)[:, None]
    return np.asarray((np.sin((1.0 - part) * angle) * first + np.sin(part * angle) * last) / math.sin(angle))


def compared(axes: Any, t: Array, ours: Array, other: Array, symbol: str, names: tuple[str, str]) -> None:
    """Draw the curves (n, 3) of three legs in colour, and dotted those of another program, with a legend beside."""
    for i in range(3):
        axes.plot(t, ours[:, i], color=COLOURS[i], label=f"{symbol}{'₁₂₃'[i]} {names[0]}")
        name = names[1] if i == 2 else None
        axes.plot(t, other[:, i], color="black", linestyle=(0, (1, 3)), lw=1.8, label=name)
    beside(axes)


def differences(axes: Any, t: Array, error: Array, **labels: str) -> None:
    """Draw the differences (n, 3) of three legs."""
    for i in range(3):
        axes.plot(t, error[:, i], color=COLOURS[i], lw=0.9, label=f"leg {i + 1}")
    axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
    axes.set(xlim=(t[0], t[-1]), **labels)


def beside(axes: Any) -> None:
    """Put the legend to the right of the axes."""
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def torques(t: Array, ours: Array, other: Array, names: tuple[str, str], title: str) -> Drawn:
    """Return the motor torques of two programs, and their differences below."""
    drawn = figure(7.0, 4.8)
    above, below = drawn.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    compared(above, t, ours, other, "τ", names)
    above.set(title=title, ylabel="torque [N·m]")
    differences(below, t, ours - other, title=" less ".join(names).capitalize(), xlabel="t [s]", ylabel="Δτ [N·m]")
    return drawn


def arm(axes: Any, robot: Robot, q: Array, names: Sequence[str], paths: Sequence[tuple[Array, dict[str, Any]]]) -> None:
    """Draw an arm in named configurations (n, nq), and paths (m, 3) with their styles, in metres."""
    bones = skeleton(robot)
    for colour, name, points in zip(COLOURS, names, bones.positions(robot, q), strict=False):
        for k, stick in enumerate(bones.lines):
            label = None if k else name
            axes.plot(*points[list(stick)].T, color=colour, lw=2.5, marker="o", ms=3.5, label=label)
    for path, style in paths:
        axes.plot(*path.T, **style)
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    axes.set_aspect("equal")
    axes.figure.legend(loc="outside upper left", ncols=2)
