"""valera2003: A. Valera, V. Mata, M. Vallés, F. Valero, N. Rosillo, F. Benimeli, "Solving the inverse dynamic control
for low cost real-time industrial robot control applications", Robotica 21 (2003) 261–269.

Tables 2 and 3 count operations of the vector form. Table 4's controllers, the straight line of section 4 with its
torques (figure 4), the closed loop on ramps and splines (figure 5), and the four techniques of identification run on
the PUMA 600 of the paper.
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.control.simulated import perturbed
from appell.errors import InputError
from appell.loops.load import load
from appell.papers.formula import Formula
from appell.papers.mata2002_counts import COLUMNS, SIDES, compared, counted
from appell.papers.valera2003_fit import identification_table
from appell.planning.analytic_ik import analytic_ik
from appell.planning.goal import pose
from appell.planning.trajectory.cartesian import CartesianLine
from appell.planning.trajectory.curves import Ramp, Spline
from appell.reports.index import Absent, Entry
from appell.reports.report import Figure, Highlight, Pick, Report, picked
from appell.reports.rules import Digits, NotComparable
from appell.reports.table import Cell, Table
from appell.results.style import COLOURS, figure
from appell.robot.robot import Robot
from appell.simulation.laws.joint_laws import PointToPoint, Tracking
from appell.simulation.simulate import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


TITLE = "inverse dynamic control for low cost real-time industrial robot control applications"

CORRECTIONS = (
    "Before (22), and (22), (24), (25): r from Oⱼ to G, not from Oⱼ₋₁. With (25) as printed, torques on the line are "
    "off by 21 N·m at its start and by up to 37; with (22) and (24) as printed, τ₃ by up to 45 and τ₂ not at all.",
    "(9), (10): the terms z q̇, z q̈ and their cross products belong to revolute joints alone.",
    "(16), (23) hold for revolute joints; for a prismatic one τⱼ = zᵀ(mⱼ r̈ + φⱼ).",
    "The frame's offset is p = [a, D sin α, −D cos α] with negative D; for a prismatic joint D = −q.",
    "Gravity is left out: the recursion starts from r̈ = +9.81 z₀.",
    '"M from A, bias from B" is not so: both terms feed both.',
    "Table 4: the damping of the two tracking laws acts on the rate of the error, not on q̇.",
    "Tables 2 and 3: 121n and 91n need the recursions of α and β merged into one.",
)

INDEX: tuple[Entry | Absent, ...] = ()
"""From the paper to calls and places in the report; see :mod:`appell.reports.index`."""

GIVES = (
    "Computed-torque control of an industrial arm from the Gibbs–Appell equations in vector form: operation counts, "
    "three control laws, and the torques of a straight line."
)

_PICKS = tuple(
    Pick(
        "Tables 2 and 3.",
        (f"this work, G-A in vectors: {side}",),
        f"inverse dynamics, six joints: {side}",
        "paper n=6",
        "ours n=6",
    )
    for side in SIDES
)

START, END, ATTITUDE = (0.6, 0.175, 0.25), (0.018, 0.757, 0.0), (45.0, 60.0, 90.0)
"""Section 4: where the line begins and ends [m], and the attitude by Euler angles ZYZ [°]."""
DURATION = 8.6
"""How long the line takes, as printed [s]."""
STEPS = (0.225, 0.061)
"""What a control step took on the paper's two machines [ms]."""
MACHINES = NotComparable("theirs is in C on a Pentium II at 350 MHz, ours through Python on this machine")
SPEED = 0.1
RATE = 1000.0
"""How often the closed loop of figure 5 is sampled here [Hz]; the paper does not say."""


def report(tables: Sequence[str] | None = None) -> Report:
    """Return the tables "3", "4", "line" and "identification" with figures 4 and 5, or those asked for.

    Examples
    --------
    >>> [table.title[:8] for table in report(tables=["3"]).tables]
    ['Tables 2']
    """
    makers: dict[str, Callable[[], Table]] = {
        "3": table3,
        "4": table4,
        "line": line_table,
        "identification": identification_table,
    }
    wanted = list(makers) if tables is None else [str(t) for t in tables]
    unknown = [t for t in wanted if t not in makers]
    if unknown:
        raise InputError(f"valera2003: no table {', '.join(unknown)}; there are {', '.join(makers)}")
    figures = [Figure("figure4", "Figure 4. Joint torques along the line", figure4)] if "line" in wanted else []
    if "4" in wanted:
        figures.append(Figure("figure5", "Figure 5. Ramp and spline references, and the joints that follow", figure5))
    made = tuple(makers[t]() for t in wanted)
    highlights = (*picked(made, _PICKS), *_measured(made))
    return Report("valera2003", TITLE, made, tuple(figures), CORRECTIONS, gives=GIVES, highlights=highlights)


def _measured(tables: Sequence[Table]) -> Iterator[Highlight]:
    """Return what the text says of section 4's line, and of the time that a control step takes."""
    titles = {table.title.partition(".")[0]: table for table in tables}
    if "Section 4" in titles:
        ours = line().duration
        verdict = Digits()(str(DURATION), ours)
        yield Highlight("straight line at 0.1 m/s: duration [s]", DURATION, f"{ours:.5f}", verdict)
    if "Table 4" in titles:
        step = titles["Table 4"].row("tracking")["control step here [ms]"]
        yield Highlight("control step of the tracking law [ms]", STEPS[1], step, MACHINES())


@cache
def puma() -> Robot:
    """Return the paper's PUMA 600."""
    return load("puma600")


def line(label: tuple[int, int, int] = (1, 1, 1)) -> CartesianLine:
    """Return section 4's straight line of the wrist centre, on one of the eight branches."""
    goal = pose(START, np.deg2rad(ATTITUDE).tolist())
    shoulder, elbow, wrist = label
    q0 = analytic_ik(puma(), goal).pick(shoulder=shoulder, elbow=elbow, wrist=wrist)
    return CartesianLine(puma(), q0, END, speed=SPEED)


def table3() -> Table:
    """Return the operation counts of the vector form and of Newton–Euler, paper against ours."""
    compiled = counted("inverse_dynamics")
    rows = [
        *compared(
            "this work, G-A in vectors",
            (Formula.of("-136", "121"), Formula.of("-116", "91")),
            counted("inverse_dynamics", "vector"),
            compiled,
        ),
        *compared(
            "Luh, Walker, Paul, N-E",
            (Formula.of("-112", "121"), Formula.of("-82", "90")),
            counted("inverse_dynamics", "newton-euler"),
            compiled,
        ),
    ]
    notes = ("Table 2 gives the steps whose sum table 3 is; ours counts the whole, with α and β kept apart.",)
    return Table("Tables 2 and 3. Inverse dynamics in vector form, n revolute joints", COLUMNS, tuple(rows), notes)


def line_table() -> Table:
    """Return the line on its eight branches: the joints at the start and the largest torques on the way."""
    goal = pose(START, np.deg2rad(ATTITUDE).tolist())
    found = analytic_ik(puma(), goal)
    rows: list[tuple[Cell, ...]] = []
    for label in found.labels.tolist():
        shoulder, elbow, wrist = label
        motion = line((shoulder, elbow, wrist))
        t = np.linspace(0.0, motion.duration, 400)
        tau = np.abs(puma().inverse_dynamics(*motion(t))).max(axis=0)
        joints = ", ".join(f"{x:.3f}" for x in np.rad2deg(np.asarray(motion.q0)))
        signs = " ".join("+" if x > 0 else "−" for x in label)
        rows.append((signs, joints, ", ".join(f"{x:.2f}" for x in tau)))
    duration = line().duration
    notes = (
        f"{duration:.5f} s at {SPEED:g} m/s (paper: {DURATION:g} s).",
        "Signs: shoulder forward, elbow up, fifth joint positive.",
        "The paper shows torques as curves alone, figure 4, of a branch that it does not name.",
    )
    return Table(
        "Section 4. The straight line on all branches",
        ("branch", "q at the start [°]", "largest |τ| [N·m]"),
        tuple(rows),
        notes,
        unjudged="the paper prints no joint angles and no torques, only curves.",
    )


def table4() -> Table:
    """Return how the three laws of table 4 do on the PUMA as modelled, and how long a control step takes."""
    goal = np.array([0.4, -0.6, 2.4, 0.3, 0.5, -0.3])
    start = np.array([0.0, -0.9, 2.8, 0.0, 0.8, 0.0])
    spline = Spline([0.0, 1.0, 2.0], [start, 0.5 * (start + goal) + 0.1, goal], 5)
    laws: list[tuple[str, str, Any, float | None]] = [
        ("point to point", "−K_d q̇ − K_p e", PointToPoint(puma(), goal, 36.0, 12.0), None),
        ("tracking", "q̈* − K_d ė − K_p e", Tracking(puma(), spline, 100.0, 20.0), None),
        ("tracking with integral action", "… − K_i ∫e", Tracking(puma(), spline, 100.0, 20.0, 200.0), RATE),
    ]
    rows: list[tuple[Cell, ...]] = []
    for name, law, control, rate in laws:
        run = simulate(puma(), start, np.zeros(6), 3.0 if name == "point to point" else 2.0, control=control, rate=rate)
        left = float(np.abs(run.q[-1] - goal).max())
        q, v = run.q[0], run.v[0]
        if rate is not None:
            control.reset()
        best = min(_seconds(partial(control, k * 1e-3, q, v)) for k in range(200))
        rows.append((name, law, f"{left:.1e}", f"{1e3 * best:.4f}"))
    notes = (
        "Exact model, no friction. A sampled law leaves what its period does: the spline ends moving slowly.",
        f"One control step took {STEPS[0]} ms on a Pentium at 150 MHz and {STEPS[1]} ms on a Pentium II at 350 MHz.",
    )
    columns = ("controller", "v", "error at the end [rad]", "control step here [ms]")
    none = "the paper's table 4 has the laws alone, no numbers."
    return Table("Table 4. The controllers on the PUMA 600", columns, tuple(rows), notes, none)


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def figure4() -> Drawn:
    """Draw the torques along the line."""
    motion = line()
    t = np.linspace(0.0, motion.duration, 400)
    tau = puma().inverse_dynamics(*motion(t))
    drawn = figure(7.0, 6.0)
    axes = drawn.subplots(3, 2, sharex=True).ravel()
    for k, axis in enumerate(axes):
        axis.plot(t, tau[:, k], color=COLOURS[0])
        axis.set_title(f"joint {k + 1}")
        axis.set_ylabel("τ [N·m]")
        if np.abs(tau[:, k]).max() < 1e-9:  # rounding is no curve
            axis.set_ylim(-0.1, 0.1)
    for axis in axes[-2:]:
        axis.set_xlabel("t [s]")
    drawn.align_ylabels()
    return drawn


def figure5() -> Drawn:
    """Draw the arm on a ramp and a spline under the sampled tracking law, which believes it 20 % lighter than it is."""
    arm = perturbed(puma(), 1.2)
    start = np.array([0.0, -0.9, 2.8, 0.0, 0.8, 0.0])
    up = start + np.array([0.5, 0.4, -0.4, 0.3, 0.3, 0.3])
    ramp = Ramp(start, up, begin=0.5, finish=2.0, duration=3.0)
    spline = Spline([0.0, 1.0, 2.0, 3.0], [start, up, 0.5 * (start + up), start], 5)
    drawn = figure(7.0, 5.0)
    axes = drawn.subplots(2, 2, sharex=True)
    for column, (name, reference) in enumerate((("ramp", ramp), ("spline", spline))):
        law = Tracking(puma(), reference, 400.0, 40.0)
        run = simulate(arm, start, np.zeros(6), 3.0, control=law, rate=RATE)
        t = np.linspace(0.0, 3.0, 301)
        wanted, got = reference(t).q, run.at(t)[0]
        above, below = axes[:, column]
        above.set_title(name)
        above.plot(t, wanted[:, 1], color=COLOURS[6], linestyle=":", label="reference")
        above.plot(t, got[:, 1], color=COLOURS[0], label="joint 2")
        below.plot(t, 1e3 * (got - wanted), label=[f"joint {k + 1}" for k in range(6)])
        above.set_ylabel("q₂ [rad]")
        below.set_ylabel("error [mrad]")
        below.set_xlabel("t [s]")
    drawn.align_ylabels()
    axes[0, 1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    axes[1, 1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return drawn
