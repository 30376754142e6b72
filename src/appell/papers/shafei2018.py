"""shafei2018: A.M. Shafei, H.R. Shafei, "Dynamic modeling of tree-type robotic systems by combining 3×3 rotation and
4×4 transformation matrices" (2018).

Table 1 counts operations (:mod:`appell.papers.shafei2018_counts`). Of section 6, a tree that falls inside a round wall,
there is the flight to the first impact, with the first column of table 3 as far as no impact law is needed; what
follows needs impacts, which appell does not have yet.
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from appell.errors import InputError
from appell.papers import shafei2018_counts as counts
from appell.results.report import Report
from appell.results.table import Cell, Table
from appell.robot.load import load
from appell.robot.robot import Robot

Array = NDArray[Any]

TITLE = "dynamic modeling of tree-type robotic systems by combining 3×3 rotation and 4×4 transformation matrices"

CORRECTIONS = (
    "(7), (8): derivatives by q, not by its rates. (13): r̈. (23): ∂S/∂q̈. (29): q̈ₖ. (33): T̃.",
    "Transposes are lost in (13)–(15), (17), (18), (36)–(40), (I), (II) and in steps 6 and 7 of the appendix.",
    'The "irrelevant terms" of (14) hold ω̇·(ω × B₂ω), which is relevant unless all axes are parallel.',
    "Appendix: step 2 takes the 3×3 block of A, the loop of step 4 runs over j, step 7 means U₁ⱼ.",
    "The wall is not given: it is a circle of radius 2.5 m about the origin.",
    "The base starts at −(1 + √3)/2 in both directions, printed −1.366: only so are both halves alike.",
    "A rod's inertia about its centre is ml²/12 + J'l: J' of table 2 is that of the cross section alone.",
)

RADIUS = 2.5
"""Radius [m] of the wall, a circle about the origin."""

_BASE = -0.5 * (1.0 + math.sqrt(3.0))
START = (_BASE, _BASE, *(math.pi / 6.0 * k for k in (1, 1, -4, 1, 1, -4, 2, 0, 4, -2)))
"""Where the catalogue's ``shafei-tree`` starts, at rest: X₁, X₂ [m] and q₁ … q₁₀ [rad] of section 6."""

POINTS = tuple(f"O{k}" for k in range(1, 12))
"""The frames that may strike the wall."""


def report(tables: Sequence[str] | None = None) -> Report:
    """Return the tables "1" and "3", or those asked for.

    Examples
    --------
    >>> [table.title[:8] for table in report(tables=["3"]).tables]
    ['Table 3.']
    """
    makers: dict[str, Callable[[], tuple[Table, ...]]] = {"1": counts.table1, "3": lambda: (table3(),)}
    wanted = list(makers) if tables is None else [str(t) for t in tables]
    unknown = [t for t in wanted if t not in makers]
    if unknown:
        raise InputError(f"shafei2018: no table {', '.join(unknown)}; there are {', '.join(makers)}")
    made = tuple(table for name in wanted for table in makers[name]())
    return Report("shafei2018", TITLE, made, (), CORRECTIONS)


class Flight(NamedTuple):
    """A motion without forces but gravity: times (n,), q and v (n, nv), and whether it ended at the wall."""

    t: Array
    q: Array
    v: Array
    has_touched: bool


def positions(robot: Robot, q: ArrayLike) -> Array:
    """Return where the eleven points are, (..., 11, 2) [m]."""
    return np.stack([robot.pose(q, point)[..., :2, 3] for point in POINTS], axis=-2)


def speeds(robot: Robot, q: ArrayLike, v: ArrayLike) -> Array:
    """Return the velocities of the eleven points, (..., 11, 2) [m/s]."""
    rates = np.asarray(v)[..., None]
    return np.stack([(robot.jacobian(q, point)[..., :2, :] @ rates)[..., 0] for point in POINTS], axis=-2)


def flight(robot: Robot, q: ArrayLike, v: ArrayLike, times: ArrayLike, *, rtol: float = 1e-12) -> Flight:
    """Return the robot's free motion at the given times, the first of them that of q and v, up to the wall.

    Where a point reaches the wall before the last time, the flight ends there, with that moment as last entry.

    Examples
    --------
    >>> falling = flight(load("shafei-tree"), START, np.zeros(12), [0.0, 1.0])
    >>> falling.has_touched, f"{falling.t[-1]:.6f} s"
    (True, '0.385192 s')
    """
    n, t = robot.nv, np.asarray(times, dtype=float)
    free = np.zeros(n)

    def rate(_: float, x: Array) -> Array:
        return np.concatenate([x[n:], robot.forward_dynamics(x[:n], x[n:], free)])

    def clearance(_: float, x: Array) -> float:
        return float(RADIUS - np.hypot(*positions(robot, x[:n]).T).max())

    clearance.terminal, clearance.direction = True, -1.0  # type: ignore[attr-defined]  # how scipy is told
    run = solve_ivp(
        rate,
        (t[0], t[-1]),
        np.concatenate([np.asarray(q, dtype=float), np.asarray(v, dtype=float)]),
        "DOP853",
        t_eval=t,
        events=clearance,
        rtol=rtol,
        atol=rtol,
    )
    moments, states = run.t, run.y.T
    if run.t_events and run.y_events and run.status == 1:
        moments, states = np.append(moments, run.t_events[0]), np.vstack([states, run.y_events[0]])
    return Flight(moments, states[:, :n], states[:, n:], run.status == 1)


def table3() -> Table:
    """Return the flight from the start to the first impact: energy, moment, angle of attack and speed."""
    robot = load("shafei-tree")
    run = flight(robot, START, np.zeros(robot.nv), [0.0, 1.0])
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    where, speed = positions(robot, run.q[-1]), speeds(robot, run.q[-1], run.v[-1])
    struck = np.flatnonzero(RADIUS - np.hypot(*where.T) < 1e-9)
    normal = where[struck] / RADIUS
    approach = np.sum(normal * speed[struck], axis=-1)
    angle = np.degrees(np.arccos(approach / np.hypot(*speed[struck].T)))
    rows = (
        ("energy [J]", 18.66, float(energy[0])),
        ("moment of the first impact [s]", 0.3851, float(run.t[-1])),
        ("angle of attack [°]", 33.12, float(angle[0])),
        ("twice the normal speed [m/s]", 6.32, float(2.0 * approach[0])),
    )
    shown: list[tuple[Cell, ...]] = [(what, paper, f"{ours:.9f}", _verdict(paper, ours)) for what, paper, ours in rows]
    points = " and ".join(POINTS[k] for k in struck)
    shown.insert(1, ("points that strike first", "O1 and O5", points, _verdict("O1 and O5", points)))
    drift = float(np.abs(energy - energy[0]).max())
    return Table(
        "Table 3. The first impact of the falling tree",
        ("quantity", "paper", "ours", "verdict"),
        tuple(shown),
        (
            f"Energy changes by {drift:.1e} J on the way.",
            "From rest and without torques every rod falls alike, so the moment is √(2Δ/g) with Δ the height over the "
            "wall: the flight can be checked by hand.",
            "With e = 1 the paper's difference of velocities is twice the normal speed before the impact.",
        ),
    )


def _verdict(paper: float | str, ours: float | str) -> str:
    if isinstance(paper, str) or isinstance(ours, str):
        return "equal" if paper == ours else "differs"
    digits = len(f"{paper:g}".partition(".")[2])
    if round(ours, digits) == paper:
        return "equal to the digits printed"
    return "equal, cut not rounded" if math.trunc(ours * 10**digits) == round(paper * 10**digits) else "differs"
