"""shafei2018: A.M. Shafei, H.R. Shafei, "Dynamic modeling of tree-type robotic systems by combining 3×3 rotation and
4×4 transformation matrices" (2018).

Table 1 counts operations (:mod:`appell.papers.shafei2018_counts`). Section 6 lets a tree of ten rods fall inside a
round wall: table 3, the energy, figures 14 to 19 and a film (:mod:`appell.papers.shafei2018_motion`).
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

from collections.abc import Callable, Sequence

from appell.errors import InputError
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
from appell.reports.report import Pick, Report, picked
from appell.reports.table import Table

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
    "The base starts at −(1 + √3)/2 in both directions, printed −1.366: only so are both halves alike.",
    "Table 3's |ṙ⁺ − ṙ⁻| is its normal component. The text's O₂ and O₄ at 1.08 s strike at 0.5697 s.",
    "Table 3 was integrated loosely: converged values differ from the second to fourth digit on.",
    "A rod's inertia about its centre is ml²/12 + J'l: J' of table 2 is that of the cross section alone.",
)

INDEX: tuple[Entry | Absent, ...] = ()
"""From the paper to calls and places in the report; see :mod:`appell.reports.index`."""

GIVES = (
    "The Gibbs–Appell equations of tree-shaped robots by 3×3 rotations and 4×4 transforms together, with operation "
    "counts, and a tree of ten rods that falls inside a round wall, impact by impact."
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
    """Return the tables "1" and "3", or those asked for; with the latter the figures and the run behind them.

    Parameters
    ----------
    tables
        Which tables; all unless given.
    duration
        How long the tree is simulated [s].

    Examples
    --------
    >>> found = report(tables=["3"], duration=0.5)
    >>> [table.title[:8] for table in found.tables]
    ['Table 3.', 'Energy h', 'The prin']
    >>> found.run.robot_name
    'shafei-tree'
    """
    known = ("1", "3")
    wanted = known if tables is None else tuple(str(t) for t in tables)
    unknown = [t for t in wanted if t not in known]
    if unknown:
        raise InputError(f"shafei2018: no table {', '.join(unknown)}; there are {', '.join(known)}")
    run = section6.motion(duration) if "3" in wanted else None
    makers: dict[str, Callable[[], tuple[Table, ...]]] = {
        "1": counts.table1,
        "3": lambda: () if run is None else (section6.table3(run), section6.energy(run), section6.printed_start()),
    }
    made = tuple(table for name in wanted for table in makers[name]())
    figures = section6.figures(run) if run else ()
    highlights = picked(made, _PICKS)
    return Report("shafei2018", TITLE, made, figures, CORRECTIONS, run=run, gives=GIVES, highlights=highlights)
