"""Bar charts of operation counts and of times compared with a peer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from appell.errors import InputError
from appell.results.style import COLOURS, figure, matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Counted(NamedTuple):
    """The operation counts of one program: verb, formulation, products, sums, sines and cosines, and a description."""

    verb: str
    formulation: str
    multiplications: int
    additions: int
    trigonometric: int
    program: str = ""


class Measured(NamedTuple):
    """One measurement: its subject, the unit, our time, and the peer's time if measured."""

    label: str
    unit: str
    ours: float
    peer: float | None


_PARTS = ("multiplications", "additions", "trigonometric")
_NAMES = ("multiplications", "additions", "sines and cosines")
_THICK = 0.26
"""Height [inch] of a bar with its margin."""


def operations(title: str, rows: Sequence[Counted]) -> Figure:
    """Plot operation counts as stacked bars, one per program.

    Call it inside :func:`appell.results.style.styled`.

    Raises
    ------
    InputError
        When there are no rows.

    >>> drawn = operations("two-link", [Counted("inverse_dynamics", "gibbs", 21, 14, 2)])
    >>> drawn.axes[0].get_xlabel()
    'operations per sample'
    """
    if not rows:
        raise InputError("plot: no counts to plot")
    drawn = figure(8.0, 1.3 + _THICK * len(rows))
    axes = drawn.subplots()
    places = _places([row.verb for row in rows])
    start = [0] * len(rows)
    for part, name, colour in zip(_PARTS, _NAMES, COLOURS, strict=False):
        counts = [getattr(row, part) for row in rows]
        axes.barh(places, counts, left=start, height=0.75, color=colour, label=name)
        start = [a + b for a, b in zip(start, counts, strict=True)]
    for place, total in zip(places, start, strict=True):
        axes.annotate(f"{total}", (total, place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8)
    _named(axes, places, [f"{row.verb.replace('_', ' ')}, {row.formulation}" for row in rows])
    axes.set(xlabel="operations per sample", title=title, xlim=(0, 1.08 * max(*start, 1)))
    drawn.legend(loc="outside lower center", ncols=3)
    return drawn


def times(title: str, rows: Sequence[Measured], peer: str) -> Figure:
    """Plot measured times as bars on logarithmic axes, one panel per unit, with the ratio to the peer's time.

    Call it inside :func:`appell.results.style.styled`.

    Raises
    ------
    InputError
        When there are no rows.

    >>> drawn = times("UR5", [Measured("inverse dynamics", "ns", 15.0, 900.0)], "Pinocchio")
    >>> [text.get_text() for text in drawn.axes[0].texts]
    ['15 ns', '900 ns, 60 ×']
    """
    if not rows:
        raise InputError("plot: no measurements to plot")
    units = list(dict.fromkeys(row.unit for row in rows))
    panels = [[row for row in rows if row.unit == unit] for unit in units]
    bars = [sum(1 if row.peer is None else 2 for row in panel) for panel in panels]
    drawn = figure(8.0, 0.9 + sum(0.6 + _THICK * n for n in bars))
    Patch = matplotlib(".patches").Patch
    grid: Any = drawn.subplots(len(units), 1, squeeze=False, height_ratios=[n + 1 for n in bars])
    for axes, unit, panel in zip(grid.ravel(), units, panels, strict=True):
        _panel(axes, unit, panel)
    named = [("appell", COLOURS[0])] + ([(peer, COLOURS[1])] if any(row.peer is not None for row in rows) else [])
    drawn.legend(handles=[Patch(color=c, label=name) for name, c in named], loc="outside lower center", ncols=2)
    drawn.suptitle(title, fontsize=10)
    return drawn


def _panel(axes: Axes, unit: str, rows: Sequence[Measured]) -> None:
    places: list[float] = []
    at = 0.0
    for row in rows:
        both = [(row.ours, COLOURS[0], "")]
        if row.peer is not None:
            both.append((row.peer, COLOURS[1], f", {row.peer / row.ours:.3g} ×"))
        places.append(at + 0.5 * (len(both) - 1))
        for value, colour, ratio in both:
            axes.barh(at, value, height=0.85, color=colour)
            text = f"{value:.3g} {unit}{ratio}" if value < 1000.0 else f"{value:.0f} {unit}{ratio}"
            axes.annotate(text, (value, at), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8)
            at += 1.0
        at += 0.4
    values = [value for row in rows for value in (row.ours, row.peer) if value is not None]
    axes.set(xscale="log", xlabel=f"time [{unit}], logarithmic", xlim=(0.5 * min(values), 6.0 * max(values)))
    _named(axes, places, [row.label for row in rows])


def _places(groups: Sequence[str]) -> list[float]:
    """Return the positions of the bars, with a gap between groups.

    >>> _places(["a", "a", "b"])
    [0.0, 1.0, 2.5]
    """
    places, at = [], -1.0
    for k, group in enumerate(groups):
        at += 1.0 if k == 0 or group == groups[k - 1] else 1.5
        places.append(at)
    return places


def _named(axes: Axes, places: Sequence[float], names: Sequence[str]) -> None:
    axes.set_yticks(places, names)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    low, high = min(places) - 1.0, max(places) + 1.0
    axes.set_ylim(high, low)  # the first above
