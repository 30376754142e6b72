"""Curves of a run on the page, with a marker at the current time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from appell.results.plots import thinned
from appell.results.quantities import labels
from appell.results.run import Run
from appell.results.style import COLOURS
from appell.spatial.scalar import Array

POINTS = 400
"""The greatest number of points of a curve on the page."""
CURVES = {"torque": "tau", "velocity": "v", "position": "q", "acceleration": "a"}
UNITS = {"torque": "N·m, N", "velocity": "rad/s, m/s", "position": "rad, m", "acceleration": "rad/s², m/s²"}
LEGENDS = 7
"""The greatest number of curves with a legend."""


class Plot:
    """Curves against time, and a marker.

    uPlot draws curves that share their times: the marker is another curve, with two values at one time and none
    elsewhere.
    """

    def __init__(self, server: Any, height: int) -> None:
        self._server, self._height = server, height
        self._t: Array = np.zeros(0)
        self._curves: Array = np.zeros((0, 0))
        self._handle: Any = None

    def show(self, t: Array, curves: Array, names: Sequence[str], title: str) -> None:
        """Draw curves (n, k) in place of those before."""
        self._t, self._curves = thinned(t, curves, POINTS)
        low, high = _range(self._curves)
        self._low, self._high = low, high
        series: list[dict[str, Any]] = [{"label": "t"}]
        series += [
            {"label": name, "stroke": COLOURS[k % len(COLOURS)], "width": 1.5, "points": {"show": False}}
            for k, name in enumerate(names)
        ]
        series.append({"label": " ", "stroke": "#868e96", "width": 2, "points": {"show": False}})
        axes = ({"size": 30, "font": "11px sans-serif"}, {"size": 46, "font": "11px sans-serif"})
        self._remove()
        self._handle = self._server.gui.add_uplot(
            self._data(float(self._t[0])),
            tuple(series),
            title=title,
            scales={"x": {"time": False}, "y": {"range": (low, high)}},
            axes=axes,
            legend={"show": 1 < len(names) <= LEGENDS},
            cursor={"drag": {"x": False, "y": False}},
            height=self._height,
            padding=(4, 14, 0, 0),
        )

    def mark(self, t: float) -> None:
        """Move the marker."""
        if self._handle is not None:
            self._handle.data = self._data(t)

    def _data(self, t: float) -> tuple[Array, ...]:
        k = int(np.searchsorted(self._t, t))
        times = np.insert(self._t, k, [t, t])
        at = [float(np.interp(t, self._t, curve)) for curve in self._curves.T]
        marker = np.full(len(times), np.nan)
        marker[k : k + 2] = self._low, self._high
        curves = (np.insert(curve, k, [x, x]) for curve, x in zip(self._curves.T, at, strict=True))
        return (times, *curves, marker)

    def _remove(self) -> None:
        if self._handle is not None:
            self._handle.remove()


def quantity(run: Run, name: str) -> tuple[Array, list[str]]:
    """Return curves of a run by the name of the quantity, and their labels."""
    curves = getattr(run, CURVES[name])
    numbered = [str(k) for k in range(curves.shape[-1])]
    return curves, numbered if run.robot is None else labels(run.robot, CURVES[name])


def _range(curves: Array) -> tuple[float, float]:
    low, high = float(curves.min(initial=0.0)), float(curves.max(initial=0.0))
    if curves.size:
        low, high = float(curves.min()), float(curves.max())
    # a curve that is constant but for rounding is a straight line
    room = max(0.06 * (high - low), 1e-3 * max(abs(low), abs(high)), 1e-9)
    return low - room, high + room
