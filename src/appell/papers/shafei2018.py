"""shafei2018: A.M. Shafei, H.R. Shafei, "Dynamic modeling of tree-type robotic systems by combining 3×3 rotation and
4×4 transformation matrices" (2018).

The paper's equations are functions of any open tree: :func:`branches`, :func:`branch_equations`,
:func:`flight_equations`, :func:`impact_equations` and :func:`impact`
(:mod:`appell.papers.shafei2018_equations`). Table 1 and figures 12 and 13 count operations
(:mod:`appell.papers.shafei2018_counts`). Section 6 lets a tree of ten rods fall inside a round wall: table 3, the
energy, figures 14 to 19 and an animation (:mod:`appell.papers.shafei2018_motion`). Further checks, and a motion with
motors, are in :mod:`appell.papers.shafei2018_checks`.
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from appell.papers import conclusions
from appell.papers import shafei2018_checks as checks
from appell.papers import shafei2018_counts as counts
from appell.papers import shafei2018_motion as section6
from appell.papers.mata2002_counts import SIDES
from appell.papers.shafei2018_equations import (
    Branch,
    Equations,
    Impact,
    branch_equations,
    branches,
    flight_equations,
    impact,
    impact_equations,
)
from appell.papers.shafei2018_motion import POINTS, RADIUS, START
from appell.reports.index import Absent, Entry
from appell.reports.report import Figure, Film, Pick, Report, picked, wanted_tables
from appell.reports.rules import Holds
from appell.reports.table import Cell, Table
from appell.results.run import Run

__all__ = [
    "CORRECTIONS",
    "POINTS",
    "RADIUS",
    "START",
    "TITLE",
    "Branch",
    "Equations",
    "Impact",
    "branch_equations",
    "branches",
    "flight_equations",
    "impact",
    "impact_equations",
    "report",
]

TITLE = "dynamic modeling of tree-type robotic systems by combining 3×3 rotation and 4×4 transformation matrices"

CORRECTIONS = (
    "(7), (8): derivatives by q, not by its rates. (13): r̈. (23): ∂S/∂q̈. (29): q̈ₖ. (33): T̃.",
    "Transposes are lost in (13)–(15), (17), (18), (36)–(40), (I), (II) and in steps 6 and 7 of the appendix.",
    'The "irrelevant terms" of (14) hold ω̇·(ω × B₂ω), which is relevant unless all axes are parallel.',
    "Appendix: step 2 takes the 3×3 block of A, the loop of step 4 runs over j, step 7 means U₁ⱼ.",
    "The wall is not given: it is a circle of radius 2.5 m about the origin.",
    "The base starts at −(1 + √3)/2 in both directions, printed −1.366: only then are both halves symmetric.",
    "Table 3's |ṙ⁺ − ṙ⁻| is its normal component. The text's O₂ and O₄ at 1.08 s strike at 0.5697 s.",
    "Table 3 was integrated loosely: converged values differ from the second to fourth digit on.",
    "A rod's inertia about its centre is ml²/12 + J'l: J' of table 2 is that of the cross section alone.",
    "(41): a joint shared by several branches has its torque on one of them; otherwise it would be counted several "
    "times.",
)

_PARTS, _DRAWN = "Figures 2 to 8 and 11.", "Figures 1, 4 and 10."
_FALL = "appell.simulate(robot, START, v0, 2.0, walls=[appell.walls.Circle(2.5)])"
_SUM = ("I_f: largest relative difference",)
INDEX: tuple[Entry | Absent, ...] = (
    Entry("Figure 1", "a tree and its branches", "appell.papers.shafei2018.branches(robot)", _DRAWN, (), _PARTS),
    Entry("Figure 4, table 2", "the tree of ten rods", 'appell.load("shafei-tree")', _DRAWN, (), "Energy history"),
    Entry(
        "(1)–(24)",
        "equations of motion",
        'robot.inverse_dynamics(q, v, a, formulation="mixed")',
        _PARTS,
        ("ℜ: largest relative difference",),
    ),
    Entry("section 2", "branches, virtual links", "appell.papers.shafei2018.branches(robot)", _PARTS),
    Entry(
        "(26)–(42), figures 2, 3, 5, 6",
        "matrix and right-hand side of every branch",
        "appell.papers.shafei2018.branch_equations(robot, q, v, tau)",
        "Figures 5 to 8.",
        (),
        _PARTS,
    ),
    Entry(
        "(25), figures 7, 8",
        "I_f and ℜ, assembled",
        "appell.papers.shafei2018.flight_equations(robot, q, v, tau)",
        "Figures 5 to 8.",
        _SUM,
        _PARTS,
    ),
    Entry("Appendix", "recursion of I_f", 'robot.mass_matrix(q, formulation="mixed")', _PARTS, _SUM),
    Entry("(43), figure 9", "Jacobian of a point", "robot.jacobian(q, frame)", "Equations (44) to (47)."),
    Entry("Figure 10", "an oblique impact", "appell.simulate(robot, q0, v0, 2.0, walls)", _DRAWN, (), "Table 3."),
    Entry(
        "(44)–(47), figure 11",
        "impact matrix I_i",
        "appell.papers.shafei2018.impact_equations(robot, q, v, points, normals, e)",
        "Equations (44) to (47).",
    ),
    Entry(
        "(47)",
        "velocities after an impact, impulses",
        "appell.papers.shafei2018.impact(robot, q, v, points, normals, e)",
        "Motors and e",
    ),
    Entry("Table 1", "operations", 'robot.operations("mass_matrix", "mixed")', "Table 1."),
    Entry("Figure 12", "over links", 'robot.operations("mass_matrix", "lagrange")', "Figure 12.", (), "Table 1."),
    Entry("Figure 13", "over branches", 'robot.operations("bias", "lagrange")', "Figure 13.", (), "Table 1."),
    *(
        Entry(f"Figure {k}", f"{what} along X{x}", _FALL, f"Figure {k}.", (), "Table 3.")
        for k, what, x in (
            (14, "positions", "₁"),
            (15, "velocities", "₁"),
            (16, "positions", "₂"),
            (17, "velocities", "₂"),
        )
    ),
    Entry("Figure 18", "configurations", _FALL, "Figure 18.", (), "Table 3."),
    Entry("Figure 19", "energy", "appell.Run.plot()", "Figure 19.", (), "Energy history"),
    Entry("Table 3", "impacts", "appell.papers.shafei2018_motion.motion()", "Table 3."),
)
"""Index of the paper: calls and places in the report, see :mod:`appell.reports.index`."""

GIVES = (
    "The Gibbs–Appell equations of tree-shaped robots by 3×3 rotations and 4×4 transforms together, with operation "
    "counts, and a tree of ten rods that falls inside a round wall, impact by impact. It claims a form more compact "
    "than by 3×3 matrices and cheaper than by 4×4 matrices alone, and a constant energy."
)

_PICKS = (
    *(
        Pick(
            "Beside table 1.", (f"this work, 3×3 with 4×4: {side}",), f"equations of the tree: {side}", "paper", "ours"
        )
        for side in SIDES
    ),
    *(
        Pick("Table 3.", (k, what), f"impact {k}: {what}", "paper", "ours")
        for k in range(1, 6)
        for what in ("time [s]", "impulse [N·s]")
    ),
)


def report(tables: Sequence[str] | None = None, duration: float = 2.0) -> Report:
    """Return the tables "1", "equations", "3" and "motors", or the requested ones, with their figures.

    Parameters
    ----------
    tables
        The tables. Default: all. "3" includes its simulated run.
    duration
        Simulated time [s].

    Examples
    --------
    >>> found = report(tables=["3"], duration=0.5)
    >>> [table.title[:8] for table in found.tables]
    ['Table 3.', 'Equation', 'Flying p', 'Energy h', 'The prin']
    >>> found.run.robot_name
    'shafei-tree'
    """
    run = None if tables is not None and "3" not in map(str, tables) else section6.motion(duration)
    makers: dict[str, Callable[[], tuple[Table, ...]]] = {
        "1": counts.table1,
        "equations": lambda: (checks.structure(),),
        "3": lambda: () if run is None else _motion(run),
        "motors": lambda: (checks.motors_table(),),
    }
    wanted = wanted_tables("shafei2018", tables, makers)
    made = tuple(table for name in wanted for table in makers[name]())
    drawn: dict[str, tuple[Figure | Film, ...]] = {
        "1": counts.FIGURES,
        "equations": (_EQUATIONS,),
        "3": section6.figures(run) if run else (),
    }
    return Report(
        "shafei2018",
        TITLE,
        made,
        tuple(figure for name in wanted for figure in drawn.get(name, ())),
        CORRECTIONS,
        run=run,
        gives=GIVES,
        highlights=picked(made, _PICKS),
        conclusions=conclude(run) if run is not None and tables is None else None,
    )


def conclude(run: Run) -> Table:
    """Return the paper's conclusions on its counts and on the motion, and whether they hold in our results."""
    change = float(np.ptp(run.energy) / run.energy[0])
    mirrored = section6.asymmetry(run)
    rows: list[tuple[Cell, ...]] = [
        *counts.conclusions_on_counts(),
        (
            "The energy is constant",
            f"changes by {change:.0e} of itself",
            Holds(1e-9, "the relative change")(change),
        ),
        ("The tree stays symmetric", f"{mirrored:.0e} m off", Holds(1e-7, "the greatest asymmetry [m]")(mirrored)),
    ]
    if len(run.impacts) > 2:
        second, third = (section6.summary(impact) for impact in run.impacts[1:3])
        rows.append(
            conclusions.row(
                "Impulses do not grow with the speeds: impact 2 is slower than impact 3 and has the greater impulse",
                ("2vₙ of impact 2, impulse of 3", (second.speed, third.impulse)),
                ("2vₙ of impact 3, impulse of 2", (third.speed, second.impulse)),
            )
        )
    return conclusions.table(rows, (conclusions.COUNTED, *counts.NOTES))


def _motion(run: Run) -> tuple[Table, ...]:
    return section6.table3(run), checks.impacts(run), checks.flight(run), section6.energy(run), section6.printed_start()


_EQUATIONS = Figure(
    "figure5",
    "Figures 5 to 8. Inertia matrices and right-hand sides ℜ of the four branches and of the tree at the start, in the "
    "paper's order. Blue is positive, red negative, white zero; matrix and ℜ are relative to their largest entries, "
    "as square roots",
    checks.draw_equations,
)
