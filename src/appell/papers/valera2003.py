"""valera2003: A. Valera, V. Mata, M. Vallés, F. Valero, N. Rosillo, F. Benimeli, "Solving the inverse dynamic control
for low cost real-time industrial robot control applications", Robotica 21 (2003) 261–269.

Tables 2 and 3 count operations of the vector form. The straight line of section 4 with its torques, table 4's
controllers in the control unit of section 3, references that the joints follow (figure 5), and the four techniques of
identification run on the PUMA 600 of the paper.
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from appell.papers import valera2003_control as control
from appell.papers import valera2003_line as section4
from appell.papers.mata2002_counts import general_arm
from appell.papers.paper import COUNTED, Maker, Numbers, conclusions, less, read
from appell.papers.valera2003_counts import table1, table2, table3
from appell.papers.valera2003_fit import conditioning_table, identification_table
from appell.recursion.vector_form import central
from appell.reports.report import Report
from appell.reports.table import Table

PAPER = read("valera2003")
INDEX = PAPER.index


def report(tables: Sequence[str] | None = None) -> Report:
    """Return all tables, or the requested ones of those listed here.

    They are "1", "equations", "2", "3", "unit", "4", "identification", "line", "5" (figure 5 and the time of a step),
    "data" and "references". Figures 1, 3 and 4 come with "line", those of the control unit with "4" and "unit".

    Examples
    --------
    >>> [table.title[:8] for table in report(tables=["2", "3"]).tables]
    ['Table 2.', 'Table 3.']
    """
    makers: dict[str, tuple[Maker, ...]] = {
        "1": (table1,),
        "equations": (section4.equations,),
        "2": (table2,),
        "3": (table3,),
        "unit": (control.unit_table, control.run_table),
        "4": (control.table4,),
        "identification": (identification_table, conditioning_table),
        "line": (section4.duration_table, section4.line_table),
        "5": (control.reference_table, control.step_table),
    }
    laws, following, unit = ((one,) for one in control.FIGURES)
    figures = {"line": section4.FIGURES, "4": laws, "5": following, "unit": unit}
    return PAPER.report(makers, tables, conclude, used, computed, figures)


def used() -> dict[str, ArrayLike]:
    """Return the data of our runs, named as in the data file."""
    bodies = section4.puma().model.bodies
    turns = np.array([body.joint.placement.rotation for body in bodies])
    places = np.array([body.joint.placement.position for body in bodies])
    cosine, sine = turns[:, 1, 1], turns[:, 2, 1]
    centres, tensors = (np.array(x) for x in zip(*(central(body.inertia) for body in bodies), strict=True))
    rows, columns = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
    plan = section4.line()
    ends = (section4.puma().pose(plan(t).q, "dh6")[:3, 3] for t in (0.0, plan.duration))
    # the frame's offset is [a, D sin α, −D cos α]
    arm = (np.arctan2(sine, cosine), places[:, 0], sine * places[:, 1] - cosine * places[:, 2])
    masses = [body.inertia.mass for body in bodies]
    values = (*arm, masses, centres, tensors[:, rows, columns], *ends, section4.ATTITUDE, plan.length / plan.duration)
    return dict(zip(PAPER.data, values, strict=True))


def computed() -> dict[str, ArrayLike]:
    """Return our duration of the line, and angles and torques at its start."""
    start = section4.line()(0.0)
    tau = section4.puma().inverse_dynamics(*start)
    return dict(zip(PAPER.references, (section4.line().duration, np.degrees(start.q), tau), strict=True))


def conclude() -> Table:
    """Return the conclusions of the paper, and whether they hold in our results."""

    def counts(name: str, label: str) -> Numbers:
        return label, general_arm(6).operations("inverse_dynamics", name)[:2]

    vectors = counts("vector", "Gibbs–Appell, vectors")
    left = {law: 1e3 * float(abs(control.moved(law, control.ARMS[1]).end - control.GOAL).max()) for law in control.LAWS}
    (_, point), (name, tracking), (integral, removed) = left.items()
    rows = [
        less(
            "Inverse dynamics takes slightly fewer operations than by Newton–Euler (table 3)",
            vectors,
            counts("newton-euler", "Newton–Euler"),
        ),
        less(
            "Tensors would take fewer operations than vectors (section 5)",
            counts("mata2002", "Gibbs–Appell, tensors"),
            vectors,
        ),
        less(
            "Section 4: integral action removes the position error [mrad] caused by model errors and friction",
            (f"ten times {integral}", (10.0 * removed,)),
            (name, (min(point, tracking),)),
        ),
    ]
    merged = general_arm(6).operations("inverse_dynamics", "vector-merged")
    note = f"With α and β in one recursion, which the counts of table 3 require, the vectors take {merged}."
    return conclusions(rows, (COUNTED, note))
