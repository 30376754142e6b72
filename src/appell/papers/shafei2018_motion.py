"""shafei2018, section 6: the tree that falls inside a round wall, its impacts (table 3) and figures 14 to 19."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from appell.loading import load
from appell.papers.drawings import beside
from appell.papers.paper import facts, read
from appell.papers.shafei2018_equations import impact as struck_by
from appell.reports.report import Figure, Film
from appell.reports.rules import Digits, Holds, NotComparable, Same, equal
from appell.reports.table import Cell, Table
from appell.results.animation import film
from appell.results.plots import curves, mark_impacts
from appell.results.run import Impact, Run
from appell.results.style import COLOURS, figure, matplotlib
from appell.simulation.contact.points import Points, resolve
from appell.simulation.rollout.rollout import rollout
from appell.simulation.simulate import simulate
from appell.simulation.walls.quadrics import Circle
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn


PAPER = read("shafei2018")
RADIUS = 2.5
"""Radius [m] of the wall, a circle about the origin."""
WALL = Circle(RADIUS)
RESTITUTION = 1.0

_BASE = -0.5 * (1.0 + math.sqrt(3.0))
_ANGLES = tuple(math.pi / 6.0 * k for k in (1, 1, -4, 1, 1, -4, 2, 0, 4, -2))
START = (_BASE, _BASE, *_ANGLES)
"""Initial configuration of the catalogue's ``shafei-tree``, at rest: X₁, X₂ [m] and q₁ … q₁₀ [rad] of section 6."""
PRINTED = (-1.366, -1.366, *_ANGLES)
"""The same with the four printed digits, which breaks the symmetry of the two halves."""

STILL = (0.0,) * len(START)
POINTS = tuple(f"O{k}" for k in range(1, 12))
"""The frames that may strike the wall."""

TIE = 1e-4
"""Tie window [s]: impacts within it are simultaneous."""


class Row(NamedTuple):
    """One impact of table 3: time, points, angle of attack [°], 2vₙ [m/s] and impulse [N·s]."""

    time: float
    points: tuple[str, ...]
    angle: float
    speed: float
    impulse: float

    @property
    def numbers(self) -> tuple[float, ...]:
        """Return time, angle, speed and impulse."""
        return (self.time, self.angle, self.speed, self.impulse)


_QUANTITIES = ("time [s]", "angle of attack [°]", "2vₙ [m/s]", "impulse [N·s]")


def motion(
    duration: float = 2.0, start: Sequence[float] = START, tie_window: float = TIE, formulation: str | None = "mixed"
) -> Run:
    """Return the tree's motion from rest: e = 1, no friction, eleven points against the circle.

    It is integrated in the paper's mixed form by default; None selects the formulation with the lowest operation count.

    >>> motion(0.5).impacts[0].points
    ('O1', 'O5')
    """
    return timed(duration, tuple(start), tie_window, formulation)[0]


@cache
def timed(duration: float, start: Sequence[float], tie_window: float, formulation: str | None) -> tuple[Run, float]:
    """Return the motion and its computing time [s]."""
    robot, begin = load("shafei-tree"), perf_counter()
    run = simulate(
        robot.using(formulation) if formulation else robot,
        start,
        STILL,
        duration,
        walls=[WALL],
        restitution=RESTITUTION,
        tie_window=tie_window,
        points=POINTS,
        rtol=1e-12,
        atol=1e-13,
    )
    return run, perf_counter() - begin


def _printed(tie_window: float) -> Run:
    return motion(2.0, PRINTED, tie_window)


STEP = 2e-4
"""Fixed step [s] with which the paper's numbers are most likely computed."""


@cache
def stepped(duration: float) -> list[Row]:
    """Return the impacts of Runge–Kutta of order 4 with fixed steps, applied at the first step past the wall.

    >>> stepped(0.5)[0].points, round(stepped(0.5)[0].time, 6)
    (('O1', 'O5'), 0.3852)
    """
    robot = load("shafei-tree")
    points, q, v = Points(robot, resolve(robot, POINTS)), np.array(START), np.array(STILL)
    done, found = 0, list[Row]()
    while done < (count := round(duration / STEP)):
        flown = rollout(robot, q, v, None, STEP, steps=count - done)
        places, speeds = points.positions(flown.q), points.velocities(flown.q, flown.v)
        normals = -places / np.linalg.norm(places, axis=-1, keepdims=True)
        approach = -np.sum(speeds * normals, axis=-1)
        hits = (WALL.gap(places) < 0.0) & (approach > 0.0)
        if not hits.any():
            break
        k = int(np.argmax(hits.any(axis=-1)))
        done, struck = done + k, np.flatnonzero(hits[k])
        names = tuple(POINTS[i] for i in struck)
        q, (v, impulse) = flown.q[k], struck_by(robot, flown.q[k], flown.v[k], names, normals[k, struck], RESTITUTION)
        first = struck[0]
        slant = np.degrees(np.arccos(np.clip(approach[k, first] / np.linalg.norm(speeds[k, first]), -1.0, 1.0)))
        found.append(Row(done * STEP, names, float(slant), 2.0 * float(approach[k, first]), float(impulse[0])))
    return found


# Tables


def summary(impact: Impact) -> Row:
    """Return an impact as in table 3: the first of simultaneous points."""
    speed = float(impact.approach[0] + impact.departure[0])
    return Row(impact.time, impact.points, float(np.degrees(impact.angles[0])), speed, float(impact.impulse[0]))


def table3(run: Run) -> Table:
    """Return the five impacts: the paper's, ours, the converged reference's, and those of fixed steps."""
    ours, steps = [summary(impact) for impact in run.impacts], stepped(float(run.t[-1]))
    printed = PAPER.results["table3"]
    numbers = [
        (text, own, step)
        for (time, _, *rest), mine, fixed in zip(printed, ours, steps, strict=False)
        for text, own, step in zip((time, *rest), mine.numbers, fixed.numbers, strict=True)
    ]
    rule = Digits.of((text, own) for text, own, _ in numbers)
    rows: list[tuple[Cell, ...]] = []
    for k, ((time, points, *rest), reference) in enumerate(zip(printed, PAPER.references.values(), strict=False)):
        own, fixed = (found[k] if k < len(found) else None for found in (ours, steps))
        names = [None if row is None else _named(row.points) for row in (own, fixed)]
        statement = _named(points)
        rows.append((k + 1, "points", statement, statement, *names, Same()(statement, names[0])))
        for i, (what, text) in enumerate(zip(_QUANTITIES, (time, *rest), strict=True)):
            value, step = (None if row is None else row.numbers[i] for row in (own, fixed))
            digits = len(reference[i].partition(".")[2])
            shown = (None if x is None else f"{abs(x):.{digits}f}" for x in (value, step))
            rows.append((k + 1, what, text, reference[i], *shown, rule(text, value)))
    alike = [sum(_is_printed(text, row[side]) for text, *row in numbers) for side in (0, 1)]
    later = f" {len(ours) - len(printed)} more follow." if len(ours) > len(printed) else ""
    values: dict[str, Any] = {
        "step": STEP,
        "fixed": alike[1],
        "own": alike[0],
        "printed": len(numbers),
        "count": len(ours),
    }
    table = PAPER.table("3", rows, duration=float(run.t[-1]), later=later, **values)
    return replace(table, columns=(*table.columns[:-2], f"RK4, {STEP:g} s", "verdict"))


def _is_printed(text: str, value: float) -> bool:
    return equal(text, value) or equal(text, value, is_truncated=True)


def statements(run: Run) -> Table:
    """Return the statements on figures 14 to 18 and on the computing time."""
    mirrored = asymmetry(run)
    seconds = timed(float(run.t[-1]), START, TIE, "mixed")[1]
    still = Holds(1e-6, "the distance of the halves from mirror images [m, m/s]")
    rows: list[tuple[Cell, ...]] = []
    for number, rate, axis in (("14", 0, 0), ("15", 1, 0), ("16", 0, 1), ("17", 1, 1)):
        what = f"{('positions', 'velocities')[rate]} along X{'₁₂'[axis]} are symmetric"
        error = float(mirrored[rate, axis])
        rows.append((f"figure {number}", what, f"{error:.0e} off", still(error)))
    reached = max((float(abs(WALL.gap(x.positions)).max()) for x in run.impacts), default=np.inf)
    on_wall = Holds(1e-8, "the distance of the struck points from the wall [m]")
    rows.append(
        ("figure 18", "points collide with the wall at the times of table 3", f"{reached:.0e} m", on_wall(reached))
    )
    slow = NotComparable("theirs is with steps of 1e-5 s on another machine")
    rows.append(("computing time", PAPER.results["computing"], f"{seconds:.2g} s", slow()))
    return facts("Section 6. Statements on the motion", rows)


def energy(run: Run) -> Table:
    """Return the energy before and after every impact, and its drift."""
    printed = PAPER.results["energy"]
    holds = Holds(1e-9, "the relative change of the energy over the whole run")
    start = Digits()(printed, float(run.energy[0]))
    rows: list[tuple[Cell, ...]] = [("at the start", 0.0, f"{run.energy[0]:.9f}", 0.0, start)]
    for k, impact in enumerate(run.impacts, 1):
        change = (impact.energy_after - run.energy[0]) / run.energy[0]
        rows.append((f"after impact {k}", impact.time, f"{impact.energy_after:.9f}", float(change), None))
    last = (run.energy[-1] - run.energy[0]) / run.energy[0]
    end = f"{run.energy[-1]:.9f}"
    drift = float(np.ptp(run.energy) / abs(run.energy[0]))
    rows.append(("at the end", float(run.t[-1]), end, float(last), holds(drift)))
    return PAPER.table("energy", rows, printed=printed, drift=drift)


def printed_start() -> Table:
    """Return the effect of the four printed digits of the start, with and without the tie window."""
    together, apart = _printed(TIE), _printed(0.0)
    rows: list[tuple[Cell, ...]] = []
    exact = [summary(impact) for impact in motion(2.0).impacts]
    for k, row in enumerate(exact):
        rows.append((k + 1, _as_text(row), *(_as_text(summary(run.impacts[k])) for run in (together, apart))))
    rows.append(("impacts in 2 s", *(str(len(found)) for found in (exact, together.impacts, apart.impacts))))
    gap = apart.impacts[1].time - apart.impacts[0].time
    return PAPER.table("start", rows, gap=gap, tie=TIE)


def _as_text(row: Row) -> str:
    return f"{row.time:.6f} s: {_named(row.points)}, {row.impulse:.4f} N·s"


def _named(points: Sequence[str]) -> str:
    return " and ".join(points)


def asymmetry(run: Run) -> Array:
    """Return the largest distances of one half from the mirrored other half: positions and velocities, X₁ and X₂."""
    q, v = run.at(np.linspace(0.0, float(run.t[-1]), 201))
    points, left, right = _points(run), *([POINTS.index(pair[k]) for pair in _PAIRS] for k in (0, -1))
    found = np.stack([points.positions(q), points.velocities(q, v)])[..., :2]
    mirrored = found[..., left, :] - found[..., right, :] * np.array([-1.0, 1.0])
    return np.asarray(np.abs(mirrored).max(axis=(1, 2)))


# Figures

_PAIRS = (("O1", "O5"), ("O2", "O4"), ("O7", "O10"), ("O8", "O11"), ("O3",), ("O6",), ("O9",))
"""Points that mirror each other, and those on the line of symmetry."""
_BRANCHES = ((1, 2, 3, 4, 5), (1, 2, 3, 6, 7, 8), (1, 2, 3, 6, 9), (1, 2, 3, 6, 10, 11))
"""Points along the branches, figure 1: all start from O1."""
_RODS = ((1, 2), (2, 3), (3, 4), (4, 5), (3, 6), (6, 7), (7, 8), (6, 9), (6, 10), (10, 11))
"""Points connected by rods, figure 4."""


def figures(run: Run) -> tuple[Figure | Film, ...]:
    """Return figures 14 to 19 and the animation of the motion, drawn on demand."""
    drawn = PAPER.figures(
        {
            "figure1": partial(_drawings, run),
            "figure14": partial(_histories, run, 0, False),
            "figure15": partial(_histories, run, 0, True),
            "figure16": partial(_histories, run, 1, False),
            "figure17": partial(_histories, run, 1, True),
            "figure18": partial(_poses, run),
            "figure19": partial(_energies, run),
        }
    )
    shown: Callable[[], bytes] = partial(film, run, "gif", fps=20.0, speed=0.25)
    slowed = "The motion inside the circle, slowed down by a factor of four; arrows are impulses"
    return *drawn, Film("motion", slowed, shown)


def _points(run: Run) -> Points:
    assert run.robot is not None  # a simulated run has one
    return Points(run.robot, resolve(run.robot, POINTS))


def _histories(run: Run, axis: int, is_rate: bool) -> Drawn:
    dense = curves(run)
    points = _points(run)
    values = points.velocities(dense.q, dense.v) if is_rate else points.positions(dense.q)
    drawn = figure(7.6, 3.8)
    axes = drawn.subplots()
    for colour, pair in zip(COLOURS, _PAIRS, strict=True):
        lines = {name: values[:, POINTS.index(name), axis] for name in pair}
        first, *others = lines.values()
        if others and np.abs(others[0] - first).max() < 1e-3 * np.ptp(values[..., axis]):  # they move as one
            lines = {" and ".join(pair): first}
        for dash, (name, line) in zip(("-", "--"), lines.items(), strict=False):
            axes.plot(dense.t, line, dash, color=colour, label=name, linewidth=1.1)
    symbol = f"{'Ẋ' if is_rate else 'X'}{'₁₂'[axis]}"
    axes.set_ylabel(f"{symbol} [{'m/s' if is_rate else 'm'}]")
    axes.set_xlabel("t [s]")
    mark_impacts(axes, run, is_named=True)
    beside(axes)
    return drawn


def _poses(run: Run) -> Drawn:
    Line2D = matplotlib(".lines").Line2D

    seen = [(0.0, ()), *((impact.time, impact.points) for impact in run.impacts[:6]), (float(run.t[-1]), ())]
    rows = -(-len(seen) // 4)
    drawn = figure(8.0, 2.2 * rows + 0.3)
    panels: list[Axes] = drawn.subplots(rows, 4, squeeze=False).ravel().tolist()
    turn = np.linspace(0.0, 2.0 * np.pi, 181)
    for axes in panels:
        axes.set_axis_off()
        axes.set_aspect("equal")
    q, _ = run.at([t for t, _ in seen])
    positions = _points(run).positions(q)[..., :2]
    for axes, (time, struck), p in zip(panels, seen, positions, strict=False):
        axes.plot(RADIUS * np.cos(turn), RADIUS * np.sin(turn), color="#555555", linewidth=1.2)
        for first, last in _RODS:
            axes.plot(*p[[first - 1, last - 1]].T, color=COLOURS[0], linewidth=1.6, solid_capstyle="round")
        axes.plot(*p.T, ".", color="#333333", markersize=3.0)
        hit = p[[POINTS.index(name) for name in struck]]
        axes.plot(*hit.T, "o", color=COLOURS[4], markersize=6.0)
        axes.set_title(f"{time:.4f} s{': ' if struck else ''}{', '.join(struck)}", fontsize=9)
    key = (
        Line2D([], [], color="#555555", linewidth=1.2, label=f"wall, radius {RADIUS:g} m"),
        Line2D([], [], color=COLOURS[0], linewidth=1.6, label="rod, 1 m"),
        Line2D([], [], color=COLOURS[4], marker="o", linestyle="", markersize=6.0, label="impact point"),
    )
    drawn.legend(handles=key, loc="outside lower center", ncols=3)
    return drawn


def _drawings(run: Run) -> Drawn:
    """Draw the tree with its points, one colour per branch, and the first impact with the velocities of its point."""
    drawn = figure(8.0, 3.8)
    tree, near = drawn.subplots(1, 2)
    first = run.impacts[0] if run.impacts else None
    q, _ = run.at([0.0, first.time if first else 0.0])
    start, struck = _points(run).positions(q)[..., :2]
    for k, branch in enumerate(_BRANCHES):
        shifted = start[[i - 1 for i in branch]] + 0.05 * (k - 1.5)
        tree.plot(*shifted.T, color=COLOURS[k], lw=1.4, label=f"branch {k + 1}")
    for name, place in zip(POINTS, start, strict=True):
        tree.annotate(name, place, xytext=(4, 4), textcoords="offset points", fontsize=7)
    turn = np.linspace(0.0, 2.0 * np.pi, 361)
    for axes in (tree, near):
        axes.plot(RADIUS * np.cos(turn), RADIUS * np.sin(turn), color="#555555", lw=1.2)
        axes.set_aspect("equal")
    tree.legend(loc="upper left", fontsize=7)
    tree.set_axis_off()
    for one, other in _RODS:
        near.plot(*struck[[one - 1, other - 1]].T, color="#999999", lw=1.4)
    if first is not None:
        at, normal = first.positions[0][:2], first.normals[0][:2]
        slip = first.slip[0][:2]
        arrows = {
            "normal": normal * 3.0,
            "velocity before": slip - first.approach[0] * normal,
            "velocity after": slip + first.departure[0] * normal,
        }
        for (name, vector), colour in zip(arrows.items(), COLOURS, strict=False):
            near.annotate("", at + 0.25 * vector, at, arrowprops={"arrowstyle": "->", "color": colour, "lw": 1.5})
            near.plot([], [], color=colour, label=name)
        near.set(xlim=(at[0] - 1.0, at[0] + 1.0), ylim=(at[1] - 1.0, at[1] + 1.0), xlabel="X₁ [m]", ylabel="X₂ [m]")
        near.legend(loc="upper right", fontsize=7)
    return drawn


def _energies(run: Run) -> Drawn:
    assert run.robot is not None
    dense = curves(run)
    kinetic, potential = run.robot.kinetic_energy(dense.q, dense.v), run.robot.potential_energy(dense.q)
    drawn = figure(7.6, 3.8)
    axes = drawn.subplots()
    axes.plot(dense.t, kinetic, label="kinetic")
    axes.plot(dense.t, potential, label="potential")
    axes.plot(dense.t, kinetic + potential, color=COLOURS[6], label="total")
    axes.set_ylabel("energy [J]")
    axes.set_xlabel("t [s]")
    mark_impacts(axes, run, is_named=True)
    beside(axes)
    return drawn
