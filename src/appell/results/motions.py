"""Motions of many robots as curves: one line per robot where they are few, else the median and percentile bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from appell.results.plots import NAMED, SYMBOLS, TITLES, coordinates, curve_names, dash, directions, name_joints
from appell.results.quantities import SLIDES, TURNS
from appell.results.style import COLOURS, figure
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FEW = 12
"""The number of robots up to which each has its own line."""
BANDS = ((5.0, 95.0, 0.12), (25.0, 75.0, 0.25))
"""Lower and upper percentile of each band, and its opacity."""


class Line(NamedTuple):
    """One joint of a panel: its index (of its colour) and its values (robots, times)."""

    joint: int
    values: Array


def motions(robot: Robot, t: Array, q: Array, v: Array) -> Figure:
    """Return a figure of q (..., times, nq) and v (..., times, nv); draw it inside :func:`appell.results.style.styled`.

    Rotations and translations have separate columns, since their units differ. A quaternion is shown as the angle of
    rotation since the start. v are the independent velocities. States that are not finite are left out.
    """
    q, v = (x.reshape(-1, *x.shape[-2:]) for x in (q, v))
    panels, names = _panels(robot, q, v), curve_names(robot)
    is_named = len(names) <= NAMED
    canvas = figure(4.6 * len(panels) + (2.0 if is_named else 0.4), 5.6)
    grid = canvas.subplots(2, len(panels), sharex=True, squeeze=False)
    for column, (kind, both) in zip(grid.T, panels.items(), strict=True):
        for axes, symbol, unit, lines in zip(column, "qv", SYMBOLS[kind], both, strict=False):
            for line in lines:
                _draw(axes, t, line)
            axes.set_ylabel(f"{symbol} [{unit}]")
            axes.axis("on" if lines else "off")  # all motors may be prismatic, or all revolute
        column[0].set_title(TITLES[kind])
        lowest = column[1 if both[1] else 0]
        lowest.tick_params(labelbottom=True)
        lowest.set(xlabel="t [s]", xlim=(t[0], t[-1]) if t[-1] > t[0] else None)
    if is_named:
        name_joints(canvas, names)
    canvas.align_ylabels()
    shown = "" if len(q) <= FEW else "\nlines: medians; bands: central 50 % and 90 % of the motions"
    canvas.suptitle(f"{robot.name}: {len(q)} {'motion' if len(q) == 1 else 'motions'}{shown}", fontsize=10)
    return canvas


def _panels(robot: Robot, q: Array, v: Array) -> dict[str, tuple[list[Line], list[Line]]]:
    """Return the lines of q and of v by kind of motion."""
    panels: dict[str, tuple[list[Line], list[Line]]] = {kind: ([], []) for kind in (SLIDES, TURNS)}
    for each in zip(*(coordinates(robot, one) for one in q), strict=True):
        k, kind, _ = each[0]
        panels[kind][0].append(Line(k, np.array([values for _, _, values in each])))
    for place, (k, kind) in enumerate(directions(robot, "v")):
        panels[kind][1].append(Line(k, v[..., place]))
    return {kind: both for kind, both in panels.items() if any(both)}


def _draw(axes: Axes, t: Array, line: Line) -> None:
    colour, values = COLOURS[line.joint % len(COLOURS)], np.where(np.isfinite(line.values), line.values, np.nan)
    style: dict[str, Any] = {"color": colour, "linestyle": dash(line.joint)}
    if len(values) <= FEW:
        axes.plot(t, values.T, **style, linewidth=1.3 if len(values) == 1 else 0.8)
        return
    kept = values[np.isfinite(values).all(axis=1)]
    if not len(kept):
        return
    for low, high, alpha in BANDS:
        axes.fill_between(t, *np.percentile(kept, (low, high), axis=0), color=colour, alpha=alpha, linewidth=0.0)
    axes.plot(t, np.median(kept, axis=0), **style)
