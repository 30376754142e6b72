"""abedloo2014: E. Abedloo, A. Molaei, H.D. Taghirad, "Closed-form dynamic formulation of spherical parallel
manipulators by Gibbs-Appell method" (2014).

Section IV moves the Agile Wrist along sines of its Euler angles and compares the closed form with a simulator of three
chains under a controller, which is :mod:`appell.papers.abedloo2014_loop`. Exactly along the sines it is compared with
chains closed by multipliers (:mod:`appell.papers.multipliers`).
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.loading import load
from appell.loops.spherical.kind import Spherical
from appell.papers.abedloo2014_equations import as_printed, equations
from appell.papers.abedloo2014_figures import FIGURES
from appell.papers.abedloo2014_loop import AMPLITUDE, DURATION, FREQUENCY, ROWS, SAMPLES, loop_tables, trajectory
from appell.papers.differences import WEIGHTS, off
from appell.papers.multipliers import Simulated, by_closed_form, mechanism, simulated
from appell.papers.paper import Maker, conclusions, less, read
from appell.reports.report import Report
from appell.reports.rules import Checked, Holds, Less
from appell.reports.table import Cell, Table
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

PAPER = read("abedloo2014")
INDEX = PAPER.index


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
    ours = by_closed_form(robot, q, v, a)
    # the initial guess of the simulator's joints differs from the closed form
    return Study(t, q, v, a, ours, simulated(mechanism("agile-wrist"), q, v, a, ours.angles + 0.05))


def report(tables: Sequence[str] | None = None) -> Report:
    """Return all tables, or the requested ones of those listed here, and figures 3 to 7 with "loop".

    They are "equations", "matrices", "loop", "verification", "torques", "centre", "data" and "references".

    Examples
    --------
    >>> [table.title[:7] for table in report(["torques", "data"]).tables]
    ['Motor t', 'Data as']
    """
    makers: dict[str, tuple[Maker, ...]] = {
        "equations": (equations, as_printed),
        "matrices": (matrices,),
        "loop": (loop_tables,),
        "verification": (verification,),
        "torques": (torques,),
        "centre": (centre,),
    }
    return PAPER.report(makers, tables, conclude, used, computed, {"loop": FIGURES})


def used() -> dict[str, ArrayLike]:
    """Return the data of our runs, named as in the data file."""
    robot = mechanism("agile-wrist")
    legs, rows, columns = robot.legs, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
    # (28), (29): u = (−sin λ sin γ, cos λ sin γ, −cos γ), v = (−sin η sin β, cos η sin β, cos β)
    motors, tips = (np.array([getattr(leg, name) for leg in legs]) for name in ("motor_axis", "platform_axis"))
    turns = [np.degrees(np.arctan2(-axes[:, 0], axes[:, 1])) % 360.0 for axes in (motors, tips)]
    tilts = np.degrees(np.arccos(-motors[:, 2])), np.degrees(np.arccos(tips[:, 2]))
    arcs = np.array([(leg.alpha1, leg.alpha2) for leg in legs]).T
    masses = np.array([[link.mass for link in leg.inertias] for leg in legs]).T
    # all points of an arc are at its radius: tr ∫ r rᵀ dm = m r²
    radii = np.sqrt(np.array([[np.trace(link.second) for link in leg.inertias] for leg in legs]).T / masses)
    first, second = legs[0].inertias
    values = (
        *turns,
        *tilts,
        *np.degrees(arcs),
        *masses / (radii * arcs),
        radii.ravel(),
        first.centre,
        second.centre,
        *(np.array(link.tensor)[rows, columns] for link in (first, second)),
        robot.platform.mass,
        1e4 * np.array(robot.platform.tensor)[rows, columns],
        robot.platform.centre,
        [leg.branch for leg in legs],
        robot.gravity,
        np.degrees(AMPLITUDE),
        FREQUENCY,
    )
    return dict(zip(PAPER.data, values, strict=True))


def computed() -> dict[str, ArrayLike]:
    """Return our motion and torques at the instants of the references."""
    q, v, a = trajectory([0.0, 0.25, 0.5, 1.0])
    return dict(zip(PAPER.references, (q[1], *load("agile-wrist").inverse_dynamics(q, v, a)), strict=True))


def conclude() -> Table:
    """Return the conclusions of the paper, and whether they hold in our results."""
    robot, made = load("agile-wrist"), study()
    error = float(np.abs(made.ours.torques - made.simulator.torques).max())
    least = float(np.linalg.eigvalsh(robot.mass_matrix(made.q)).min())
    apart = off(*_coriolis_forces(robot, made))
    closed_form, recursion = (
        (label, robot.operations("inverse_dynamics", name)[:2])
        for name, label in (("closed-form", "closed form"), ("gibbs", "recursion over the legs"))
    )
    rows: tuple[tuple[Cell, ...], ...] = (
        (
            "The closed form is the dynamics of the three chains",
            f"torques {error:.0e} N·m from chains closed by multipliers",
            Holds(1e-10, "the difference of the torques [N·m]")(error),
        ),
        ("M is positive definite", f"its least eigenvalue on the trajectory is {least:.3g} kg·m²", Less()(0.0, least)),
        (
            "C of (21) gives the Coriolis and centrifugal forces",
            f"C·q̇ is {apart:.0e} off, relative",
            Holds(1e-10, "the difference of C·q̇, relative")(apart),
        ),
        less("A closed form takes less than a recursive computation", closed_form, recursion),
    )
    return conclusions(rows)


def _coriolis_forces(robot: Robot, made: Study) -> tuple[Array, Array]:
    """Return C·q̇ by the printed matrix and by appell's."""
    printed, own = (robot.coriolis_matrix(made.q, made.v, formulation=name) for name in ("abedloo2014", None))
    return (printed @ made.v[..., None])[..., 0], (own @ made.v[..., None])[..., 0]


def verification() -> Table:
    """Return the differences between the closed form and chains closed by multipliers, exactly along the trajectory."""
    made = study()
    check = Checked(1e-10, "chains closed by multipliers")
    rows: list[tuple[Cell, ...]] = []
    for field, what, _ in ROWS:
        ours, simulator = getattr(made.ours, field), getattr(made.simulator, field)
        error = float(np.abs(ours - simulator).max())
        rows.append((what, error, float(np.abs(simulator).max()), check(error)))
    return PAPER.table("verification", rows, samples=SAMPLES, duration=DURATION)


def centre() -> Table:
    """Return the torques for readings of the end effector's mass centre, which the paper does not give."""
    made, robot = study(), mechanism("agile-wrist")
    rows: list[tuple[Cell, ...]] = []
    for name, offset in zip(("none", "x", "y", "z"), ((0.0, 0.0, 0.0), *np.eye(3) * 0.05), strict=True):
        x, y, z = robot.platform.mass * np.asarray(offset)
        platform = robot.platform._replace(first=(x, y, z))
        tau = Robot(Spherical(replace(robot, platform=platform))).inverse_dynamics(made.q, made.v, made.a)
        rows.append((name, *(float(np.abs(forces).max()) for forces in (tau, tau - made.ours.torques))))
    return PAPER.table("centre", rows)


def torques() -> Table:
    """Return motor angles and torques every 0.25 s, which the paper only plots."""
    robot = load("agile-wrist")
    t = np.linspace(0.0, 1.5, 7)
    q, v, a = trajectory(t)
    theta, tau = robot.actuator_positions(q), robot.inverse_dynamics(q, v, a)
    start = by_closed_form(robot, q, v, a).angles + 0.05
    simulator = simulated(mechanism("agile-wrist"), q, v, a, start).torques
    check = Checked(1e-10, "the simulator of three chains [N·m]")
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (float(t[k]), *map(float, theta[k]), *map(float, tau[k]), check(float(np.abs(tau[k] - simulator[k]).max())))
        for k in range(len(t))
    )
    return PAPER.table("torques", rows)


def matrices() -> Table:
    """Return checks of the matrices of (21): C q̇, and the symmetric part of Ṁ − 2C."""
    robot, made = load("agile-wrist"), study()
    q, v = made.q, made.v
    h = 1e-3
    steps = (w * (robot.mass_matrix(q + k * h * v) - robot.mass_matrix(q - k * h * v)) for k, w in WEIGHTS.items())
    rate = np.sum(list(steps), axis=0) / h
    skew_symmetric = Checked(1e-9, "a skew matrix, relative")
    rows: list[tuple[Cell, ...]] = []
    for name, formulation in (("printed, (21) and (47)", "abedloo2014"), ("appell", None)):
        skew = rate - 2.0 * robot.coriolis_matrix(q, v, formulation=formulation)
        error = off(skew, -np.swapaxes(skew, -1, -2))
        rows.append((name, error, skew_symmetric(error)))
    same = off(*_coriolis_forces(robot, made))
    return PAPER.table("matrices", rows, same=same)
