"""enferadi2010: J. Enferadi, A. Akbarzadeh Tootoonchi, "Inverse dynamics analysis of a general spherical star-triangle
parallel manipulator using principle of virtual work", Nonlinear Dynamics 61 (2010).

Section 7 computes the motor torques of two motions of the isotropic star-triangle and compares them with a commercial
program. Here the comparison is with open chains closed by multipliers (:mod:`appell.papers.multipliers`).
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

import math

import numpy as np

from appell.loading import load
from appell.papers.enferadi2010_equations import equations
from appell.papers.enferadi2010_figures import FIGURES
from appell.papers.enferadi2010_motion import DURATION, MOTIONS, SAMPLES, pole, study, trajectory
from appell.reports.index import Absent, Entry
from appell.reports.report import Pick, Report, picked
from appell.reports.rules import Checked, Holds, Less
from appell.reports.table import Cell, Table

__all__ = ["CORRECTIONS", "DURATION", "INDEX", "MOTIONS", "TITLE", "pole", "report", "study", "trajectory"]

TITLE = "inverse dynamics analysis of a general spherical star-triangle parallel manipulator using virtual work"

_AGAINST, _ROUND = (
    "motion {}: torques by virtual work (75) against multipliers [N·m]",
    "motion 2: distance of s from a circle",
)
_ISOTROPY = "isotropy at home: 1 less the least singular value"

CORRECTIONS = (
    "(13): minus before sin α₂. (24): row 2 has −θ̇φ̇ sin θ.",
    "(32), (33), (36), (37): the angular acceleration of the star is ω̇. (40): a factor 2. (41): plus.",
    "(54), (55), (68): −μ̇ r and −μ̈ r; (62): plus before the second term. These cancel for a diagonal I_ipl only.",
    "Missing: μ̈ = −r·ω̇ − β̇ r·(ω × t), and μ = atan2(t·(w × r), t·w).",
    "I_s is about the centre O, though (63) speaks of the mass centre; there is no gravity in the paper.",
    "I_a as printed violates the triangle inequality of inertias; only its zz entry enters.",
)

_WORK = 'robot.inverse_dynamics(q, v, a, formulation="virtual-work")'
_MATRICES = 'robot.evaluate("virtual_work_matrices", q, v)'
_STUDY = "appell.papers.enferadi2010.study"
INDEX: tuple[Entry | Absent, ...] = (
    Entry("(1)–(18)", "inverse kinematics", "robot.actuator_positions(q)", "Equations.", ("(1)–(18)",)),
    Entry("(19)–(22)", "ω of the star", 'robot.velocity(q, v, "platform")', "Equations.", ("(19)–(24)",)),
    Entry("(23), (24)", "ω̇ of the star", 'robot.acceleration(q, v, a, "platform")', "Equations.", ("(19)–(24)",)),
    Entry("(25)–(31)", "J and K, rates of the motors", _MATRICES, "Equations.", ("(25)–(31)",)),
    Entry("(32)–(42)", "M and N, accelerations of the motors", _MATRICES, "Equations.", ("(32)–(42)",)),
    Entry(
        "(34), (35)", "rates of the passive joints", 'robot.evaluate("leg_rates", q, v)', "Equations.", ("(34), (35)",)
    ),
    Entry("(43)–(62)", "link Jacobians J_a and J_ipl", _MATRICES, "Equations.", ("(43)–(62)",)),
    Entry("(63)–(75)", "virtual work, torques", _WORK, "Equations.", ("(63)–(75)",)),
    Entry("section 6", "the algorithm, steps 1 to 4", _WORK, "Operations of"),
    Entry("section 7.1", "the isotropic robot", 'appell.load("sst")', "Section 7.", (_ISOTROPY,)),
    Entry("section 7.2.1", "motion 1", "appell.papers.enferadi2010.trajectory(1, t)", "Motor torques of motion 1"),
    Entry("section 7.2.2", "motion 2", "appell.papers.enferadi2010.trajectory(2, t)", "Motor torques of motion 2"),
    Entry("Figures 1, 3–6", "the robot, its vectors and frames", "robot.pose(q, frame)", "Figures 1 and 3 to 6."),
    Absent("Figure 2", "the robot as it would be built"),
    Entry("Figure 7", "the angles of the star", 'robot.pose(q, "platform")', "Figure 7."),
    Entry("Figure 8", "torques of motion 1", f"{_STUDY}(1)", "Figure 8.", judged="Motor torques of motion 1"),
    Entry("Figure 9", "motion 1, two programs", f"{_STUDY}(1)", "Figure 9.", (_AGAINST.format(1),), "Section 7."),
    Entry(
        "Figure 10", "the circle of motion 2", "appell.papers.enferadi2010.pole", "Figure 10.", (_ROUND,), "Section 7."
    ),
    Entry("Figure 11", "motion 2, two programs", f"{_STUDY}(2)", "Figure 11.", (_AGAINST.format(2),), "Section 7."),
)
"""Index of the paper: calls and places in the report, see :mod:`appell.reports.index`."""

GIVES = (
    "The motor torques of a spherical star-triangle robot by virtual work with link Jacobians, on two motions; here by "
    "that method, by the Gibbs–Appell closed form, and by chains closed by multipliers. It claims agreement with an "
    "independent program, and that its method is the most efficient."
)

_PICKS = tuple(
    Pick("Section 7.", (what,), what, "paper", "ours")
    for what in (
        "motion 1: difference between the three torques [N·m]",
        _ISOTROPY,
        "motion 1: torques against multipliers [N·m]",
        "motion 2: torques against multipliers [N·m]",
    )
)


def report() -> Report:
    """Return the two examples of section 7: tables, and figures 8 to 11.

    Examples
    --------
    >>> [table.title[:9] for table in report().tables]
    ['Equations', 'Section 7', 'Motor tor', 'Motor tor', 'Operation']
    """
    tables = (equations(), claims(), *map(torques, MOTIONS), operations())
    return Report(
        "enferadi2010",
        TITLE,
        tables,
        FIGURES,
        CORRECTIONS,
        gives=GIVES,
        highlights=picked(tables, _PICKS),
        conclusions=conclude(),
    )


def conclude() -> Table:
    """Return the conclusions of the paper, and whether they hold in our results."""
    robot, holds = load("sst"), Holds(1e-10, "the difference of the torques [N·m]")
    made = {motion: study(motion) for motion in MOTIONS}
    spread = float(np.ptp(made[1].virtual_work, axis=-1).max())
    rows: list[tuple[Cell, ...]] = [
        ("In motion 1 the three torques are equal", f"they differ by {spread:.0e} N·m", holds(spread))
    ]
    for motion, one in made.items():
        off = float(np.abs(one.virtual_work - one.simulator.torques).max())
        said = f"In motion {motion} virtual work gives the torques of an independent program"
        rows.append((said, f"{off:.0e} N·m from chains closed by multipliers", holds(off)))
    work, recursion = (sum(robot.operations("inverse_dynamics", name)[:2]) for name in ("virtual-work", "newton-euler"))
    rows.append(
        (
            "Virtual work is more efficient than Newton–Euler (stated without counts)",
            f"{work} operations against {recursion} by Newton–Euler over the legs, counted alike",
            Less()(work, recursion),
        )
    )
    return Table("Conclusions of the paper", ("conclusion", "ours", "verdict"), tuple(rows))


def claims() -> Table:
    """Return the statements of section 7 and our results."""
    exact, near = Holds(1e-12), Holds(1e-10, "the difference of the torques [N·m]")
    checked = Checked(1e-10, "chains closed by multipliers")
    one, two = (study(motion) for motion in MOTIONS)
    robot = load("sst")
    same = float(np.ptp(one.tau, axis=-1).max())
    radius, on_sphere = _circle()
    _, rows_of_motors, _ = robot.evaluate("singularity_measures", robot.neutral())
    isotropy = float(np.linalg.svd(rows_of_motors, compute_uv=False)[-1])
    rows: list[tuple[Cell, ...]] = [
        ("motion 1: difference between the three torques [N·m]", "equal", same, exact(same)),
        ("motion 2: distance of s from the unit sphere", "on it", on_sphere, exact(on_sphere)),
        (_ROUND, "a circle", radius, exact(radius)),
        (
            _ISOTROPY,
            "isotropic",
            1.0 - isotropy,
            exact(1.0 - isotropy),
        ),
    ]
    for number, made in ((1, one), (2, two)):
        error = float(np.abs(made.tau - made.simulator.torques).max())
        what = f"motion {number}: torques against multipliers [N·m]"
        rows.append((what, "indistinguishable", error, near(error)))
        apart = float(np.abs(made.virtual_work - made.simulator.torques).max())
        rows.append((_AGAINST.format(number), "indistinguishable", apart, near(apart)))
        joints = float(np.abs(made.angles - made.simulator.angles).max())
        rows.append((f"motion {number}: joint angles against multipliers [rad]", None, joints, checked(joints)))
    return Table(
        "Section 7. Statements of the paper on its two motions",
        ("what", "paper", "ours", "verdict"),
        tuple(rows),
        (
            "The paper prints no torques, only curves; its comparison is with a commercial program.",
            f"Ours is with chains closed by multipliers at {SAMPLES} instants, which share only frames and arcs.",
        ),
    )


def _circle() -> tuple[float, float]:
    """Return the distances of the second motion's pole from a circle about the diagonal, and from the unit sphere."""
    s = pole(np.linspace(0.0, DURATION, SAMPLES))[0]
    middle = np.full(3, math.sqrt(1.0 / 3.0))
    return float(np.ptp(s @ middle)), float(np.abs(np.linalg.norm(s, axis=-1) - 1.0).max())


def torques(motion: int) -> Table:
    """Return the torques at multiples of π/36 s, which the paper only plots."""
    made = study(motion, 7)
    check = Checked(1e-10, "chains closed by multipliers")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            f"{k}π/36" if k else "0",
            *(float(x) for x in made.q[k]),
            *(f"{x:.8f}" for x in made.tau[k].round(8) + 0.0),
            check(float(np.abs(made.tau[k] - made.simulator.torques[k]).max())),
        )
        for k in range(7)
    )
    forces = tuple(f"τ{i}" for i in (1, 2, 3))
    return Table(f"Motor torques of motion {motion} [s, rad, N·m]", ("t", "θ", "φ", "ψ", *forces, "verdict"), rows)


def operations() -> Table:
    """Return the operation counts of the torques by each formulation, on the isotropic robot."""
    robot = load("sst")
    rows: list[tuple[Cell, ...]] = []
    for name in robot.formulations("inverse_dynamics"):
        count = robot.operations("inverse_dynamics", formulation=name)
        rows.append((name, count.multiplications, count.additions))
    return Table(
        "Operations of the inverse dynamics of the isotropic star-triangle",
        ("formulation", "multiplications", "additions"),
        tuple(rows),
        (
            "virtual-work is the paper's algorithm of section 6, traced like the others; closed-form sums chains and "
            "bodies by abedloo2014 (20); the others are recursions over the tree of the legs.",
            "Divisions and roots count as multiplications; sines and cosines are not counted.",
        ),
        unjudged="the paper has no counts.",
    )
