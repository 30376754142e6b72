"""enferadi2010, figures 8 to 11: the torques of the two motions, and the path of the second."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.loading import load
from appell.papers.drawings import arrow, great_arc, space, torques
from appell.papers.enferadi2010_motion import DURATION, SAMPLES, pole, study
from appell.papers.paper import read
from appell.planning.goal import pose
from appell.results.style import COLOURS, figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn


def _draw_figure8() -> Drawn:
    made, drawn = study(1), figure(7.0, 3.6)
    axes = drawn.subplots()
    for i, width in enumerate((6.0, 3.5, 1.3)):  # one over the other, as they are equal
        axes.plot(made.t, made.tau[:, i], color=COLOURS[i], lw=width, label=f"motor {i + 1}")
    axes.set(title="Motion 1: the three torques are one", xlabel="t [s]", ylabel="torque [N·m]", xlim=(0.0, DURATION))
    axes.legend(loc="lower right")
    return drawn


def _draw_compared(motion: int) -> Drawn:
    made = study(motion)
    return torques(made.t, made.tau, made.simulator.torques, ("closed form", "multipliers"), f"Motion {motion}")


def _draw_figure10() -> Drawn:
    drawn, axes = space(5.4, 5.0)
    quarter = np.linspace(0.0, 0.5 * math.pi, 31)
    _triangle(axes)
    u, w = np.meshgrid(quarter, quarter)
    axes.plot_surface(np.cos(u) * np.sin(w), np.sin(u) * np.sin(w), np.cos(w), color="#56B4E9", alpha=0.12, lw=0)
    axes.plot(*pole(np.linspace(0.0, DURATION, SAMPLES))[0].T, color=COLOURS[1], lw=2.0, label="path of the pole s")
    axes.scatter(*pole(0.0)[0], color=COLOURS[0], s=25, label="start")
    axes.set_box_aspect((1, 1, 1))
    axes.legend(loc="upper left")
    return drawn


def _draw_geometry() -> Drawn:
    """Draw the triangle, the star and the unit vectors of each leg, with the frames {1k} and {2k}."""
    robot = load("sst")
    q = robot.neutral()
    drawn, axes = space()
    _triangle(axes)
    star = robot.pose(q, "platform")[:3, :3]
    for k in (1, 2, 3):
        first, second = (robot.pose(q, f"leg{k}_link{link}")[:3, :3] for link in (1, 2))
        w, r, t = first[:, 2], second[:, 0], second[:, 2]
        arc = great_arc(star[:, 2], r)
        axes.plot(*arc.T, color=COLOURS[1], lw=2.0, label="star" if k == 1 else None)
        axes.scatter(*r, color=COLOURS[0], s=20)
        for vector, name, colour in ((w, "w", COLOURS[0]), (r, "r", COLOURS[2]), (t, "t", COLOURS[3])):
            arrow(axes, vector, f"{name}{'₁₂₃'[k - 1]}", colour)
    arrow(axes, star[:, 2], "s", COLOURS[6])
    axes.set_aspect("equal")
    axes.view_init(elev=20, azim=75)
    axes.legend(loc="upper left")
    return drawn


def _draw_figure7() -> Drawn:
    """Draw the axes of the star after none, one, two and all three of its rotations."""
    angles = load("sst").neutral() + np.array([0.0, 0.0, math.pi / 6.0])
    drawn = figure(7.6, 2.6)
    panels: Any = drawn.subplots(1, 4, subplot_kw={"projection": "3d"})
    names = ("at θ = φ = ψ = 0", "θ about z", "then φ about y′", "then ψ about z″")
    for k, (axes, name) in enumerate(zip(panels, names, strict=True)):
        turned = pose(np.zeros(3), np.where(np.arange(3) < k, angles, 0.0))[:3, :3]
        for column, (letter, colour) in enumerate(zip("uvw", COLOURS, strict=False)):
            axes.quiver(0, 0, 0, *np.eye(3)[column], color="#aaaaaa", lw=0.8, arrow_length_ratio=0.12)
            axes.quiver(0, 0, 0, *turned[:, column], color=colour, lw=1.5, arrow_length_ratio=0.15)
            axes.text(*(1.15 * turned[:, column]), letter, color=colour, fontsize=8)
        axes.set_title(name)
        axes.set(xlim=(-0.8, 1), ylim=(-0.8, 1), zlim=(-0.8, 1), xticks=(), yticks=(), zticks=())
        axes.set_box_aspect((1, 1, 1))
        axes.view_init(elev=24, azim=40)
    return drawn


def _triangle(axes: Any) -> None:
    for i in range(3):
        side = great_arc(np.eye(3)[i], np.eye(3)[(i + 1) % 3])
        axes.plot(*side.T, color="#888888", lw=1.5, label="the base's triangle" if i == 0 else None)


FIGURES = read("enferadi2010").figures(
    {
        "figure1": _draw_geometry,
        "figure7": _draw_figure7,
        "figure8": _draw_figure8,
        "figure9": partial(_draw_compared, 1),
        "figure10": _draw_figure10,
        "figure11": partial(_draw_compared, 2),
    }
)
