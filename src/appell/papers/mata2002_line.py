"""mata2002, section 5.2: a PUMA along a straight line, by torques alone. Tables 6 and 7, figure 3.

Inverse kinematics and inverse dynamics of the line give the torques for the integration of forward dynamics, without
feedback: table 6 has the tracking errors, table 7 the computing time by formulation.

The paper is inconsistent about the speed, and specifies neither the branch nor the interpolation of the torques. Each
is therefore an option here: :data:`READINGS`, the labels of :func:`appell.planning.analytic_ik`, and :data:`FEEDS`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.papers.drawings import arm, beside, block_diagram
from appell.papers.paper import read
from appell.papers.valera2003_line import puma
from appell.planning.analytic_ik import analytic_ik
from appell.planning.goal import pose
from appell.planning.trajectory.curves import CartesianLine
from appell.reports.rules import Misprint, NotComparable
from appell.reports.table import Cell, Table
from appell.results.style import COLOURS, figure
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

Label = tuple[int, int, int]
Feed = Callable[[int, float], Array]
"""The torques in an interval, by its number, at a time."""

START, END, ATTITUDE = (0.5, 0.0, 0.05), (0.62, 0.3, 0.11), (0.0, 90.0, 180.0)
"""Start of the line and position after five seconds [m]; attitude by Euler angles ZYZ [°]."""
SPEED, DURATION = 0.1, 5.0
INTERVAL, TOLERANCE = 0.1, 1e-6
READINGS = {
    "both points, 5 s": "0.06573 m/s",
    "0.1 m/s, 5 s": "0.5 m, past the second point",
    "0.1 m/s, both points": "3.286 s",
}
"""Readings of the line: any two of the points, the speed and the time, and the resulting third."""
FEEDS = ("continuous", "linear", "middle", "held")
"""Interpolation of the torques: exact at every instant; linear between the ends of the intervals; held over an interval
at
the torque of its middle; or at that of its start."""
USUAL: Label = (1, 1, 1)
"""The branch of tables 6 and 7: shoulder forward, elbow up. The wrist's sign changes no error."""

_KNOTS, _DEGREE = 10, 7
"""Spline nodes per interval for torques at every instant, exact to 1e-11 N·m."""
_METHODS = {"CRBA": "composite", "ABA": "articulated", "GA": "gibbs"}
_SIGNS = {1: "+", -1: "−"}

PAPER = read("mata2002")
_PAPER6 = np.array(PAPER.results["table6"])
"""Average errors of q, v and a (rows), joint by joint."""


class Simulated(NamedTuple):
    """A simulated line at the ends of its intervals: times, joints, |errors| of q, v and a (3, n, 6), and the cost."""

    t: Array
    q: Array
    errors: Array
    evaluations: int
    seconds: float

    @property
    def average(self) -> Array:
        """Return the errors (3, 6) averaged over the ends of the intervals, without the start."""
        average: Array = self.errors[:, 1:].mean(axis=1)
        return average


@cache
def line(reading: str = "both points, 5 s", label: Label = USUAL) -> CartesianLine:
    """Return section 5.2's line of the wrist's centre, by one of the :data:`READINGS`, on one of the eight branches.

    >>> [round(line(reading).duration, 3) for reading in READINGS]
    [5.0, 5.0, 3.286]
    >>> [round(line(reading).length / line(reading).duration, 5) for reading in READINGS]
    [0.06573, 0.1, 0.1]
    """
    q0 = analytic_ik(puma(), pose(START, np.deg2rad(ATTITUDE).tolist())).pick(*label)
    if reading == "both points, 5 s":
        return CartesianLine(puma(), q0, END, timing=DURATION)
    way = np.subtract(END, START)
    reach = SPEED * DURATION / float(np.linalg.norm(way)) if reading == "0.1 m/s, 5 s" else 1.0
    return CartesianLine(puma(), q0, START + reach * way, speed=SPEED)


def used() -> dict[str, ArrayLike]:
    """Return the data of the lines, named as in the data file."""
    plan = line()
    start, end = (puma().pose(plan(t).q, "dh6")[:3, 3] for t in (0.0, plan.duration))
    names = ("both points in 5 s", "0.1 m/s for 5 s", "both points at 0.1 m/s")
    pace = dict[str, ArrayLike]()
    for name, reading in zip(names, READINGS, strict=True):
        plan = line(reading)
        pace[f"5.2: duration, {name} [s]"] = plan.duration
        pace[f"5.2: velocity, {name} [m/s]"] = plan.length / plan.duration
    places: dict[str, ArrayLike] = {"start of the line [m]": start, "end of the line [m]": end}
    rest: dict[str, ArrayLike] = {"attitude ZYZ [°]": ATTITUDE, "tolerance": TOLERANCE, "interval [s]": INTERVAL}
    return {**pace, **{f"5.2: {name}": value for name, value in {**rest, **places}.items()}}


def edges(plan: CartesianLine) -> Array:
    """Return the ends of the intervals [s]; the last one may be shorter.

    >>> edges(line("0.1 m/s, both points"))[-3:].round(3)
    array([3.1  , 3.2  , 3.286])
    """
    count = int(np.ceil(plan.duration / INTERVAL - 1e-9))
    return np.append(INTERVAL * np.arange(count), plan.duration)


def torques(plan: CartesianLine, feed: str) -> Feed:
    """Return the torques of a plan as one of the :data:`FEEDS` gives them.

    >>> plan = line()
    >>> exact = puma().inverse_dynamics(*plan(1.23))
    >>> bool(abs(torques(plan, "continuous")(12, 1.23) - exact).max() < 1e-9)
    True
    >>> bool(abs(torques(plan, "linear")(12, 1.23) - exact).max() < 0.01)
    True
    """
    from scipy.interpolate import make_interp_spline  # noqa: PLC0415  # slow to import

    t = edges(plan)

    def of(times: Array) -> Array:
        return puma().inverse_dynamics(*plan(times))

    if feed in ("middle", "held"):
        steady = of(0.5 * (t[:-1] + t[1:]) if feed == "middle" else t[:-1])
        return lambda k, _: steady[k]
    if feed == "linear":
        through = make_interp_spline(t, of(t), k=1)
    else:
        knots = np.linspace(0.0, plan.duration, _KNOTS * (len(t) - 1) + 1)
        through = make_interp_spline(knots, of(knots), k=_DEGREE)
    return lambda _, now: through(now)


def simulate(plan: CartesianLine, feed: Feed, forward: Callable[[Array, Array, Array], Array]) -> Simulated:
    """Return the motion of the arm under the torques: Runge–Kutta 4(5), restarted in every interval."""
    from scipy.integrate import solve_ivp  # noqa: PLC0415  # slow to import

    t = edges(plan)
    wanted = plan(t)
    tau = puma().inverse_dynamics(*wanted)
    states = [np.concatenate((wanted.q[0], wanted.v[0]))]
    evaluations = 0
    start = time.perf_counter()
    for k, span in enumerate(pairwise(t)):
        rate = partial(_rate, forward, partial(feed, k))
        step = solve_ivp(rate, span, states[-1], method="RK45", rtol=TOLERANCE, atol=TOLERANCE)
        states.append(step.y[:, -1])
        evaluations += int(step.nfev)
    seconds = time.perf_counter() - start
    q, v = np.split(np.array(states), 2, axis=1)
    errors = np.abs([q - wanted.q, v - wanted.v, forward(q, v, tau) - wanted.a])
    return Simulated(t, q, errors, evaluations, seconds)


def _rate(forward: Callable[[Array, Array, Array], Array], feed: Callable[[float], Array], t: float, x: Array) -> Array:
    q, v = x[:6], x[6:]
    return np.concatenate((v, forward(q, v, feed(t))))


@cache
def simulated(reading: str = "both points, 5 s", label: Label = USUAL, feed: str = "linear") -> Simulated:
    """Return one simulation with the compiled Gibbs–Appell form, the paper's own.

    >>> strayed = simulated(feed="continuous").average[0]
    >>> bool(strayed.max() < 1e-6)
    True
    """
    plan = line(reading, label)
    return simulate(plan, torques(plan, feed), puma().kernel("forward_dynamics", formulation="gibbs"))


_COPIED = Misprint("the same number, to six digits, is printed for two joints")
_UNKNOWN = NotComparable(
    "the paper specifies neither the interpolation of the torques, nor the branch, nor the duration, which determine "
    "the errors: its number is within their range of several decades"
)
_LOOSE = NotComparable(
    "the paper specifies neither the restarts of its integrator nor the interpolation of its torques"
)


# Table 6: tracking errors


def table6() -> Table:
    """Return the errors of table 6, joint by joint, for the line that goes through both points in five seconds."""
    exact, linear = (simulated(feed=feed).average for feed in ("continuous", "linear"))
    rows: list[tuple[Cell, ...]] = []
    for k, quantity in enumerate(("q [rad]", "v [rad/s]", "a [rad/s²]")):
        for joint in range(6):
            theirs, ours = float(_PAPER6[k, joint]), float(linear[k, joint])
            again = _printed_again(_PAPER6[k], joint)
            verdict = _UNKNOWN() if again is None else _COPIED(f"printed again for joint {again}")
            rows.append((f"|Δ{quantity[0]}| {quantity[2:]}", joint + 1, theirs, ours, float(exact[k, joint]), verdict))
    return PAPER.table("6", rows)


def _printed_again(printed: Array, joint: int) -> int | None:
    """Return the joint for which a joint's number is repeated: no two of six errors agree to six digits."""
    same = [k for k in range(6) if k != joint and abs(printed[k] / printed[joint] - 1.0) < 1e-6]
    return same[0] + 1 if same else None


def readings_table() -> Table:
    """Return the largest average error of a joint for every reading of the section, on every branch, by every feed."""
    paper = float(_PAPER6[0].max())
    rows: list[tuple[Cell, ...]] = []
    for reading, rest in READINGS.items():
        for label in ((1, 1, 1), (1, -1, 1), (-1, 1, 1), (-1, -1, 1)):
            errors = {feed: float(simulated(reading, label, feed).average[0].max()) for feed in FEEDS}
            signs = " ".join(_SIGNS[x] for x in label[:2])
            rows.append((f"{reading} ({rest})", signs, *errors.values(), paper))
    columns = ("line", "branch", *(f"τ {feed}" for feed in FEEDS), "paper")
    return PAPER.table("readings", rows, columns, length=line().length, interval=INTERVAL)


# Table 7: computing time


@cache
def table7(repeats: int = 3) -> Table:
    """Return the time and the number of evaluations of the simulated line, by formulation."""
    plan = line()
    feed = torques(plan, "continuous")
    kernels = {method: puma().kernel("forward_dynamics", formulation=name) for method, name in _METHODS.items()}
    rounds = [{method: simulate(plan, feed, kernel) for method, kernel in kernels.items()} for _ in range(repeats)]
    runs = {method: min((one[method] for one in rounds), key=lambda run: run.seconds) for method in kernels}
    motion = plan(np.linspace(0.0, plan.duration, 64))
    states = [np.tile(part, (100, 1)) for part in (motion.q, motion.v, puma().inverse_dynamics(*motion))]
    native = _best({method: partial(kernel, *states) for method, kernel in kernels.items()}, len(states[0]))
    rows, printed = [], PAPER.results["table7"]
    for method in _METHODS:
        run, ga = runs[method], runs["GA"]
        paper = printed[method][0] / printed["GA"][0]
        apart = float(np.abs(run.q - ga.q).max()) if method != "GA" else None
        measured = (run.seconds, run.evaluations, run.seconds / ga.seconds)
        in_batch = (1e9 * native[method], native[method] / native["GA"])
        rows.append((method, *printed[method], paper, *measured, *in_batch, apart, _LOOSE()))
    return PAPER.table("7", rows)


def _best(calls: dict[str, Callable[[], object]], states: int, repeats: int = 40) -> dict[str, float]:
    """Return the shortest time per state [s] of each call; calls alternate, so that all see the same machine load."""
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            least[name] = min(least[name], time.perf_counter() - start)
    return {name: seconds / states for name, seconds in least.items()}


# Figures


def _draw_figure3() -> Drawn:
    run = simulated()
    drawn = figure(6.4, 4.6)
    axes: Any = drawn.add_subplot(projection="3d")
    planned = line()(run.t).q
    styles = (
        {"color": COLOURS[6], "label": "planned trajectory"},
        {"color": COLOURS[2], "linestyle": "--", "label": "simulated, τ linear between samples"},
    )
    paths = [(puma().pose(q, "dh6")[:, :3, 3], style) for q, style in zip((planned, run.q), styles, strict=True)]
    arm(axes, puma(), planned[[0, -1]], ("initial position", "final position"), paths)
    axes.set(yticks=(0, 0.1, 0.2, 0.3), zticks=(0, 0.1, 0.2, 0.3))
    axes.view_init(elev=22, azim=-48)
    return drawn


def _draw_errors() -> Drawn:
    drawn = figure(7.0, 7.0)
    heavy, wrist, below = drawn.subplots(3, 1, sharex=True)
    plan = line()
    t = np.linspace(0.0, plan.duration, 400)
    tau = puma().inverse_dynamics(*plan(t))
    for joint in range(6):
        axes = heavy if joint in (1, 2) else wrist  # the two that support the arm's weight
        axes.plot(t, tau[:, joint], color=COLOURS[joint], label=f"joint {joint + 1}")
    heavy.set(title="Torques of the line", ylabel="τ [N·m]")
    wrist.set(ylabel="τ [N·m]")
    for colour, feed in zip(COLOURS, FEEDS, strict=False):
        run = simulated(feed=feed)
        below.semilogy(run.t[1:], run.errors[0, 1:].max(axis=1), color=colour, label=feed)
    below.axhline(float(_PAPER6[0].max()), color=COLOURS[6], linestyle=":", label="paper, average")
    below.set(title="Largest error of a joint, by how the torques are fed", xlabel="t [s]", ylabel="|Δq| [rad]")
    for axes in (heavy, wrist, below):
        beside(axes)
    return drawn


def _draw_figure4() -> Drawn:
    blocks = (
        (0.0, 1.2, "line of the\nterminal element"),
        (2.2, 1.2, "inverse kinematics"),
        (4.4, 1.2, "inverse dynamics,\nsection 4.1"),
        (6.6, 1.2, "forward dynamics,\nsection 4.2"),
        (6.6, 0.0, "Runge–Kutta 4(5)"),
        (2.2, 0.0, "differences,\ntable 6"),
    )
    arrows = (
        (((1.75, 1.475), (2.2, 1.475)), ""),
        (((3.95, 1.475), (4.4, 1.475)), "q, q̇, q̈"),
        (((6.15, 1.475), (6.6, 1.475)), "τ"),
        (((7.1, 1.2), (7.1, 0.55)), "  q̈*"),
        (((8.0, 0.55), (8.0, 1.2)), "  q*, q̇*"),
        (((6.6, 0.275), (3.95, 0.275)), "q*, q̇*, q̈*"),
        (((3.075, 1.2), (3.075, 0.55)), "  q, q̇, q̈"),
    )
    return block_diagram(blocks, arrows)


FIGURES = PAPER.figures({"figure4": _draw_figure4, "figure3": _draw_figure3, "table6": _draw_errors})
