"""abedloo2014: E. Abedloo, A. Molaei, H.D. Taghirad, "Closed-form dynamic formulation of spherical parallel
manipulators by Gibbs-Appell method" (2014).

Section IV moves the Agile Wrist along sines of its Euler angles and compares the closed form with a simulator of three
chains under a controller, which is :mod:`appell.papers.abedloo2014_loop`. Exactly along the sines it is compared with
chains closed by multipliers (:mod:`appell.papers.multipliers`) and with Pinocchio's constrained dynamics
(:mod:`appell.papers.pinocchio_chains`).
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from appell.loading import load
from appell.papers.abedloo2014_equations import equations
from appell.papers.abedloo2014_figures import FIGURES
from appell.papers.abedloo2014_loop import DURATION, ROWS, SAMPLES, TOLERANCES, chains, loop_tables, trajectory
from appell.papers.differences import WEIGHTS
from appell.papers.multipliers import Simulated, leg_angles, mechanism, simulated
from appell.papers.pinocchio_chains import accelerations, has_pinocchio
from appell.reports.index import Absent, Entry
from appell.reports.report import Pick, Report, picked
from appell.reports.rules import Checked, Holds, Less
from appell.reports.table import Cell, Table
from appell.spatial.scalar import Array

TITLE = "closed-form dynamic formulation of spherical parallel manipulators by Gibbs-Appell method"

CORRECTIONS = (
    "(27): R_i2 is relative to link 1; in the base it is R_i1·R_x(α₁)·R_z(ψ). (31): a product, not a sum.",
    "(35): n₂ = w × v / sin α₂. (36) loses the sign: ψ = atan2((n₁ × n₂)·w, n₁·n₂). (37): ξ̇ᵢ, one per leg.",
    "(44), (45): R_i2ᵀ for link 2, and ψ̈ z in the angular acceleration.",
    "(24) as printed doubles the quadratic terms: ∂α/∂q̇ is not J̇. In (47) ∂θ̈/∂q̇ must be read as J̇_θ; its halves "
    "are "
    "then right.",
    "(50): row i is p_1iᵀE / hᵢ; the printed rows all divide by h₁ and swap the indices of p.",
    "C of (17), (47) and (48) has the right product with q̇, but Ṁ − 2C is not skew. It is with C = Jᵀ(I J̇ − (Iω)~ J) "
    "and J̇ the derivative of J, which appell's coriolis_matrix is; formulation='abedloo2014' gives the printed one.",
    "Not given: the radius of the arcs, the shape of the links, the end effector's mass centre, the branch of (34). "
    "Assumed: 0.1 m, thin uniform arcs about the common centre, a mass centre at that centre, + for all legs.",
)

_FIGURES_5_TO_7, _EQUATIONS, _C = "Figures 5 to 7.", "Equations.", "The matrix C"
INDEX: tuple[Entry | Absent, ...] = (
    *(
        Entry(where, what, call, _EQUATIONS, (row,))
        for where, what, call, row in (
            ("(1)", "equations of motion", "robot.inverse_dynamics(q, v, a)", "(1), (17)–(22)"),
            ("(2)–(9)", "Gibbs function and its derivatives", "robot.gibbs(q, v, a)", "(2)–(9), (13)–(16)"),
            ("(10)–(12)", "velocities and Jacobians", "robot.jacobian(q, 'platform')", "(10)–(12), (23)–(26), (42)"),
            ("(13)–(16)", "forces of a spherical robot", "robot.gibbs(q, v, a)", "(2)–(9), (13)–(16)"),
            ("(17)–(22)", "M, C, G summed over bodies", "robot.mass_matrix(q)", "(1), (17)–(22)"),
            ("(23), (24)", "J and J̇ from ω and α", "robot.velocity(q, v, 'platform')", "(10)–(12), (23)–(26), (42)"),
            ("(25), (26)", "attitude, E and Ė", "robot.pose(q, 'platform')", "(10)–(12), (23)–(26), (42)"),
            ("(27)–(36)", "inverse kinematics", "robot.actuator_positions(q)", "(27)–(36)"),
            ("(37)–(40)", "rates of the legs", "robot.evaluate('leg_rates', q, v)", "(37)–(40)"),
            ("(41)", "accelerations of the legs", "robot.evaluate('leg_accelerations', q, v, a)", "(41)"),
            ("(42)", "angular velocities", "robot.velocity(q, v, 'leg1_link2')", "(10)–(12), (23)–(26), (42)"),
            ("(43)–(46)", "angular accelerations", "robot.acceleration(q, v, a, 'leg1_link2')", "(43)–(48)"),
            ("(49)–(51)", "motor torques", "robot.actuator_jacobian(q)", "(49)–(51)"),
        )
    ),
    Entry(
        "(47), (48)",
        "J̇ and the matrix C as printed",
        "robot.coriolis_matrix(q, v, formulation='abedloo2014')",
        _C,
        ("printed, (21) and (47)",),
    ),
    Entry("(52)", "trajectory", "appell.papers.abedloo2014_loop.trajectory(t)", "Motor torques along"),
    Absent("Figure 1", "the wrist as built"),
    Entry("Figures 2, 3", "a body and the axes of the legs", "robot.pose(q, 'leg1_link2')", "Figures 2 and 3."),
    Entry(
        "Figure 4",
        "PD loop around the simulator",
        "appell.papers.abedloo2014_loop.loop(rtol)",
        "Figure 4.",
        (),
        "Origin of the differences",
    ),
    Entry(
        "Figure 5",
        "trajectories",
        "appell.papers.abedloo2014_loop.loop(rtol)",
        "Figure 5.",
        ("joint angles [rad]",),
        _FIGURES_5_TO_7,
    ),
    Entry(
        "Figure 6",
        "motor torques",
        "robot.inverse_dynamics(q, v, a)",
        "Figure 6.",
        ("motor torques [N·m]",),
        _FIGURES_5_TO_7,
    ),
    Entry(
        "Figure 7",
        "differences of the joints",
        "robot.evaluate('leg_accelerations', q, v, a)",
        "Figure 7.",
        (),
        _FIGURES_5_TO_7,
    ),
)
"""Index of the paper: calls and places in the report, see :mod:`appell.reports.index`."""

GIVES = (
    "The equations of motion of a spherical parallel robot in closed form, from its acceleration energy, checked on "
    "the Agile Wrist against a simulator of three chains in a control loop, against chains closed by multipliers, and "
    "against Pinocchio. The paper claims the torques of a simulator, to differences of 1e-5 N·m, without recursion."
)

_PICKS = (
    *(
        Pick(
            _FIGURES_5_TO_7, (what,), f"closed form in the loop: {what}", "paper, order", f"tolerance {TOLERANCES[0]:g}"
        )
        for what in ("joint angles [rad]", "motor torques [N·m]")
    ),
    Pick(
        "Verification.", ("motor torques [N·m]",), "closed form on closed loops: motor torques [N·m]", "", "difference"
    ),
    Pick(_C, ("printed, (21) and (47)",), "C as printed: Ṁ − 2C off skew", "", "symmetric part of Ṁ − 2C"),
    Pick(_C, ("appell",), "C of appell: Ṁ − 2C off skew", "", "symmetric part of Ṁ − 2C"),
)


class Study(NamedTuple):
    """The trajectory, and the results of the closed form and of the simulator along it."""

    t: Array
    q: Array
    v: Array
    a: Array
    ours: Simulated
    simulator: Simulated


@cache
def study() -> Study:
    """Return the trajectory of section IV by the closed form and by the simulator."""
    robot = load("agile-wrist")
    t = np.linspace(0.0, DURATION, SAMPLES)
    q, v, a = trajectory(t)
    ours = Simulated(
        leg_angles(robot, q),
        robot.evaluate("leg_rates", q, v)[..., :2],
        robot.evaluate("leg_accelerations", q, v, a)[..., :2],
        robot.inverse_dynamics(q, v, a),
    )
    # the initial guess of the simulator's joints differs from the closed form
    return Study(t, q, v, a, ours, simulated(mechanism("agile-wrist"), q, v, a, ours.angles + 0.05))


def report() -> Report:
    """Return the verification of section IV: tables, and figures 4 to 7."""
    tables = (*loop_tables(), verification(), pinocchio(), torques(), matrices(), equations())
    highlights = picked(tables, _PICKS)
    return Report(
        "abedloo2014", TITLE, tables, FIGURES, CORRECTIONS, gives=GIVES, highlights=highlights, conclusions=conclude()
    )


def conclude() -> Table:
    """Return the conclusions of the paper, and whether they hold in our results."""
    robot, made = load("agile-wrist"), study()
    off = float(np.abs(made.ours.torques - made.simulator.torques).max())
    least = float(np.linalg.eigvalsh(robot.mass_matrix(made.q)).min())
    printed, own = (
        (robot.coriolis_matrix(made.q, made.v, formulation=name) @ made.v[..., None])[..., 0]
        for name in ("abedloo2014", None)
    )
    apart = float(np.abs(printed - own).max() / np.abs(own).max())
    closed_form, recursion = (sum(robot.operations("inverse_dynamics", name)[:2]) for name in ("closed-form", "gibbs"))
    rows: tuple[tuple[Cell, ...], ...] = (
        (
            "The closed form is the dynamics of the three chains",
            f"torques {off:.0e} N·m from chains closed by multipliers",
            Holds(1e-10, "the difference of the torques [N·m]")(off),
        ),
        ("M is positive definite", f"its least eigenvalue on the trajectory is {least:.3g} kg·m²", Less()(0.0, least)),
        (
            "C of (21) gives the Coriolis and centrifugal forces",
            f"C·q̇ is {apart:.0e} off, relative",
            Holds(1e-10, "the difference of C·q̇, relative")(apart),
        ),
        (
            "A closed form takes less than a recursive computation",
            f"{closed_form} operations of the inverse dynamics against {recursion} by recursion over the legs",
            Less()(closed_form, recursion),
        ),
    )
    return Table("Conclusions of the paper", ("conclusion", "ours", "verdict"), rows)


def verification() -> Table:
    """Return the differences between the closed form and chains closed by multipliers, exactly along the trajectory."""
    made = study()
    check = Checked(1e-10, "chains closed by multipliers")
    rows: list[tuple[Cell, ...]] = []
    for field, what, _ in ROWS:
        ours, simulator = getattr(made.ours, field), getattr(made.simulator, field)
        error = float(np.abs(ours - simulator).max())
        rows.append((what, error, float(np.abs(simulator).max()), check(error)))
    return Table(
        "Verification. Closed form against chains closed by multipliers, exactly along (52): greatest difference",
        ("quantity", "difference", "greatest value", "verdict"),
        tuple(rows),
        (
            f"{SAMPLES} instants of {DURATION:g} s. The platform is on its Euler angles, three chains of two joints "
            "are tied to it by multipliers; no formula of the legs is shared with the closed form.",
        ),
    )


def pinocchio() -> Table:
    """Return the differences between the closed form and Pinocchio's dynamics of three chains, if it is installed."""
    robot, made = load("agile-wrist"), study()
    q, v = made.q, made.v
    check = Checked(1e-9, "Pinocchio [rad/s²]")
    rows: list[tuple[Cell, ...]] = []
    for what, tau in (("under the closed form's torques", made.ours.torques), ("without torques", 0.0 * q)):
        moved = robot.tree_acceleration(q, v, robot.forward_dynamics(q, v, tau))
        size = float(np.abs(moved).max())
        if has_pinocchio():
            forces = np.zeros_like(moved)
            forces[:, list(chains().facts.actuated)] = tau
            theirs = accelerations(chains().model, robot.tree_configuration(q), robot.tree_velocity(q, v), forces)
            error = float(np.abs(moved - theirs).max())
            rows.append((what, error, size, check(error)))
        else:
            rows.append((what, None, size, None))
    return Table(
        "Pinocchio. Accelerations of the seven joints by the closed form and by its constraintDynamics [rad/s²]",
        ("motion along (52)", "greatest difference", "greatest acceleration", "verdict"),
        tuple(rows),
        (
            "Pinocchio computes the three chains with their two loops from the same inertias; it is independent of "
            "appell.",
        ),
        unjudged="" if has_pinocchio() else "Pinocchio is not installed here (pip install pin).",
    )


def torques() -> Table:
    """Return motor angles and torques every 0.25 s, which the paper only plots."""
    robot = load("agile-wrist")
    t = np.linspace(0.0, 1.5, 7)
    q, v, a = trajectory(t)
    theta, tau = robot.actuator_positions(q), robot.inverse_dynamics(q, v, a)
    simulator = simulated(mechanism("agile-wrist"), q, v, a, leg_angles(robot, q) + 0.05).torques
    check = Checked(1e-10, "the simulator of three chains [N·m]")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (float(t[k]), *map(float, theta[k]), *map(float, tau[k]), check(float(np.abs(tau[k] - simulator[k]).max())))
        for k in range(len(t))
    )
    angles, forces = (tuple(f"{name}{i}" for i in (1, 2, 3)) for name in ("θ", "τ"))
    return Table("Motor torques along the trajectory (52) [s, rad, N·m]", ("t", *angles, *forces, "verdict"), rows)


def matrices() -> Table:
    """Return checks of the matrices of (21): C q̇, and the symmetric part of Ṁ − 2C."""
    robot, made = load("agile-wrist"), study()
    q, v = made.q, made.v
    h = 1e-3
    steps = (w * (robot.mass_matrix(q + k * h * v) - robot.mass_matrix(q - k * h * v)) for k, w in WEIGHTS.items())
    rate = np.sum(list(steps), axis=0) / h
    skew_symmetric = Checked(1e-9, "a skew matrix, relative")
    rows: list[tuple[Cell, ...]] = []
    forces = {}
    for name, formulation in (("printed, (21) and (47)", "abedloo2014"), ("appell", None)):
        matrix = robot.coriolis_matrix(q, v, formulation=formulation)
        forces[name] = (matrix @ v[..., None])[..., 0]
        skew = rate - 2.0 * matrix
        off = float(np.abs(skew + np.swapaxes(skew, -1, -2)).max() / np.abs(skew).max())
        rows.append((name, off, skew_symmetric(off)))
    first, second = forces.values()
    same = float(np.abs(first - second).max() / np.abs(second).max())
    return Table(
        "The matrix C: how far Ṁ − 2C is from skew, relative",
        ("C", "symmetric part of Ṁ − 2C", "verdict"),
        tuple(rows),
        (f"The two give the same C·q̇, to {same:.0e} relative. Ṁ by differences of eighth order.",),
    )
