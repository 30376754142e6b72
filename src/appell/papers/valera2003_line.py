"""valera2003, section 4: the straight line of the PUMA 600, its torques, and results of the printed equations."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.control.gains import gains
from appell.loading import load
from appell.papers.differences import rate
from appell.papers.drawings import arm, arrow, space
from appell.papers.lagrangian import forces as forces_of
from appell.papers.paper import Check, checks, facts, read
from appell.planning.analytic_ik import analytic_ik
from appell.planning.goal import pose
from appell.planning.trajectory.curves import CartesianLine
from appell.recursion.kinematics import Link, Load, links, project
from appell.recursion.sweep import inward
from appell.recursion.vector_form import motions, rotational
from appell.reports.rules import Digits
from appell.reports.table import Cell, Table
from appell.results.style import COLOURS, figure
from appell.robot.robot import Robot
from appell.simulation.laws.joint_laws import Tracking
from appell.spatial.scalar import Array, Vector
from appell.spatial.vector import add, cross, scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

START, END, ATTITUDE = (0.6, 0.175, 0.25), (0.018, 0.757, 0.0), (45.0, 60.0, 90.0)
"""Section 4: start and end of the line [m], and the attitude by Euler angles ZYZ [°]."""
SPEED = 0.1
"""Speed of the wrist centre [m/s]."""
MAIN = (1, 1, 1)
"""The branch of the figures: shoulder forward, elbow up, fifth joint positive. The paper specifies none."""


@cache
def puma() -> Robot:
    """Return the paper's PUMA 600."""
    return load("puma600")


@cache
def line(label: tuple[int, int, int] = MAIN) -> CartesianLine:
    """Return section 4's straight line of the wrist centre, on one of the eight branches."""
    goal = pose(START, np.deg2rad(ATTITUDE).tolist())
    shoulder, elbow, wrist = label
    q0 = analytic_ik(puma(), goal).pick(shoulder=shoulder, elbow=elbow, wrist=wrist)
    return CartesianLine(puma(), q0, END, speed=SPEED)


def branches() -> list[tuple[int, int, int]]:
    """Return the labels of the branches: shoulder, elbow, wrist."""
    goal = pose(START, np.deg2rad(ATTITUDE).tolist())
    return [(label[0], label[1], label[2]) for label in analytic_ik(puma(), goal).labels.tolist()]


def duration_table() -> Table:
    """Return the length and the duration of the line."""
    motion = line()
    printed = read("valera2003").results["duration"]
    rows = (
        ("distance [m]", None, round(motion.length, 5), None),
        ("duration at 0.1 m/s [s]", printed, round(motion.duration, 5), Digits()(printed, motion.duration)),
    )
    return facts("Section 4. The straight line", rows)


def line_table() -> Table:
    """Return the line on its eight branches: initial joint angles and largest torques."""
    rows: list[tuple[Cell, ...]] = []
    for label in branches():
        motion = line(label)
        t = np.linspace(0.0, motion.duration, 400)
        tau = np.abs(puma().inverse_dynamics(*motion(t))).max(axis=0)
        joints = ", ".join(f"{x:.3f}" for x in np.rad2deg(np.asarray(motion.q0)))
        rows.append((signs(label), joints, ", ".join(f"{x:.2f}" for x in tau)))
    return read("valera2003").table("branches", rows)


def signs(label: tuple[int, int, int]) -> str:
    """Return a branch as three signs.

    >>> signs((1, -1, 1))
    '+ − +'
    """
    return " ".join("+" if x > 0 else "−" for x in label)


# What is printed


def printed(q: Array, v: Array, a: Array, equation: str) -> Array:
    """Return torques (6,) of one state with the arms of an equation as printed, r from O_{j−1} to G: "(25)" or "(24)".

    In (25) the lever arm of link j's own force is too long, also in the recursion. In (24) and (22) those of all forces
    beyond joint j are too long, each by the vector from O_{j−1} to O_j.
    """
    model = puma().model
    chain = links(model, tuple(q))
    moving = motions(model, chain, tuple(v), tuple(a))

    def longer(link: Link, arm: Vector) -> Vector:
        return add(link.down(link.position), arm)

    def step(i: int, below: list[tuple[int, Load]]) -> Load:
        inertia = model.bodies[i].inertia
        force = scale(inertia.mass, moving[i].centre)
        arm = longer(chain[i], inertia.centre) if equation == "(25)" else inertia.centre
        moment = add(rotational(inertia, moving[i]), cross(arm, force))
        for child, passed in below:
            phi = chain[child].up(passed.force)
            force = add(force, phi)
            moment = add(add(moment, cross(chain[child].position, phi)), chain[child].up(passed.moment))
        return Load(force, moment)

    tau: list[Any] = []
    for i, (force, moment) in enumerate(inward(model, step)):
        about = moment if equation == "(25)" else add(moment, cross(chain[i].down(chain[i].position), force))
        tau += project(model, i, about, force)
    return np.array(tau)


def printed_off(equation: str, samples: int = 12) -> tuple[float, float]:
    """Return the torque errors of an equation as printed [N·m]: at the start, and the largest on all branches."""
    errors = {}
    for label in branches():
        states = line(label)(np.linspace(0.0, line().duration, samples))
        wrong = np.array([printed(*state, equation) for state in zip(*states, strict=True)])
        errors[label] = np.abs(wrong - puma().inverse_dynamics(*states)).max(axis=-1)
    return float(errors[MAIN][0]), float(max(error.max() for error in errors.values()))


def equations() -> Table:
    """Return each group of equations on the line, its independent check, and the error."""
    motion, robot = line(), puma()
    t = np.linspace(0.1, motion.duration - 0.1, 40)
    q, v, a = motion(t)
    # S is quadratic in q̈: central differences are exact for any step
    gradient = 0.5 * np.stack([robot.gibbs(q, v, a + e) - robot.gibbs(q, v, a - e) for e in np.eye(6)], axis=-1)
    frame = "link4"
    moving = robot.acceleration(q, v, a, frame), rate(lambda t: robot.velocity(*motion(t)[:2], frame), t)
    law = Tracking(robot, motion, *gains(8.0))
    e = 0.1 * np.sin(np.arange(6.0))
    u = a[0] - law.kd * v[0] * 0.5 - law.kp * e  # with position and velocity errors
    driven = robot.forward_dynamics(q[0] + e, 1.5 * v[0], law(t[0], q[0] + e, 1.5 * v[0]))
    forces = {name: robot.inverse_dynamics(q, v, a, formulation=name) for name in ("vector", "vector-merged")}
    as_printed = {x: np.array([printed(*state, x) for state in zip(q, v, a, strict=True)]) for x in ("(25)", "(24)")}
    regressed = (robot.regressor(q, v, a) @ np.asarray(robot.parameters)[:, None])[..., 0]
    matrices = (robot.mass_matrix(q) @ a[..., None])[..., 0] + robot.bias(q, v)
    lagrange = forces_of(robot.model, q, v, a)
    gibbs = "differences of the Gibbs function"
    rows: tuple[Check, ...] = (
        ("(1)–(6)", "τ = ∂G/∂q̈", robot.inverse_dynamics(q, v, a), gradient, gibbs),
        (
            "Section 2",
            "τ",
            robot.inverse_dynamics(q, v, a),
            lagrange,
            "Lagrange's equations, differentiated automatically",
        ),
        ("(9)–(12)", "velocities and accelerations of links", *moving, "differences in time"),
        ("(7), (8), (13)–(26)", "A and B apart, corrected", forces["vector"], gradient, gibbs),
        ("(17), (25) merged", "α − β as one recursion", forces["vector-merged"], gradient, gibbs),
        ("(22), (24) as printed", "arms from the joint before", as_printed["(24)"], gradient, gibbs),
        ("(25) as printed", "arms from the joint before", as_printed["(25)"], gradient, gibbs),
        ("(28)", "M q̈ + C q̇ + G", matrices, gradient, gibbs),
        ("(27), (29)", "q̈ under the tracking law", driven, u, "ë = −K_d ė − K_p e"),
        ("τ = K·Φ", "observation matrix", regressed, gradient, gibbs),
    )
    notes = [
        "With {} as printed, torques are off by {:.1f} N·m at the start, by up to {:.1f} on all branches.".format(
            x, *printed_off(x)
        )
        for x in as_printed
    ]
    return checks("Equations. Each group along the straight line", rows, notes)


# Figures


def _draw_figure3() -> Drawn:
    drawn, axes = space(6.0, 5.0)
    motion = line()
    states = np.stack([motion(t).q for t in (0.0, 0.5 * motion.duration, motion.duration)])
    ends = {"color": COLOURS[6], "linestyle": ":", "label": "line of the wrist centre"}
    arm(axes, puma(), states, ("start", "half way", "end"), [(np.array([START, END]), ends)])
    axes.view_init(elev=25.0, azim=-60.0)
    return drawn


def _draw_figure4() -> Drawn:
    motion = line()
    t = np.linspace(0.0, motion.duration, 400)
    tau = puma().inverse_dynamics(*motion(t))
    drawn = figure(7.0, 6.0)
    axes = drawn.subplots(3, 2, sharex=True).ravel()
    for k, axis in enumerate(axes):
        axis.plot(t, tau[:, k], color=COLOURS[0])
        axis.set_title(f"joint {k + 1}")
        axis.set_ylabel("τ [N·m]")
        if np.abs(tau[:, k]).max() < 1e-9:  # rounding errors are not plotted
            axis.set_ylim(-0.1, 0.1)
    for axis in axes[-2:]:
        axis.set_xlabel("t [s]")
    drawn.align_ylabels()
    return drawn


def _draw_figure1() -> Drawn:
    """Draw the frames of the arm, x red and z blue, joined in their order."""
    drawn, axes = space(6.4, 5.6)
    frames = [puma().pose(line().q0, f"dh{k}") for k in range(1, 7)]
    origins = np.array([np.zeros(3), *(frame[:3, 3] for frame in frames)])
    axes.plot(*origins.T, color="#888888", lw=2.0, marker="o", ms=3.0)
    for k, frame in enumerate(frames, 1):
        for column, name, colour in ((0, "x", COLOURS[1]), (2, "z", COLOURS[0])):
            arrow(axes, 0.15 * frame[:3, column], f"{name}{'₁₂₃₄₅₆'[k - 1]}", colour, frame[:3, 3])
    axes.set(yticks=(0.0, 0.1))
    axes.set_aspect("equal")
    return drawn


FIGURES = read("valera2003").figures({"figure1": _draw_figure1, "figure3": _draw_figure3, "figure4": _draw_figure4})
