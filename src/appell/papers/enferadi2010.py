"""enferadi2010: J. Enferadi, A. Akbarzadeh Tootoonchi, "Inverse dynamics analysis of a general spherical star-triangle
parallel manipulator using principle of virtual work", Nonlinear Dynamics 61 (2010).

Section 7 computes the motor torques of two motions of the isotropic star-triangle and compares them with a commercial
program. Here the comparison is with open chains closed by multipliers (:mod:`appell.papers.multipliers`).
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.loops.load import load
from appell.papers.multipliers import Simulated, leg_angles, mechanism, simulated
from appell.reports.index import Absent, Entry
from appell.reports.report import Figure, Pick, Report, picked
from appell.reports.rules import Checked, Holds
from appell.reports.table import Cell, Table
from appell.results.style import COLOURS, figure
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


TITLE = "inverse dynamics analysis of a general spherical star-triangle parallel manipulator using virtual work"

CORRECTIONS = (
    "(13): minus before sin α₂. (24): row 2 has −θ̇φ̇ sin θ.",
    "(32), (33), (36), (37): the angular acceleration of the star is ω̇. (40): a factor 2. (41): plus.",
    "(54), (55), (68): −μ̇ r and −μ̈ r; (62): plus before the second term. These cancel for a diagonal I_ipl only.",
    "Missing: μ̈ = −r·ω̇ − β̇ r·(ω × t), and μ = atan2(t·(w × r), t·w).",
    "I_s is about the centre O, though (63) speaks of the mass centre; there is no gravity in the paper.",
    "I_a as printed violates the triangle inequality of inertias; only its zz entry enters.",
)

INDEX: tuple[Entry | Absent, ...] = ()
"""From the paper to calls and places in the report; see :mod:`appell.reports.index`."""

GIVES = (
    "The motor torques of a spherical star-triangle robot by virtual work with link Jacobians, on two motions; here by "
    "that method, by the Gibbs–Appell closed form, and by chains closed by multipliers."
)

_PICKS = tuple(
    Pick("Section 7.", (what,), what, "paper", "ours")
    for what in (
        "motion 1: difference between the three torques [N·m]",
        "isotropy at home: 1 less the least singular value",
        "motion 1: torques against multipliers [N·m]",
        "motion 2: torques against multipliers [N·m]",
    )
)

DURATION = math.pi / 6.0
"""How long both motions take [s]."""
SAMPLES = 241
MOTIONS = (1, 2)


class Study(NamedTuple):
    """One motion, its torques in closed form and by virtual work, and what the chains closed by multipliers need."""

    t: Array
    q: Array
    tau: Array
    virtual_work: Array
    angles: Array
    simulator: Simulated


def pole(t: ArrayLike) -> tuple[Array, Array, Array]:
    """Return s (..., 3) of the second motion, the circle of section 7.2.2, and its first two derivatives.

    >>> [float(round(x, 12)) for x in np.linalg.norm(pole([0.0, 0.1])[0], axis=-1)]
    [1.0, 1.0]
    """
    phase = 12.0 * np.asarray(t, dtype=float)
    along = np.array([4.0, 4.0, -8.0]) * math.sqrt(6.0) / 71.0
    across = np.array([-12.0, 12.0, 0.0]) * math.sqrt(2.0) / 71.0
    turning = np.multiply.outer(np.cos(phase), along) + np.multiply.outer(np.sin(phase), across)
    rate = 12.0 * (np.multiply.outer(np.cos(phase), across) - np.multiply.outer(np.sin(phase), along))
    return turning + math.sqrt(13395.0) / 213.0, rate, -144.0 * turning


def trajectory(motion: int, t: ArrayLike) -> tuple[Array, Array, Array]:
    """Return θ, φ, ψ (..., 3) and their first two derivatives in motion 1 or 2 of section 7.2.

    >>> trajectory(2, 0.0)[1].round(4)
    array([ 4.2096, -0.    ,  0.    ])
    """
    times = np.asarray(t, dtype=float)
    if motion == 1:
        still, phase = np.zeros_like(times), 12.0 * times
        place = (still + 0.25 * math.pi, still + math.acos(math.sqrt(1.0 / 3.0)), np.sin(phase) / 12.0)
        return (
            np.stack(place, axis=-1),
            np.stack((still, still, np.cos(phase)), axis=-1),
            np.stack((still, still, -12.0 * np.sin(phase)), axis=-1),
        )
    if motion != 2:
        raise InputError(f"enferadi2010: no motion {motion}; there are 1 and 2")
    (x, y, z), (dx, dy, dz), (ddx, ddy, ddz) = (np.moveaxis(part, -1, 0) for part in pole(times))
    level, sine = x * x + y * y, np.sqrt(1.0 - z * z)
    theta1 = (x * dy - y * dx) / level
    theta2 = (x * ddy - y * ddx) / level - 2.0 * theta1 * (x * dx + y * dy) / level
    phi1, phi2 = -dz / sine, -ddz / sine - z * dz * dz / sine**3
    still = np.zeros_like(x)
    return (
        np.stack((np.arctan2(y, x), np.arccos(z), still), axis=-1),
        np.stack((theta1, phi1, still), axis=-1),
        np.stack((theta2, phi2, still), axis=-1),
    )


@cache
def study(motion: int, samples: int = SAMPLES) -> Study:
    """Return a motion in closed form and by multipliers."""
    robot = load("sst")
    t = np.linspace(0.0, DURATION, samples)
    q, v, a = trajectory(motion, t)
    angles = leg_angles(robot, q)
    simulator = simulated(mechanism("sst"), q, v, a, angles + 0.05)
    by_work = robot.inverse_dynamics(q, v, a, formulation="virtual-work")
    return Study(t, q, robot.inverse_dynamics(q, v, a), by_work, angles, simulator)


def report() -> Report:
    """Return the two examples of section 7: tables, and figures 8 to 11.

    Examples
    --------
    >>> [table.title[:9] for table in report().tables]
    ['Section 7', 'Motor tor', 'Motor tor', 'Operation']
    """
    tables = (claims(), *map(torques, MOTIONS), operations())
    highlights = picked(tables, _PICKS)
    return Report("enferadi2010", TITLE, tables, FIGURES, CORRECTIONS, gives=GIVES, highlights=highlights)


def claims() -> Table:
    """Return what section 7 says of its results, and what ours say."""
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
        ("motion 2: distance of s from a circle", "a circle", radius, exact(radius)),
        (
            "isotropy at home: 1 less the least singular value",
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
        what = f"motion {number}: torques by virtual work (75) against multipliers [N·m]"
        rows.append((what, "indistinguishable", apart, near(apart)))
        joints = float(np.abs(made.angles - made.simulator.angles).max())
        rows.append((f"motion {number}: joint angles against multipliers [rad]", None, joints, checked(joints)))
    return Table(
        "Section 7. What the paper says of its two motions",
        ("what", "paper", "ours", "verdict"),
        tuple(rows),
        (
            "The paper prints no torques, only curves; its comparison is with a commercial program.",
            f"Ours is with chains closed by multipliers at {SAMPLES} instants, which share frames and arcs alone.",
        ),
    )


def _circle() -> tuple[float, float]:
    """Return how far the second motion's pole is from a circle about the diagonal, and from the unit sphere."""
    s = pole(np.linspace(0.0, DURATION, SAMPLES))[0]
    middle = np.full(3, math.sqrt(1.0 / 3.0))
    return float(np.ptp(s @ middle)), float(np.abs(np.linalg.norm(s, axis=-1) - 1.0).max())


def torques(motion: int) -> Table:
    """Return the torques at multiples of π/36 s, which the paper only draws."""
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
    """Return what the torques cost by each formulation, counted on the isotropic robot."""
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
            "bodies by abedloo2014 (20); the rest are recursions over the tree of the legs.",
            "Divisions and roots count as multiplications; sines and cosines are not counted.",
        ),
        unjudged="the paper has no counts.",
    )


# Figures


def _draw_figure8() -> Drawn:
    made, drawn = study(1), figure(7.0, 3.6)
    axes = drawn.subplots()
    for i, width in enumerate((6.0, 3.5, 1.3)):  # one over the other, as they are equal
        axes.plot(made.t, made.tau[:, i], color=COLOURS[i], lw=width, label=f"motor {i + 1}")
    axes.set(title="Motion 1: the three torques are one", xlabel="t [s]", ylabel="torque [N·m]", xlim=(0.0, DURATION))
    axes.legend(loc="lower right")
    return drawn


def _draw_compared(motion: int) -> Drawn:
    made, drawn = study(motion), figure(7.0, 4.8)
    above, below = drawn.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    for i in range(3):
        above.plot(made.t, made.tau[:, i], color=COLOURS[i], label=f"motor {i + 1}, closed form")
        above.plot(
            made.t,
            made.simulator.torques[:, i],
            color="black",
            linestyle=(0, (1, 3)),
            lw=1.8,
            label="multipliers" if i == 2 else None,
        )
        below.plot(made.t, made.tau[:, i] - made.simulator.torques[:, i], color=COLOURS[i], lw=0.9)
    above.set(title=f"Motion {motion}", ylabel="torque [N·m]")
    above.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    below.set(title="Closed form less multipliers", xlabel="t [s]", ylabel="Δτ [N·m]", xlim=(0.0, DURATION))
    below.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
    return drawn


def _draw_figure9() -> Drawn:
    return _draw_compared(1)


def _draw_figure11() -> Drawn:
    return _draw_compared(2)


def _draw_figure10() -> Drawn:
    drawn = figure(5.4, 5.0)
    axes: Any = drawn.add_subplot(projection="3d")
    quarter = np.linspace(0.0, 0.5 * math.pi, 31)
    for i in range(3):
        arc = np.zeros((31, 3))
        arc[:, i], arc[:, (i + 1) % 3] = np.cos(quarter), np.sin(quarter)
        axes.plot(*arc.T, color="#888888", lw=1.5, label="the base's triangle" if i == 0 else None)
    u, w = np.meshgrid(quarter, quarter)
    axes.plot_surface(np.cos(u) * np.sin(w), np.sin(u) * np.sin(w), np.cos(w), color="#56B4E9", alpha=0.12, lw=0)
    axes.plot(*pole(np.linspace(0.0, DURATION, SAMPLES))[0].T, color=COLOURS[1], lw=2.0, label="path of the pole s")
    axes.scatter(*pole(0.0)[0], color=COLOURS[0], s=25, label="start")
    axes.set(xlabel="x", ylabel="y", zlabel="z", xticks=(0, 0.5, 1), yticks=(0, 0.5, 1), zticks=(0, 0.5, 1))
    axes.set_box_aspect((1, 1, 1))
    axes.view_init(elev=28, azim=35)
    axes.legend(loc="upper left")
    return drawn


FIGURES = (
    Figure("figure8", "Figure 8. Motor torques of motion 1: the star turns about its pole.", _draw_figure8),
    Figure("figure9", "Figure 9. Motion 1: closed form against chains closed by multipliers.", _draw_figure9),
    Figure("figure10", "Figure 10. Motion 2: the pole of the star goes round a circle on the sphere.", _draw_figure10),
    Figure("figure11", "Figure 11. Motion 2: closed form against chains closed by multipliers.", _draw_figure11),
)
