"""enferadi2010: J. Enferadi, A. Akbarzadeh Tootoonchi, "Inverse dynamics analysis of a general spherical star-triangle
parallel manipulator using principle of virtual work", Nonlinear Dynamics 61 (2010).

Section 7 computes the motor torques of two motions of the isotropic star-triangle and compares them with a commercial
program. Here the comparison is with open chains closed by multipliers (:mod:`appell.papers.multipliers`).
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from appell.loading import load
from appell.papers.enferadi2010_equations import equations
from appell.papers.enferadi2010_figures import FIGURES
from appell.papers.enferadi2010_motion import DURATION, MOTIONS, SAMPLES, pole, study, trajectory
from appell.papers.multipliers import mechanism
from appell.papers.paper import Maker, conclusions, less, read
from appell.reports.report import Report
from appell.reports.rules import Checked, Holds
from appell.reports.table import Cell, Table

__all__ = ["DURATION", "INDEX", "MOTIONS", "pole", "report", "study", "trajectory"]

PAPER = read("enferadi2010")
INDEX = PAPER.index
PEER = Checked(1e-10, "chains closed by multipliers [N·m]")


def report(tables: Sequence[str] | None = None) -> Report:
    """Return the tables "equations", "claims", "torques", "operations" and "data", or the requested ones.

    Examples
    --------
    >>> [table.title[:9] for table in report().tables]
    ['Equations', 'Section 7', 'Motor tor', 'Motor tor', 'Operation', 'Data as p', 'Reference']
    """
    makers: dict[str, tuple[Maker, ...]] = {
        "equations": (equations,),
        "claims": (claims,),
        "torques": tuple(partial(torques, motion) for motion in MOTIONS),
        "operations": (operations,),
    }
    return PAPER.report(makers, tables, conclude, used, computed, {"claims": FIGURES})


def used() -> dict[str, ArrayLike]:
    """Return the data of our runs, named as in the data file."""
    robot = mechanism("sst")
    axes = np.array([leg.platform_axis for leg in robot.legs])
    # α₁ is between arcs 2 and 3, seen from the pole s; the motor of leg k turns about vₖ × vₖ₊₁
    around = np.arctan2(axes[:, 1], axes[:, 0])
    between = np.degrees(np.roll(around, 1) - np.roll(around, -1)) % 360.0
    motors = np.array([leg.motor_axis for leg in robot.legs])
    corners = np.cross(np.roll(motors, 1, axis=0), motors)
    bodies = robot.platform, *robot.legs[0].inertias
    quarter = math.pi / 24.0
    return {
        "v₁ to v₃ of the base": corners,
        "α₁ to α₃ [°]": between,
        "masses m_s, m_a, m_ipl [kg]": [body.mass for body in bodies],
        **{
            f"I_{name}, row by row [kg·m²]": np.array(body.tensor)
            for name, body in zip(("s", "a", "ipl"), bodies, strict=True)
        },
        "gravity [m/s²]": robot.gravity,
        "duration of both motions [s]": DURATION,
        "motion 1: θ, φ, ψ at 12t = π/2 [rad]": trajectory(1, quarter)[0],
        "motion 1: their rates at t = 0 [rad/s]": trajectory(1, 0.0)[1],
        "motion 2: s at t = 0": pole(0.0)[0],
        "motion 2: s at 12t = π/2": pole(quarter)[0],
        "motion 2: ψ": trajectory(2, quarter)[0][2],
    }


def computed() -> dict[str, ArrayLike]:
    """Return our torques at the instants of the references."""
    first, second = (study(motion, 7).tau for motion in MOTIONS)
    return dict(zip(PAPER.references, (first[1], *second[:3]), strict=True))


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
        statement = f"In motion {motion} virtual work gives the torques of an independent program"
        rows.append((statement, f"{off:.0e} N·m from chains closed by multipliers", holds(off)))
    work = ("virtual work", robot.operations("inverse_dynamics", "virtual-work")[:2])
    for name, other in (("the Lagrangian method", "lagrange"), ("Newton–Euler", "newton-euler")):
        counts = (f"{name}, over the legs", robot.operations("inverse_dynamics", other)[:2])
        rows.append(less(f"Virtual work is believed more efficient than {name} (no counts printed)", work, counts))
    return conclusions(rows)


def claims() -> Table:
    """Return the statements of section 7 and our results."""
    exact, near = Holds(1e-12), Holds(1e-10, "the difference of the torques [N·m]")
    one, two = (study(motion) for motion in MOTIONS)
    s = pole(np.linspace(0.0, DURATION, SAMPLES))[0]
    on_sphere = float(np.abs(np.linalg.norm(s, axis=-1) - 1.0).max())
    _, rows_of_motors, _ = load("sst").evaluate("singularity_measures", load("sst").neutral())
    statements = (
        ("motion 1: difference between the three torques [N·m]", "equal", np.ptp(one.tau, axis=-1).max()),
        ("motion 2: distance of s from the unit sphere", "on it", on_sphere),
        ("motion 2: distance of s from a circle", "a circle", np.ptp(s @ np.full(3, math.sqrt(1.0 / 3.0)))),
        (
            "isotropy at home: 1 less the least singular value",
            "isotropic",
            1.0 - np.linalg.svd(rows_of_motors, compute_uv=False)[-1],
        ),
    )
    rows: list[tuple[Cell, ...]] = [(what, paper, float(x), exact(float(x))) for what, paper, x in statements]
    for number, made in ((1, one), (2, two)):
        for what, tau in (("torques", made.tau), ("torques by virtual work (75)", made.virtual_work)):
            error = float(np.abs(tau - made.simulator.torques).max())
            rows.append((f"motion {number}: {what} against multipliers [N·m]", "indistinguishable", error, near(error)))
        joints = float(np.abs(made.angles - made.simulator.angles).max())
        rows.append((f"motion {number}: joint angles against multipliers [rad]", None, joints, PEER(joints)))
    return PAPER.table("claims", rows, samples=SAMPLES)


def torques(motion: int) -> Table:
    """Return the torques at multiples of π/36 s, which the paper only plots."""
    made = study(motion, 7)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            f"{k}π/36" if k else "0",
            *(float(x) for x in made.q[k]),
            *(f"{x:.8f}" for x in made.tau[k].round(8) + 0.0),
            PEER(float(np.abs(made.tau[k] - made.simulator.torques[k]).max())),
        )
        for k in range(7)
    )
    return PAPER.table("torques", rows, motion=motion)


def operations() -> Table:
    """Return the operation counts of the torques by each formulation, on the isotropic robot."""
    robot = load("sst")
    rows = tuple(
        (name, *robot.operations("inverse_dynamics", name)[:2]) for name in robot.formulations("inverse_dynamics")
    )
    return PAPER.table("operations", rows)
