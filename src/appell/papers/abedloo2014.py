"""abedloo2014: E. Abedloo, A. Molaei, H.D. Taghirad, "Closed-form dynamic formulation of spherical parallel
manipulators by Gibbs-Appell method" (2014).

Section IV moves the Agile Wrist along sines of its Euler angles and compares the closed form with a simulator of three
chains. Here the simulator is appell's own for open chains, closed by multipliers (:mod:`appell.papers.multipliers`).
"""  # noqa: D205  # the paper's title takes two lines

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.loops.load import load
from appell.papers.multipliers import Simulated, leg_angles, mechanism, simulated
from appell.reports.index import Absent, Entry
from appell.reports.report import Figure, Pick, Report, picked
from appell.reports.rules import Checked, NotComparable
from appell.reports.table import Cell, Table
from appell.results.style import COLOURS, figure
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


TITLE = "closed-form dynamic formulation of spherical parallel manipulators by Gibbs-Appell method"

CORRECTIONS = (
    "(27): R_i2 is relative to link 1; in the base it is R_i1·R_x(α₁)·R_z(ψ). (31): a product, not a sum.",
    "(35): n₂ = w × v / sin α₂. (36) loses the sign: ψ = atan2((n₁ × n₂)·w, n₁·n₂). (37): ξ̇ᵢ, one a leg.",
    "(44), (45): R_i2ᵀ for link 2, and ψ̈ z in the angular acceleration.",
    "(24) as printed doubles the quadratic terms: ∂α/∂q̇ is not J̇. In (47) ∂θ̈/∂q̇ must be read as J̇_θ; its halves are "
    "then right.",
    "(50): row i is p_1iᵀE / hᵢ; the printed rows all divide by h₁ and swap the indices of p.",
    "C of (17), (47) and (48) has the right product with q̇, but Ṁ − 2C is not skew. It is with C = Jᵀ(I J̇ − (Iω)~ J) "
    "and J̇ the derivative of J, which appell's coriolis_matrix is; formulation='abedloo2014' gives the printed one.",
    "Not given: the arcs' radius, the shape of the links, the end effector's mass centre, the branch of (34). Taken: "
    "0.1 m, thin uniform arcs about the common centre, a mass centre at that centre, + for all legs.",
)

INDEX: tuple[Entry | Absent, ...] = ()
"""From the paper to calls and places in the report; see :mod:`appell.reports.index`."""

GIVES = (
    "The equations of motion of a spherical parallel robot in closed form, from its acceleration energy, checked on "
    "the Agile Wrist against chains closed by multipliers, which share its frames and arcs alone."
)

_PICKS = (
    *(
        Pick("Verification.", (what,), f"closed form against simulator: {what}", "paper, order", "ours")
        for what in ("joint angles [rad]", "motor torques [N·m]")
    ),
    Pick("The matrix C", ("printed, (21) and (47)",), "C as printed: Ṁ − 2C off skew", "", "symmetric part of Ṁ − 2C"),
    Pick("The matrix C", ("appell",), "C of appell: Ṁ − 2C off skew", "", "symmetric part of Ṁ − 2C"),
)

AMPLITUDE = np.deg2rad([10.0, 30.0, 20.0])
"""a of (52) [rad]."""
FREQUENCY = np.pi * np.array([1.0, 0.5, 1.5])
"""b of (52) [rad/s]."""
DURATION = 4.0
"""The least time [s] after which all three sines repeat."""
SAMPLES = 401


class Study(NamedTuple):
    """The trajectory, what the closed form gives along it, and what the simulator does."""

    t: Array
    q: Array
    v: Array
    a: Array
    ours: Simulated
    simulator: Simulated


def trajectory(t: ArrayLike) -> tuple[Array, Array, Array]:
    """Return q, v and a (..., 3) of (52).

    >>> trajectory(0.0)[1].round(4)
    array([0.5483, 0.8225, 1.6449])
    """
    phase = np.multiply.outer(np.asarray(t, dtype=float), FREQUENCY)
    swing = AMPLITUDE * np.sin(phase)
    return swing, AMPLITUDE * FREQUENCY * np.cos(phase), -(FREQUENCY**2) * swing


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
    # the search for the simulator's joints starts off the closed form's, so that it has something to find
    return Study(t, q, v, a, ours, simulated(mechanism("agile-wrist"), q, v, a, ours.angles + 0.05))


def report() -> Report:
    """Return the verification of section IV: tables, and figures 5 to 7.

    Examples
    --------
    >>> [table.title[:8] for table in report().tables]
    ['Verifica', 'Motor to', 'The matr']
    """
    tables = (verification(), torques(), matrices())
    highlights = picked(tables, _PICKS)
    return Report("abedloo2014", TITLE, tables, FIGURES, CORRECTIONS, gives=GIVES, highlights=highlights)


_INTEGRATED = NotComparable(
    "the paper's simulator follows the trajectory under a controller, and its differences are those of the integrated "
    "loop; ours moves exactly along the trajectory, and its differences are rounding"
)
_ROWS = (
    ("angles", "joint angles [rad]", 1e-7),
    ("rates", "joint rates [rad/s]", 1e-6),
    ("accelerations", "joint accelerations [rad/s²]", 1e-5),
    ("torques", "motor torques [N·m]", 1e-5),
)


def verification() -> Table:
    """Return how far the closed form is from the simulator, by the paper and by us."""
    made = study()
    rows: list[tuple[Cell, ...]] = []
    for field, what, paper in _ROWS:
        ours, simulator = getattr(made.ours, field), getattr(made.simulator, field)
        error = float(np.abs(ours - simulator).max())
        rows.append((what, paper, error, float(np.abs(simulator).max()), _INTEGRATED()))
    return Table(
        "Verification. Closed form against a simulator of three chains, figures 6 and 7: greatest difference",
        ("quantity", "paper, order", "ours", "greatest value", "verdict"),
        tuple(rows),
        (
            f"{SAMPLES} instants of {DURATION:g} s.",
            "Our simulator has the platform on its Euler angles and three chains of two joints, closed by multipliers; "
            "it shares no formula of the legs with the closed form.",
        ),
    )


def torques() -> Table:
    """Return motor angles and torques at quarter seconds, which the paper only draws."""
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
    """Return what the matrices of (21) are worth: C q̇, and how far Ṁ − 2C is from skew."""
    robot, made = load("agile-wrist"), study()
    q, v = made.q, made.v
    h = 1e-3
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    steps = (w * (robot.mass_matrix(q + k * h * v) - robot.mass_matrix(q - k * h * v)) for k, w in weights.items())
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


# Figures


def _compared(axes: Any, t: Array, ours: Array, simulator: Array, symbol: str) -> None:
    for i in range(3):
        axes.plot(t, ours[:, i], color=COLOURS[i], label=f"{symbol}{'₁₂₃'[i]} closed form")
        axes.plot(
            t, simulator[:, i], color="black", linestyle=(0, (1, 3)), lw=1.8, label="simulator" if i == 2 else None
        )


def _draw_figure5() -> Drawn:
    made, drawn = study(), figure(7.0, 6.0)
    axes = drawn.subplots(3, 1, sharex=True)
    for k, name in enumerate(("yaw", "pitch", "roll")):
        axes[0].plot(made.t, np.degrees(made.q[:, k]), color=COLOURS[k], label=f"q{'₁₂₃'[k]} {name}")
    axes[0].set(title="Platform", ylabel="Euler angles [°]")
    for row, (j, symbol, what) in enumerate(((0, "θ", "motor angles [°]"), (1, "ψ", "passive angles [°]")), 1):
        angles = [np.degrees(side.angles[..., j]) for side in (made.ours, made.simulator)]
        _compared(axes[row], made.t, angles[0], angles[1], symbol)
        axes[row].set(title=("Motors", "Joints between the links")[row - 1], ylabel=what)
    for ax in axes:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes[-1].set(xlabel="t [s]", xlim=(0.0, DURATION))
    return drawn


def _draw_figure6() -> Drawn:
    made, drawn = study(), figure(7.0, 4.8)
    above, below = drawn.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    _compared(above, made.t, made.ours.torques, made.simulator.torques, "τ")
    above.set(title="Motor torques", ylabel="torque [N·m]")
    above.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    _errors(below, made.t, made.ours.torques - made.simulator.torques)
    below.set(title="Closed form less simulator", ylabel="Δτ [N·m]", xlabel="t [s]", xlim=(0.0, DURATION))
    return drawn


def _draw_figure7() -> Drawn:
    made, drawn = study(), figure(7.0, 6.0)
    axes = drawn.subplots(3, 1, sharex=True)
    for ax, (field, what, _), symbol in zip(axes, _ROWS, ("Δθ", "Δθ̇", "Δθ̈"), strict=False):
        error = (getattr(made.ours, field) - getattr(made.simulator, field))[..., 0]
        _errors(ax, made.t, error)
        ax.set(
            title=f"Motors: {what.partition(' [')[0].removeprefix('joint ')}",
            ylabel=f"{symbol} [{what.partition('[')[2]}",
        )
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
    axes[-1].set(xlabel="t [s]", xlim=(0.0, DURATION))
    return drawn


def _errors(axes: Any, t: Array, error: Array) -> None:
    for i in range(3):
        axes.plot(t, error[:, i], color=COLOURS[i], lw=0.9, label=f"leg {i + 1}")
    axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))


FIGURES = (
    Figure(
        "figure5",
        "Figure 5. The platform's trajectory (52), and the joints of the three legs by the closed form and by the "
        "simulator.",
        _draw_figure5,
    ),
    Figure("figure6", "Figure 6. The motors' torques by the closed form and by the simulator.", _draw_figure6),
    Figure("figure7", "Figure 7. Motors: closed form less simulator, in angle, rate and acceleration.", _draw_figure7),
)
