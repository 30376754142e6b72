"""Figures 2 to 7 of abedloo2014: the robot, the loop as a block diagram, and its results at the loosest tolerance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from appell.loading import load
from appell.papers.abedloo2014_loop import DURATION, KD, KP, ROWS, TOLERANCES, loop, trajectory
from appell.papers.drawings import arrow, beside, block_diagram, compared, differences, great_arc, space, torques
from appell.papers.multipliers import mechanism
from appell.papers.paper import read
from appell.results.style import COLOURS, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

BLOCKS = (
    (0.0, 1.2, "trajectory (52)\nq, q̇"),
    (2.2, 1.2, "closed form (34)\nθ, θ̇ of the motors"),
    (4.4, 1.2, f"PD, {KP:g} N·m/rad,\n{KD:g} N·m·s/rad"),
    (6.6, 1.2, "simulator: three\nchains, integrated"),
    (6.6, 0.0, "closed form (34)–(51)\nof the platform's motion"),
    (4.4, 0.0, "differences,\nfigures 5 to 7"),
)
"""The blocks of figure 4: left and lower edge, and their text."""
ARROWS = (
    (((1.75, 1.475), (2.2, 1.475)), ""),
    (((3.95, 1.475), (4.4, 1.475)), ""),
    (((6.15, 1.475), (6.6, 1.475)), "τ"),
    (((7.8, 1.2), (7.8, 0.55)), "  q, q̇, q̈"),
    (((6.6, 0.275), (6.15, 0.275)), "θ, τ"),
    (((6.95, 1.2), (6.95, 0.85), (5.275, 0.85), (5.275, 0.55)), "θ, τ"),
    (((7.475, 1.75), (7.475, 2.05), (5.275, 2.05), (5.275, 1.75)), "θ, θ̇"),
)
"""The arrows between them: points and label."""


def _draw_figure4() -> Drawn:
    return block_diagram(BLOCKS, ARROWS)


def _draw_figure3() -> Drawn:
    """Draw the arcs of the legs between their axes u, w and v, and one body with its frame, ρ and ω."""
    robot, legs, q = load("agile-wrist"), mechanism("agile-wrist").legs, np.deg2rad([5.0, 15.0, 10.0])
    drawn, axes = space()
    for k in (1, 2, 3):
        first, second = (robot.pose(q, f"leg{k}_link{link}")[:3, :3] for link in (1, 2))
        u, w, v = first[:, 2], second[:, 2], robot.pose(q, "platform")[:3, :3] @ np.array(legs[k - 1].platform_axis)
        for start, end, colour, name in ((u, w, COLOURS[0], "link 1"), (w, v, COLOURS[1], "link 2")):
            axes.plot(*great_arc(start, end).T, color=colour, lw=2.5, label=name if k == 1 else None)
        for vector, name, colour in ((u, "u", COLOURS[0]), (w, "w", COLOURS[2]), (v, "v", COLOURS[3])):
            arrow(axes, vector, f"{name}{'₁₂₃'[k - 1]}", colour)
        if k == 1:
            arrow(axes, great_arc(w, v).mean(axis=0), "ρ", COLOURS[6])
    axes.set_aspect("equal")
    axes.view_init(elev=18, azim=55)
    axes.legend(loc="upper left")
    return drawn


NAMES = ("closed form", "simulator")


def _draw_figure5() -> Drawn:
    made, drawn = loop(TOLERANCES[0]), figure(7.0, 6.0)
    axes = drawn.subplots(3, 1, sharex=True)
    for k, name in enumerate(("yaw", "pitch", "roll")):
        axes[0].plot(made.t, np.degrees(made.q[:, k]), color=COLOURS[k], label=f"q{'₁₂₃'[k]} {name}")
    axes[0].plot(made.t, np.degrees(trajectory(made.t)[0]), color="black", linestyle=(0, (1, 3)))
    axes[0].set(title="Platform, and (52) dotted", ylabel="Euler angles [°]")
    for row, (j, symbol, what) in enumerate(((0, "θ", "motor angles [°]"), (1, "ψ", "passive angles [°]")), 1):
        ours, other = (np.degrees(side.angles[..., j]) for side in (made.closed_form, made.simulator))
        compared(axes[row], made.t, ours, other, symbol, NAMES)
        axes[row].set(title=("Motors", "Joints between the links")[row - 1], ylabel=what)
    beside(axes[0])
    axes[-1].set(xlabel="t [s]", xlim=(0.0, DURATION))
    return drawn


def _draw_figure6() -> Drawn:
    made = loop(TOLERANCES[0])
    return torques(made.t, made.closed_form.torques, made.simulator.torques, NAMES, "Motor torques")


def _draw_figure7() -> Drawn:
    made, drawn = loop(TOLERANCES[0]), figure(7.0, 6.0)
    axes = drawn.subplots(3, 1, sharex=True)
    for ax, (field, what, _), symbol in zip(axes, ROWS, ("Δθ", "Δθ̇", "Δθ̈"), strict=False):
        error = (getattr(made.closed_form, field) - getattr(made.simulator, field))[..., 0]
        quantity, _, unit = what.removeprefix("joint ").partition(" [")
        differences(ax, made.t, error, title=f"Motors: {quantity}", ylabel=f"{symbol} [{unit}")
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside upper right", ncols=3)
    axes[-1].set(xlabel="t [s]")
    return drawn


FIGURES = read("abedloo2014").figures(
    {
        "figure3": _draw_figure3,
        "figure4": _draw_figure4,
        "figure5": _draw_figure5,
        "figure6": _draw_figure6,
        "figure7": _draw_figure7,
    }
)
