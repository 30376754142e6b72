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
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import AppellError
from appell.loading import load
from appell.papers import shafei2018_checks as checks
from appell.papers import shafei2018_counts as counts
from appell.papers import shafei2018_motion as section6
from appell.papers.paper import COUNTED, Maker, conclusions, less
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
from appell.papers.shafei2018_motion import PAPER, POINTS, RADIUS, START
from appell.recursion.vector_form import central
from appell.reports.report import Report
from appell.reports.rules import Holds
from appell.reports.table import Cell, Table
from appell.results.run import Run

__all__ = [
    "POINTS",
    "RADIUS",
    "START",
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

INDEX = PAPER.index


def report(tables: Sequence[str] | None = None, duration: float = 2.0) -> Report:
    """Return the tables "equations", "1", "3", "motors", "data" and "references", or those requested, with figures.

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
    ['Table 3.', 'Equation', 'Flying p', 'Energy h', 'Section ', 'The prin']
    >>> found.run.robot_name
    'shafei-tree'
    """
    makers: dict[str, tuple[Maker, ...]] = {
        "equations": (checks.structure, checks.equations),
        "1": (counts.table1,),
        "3": (*(partial(_of_motion, table, duration) for table in _TABLES), section6.printed_start),
        "motors": (checks.motors_table,),
    }
    is_run = tables is None or "3" in map(str, tables)
    try:
        run = section6.motion(duration) if is_run else None
    except AppellError:
        run = None  # the tables report why
    figures = {"1": counts.FIGURES, "equations": _EQUATIONS, "3": section6.figures(run) if run else ()}
    return PAPER.report(makers, tables, partial(_of_motion, conclude, duration), used, computed, figures, run)


_TABLES = (section6.table3, checks.impacts, checks.flight, section6.energy, section6.statements)


def _of_motion(table: Callable[[Run], Table], duration: float) -> Table:
    return table(section6.motion(duration))


def used() -> dict[str, ArrayLike]:
    """Return the data of our runs, named as in the data file."""
    robot = load("shafei-tree")
    rods = robot.model.bodies[2:]
    ends = np.array([robot.model.frame_index[f"O{k}"].placement.position for k in range(2, 12)])
    joints = np.array([body.joint.placement.position for body in rods[1:]])
    lengths = np.linalg.norm(ends, axis=1)
    centres, tensors = (np.array(x) for x in zip(*(central(rod.inertia) for rod in rods), strict=True))
    masses = np.array([rod.inertia.mass for rod in rods])
    line = masses * lengths**2 / 12.0
    losses = [
        abs(x) for rod in rods for x in (rod.joint.damping, rod.joint.friction, rod.joint.stiffness, rod.joint.armature)
    ]
    values = (
        START[2:],
        START[:2],
        section6.PRINTED[:2],
        [min(section6.STILL), max(section6.STILL)],
        lengths,
        np.linalg.norm(joints, axis=1),
        centres.T,
        masses / lengths,
        tensors[:, 0, 0] / lengths,
        (tensors[:, 1, 1] - line) / lengths,
        (tensors[:, 2, 2] - line) / lengths,
        sum(losses),
        robot.model.gravity,
        section6.RESTITUTION,
        [section6.WALL.radius, *section6.WALL.centre[:2]],
    )
    return dict(zip(PAPER.data, values, strict=True))


def computed() -> dict[str, ArrayLike]:
    """Return our impacts and energy."""
    run = section6.motion(2.0)
    rows = [[row.time, row.angle, row.speed, row.impulse] for row in map(section6.summary, run.impacts)]
    missing = [[np.nan] * 4] * len(PAPER.references)
    return dict(zip(PAPER.references, [*(rows + missing)[: len(PAPER.references) - 1], run.energy[0]], strict=True))


def conclude(run: Run) -> Table:
    """Return the paper's conclusions on its counts and on the motion, and whether they hold in our results."""
    change = float(np.ptp(run.energy) / run.energy[0])
    mirrored = float(section6.asymmetry(run).max())
    rows: list[tuple[Cell, ...]] = [
        *counts.conclusions_on_counts(),
        ("The energy is constant", f"changes by {change:.0e} of itself", Holds(1e-9, "the relative change")(change)),
        ("The tree stays symmetric", f"{mirrored:.0e} m off", Holds(1e-6, "the greatest asymmetry [m, m/s]")(mirrored)),
    ]
    if len(run.impacts) > 2:
        second, third = (section6.summary(impact) for impact in run.impacts[1:3])
        rows.append(
            less(
                "Impulses do not grow with the speeds: impact 2 is slower than impact 3 and has the greater impulse",
                ("2vₙ of impact 2, impulse of 3", (second.speed, third.impulse)),
                ("2vₙ of impact 3, impulse of 2", (third.speed, second.impulse)),
            )
        )
    return conclusions(rows, (COUNTED, *counts.NOTES))


_EQUATIONS = PAPER.figures({"figure5": checks.draw_equations})
