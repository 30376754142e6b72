"""valera2003: A. Valera, V. Mata, M. Vallés, F. Valero, N. Rosillo, F. Benimeli, "Solving the inverse dynamic control
for low cost real-time industrial robot control applications", Robotica 21 (2003) 261–269.

Tables 2 and 3 count operations of the vector form. The straight line of section 4 with its torques, table 4's
controllers in the control unit of section 3, references that the joints follow (figure 5), and the four techniques of
identification run on the PUMA 600 of the paper.
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

from collections.abc import Callable, Sequence

from appell.papers import conclusions
from appell.papers import valera2003_control as control
from appell.papers import valera2003_line as section4
from appell.papers.mata2002_counts import SIDES
from appell.papers.valera2003_counts import table1, table2, table3
from appell.papers.valera2003_fit import conditioning_table, identification_table
from appell.reports.index import Absent, Entry
from appell.reports.report import Figure, Pick, Report, picked, wanted_tables
from appell.reports.table import Table

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

_EQUATIONS = "Equations."
INDEX: tuple[Entry | Absent, ...] = (
    *(
        Entry(where, what, call, _EQUATIONS, (row,))
        for where, what, call, row in (
            ("(1)–(6)", "Gibbs function and its gradient", "robot.gibbs(q, v, a)", "(1)–(6)"),
            (
                "(7), (8), (13)–(21)",
                "A and B",
                "robot.inverse_dynamics(q, v, a, formulation='vector')",
                "(7), (8), (13)–(26)",
            ),
            ("(9)–(12)", "motions of links", "robot.acceleration(q, v, a, 'link4')", "(9)–(12)"),
            (
                "(22)–(24)",
                "B as printed",
                "appell.papers.valera2003_line.printed(q, v, a, '(24)')",
                "(22), (24) as printed",
            ),
            ("(25)", "β as printed", "appell.papers.valera2003_line.printed(q, v, a, '(25)')", "(25) as printed"),
            (
                "(17), (25), (26)",
                "α and β as one recursion",
                "robot.inverse_dynamics(q, v, a, formulation='vector-merged')",
                "(17), (25) merged",
            ),
            ("(27), (29)", "inverse dynamic control", "appell.control.Tracking(robot, line, kp, kd)", "(27), (29)"),
            ("(28)", "equations of motion", "robot.mass_matrix(q)", "(28)"),
            ("τ = K·Φ", "observation matrix", "robot.regressor(q, v, a)", "τ = K·Φ"),
        )
    ),
    Entry("Table 1", "algorithms", "robot.formulations('inverse_dynamics')", "Table 1."),
    Entry("Table 2", "operations by step", "appell.papers.valera2003_counts.table2()", "Table 2."),
    Entry("Table 3", "operations in all", "robot.operations('inverse_dynamics', 'vector-merged')", "Table 3."),
    Entry("Table 4", "controllers", "appell.control.PointToPoint(robot, goal, kp, kd)", "Table 4."),
    Entry("Tables 5 to 7", "the arm's geometry and inertias", "appell.load('puma600')", _EQUATIONS, ("(28)",)),
    Entry("Figure 1", "modified frames", "appell.from_dh(rows, modified=True)", "Figure 1.", ("(28)",), _EQUATIONS),
    Entry("Figure 2", "control unit", "appell.control.run_loop(plant, law, duration, rate)", "Section 3. Signals"),
    Entry(
        "Section 3",
        "the unit on the straight line",
        "appell.papers.valera2003_control.unit_run()",
        "Section 3. The control unit",
    ),
    Entry(
        "Figure 3",
        "configurations on the line",
        "appell.trajectory.CartesianLine(robot, q0, end, speed=0.1)",
        "Figure 3.",
        ("duration at 0.1 m/s [s]",),
        "Section 4.",
    ),
    Entry("Figure 4", "torques", "robot.inverse_dynamics(q, v, a)", "Figure 4.", ("(7), (8), (13)–(26)",), _EQUATIONS),
    Entry("Figure 5", "ramp and splines", "appell.trajectory.Ramp(start, end, begin, finish)", "Figure 5. Joints"),
    Entry("Section 4", "time of a control step", "appell.control.Tracking(robot, line, kp, kd)", "Control step."),
    Entry("Section 4", "identification", "appell.identify(robot, log, method='qr')", "Identification."),
    Entry("Section 4", "identification, separated", "appell.identify(robot, log, 'ridge')", "Identification on ill"),
)
"""Index of the paper: calls and places in the report, see :mod:`appell.reports.index`."""

GIVES = (
    "Computed-torque control of an industrial arm from the Gibbs–Appell equations in vector form: operation counts, "
    "three control laws in an open control unit, and the torques of a straight line. It claims slightly lower "
    "operation counts than Newton–Euler in the same form, and joints that follow their references."
)

_PICKS = (
    *(
        Pick(
            "Table 3.",
            (f"this work, G-A in vectors: {side}",),
            f"inverse dynamics, six joints: {side}",
            "paper n=6",
            "ours n=6",
        )
        for side in SIDES
    ),
    Pick("Section 4.", ("duration at 0.1 m/s [s]",), "straight line at 0.1 m/s: duration [s]", "paper", "ours"),
    Pick(
        "Table 4.",
        ("tracking", control.ARMS[1]),
        "tracking, arm not as modelled: error at the end [mrad]",
        "",
        "error at the end [mrad]",
    ),
    Pick(
        "Table 4.",
        ("tracking with integral action", control.ARMS[1]),
        "with integral action: error at the end [mrad]",
        "",
        "error at the end [mrad]",
    ),
    Pick("Control step.", ("tracking",), "control step of the tracking law [ms]", "paper", "ours"),
)


def report(tables: Sequence[str] | None = None) -> Report:
    """Return the tables "1", "2", "3", "4", "unit", "line", "equations" and "identification", or the requested ones.

    Figures 3 and 4 come with "line", figure 5 and those of the control unit with "4" and "unit".

    Examples
    --------
    >>> [table.title[:8] for table in report(tables=["2", "3"]).tables]
    ['Table 2.', 'Table 3.']
    """
    makers: dict[str, tuple[Callable[[], Table], ...]] = {
        "1": (table1,),
        "2": (table2,),
        "3": (table3,),
        "4": (control.table4, control.step_table, control.reference_table),
        "unit": (control.unit_table, control.run_table),
        "line": (section4.duration_table, section4.line_table),
        "equations": (section4.equations,),
        "identification": (identification_table, conditioning_table),
    }
    drawn: dict[str, tuple[Figure, ...]] = {
        "line": section4.FIGURES,
        "4": (control.FIGURE_LAWS, control.FIGURE5),
        "unit": (control.FIGURE_UNIT,),
    }
    wanted = wanted_tables("valera2003", tables, makers)
    made = tuple(make() for t in wanted for make in makers[t])
    figures = tuple(figure for t in wanted for figure in drawn.get(t, ()))
    return Report(
        "valera2003",
        TITLE,
        made,
        figures,
        CORRECTIONS,
        gives=GIVES,
        highlights=picked(made, _PICKS),
        conclusions=conclude() if tables is None else None,
    )


def conclude() -> Table:
    """Return the conclusions of the paper, and whether they hold in our results."""
    left = {law: 1e3 * float(abs(control.moved(law, control.ARMS[1]).end - control.GOAL).max()) for law in control.LAWS}
    (_, point), (name, tracking), (integral, removed) = left.items()
    statement = "Section 4: integral action removes the position error [mrad] caused by model errors and friction"
    rows = [
        *conclusions.vectors(),
        conclusions.row(statement, (f"ten times {integral}", (10.0 * removed,)), (name, (min(point, tracking),))),
    ]
    return conclusions.table(rows)
