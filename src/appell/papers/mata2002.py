"""mata2002: V. Mata, S. Provenzano, F. Valero, J.I. Cuadrado, "Serial-robot dynamics algorithms for moderately large
numbers of joints", Mechanism and Machine Theory 37 (2002) 739–755.

The paper's algorithms as written are the formulation "mata2002" (:mod:`appell.papers.mata2002_equations`). Tables 1 to
4 count operations (:mod:`appell.papers.mata2002_counts`). Table 5 and figure 2 solve one badly conditioned
arm in single precision. Tables 6 and 7 simulate a PUMA along a straight line (:mod:`appell.papers.mata2002_line`).
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.loading import load
from appell.papers import conclusions
from appell.papers import mata2002_counts as counts
from appell.papers import mata2002_line as section52
from appell.papers.mata2002_equations import equations
from appell.reports.index import Absent, Entry
from appell.reports.report import Figure, Pick, Report, picked, wanted_tables
from appell.reports.rules import Holds, Within
from appell.reports.table import Cell, Table
from appell.results.style import COLOURS, figure, matplotlib
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


TITLE = "serial-robot dynamics algorithms for moderately large numbers of joints"

CORRECTIONS = (
    "(2): the second term holds ω̇, and the third lacks a cross product. (7a): ω̇. (7b): the last factor is ʲ⁺¹Rⱼ.",
    "(7d), tensor form: (∂r̈/∂q̈)ᵀ = (∂ω̇/∂q̈)ᵀ r̃. (7e): for a prismatic joint k the derivative is ⁱRₖ zₖ alone.",
    "(9): m(r̈ − g) where g points down. (17), (18): the sign of G disagrees with the bias C + G.",
    "(22): the last term is s̃ₖᵢ r̃ⱼᵢ, not s̃ₖᵢ s̃ⱼᵢ.",
    "Section 4.1, step 1: the base starts from s̈ = +9.81 z₀ for gravity along −z.",
    "Section 4.2: step 1 also sets γₙ = mₙrₙₙ and Hₙ; step 3 turns by ʲRⱼ₋₁; step 4 starts from φₙ = γₙ at n − 1; "
    "step 5 means the skew tensor φ̃.",
    "Table 3: the decomposition takes (n³ − n)/6 sums (35 for n = 6), not as many as products (56); the total of the "
    "sums includes them. Its products, and those of the solution, are those of M = LᵀDL.",
    "Section 5.1: m₂ = 10 kg; the first digit is lost in print.",
    "Table 5: the row's symbol is that of joint 2, its caption and figure 2 speak of joint 1; joint 1 is meant.",
    "Section 5.2: the two points are 0.32863 m apart, so it is 3.286 s at 0.1 m/s or 0.06573 m/s for 5 s, not both.",
    "Table 6 is miscopied: joints 1 and 6 have one |Δq|, joint 2's row mixes those of joints 3 and 4.",
)

_CHECKED = "Sections 2 to 4."
INDEX: tuple[Entry | Absent, ...] = (
    Entry("(1)–(6)", "Gibbs function", "robot.gibbs(q, v, a)", _CHECKED, ("(1)–(6)",)),
    Entry(
        "(7)–(16), section 4.1",
        "inverse dynamics, about mass centres",
        'robot.inverse_dynamics(q, v, a, formulation="mata2002")',
        _CHECKED,
        ("(7)–(16), 4.1",),
    ),
    Entry(
        "(19)–(22), section 4.2",
        "generalized inertia matrix D",
        'robot.mass_matrix(q, formulation="mata2002")',
        _CHECKED,
        ("(19)–(22), 4.2",),
    ),
    Entry("(17), (18)", "bias vector C + G", 'robot.bias(q, v, formulation="mata2002")', "Table 3."),
    Entry(
        "(17), section 4.2",
        "forward dynamics, by decomposition of D",
        'robot.forward_dynamics(q, v, tau, formulation="mata2002")',
        _CHECKED,
        ("(17), 4.2",),
    ),
    Entry("Table 1", "operations, inverse dynamics", 'robot.operations("inverse_dynamics", "mata2002")', "Table 1."),
    Entry("Table 2", "operations, inertia matrix", 'robot.operations("mass_matrix", "mata2002")', "Table 2."),
    Entry("Table 3", "operations, part by part", 'robot.operations("bias", "mata2002")', "Table 3."),
    Entry("Table 4", "operations, forward dynamics", 'robot.operations("forward_dynamics", "mata2002")', "Table 4."),
    Entry("Figure 1", "arm of two links", 'appell.load("two-link")', "Figure 1.", (), "Table 5."),
    Entry("Table 5", "single precision", "appell.papers.mata2002.accelerations(method, kind)", "Table 5."),
    Entry("Figure 2", "its curves", "appell.papers.mata2002.accelerations(method, kind)", "Figure 2.", (), "Table 5."),
    Entry("Figure 3", "line of the PUMA", "appell.trajectory.CartesianLine", "Figure 3.", (), "Table 6."),
    Entry(
        "Figure 4", "procedure of the simulation", "appell.papers.mata2002_line.simulate", "Figure 4.", (), "Table 6."
    ),
    Entry("Table 6", "average errors of the joints", "appell.simulate(robot, q0, v0, 5.0, control)", "Table 6."),
    Entry("Table 7", "time and evaluations", "appell.papers.mata2002_line.simulated", "Table 7."),
)
"""Index of the paper: calls and places in the report, see :mod:`appell.reports.index`."""

GIVES = (
    "Recursions of the Gibbs–Appell equations for serial arms, inverse and forward, with their operation counts, "
    "their accuracy on an ill-conditioned arm, and their computing time in a simulation. It claims the lowest "
    "operation counts of the compared methods, smaller rounding errors than composite bodies, and the "
    "shortest time."
)

_PICKS = (
    *(
        Pick("Table 1.", (f"this work, G-A: {side}",), f"inverse dynamics, six joints: {side}", "paper n=6", "ours n=6")
        for side in counts.SIDES
    ),
    *(
        Pick("Table 3.", (f"total: {side}",), f"forward dynamics, six joints: {side}", "paper n=6", "ours n=6")
        for side in counts.SIDES
    ),
    *(
        Pick("Table 5.", (method,), f"single precision, {method}: largest error [rad/s²]", "paper max", "ours max")
        for method in ("ABA", "CRBA, composites by mass centre", "GA")
    ),
    Pick("Table 7.", ("GA",), "simulated line: evaluations", "paper evaluations", "ours evaluations"),
)


def report(tables: Sequence[str] | None = None) -> Report:
    """Return the tables "equations" and "1" to "7", or the requested ones, with their figures.

    Examples
    --------
    >>> [table.title[:8] for table in report(tables=["5"]).tables]
    ['Table 5.']
    """
    makers: dict[str, Callable[[], tuple[Table, ...]]] = {
        "equations": lambda: (equations(),),
        "1": counts.table1,
        "2": counts.table2,
        "3": counts.table3,
        "4": counts.table4,
        "5": lambda: (table5(),),
        "6": lambda: (section52.table6(), section52.readings_table()),
        "7": lambda: (section52.table7(),),
    }
    wanted = wanted_tables("mata2002", tables, makers)
    made = tuple(table for name in wanted for table in makers[name]())
    figures = (*((_FIGURE1, _FIGURE2) if "5" in wanted else ()), *(section52.FIGURES if "6" in wanted else ()))
    return Report(
        "mata2002",
        TITLE,
        made,
        figures,
        CORRECTIONS,
        gives=GIVES,
        highlights=picked(made, _PICKS),
        conclusions=conclude() if tables is None else None,
    )


def conclude() -> Table:
    """Return the paper's conclusions on the comparison of algorithms, and whether they hold in our results."""
    exact = accelerations("ABA", np.float64)
    labels = {
        "ABA": "articulated bodies",
        "GA": "Gibbs–Appell",
        "CRBA": "composite bodies by mass centre",
        "CRBA about joints": "composite bodies about joint origins",
    }
    errors = {key: (label, _precision(accelerations(key, np.float32), exact)) for key, label in labels.items()}
    precision = (
        conclusions.row(
            "Articulated bodies have smaller errors in single precision (table 5)", errors["ABA"], errors["GA"]
        ),
        conclusions.row(
            "Gibbs–Appell has smaller errors than composite bodies (table 5)", errors["GA"], errors["CRBA"]
        ),
        conclusions.row("The same, composites about joint origins", errors["GA"], errors["CRBA about joints"]),
    )
    notes = (
        conclusions.COUNTED,
        "Operations are products and sums for a general arm of six joints. Forward dynamics by Gibbs–Appell and by "
        "composite bodies share bias and LᵀDL and differ only in M.",
        "On arms of special geometry it depends on the arm; inertia matrix by Gibbs–Appell and by composite bodies: "
        f"{_special_arms()}.",
        "The algorithms of Angeles and of Balafoutis and Patel, which the paper also compares, are not implemented.",
        "Errors are the largest and the mean one [rad/s²]. Whether Gibbs–Appell has smaller errors than "
        "composite bodies "
        "depends on their reference points: about mass centres they have larger errors, about joint origins "
        "equal ones.",
        "Times are those of the compiled forward dynamics on states of the line, with about 5 % noise.",
    )
    return conclusions.table((*conclusions.tensors(), *precision, *_simulation()), notes)


def _special_arms() -> str:
    """Return the counts of the inertia matrix of arms of the catalogue, by both methods."""
    robots = (load(name, friction=False, armature=False) for name in ("puma560", "puma600", "stanford", "rx90"))
    counts = ((r.name, *(r.operations("mass_matrix", form) for form in ("mata2002", "composite"))) for r in robots)
    return "; ".join(f"{name} {first} against {second}" for name, first, second in counts)


def _simulation() -> list[tuple[Cell, ...]]:
    """Return the paper's conclusions on table 7."""
    table = section52.table7()
    gibbs, composite, articulated = (table.row(method) for method in ("GA", "CRBA", "ABA"))
    same = Holds(section52.TOLERANCE, "the greatest difference of the joints [rad]")
    apart = max(abs(float(other["from GA [rad]"] or 0.0)) for other in (composite, articulated))
    times = [float(row["native ns"] or 0.0) for row in (gibbs, composite, articulated)]
    claim = "Gibbs–Appell takes less time than {}, by 5 % or more (table 7)"
    first = ("1.05 times Gibbs–Appell [ns]", (1.05 * times[0],))
    return [
        ("The three methods simulate the same motion (section 5.2)", f"{apart:.0e} rad apart", same(apart)),
        conclusions.row(claim.format("composite bodies"), first, ("composite bodies [ns]", (times[1],))),
        conclusions.row(claim.format("articulated bodies"), first, ("articulated bodies [ns]", (times[2],))),
    ]


# Table 5 and figure 2: single against double precision

DEGREES = np.arange(0.0, 360.0, 2.0)
"""Angle of the second link; the first is along x. Both are at rest without torques."""

_PAPER5 = {"CRBA": (1.2922, 0.275063), "GA": (0.534002, 0.0087611), "ABA": (0.4976, 0.01324)}
_RULE5 = Within(0.1, "maximum and mean both; rounding errors that depend on the order of additions")
_REFERENCE5 = {"CRBA": (1.5347, 0.27520), "GA": (0.77969, 0.17287), "ABA": (1.6310e-4, 3.5489e-5)}


def accelerations(method: str, kind: type[np.floating[Any]]) -> Array:
    """Return the accelerations (180, 2) of the two-link arm by a method, computed throughout in one type.

    As in the paper, CRBA and GA solve M·a = −bias by Gauss–Jordan elimination. GA takes M and bias from the recursions
    of mata2002, ABA is appell's articulated form, CRBA keeps composite bodies by mass centre as Walker and Orin did,
    "CRBA about joints" about joint origins. Constants that a program would precompute are rounded once.

    Examples
    --------
    >>> error = accelerations("ABA", np.float32)[:, 0] - accelerations("ABA", np.float64)[:, 0]
    >>> bool(abs(error).max() < 1e-3)
    True
    """
    q2 = np.deg2rad(DEGREES).astype(kind)
    rest = np.zeros_like(q2)
    q, still = (rest, q2), (rest, rest)
    robot = load("two-link")
    if method == "ABA":
        return np.stack(robot.tape("forward_dynamics", formulation="articulated").run(q, still, still), axis=-1)
    bias = robot.tape("bias", formulation="gibbs").run(q, still)
    if method == "CRBA":
        entries = _walker_orin(q2, kind)
    else:
        form = "gibbs" if method == "GA" else "composite"
        entries = [np.full_like(q2, x) for x in robot.tape("mass_matrix", formulation=form).run(q)]
    return _gauss_jordan(entries, [-x for x in bias])


def _walker_orin(q2: Array, kind: Callable[[float], Any]) -> list[Array]:
    """Return M of the two plates, row by row, from composite bodies kept by mass, mass centre and central inertia."""
    m1, m2, l1, c1, c2 = map(kind, (0.1, 10.0, 0.02, 0.01, 1.0))
    i1, i2 = kind(0.1 * (0.02**2 + 0.02**2) / 12.0), kind(10.0 * (2.0**2 + 0.02**2) / 12.0)
    c, s = np.cos(q2), np.sin(q2)
    # the outer body alone, pushed by joint 2: moment about joint 2, then about joint 1
    outer = np.full_like(q2, i2 + m2 * c2 * c2)
    coupled = outer + l1 * (c * (m2 * c2))
    # both bodies as one, in frame 1: common centre (x, y), inertia about it, then about joint 1
    x2, y2 = l1 + c * c2, s * c2
    mass = m1 + m2
    x, y = (m1 * c1 + m2 * x2) / mass, m2 * y2 / mass
    central = i1 + m1 * ((c1 - x) ** 2 + y**2) + i2 + m2 * ((x2 - x) ** 2 + (y2 - y) ** 2)
    return [central + mass * (x * x + y * y), coupled, coupled, outer]


def _gauss_jordan(entries: Sequence[Array], right: Sequence[Array]) -> Array:
    """Return x (N, 2) of N systems of two equations; pivots in order, which is safe for a positive definite matrix."""
    (a, b, c, d), (x, y) = entries, right
    b, x = b / a, x / a
    d, y = d - c * b, y - c * x
    y = y / d
    return np.stack((x - b * y, y), axis=-1)


def _precision(single: Array, double: Array) -> tuple[float, float]:
    error = np.abs(single[:, 0].astype(float) - double[:, 0])
    return float(error.max()), float(error.mean())


def table5() -> Table:
    """Return the error of single precision in joint 1's acceleration, by method."""
    exact, condition = accelerations("ABA", np.float64), _condition()
    rows: list[tuple[str | float | None, ...]] = []
    for method, remark in (("ABA", ""), ("CRBA", ", composites by mass centre"), ("GA", "")):
        ours = _precision(accelerations(method, np.float32), exact)
        verdict = _RULE5(*zip(_PAPER5[method], ours, strict=True))
        rows.append((method + remark, *_PAPER5[method], *_REFERENCE5[method], *ours, verdict))
    arm = load("two-link")
    state = np.stack([np.zeros_like(DEGREES), np.deg2rad(DEGREES)], axis=-1).astype(np.float32)
    still = np.zeros_like(state)
    compiled = _precision(arm.forward_dynamics(state, still, still), exact)
    rows.append(("appell, compiled in float32", None, None, None, None, *compiled, None))
    return Table(
        "Table 5. Single against double precision: |Δ| of joint 1's acceleration, two-link arm, rad/s²",
        ("method", "paper max", "paper mean", "reference max", "reference mean", "ours max", "ours mean", "verdict"),
        tuple(rows),
        (
            "Reference: numbers stored with the papers, not computed by appell.",
            "No convention gives all six printed numbers. The differences are rounding errors, amplified "
            f"by a condition number of {condition.min():.1e} to {condition.max():.1e}; the order of summation matters.",
            "The paper's ABA errors were not reproduced: ours and the reference are thousands of times smaller in the "
            "maximum, hundreds of times in the mean. The articulated-body form never assembles the "
            "ill-conditioned matrix.",
            "appell's own composite and Gibbs forms both use moments about the joint and are the same "
            "arithmetic on two "
            "parallel joints, with equal errors. The larger errors of the paper's CRBA may come from moments "
            "about mass "
            "centres.",
        ),
    )


def _condition() -> Array:
    states = np.stack([np.zeros_like(DEGREES), np.deg2rad(DEGREES)], axis=-1)
    condition: Array = np.linalg.cond(load("two-link").mass_matrix(states))
    return condition


def _draw_figure2() -> Drawn:
    drawn = figure(7.0, 5.8)
    axes = drawn.subplots(2, 2, sharex=True).ravel()
    exact = accelerations("ABA", np.float64)[:, 0]
    for ax, method in zip(axes, ("ABA", "CRBA", "GA"), strict=False):
        ax.plot(DEGREES, accelerations(method, np.float32)[:, 0], color=COLOURS[1], label="single precision", lw=0.9)
        ax.plot(DEGREES, exact, color=COLOURS[0], linestyle=(0, (4, 2)), label="double precision", lw=1.1)
        ax.set(title=method, ylabel="acceleration of joint 1 [rad/s²]", ylim=(-493.3, -490.3))
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    axes[3].plot(DEGREES, _condition() / 1e4, color=COLOURS[2])
    axes[3].set(title="Mass matrix", ylabel="condition number [10⁴]", ylim=(0, 6))
    for ax in axes[2:]:
        ax.set(xlabel="angle of joint 2 [deg]", xticks=range(0, 361, 60), xlim=(0, 360))
    return drawn


def _draw_figure1() -> Drawn:
    """Draw the two plates at an angle of joint 2, to scale."""
    robot, q2 = load("two-link"), np.deg2rad(30.0)
    elbow = robot.pose([0.0, q2], "joint2")[:2, 3]
    drawn = figure(6.4, 3.2)
    axes = drawn.subplots()
    Rectangle, rotated = matplotlib(".patches").Rectangle, matplotlib(".transforms").Affine2D
    for corner, angle, length, colour, name in (
        (np.zeros(2), 0.0, elbow[0], COLOURS[1], "link 1, 0.1 kg"),
        (elbow, q2, 2.0, COLOURS[0], "link 2, 10 kg"),
    ):
        turn = rotated().rotate(angle).translate(*corner) + axes.transData
        axes.add_patch(Rectangle((0.0, -0.01), length, 0.02, transform=turn, color=colour, label=name))
    axes.annotate("g", (0.3, 0.55), (0.3, 0.85), arrowprops={"arrowstyle": "->"}, ha="center")
    axes.set(xlim=(-0.1, 1.95), ylim=(-0.1, 1.15), xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axes.legend(loc="lower right")
    return drawn


_FIGURE1 = Figure(
    "figure1", "Figure 1. The arm of section 5.1: two plates 0.02 m wide, 0.02 m and 2 m long, to scale.", _draw_figure1
)
_FIGURE2 = Figure(
    "figure2",
    "Figure 2. Acceleration of joint 1 of the two-link arm in single and double precision by three methods, and the "
    "condition number of its mass matrix.",
    _draw_figure2,
)
