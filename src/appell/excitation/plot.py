"""Plot of an exciting trajectory: positions, velocities and torques relative to their limits, and the search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from appell.identification.basis import Array
from appell.results.style import COLOURS, figure, matplotlib
from appell.syntax import plot_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from appell.excitation.excite import Excitation

POINTS = 1000
NAMED = 20
"""Maximum number of legend entries."""


def picture(motion: Excitation) -> Figure:
    """Return a figure of the motion; call it inside :func:`appell.results.style.styled`.

    Every curve is relative to its limits: 1 is the upper one, −1 the lower one. A velocity or torque without limit is
    relative to its largest value, and dashed.
    """
    t = np.linspace(0.0, motion.trajectory.duration, POINTS)
    q, v, _ = motion.trajectory(t)
    state, bounds = motion.states(t), motion.bounds
    names = motion._path.names
    canvas = figure(9.2, 8.6)
    rows = canvas.subplots(4, 1, height_ratios=[1, 1, 1, 0.8])
    _panel(rows[0], t, q - bounds.middle, bounds.reach, "q / range")
    _panel(rows[1], t, v, bounds.velocity, "v / limit")
    _panel(rows[2], t, motion.robot.inverse_dynamics(*state), bounds.torque, "τ / limit")
    rows[2].set_xlabel("t [s]")
    for axes in rows[:3]:
        axes.set_xlim(0.0, motion.trajectory.duration)
    _search(rows[3], motion)
    if len(names) <= NAMED:
        Line2D = matplotlib(".lines").Line2D

        lines = [Line2D([], [], color=COLOURS[k % len(COLOURS)]) for k in range(len(names))]
        canvas.legend(lines, list(map(plot_text, names)), loc="outside right upper", title="joints")
    canvas.suptitle(plot_text(str(motion)), fontsize=10)
    canvas.align_ylabels()
    return canvas


def _panel(axes: Axes, t: Array, values: Array, limit: Array, label: str) -> None:
    own = np.abs(values).max(axis=0)
    scale = np.where(np.isfinite(limit), limit, np.where(own > 0.0, own, 1.0))
    for k in range(values.shape[1]):
        style = "-" if np.isfinite(limit[k]) else "--"
        axes.plot(t, values[:, k] / scale[k], style, color=COLOURS[k % len(COLOURS)])
    for side in (-1.0, 1.0):
        axes.axhline(side, color="#888888", linewidth=0.8)
    axes.set_ylim(-1.12, 1.12)
    axes.set_ylabel(label)
    if not np.isfinite(limit).all():
        axes.set_title("dashed: no limit, relative to the largest value", fontsize=8)


def _search(axes: Axes, motion: Excitation) -> None:
    axes.plot(motion.history, color=COLOURS[0])
    axes.axhline(motion.condition, color=COLOURS[1], linewidth=0.8)
    axes.set_xlim(0, max(len(motion.history) - 1, 1))
    axes.set_ylabel("condition number")
    axes.set_title("blue: at the samples of the search; orange: final", fontsize=8)
    axes.set_xlabel("iteration")
