"""abedloo2014, figure 4: a PD controller of high gain around a simulator of three chains, then the closed form.

The simulator is the wrist as seven joints with two loops (:mod:`appell.loops.spherical.chains`), integrated in time by
the pair of Dormand and Prince, which is Simulink's ode45. The loops are not projected between steps, so that they drift
apart within the tolerance. The platform's motion is then the input of the closed form, whose joints and torques are
compared with those of the simulator.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from appell.loading import load
from appell.loops.spherical.chains import chains_of
from appell.papers.multipliers import Simulated, by_closed_form, mechanism
from appell.papers.paper import read
from appell.reports.rules import Falls, NotComparable
from appell.reports.table import Cell, Table
from appell.robot.robot import Robot
from appell.simulation.laws.joint_laws import PD
from appell.spatial.scalar import Array

AMPLITUDE = np.deg2rad([10.0, 30.0, 20.0])
"""a of (52) [rad]."""
FREQUENCY = np.pi * np.array([1.0, 0.5, 1.5])
"""b of (52) [rad/s]."""
DURATION = 4.0
"""The common period of the three sines [s]."""
SAMPLES = 401
KP, KD = 100.0, 2.0
"""Gains of the motors' PD [N·m/rad, N·m·s/rad]; the paper has none. A leg of 0.01 kg·m² is then damped at 100 rad/s."""
TOLERANCES = (1e-3, 1e-4, 1e-6)
"""Relative tolerances of the integrator; the first is Simulink's default."""
ABSOLUTE = 1e-3
"""Ratio of the absolute tolerance [rad, rad/s] to the relative one, as in Simulink."""


class Loop(NamedTuple):
    """The results of the loop at sampled times: the platform's motion, and the legs by simulator and by closed form.

    `joints` (n, 7), `speeds` (n, 3) are the simulator's state, `opening` (n,) is the closure error of its loops [rad].
    """

    t: Array
    q: Array
    v: Array
    a: Array
    simulator: Simulated
    closed_form: Simulated
    joints: Array
    speeds: Array
    opening: Array


def trajectory(t: ArrayLike) -> tuple[Array, Array, Array]:
    """Return q, v and a (..., 3) of (52).

    >>> trajectory(0.0)[1].round(4)
    array([0.5483, 0.8225, 1.6449])
    """
    phase = np.multiply.outer(np.asarray(t, dtype=float), FREQUENCY)
    swing = AMPLITUDE * np.sin(phase)
    return swing, AMPLITUDE * FREQUENCY * np.cos(phase), -(FREQUENCY**2) * swing


@cache
def chains() -> Robot:
    """Return the wrist as three chains with two loops, independent of the closed form."""
    return load(chains_of(mechanism("agile-wrist")))


@cache
def loop(rtol: float) -> Loop:
    """Return the controlled simulator at one tolerance, sampled along the trajectory of section IV.

    >>> run = loop(1e-3)
    >>> bool(abs(run.q - trajectory(run.t)[0]).max() < 0.005)
    True
    """
    robot, closed_form = chains(), load("agile-wrist")
    motors = list(robot.facts.actuated)

    def wanted(t: float) -> tuple[Array, Array, Array]:
        q, v, _ = trajectory(t)
        speeds = closed_form.tree_velocity(q, v)[motors]
        return closed_form.tree_configuration(q), speeds, np.zeros(3)

    law = PD(robot, wanted, KP, KD)

    def field(t: float, state: Array) -> Array:
        q, v = state[: robot.nq], state[robot.nq :]
        return np.concatenate(robot.evaluate("motion", q, v, law(t, q, v)))

    start = np.concatenate(wanted(0.0)[:2])
    t = np.linspace(0.0, DURATION, SAMPLES)
    found = solve_ivp(field, (0.0, DURATION), start, t_eval=t, rtol=rtol, atol=ABSOLUTE * rtol).y.T
    q, v = found[:, : robot.nq], found[:, robot.nq :]
    tau = np.array([law(*sample) for sample in zip(t, q, v, strict=True)])
    return _compared(t, q, v, tau)


def _compared(t: Array, joints: Array, speeds: Array, tau: Array) -> Loop:
    """Return the legs of the simulator, and those of the closed form on the simulator's platform."""
    robot, closed_form = chains(), load("agile-wrist")
    a = robot.forward_dynamics(joints, speeds, tau)
    legs = joints, robot.tree_velocity(joints, speeds), robot.tree_acceleration(joints, speeds, a)
    angles, rates, thrusts = (x[:, :6].reshape(-1, 3, 2) for x in legs)
    simulator = Simulated(angles, rates, thrusts, tau)
    platform = platform_motion(joints, speeds, a)
    model = by_closed_form(closed_form, *platform)
    return Loop(t, *platform, simulator, model, joints, speeds, np.asarray(robot.closure_error(joints)))


def platform_motion(joints: Array, speeds: Array, a: Array) -> tuple[Array, Array, Array]:
    """Return Euler angles, rates and accelerations (n, 3) of the simulator's platform, from (25) and (26)."""
    robot, closed_form = chains(), load("agile-wrist")
    # the chains' platform has the axes of the first leg's hinge
    turned = robot.pose(joints, "platform")[..., :3, :3] @ np.transpose(mechanism("agile-wrist").legs[0].platform)
    q = np.stack(
        [
            np.arctan2(turned[:, 1, 0], turned[:, 0, 0]),
            np.arcsin(-turned[:, 2, 0]),
            np.arctan2(turned[:, 2, 1], turned[:, 2, 2]),
        ],
        axis=-1,
    )
    e = closed_form.jacobian(q, "platform")[:, 3:]
    v = _solved(e, robot.velocity(joints, speeds, "platform")[:, 3:])
    bias = closed_form.acceleration(q, v, np.zeros_like(v), "platform")[:, 3:]
    return q, v, _solved(e, robot.acceleration(joints, speeds, a, "platform")[:, 3:] - bias)


def _solved(matrix: Array, right: Array) -> Array:
    solution: Array = np.linalg.solve(matrix, right[..., None])[..., 0]
    return solution


# Tables

PAPER = read("abedloo2014")
ROWS = tuple(map(tuple, PAPER.results["differences"]))
"""Quantities of figures 6 and 7: the field of :class:`Simulated`, its name, and the order of magnitude in the text."""
INTEGRATED = NotComparable(
    "both are errors of an integrated loop, and the paper gives neither the solver nor the tolerance nor the gains "
    "that decide them"
)
FALLS = Falls("the tolerance")


def differences(rtol: float) -> dict[str, float]:
    """Return the greatest differences between closed form and simulator at a tolerance, by field."""
    made = loop(rtol)
    return {
        field: float(np.abs(getattr(made.closed_form, field) - getattr(made.simulator, field)).max())
        for field, _, _ in ROWS
    }


def loop_tables() -> tuple[Table, Table]:
    """Return the differences of figures 5 to 7 at three tolerances, and whether they are caused by the integrator."""
    found = [differences(rtol) for rtol in TOLERANCES]
    ends = [f"tolerance {rtol:g}" for rtol in TOLERANCES]
    rows: list[tuple[Cell, ...]] = []
    ratios: list[tuple[Cell, ...]] = []
    for field, what, paper in ROWS:
        ours = [row[field] for row in found]
        rows.append((what, paper, *ours, INTEGRATED()))
        steps = [tight / loose for loose, tight in pairwise(ours)]
        ratios.append((what, *steps, FALLS(*ours)))
    last = loop(TOLERANCES[-1])
    off = float(np.abs(last.q - trajectory(last.t)[0]).max())
    opened = ", ".join(f"{loop(rtol).opening.max():.0e}" for rtol in TOLERANCES)
    values = {"opened": opened, "off": off, "default": TOLERANCES[0], "kp": KP, "kd": KD, "samples": SAMPLES}
    columns = ("quantity", "paper, order", *ends, "verdict")
    falls = tuple(f"{tight:g} over {loose:g}" for loose, tight in pairwise(TOLERANCES))
    return (
        PAPER.table("loop", rows, columns, **values),
        PAPER.table("origin", ratios, ("quantity", *falls, "verdict")),
    )
