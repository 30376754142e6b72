"""shafei2018's equations at work: branches and assembly (figures 2 to 8), the impact matrix (figure 11, table 3), the
flight in mixed form beside appell's own, and a motion that the paper's setting covers but its example does not: e < 1
with motors at the joints.
"""  # noqa: D205  # one sentence

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from appell.loading import load
from appell.papers import lagrangian
from appell.papers.differences import off
from appell.papers.paper import Check, checks, facts
from appell.papers.shafei2018_counts import general, star
from appell.papers.shafei2018_equations import branch_equations, branches, flight_equations, impact, impact_equations
from appell.papers.shafei2018_motion import PAPER, POINTS, RADIUS, START, TIE, WALL, motion
from appell.reports.rules import Checked, Same
from appell.reports.table import Cell, Table
from appell.results.run import Run
from appell.results.style import figure
from appell.simulation.contact.points import Points, resolve
from appell.simulation.simulate import simulate
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawn

ORDER = (*range(2, 12), 0, 1)
"""The paper's order of velocities, q₁ … q₁₀, X₁, X₂, as indices in ours."""


def _numbers(names: tuple[str, ...] | list[str]) -> str:
    return " ".join(name.removeprefix("link") for name in names if name.startswith("link"))


def structure() -> Table:
    """Return the branches and sizes of the assembled matrices."""
    robot = load("shafei-tree")
    ours = []
    for branch in branches(robot):
        links = _numbers([body.name for body in branch.robot.model.bodies])
        ours.append(f"{links}; {_numbers(branch.virtual) or 'none'}; {branch.robot.nv}")
    flying = flight_equations(robot, START, np.zeros(robot.nv)).matrix
    struck = impact_equations(robot, START, np.zeros(robot.nv), ("O5", "O9"), [[0.0, 1.0, 0.0]] * 2).matrix
    ours += [f"{len(matrix)} × {len(matrix.T)}" for matrix in (flying, struck)]
    rows = zip(PAPER.results["structure"].items(), ours, strict=True)
    judged = ((what, paper, mine, Same()(paper, mine)) for (what, paper), mine in rows)
    return facts("Figures 2 to 8 and 11. Branches, their assembly and the impact matrix", judged)


def equations() -> Table:
    """Return the equations of the flying phase, assembled and by recursion, in random states with torques."""
    by = "Lagrange's equations, differentiated automatically"
    rows: list[Check] = []
    # in the plane of the paper's tree, rotations do not change the inertia about their axis
    for where, robot in (("", load("shafei-tree")), (", in space", load(star(2, 2, general())))):
        q, v, a, tau = np.random.default_rng(2018).normal(size=(4, 200, robot.nv))
        matrix, right = flight_equations(robot, q, v, tau)
        lagrange = lagrangian.forces(robot.model, q, v, a)
        composite = robot.mass_matrix(q, formulation="composite")
        force = robot.inverse_dynamics(q, v, a, formulation="mixed")
        recursion = robot.mass_matrix(q, formulation="mixed")
        newton = tau - robot.bias(q, v, formulation="newton-euler")
        assembled = (matrix @ a[..., None])[..., 0] + tau - right
        rows += [
            (f"(1)–(24){where}", "τ = ∂S/∂q̈ + ∂V/∂q", force, lagrange, by),
            (f"(25)–(42){where}", "I_f q̈ − ℜ + τ, assembled from the branches", assembled, lagrange, by),
            (f"I_f{where}", "assembled from the branches", matrix, composite, "composite bodies"),
            (f"ℜ{where}", "assembled from the branches", right, newton, "Newton–Euler"),
            (f"Appendix{where}", "I_f by recursion", recursion, composite, "composite bodies"),
        ]
    notes = (
        "The tree of figure 4, and in space two branches of two general links, in 200 random states with torques.",
    )
    return checks("Equations (1) to (42). The flying phase in the mixed form", rows, notes)


def impacts(run: Run) -> Table:
    """Return the impulses of table 3 as solutions of (47), compared with those of the simulation."""
    robot, rule = load("shafei-tree"), Checked(1e-9, "the simulation's contact solver, relative")
    rows: list[tuple[Cell, ...]] = []
    for k, struck in enumerate(run.impacts, 1):
        q, _ = run.at([struck.time])
        after, impulse = impact(robot, q[0], struck.v_before, struck.points, struck.normals)
        error = max(off(after, struck.v_after), off(impulse, struck.impulse))
        shown = (f"{impulse[0]:.6f}", f"{struck.impulse[0]:.6f}")
        rows.append((k, " and ".join(struck.points), robot.nv + len(impulse), *shown, rule(error)))
    return replace(PAPER.table("impacts", rows), unjudged="" if rows else "no impact in this run.")


def flight(run: Run) -> Table:
    """Return the differences between the motion in the paper's mixed form and in appell's default formulation."""
    duration = float(run.t[-1])
    other = motion(duration, formulation=None)
    t = np.linspace(0.0, min(duration, float(other.t[-1])), 401)
    (q, v), (q2, v2) = run.at(t), other.at(t)
    pairs = list(zip(run.impacts, other.impacts, strict=False))
    alike = [one.points for one in run.impacts] == [one.points for one in other.impacts]
    impulses = [float(np.abs(a.impulse - b.impulse).max()) for a, b in pairs] if alike else [np.inf]
    differences = {
        "coordinates [m, rad]": (np.abs(q - q2).max(), 1e-8),
        "velocities [m/s, rad/s]": (np.abs(v - v2).max(), 1e-7),
        "times of the impacts [s]": (max((abs(a.time - b.time) for a, b in pairs), default=0.0), 1e-9),
        "points and impulses [N·s]": (max(impulses, default=0.0), 1e-7),
    }
    robot = load("shafei-tree")
    mixed, own = robot.operations("motion", "mixed"), robot.operations("motion")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (what, float(error), Checked(below, "appell's own formulation")(float(error)))
        for what, (error, below) in differences.items()
    )
    values: dict[str, Any] = {
        "mixed": mixed,
        "form": own.formulation,
        "own": own,
        "duration": duration,
        "count": len(pairs),
    }
    return PAPER.table("flight", rows, **values)


# Motors and restitution

RESTITUTION = 0.8
STIFFNESS, DAMPING = 20.0, 1.0
"""Gains of the motors [N·m/rad, N·m·s/rad], which hold the joints q₂ … q₁₀ at their initial values."""
DRIVEN = 0.75
"""Duration of the driven motion [s]."""


def motors(t: float, q: Array, v: Array) -> Array:
    """Return the torques of motors between the rods; q₁ turns rod 1 against the world and has none."""
    tau = STIFFNESS * (np.asarray(START) - q) - DAMPING * v
    tau[..., :3] = 0.0
    return np.asarray(tau)


class Struck(NamedTuple):
    """An impact as the equations give it: time, points and impulses."""

    time: float
    points: tuple[str, ...]
    impulse: Array


@cache
def driven() -> Run:
    """Return the tree's motion with motors at its joints and e = 0.8, in mixed form."""
    return simulate(
        load("shafei-tree").using("mixed"),
        START,
        np.zeros(len(START)),
        DRIVEN,
        control=motors,
        walls=[WALL],
        restitution=RESTITUTION,
        tie_window=TIE,
        points=POINTS,
        rtol=1e-11,
        atol=1e-12,
    )


def by_equations(duration: float = DRIVEN) -> list[Struck]:
    """Return the impacts of the same motion by the paper's equations alone: (25) integrated by SciPy, (47) solved.

    >>> [struck.points for struck in by_equations(0.4)]
    [('O1', 'O5')]
    """
    robot = load("shafei-tree")
    n, points = robot.nv, Points(robot, resolve(robot, POINTS))

    def field(t: float, y: Array) -> Array:
        matrix, right = flight_equations(robot, y[:n], y[n:], motors(t, y[:n], y[n:]))
        return np.concatenate([y[n:], np.linalg.solve(matrix, right)])

    def gaps(y: Array) -> Array:
        return np.asarray(RADIUS - np.linalg.norm(points.positions(y[:n]), axis=-1))

    def touch(_: float, y: Array) -> float:
        return float(gaps(y).min())

    touch.terminal, touch.direction = True, -1.0  # type: ignore[attr-defined]  # how SciPy takes an event
    t, y, found = 0.0, np.concatenate([START, np.zeros(n)]), list[Struck]()
    leaving = 1e-5  # time [s] after an impact without search for the next one
    while t < duration:
        for until, events in ((min(t + leaving, duration), None), (duration, touch)):
            solved = solve_ivp(field, (t, until), y, "DOP853", events=events, rtol=1e-11, atol=1e-12)
            t, y = float(solved.t[-1]), solved.y[:, -1].copy()
        if t < duration:
            hit = np.flatnonzero(gaps(y) < 1e-9)
            places = points.positions(y[:n])[hit]
            names = tuple(POINTS[k] for k in hit)
            normals = -places / np.linalg.norm(places, axis=-1, keepdims=True)
            y[n:], impulse = impact(robot, y[:n], y[n:], names, normals, RESTITUTION)
            found.append(Struck(t, names, impulse))
    return found


def motors_table() -> Table:
    """Return the driven motion impact by impact, compared with the equations, and its energy balance."""
    run, other = driven(), by_equations()
    rule = Checked(1e-6, "(25) and (47) integrated by SciPy, relative")
    rows: list[tuple[Cell, ...]] = []
    for k in range(max(len(run.impacts), len(other))):
        ours = run.impacts[k] if k < len(run.impacts) else None
        theirs = other[k] if k < len(other) else None
        cells = [
            None if x is None else f"{x.time:.8f} s: {', '.join(x.points)}, {_as_text(x.impulse)}"
            for x in (ours, theirs)
        ]
        error = np.inf
        if ours is not None and theirs is not None and ours.points == theirs.points:
            error = max(abs(ours.time / theirs.time - 1.0), float(np.abs(ours.impulse / theirs.impulse - 1.0).max()))
        rows.append((f"impact {k + 1}", *cells, rule(error)))
    lost = [
        (x.energy_before - x.energy_after, 0.5 * (1.0 - RESTITUTION) * float(x.impulse @ x.approach))
        for x in run.impacts
    ]
    worst = max(abs(a - b) for a, b in lost)
    total = f"{sum(a for a, _ in lost):.6f} J", f"{sum(b for _, b in lost):.6f} J"
    rows.append(("energy lost in impacts", *total, Checked(1e-9, "½(1 − e)Σ f·vₙ, impact by impact [J]")(worst)))
    change = float(run.energy[-1] - run.energy[0])
    balance = work(run) - sum(a for a, _ in lost)
    shown = f"{change:.6f} J", f"{balance:.6f} J"
    rows.append(("energy gained", *shown, Checked(1e-6, "work less losses [J]")(abs(change - balance))))
    return PAPER.table("motors", rows, e=RESTITUTION, duration=DRIVEN, stiffness=STIFFNESS, damping=DAMPING)


def _as_text(impulse: Array) -> str:
    return ", ".join(f"{f:.6f}" for f in impulse) + " N·s"


def work(run: Run) -> float:
    """Return the work of the motors between impacts [J], by Gauss–Legendre quadrature of τ·v."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    edges = np.unique([0.0, *(x.time for x in run.impacts), run.t[-1]])
    total = 0.0
    for start, stop in pairwise(edges):
        half = 0.5 * (stop - start)
        q, v = run.at(start + half * (nodes + 1.0))
        total += half * float(weights @ np.einsum("ij,ij->i", motors(0.0, q, v), v))
    return total


# Figures


def draw_equations() -> Drawn:
    """Return figures 5 to 8: the matrices of the branches and of the tree, each with its right-hand side."""
    robot = load("shafei-tree")
    q, v = np.array(START), np.zeros(robot.nv)
    names = np.array(robot.independent)
    parts = [
        (f"branch {k}", part, branch.v)
        for k, (part, branch) in enumerate(zip(branch_equations(robot, q, v), branches(robot), strict=True), 1)
    ]
    parts.append(("assembled", flight_equations(robot, q, v), np.arange(robot.nv)))
    drawn = figure(8.0, 5.2)
    panels: list[Axes] = drawn.subplots(2, 3).ravel().tolist()
    panels[-1].set_axis_off()
    for axes, (title, part, own) in zip(panels, parts, strict=False):
        place = [list(own).index(k) for k in ORDER if k in own]
        matrix, right = part.matrix[np.ix_(place, place)], part.right[place]
        sides = (matrix / np.abs(matrix).max(), np.full(len(place), np.nan), right / np.abs(right).max())
        shown = np.column_stack(sides)
        axes.imshow(
            np.where(shown == 0.0, np.nan, np.sign(shown) * np.sqrt(np.abs(shown))), cmap="RdBu", vmin=-1, vmax=1
        )
        axes.grid(False)
        labels = [names[own[k]] for k in place]
        axes.set_yticks(range(len(place)), labels, fontsize=7)
        axes.set_xticks([*range(len(place)), len(place) + 1], [*labels, "ℜ"], fontsize=7, rotation=90)
        axes.set_title(title, fontsize=9)
    return drawn
