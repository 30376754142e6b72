"""Predicted and measured torques, and plots of fits: torques, friction against speed, and residuals."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.identification.friction import sliding
from appell.identification.solve import autocorrelation
from appell.reports.table import Table
from appell.results.style import COLOURS, figure, matplotlib, written
from appell.spatial.scalar import Array
from appell.syntax import plot_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from appell.identification.fit import Fit


MEASURED, PREDICTED, LEFT, SECOND, FAINT = COLOURS[6], COLOURS[1], COLOURS[0], COLOURS[2], "#999999"
"""Colours: measured, predicted, residual, a second model curve, secondary data."""
POINTS = 2500
"""Maximum number of points in a scatter plot."""
APART = 1.0
"""Distance of consecutive logs on the time axis [s]; longer gaps are shortened to it."""
LAGS = 2.0
"""Largest lag of autocorrelations [s]."""


def overlay(prediction: Prediction) -> Figure:
    """Plot measured and predicted torques per motor, with the residual below each.

    Call it inside :func:`appell.results.style.styled`, as :meth:`Prediction.plot` does.
    """
    canvas, cells = _cells(len(prediction.motors), (1.9, 1.0))
    t, breaks = _times(prediction.t)
    left = prediction.measured - prediction.tau
    for j, (upper, lower) in enumerate(cells):
        above = canvas.add_subplot(upper)
        below = canvas.add_subplot(lower, sharex=above)
        unit = prediction.units[j] if prediction.units else "N·m"
        above.plot(t, _broken(prediction.measured[:, j], breaks), color=MEASURED, linewidth=1.0)
        above.plot(t, _broken(prediction.tau[:, j], breaks), color=PREDICTED, linewidth=0.9)
        below.plot(t, _broken(left[:, j], breaks), color=FAINT, linewidth=0.7)
        below.plot(
            t,
            _broken(left[:, j], np.logical_or(breaks, np.logical_not(prediction.scored[:, j]))),
            color=LEFT,
            linewidth=0.7,
        )
        below.axhline(0.0, color="#888888", linewidth=0.6)
        error = prediction.relative[j]
        score = "does not move" if np.isnan(error) else f"error {error:.1%}, rms {prediction.rms[j]:.3g} {unit}"
        above.set_title(f"{plot_text(prediction.motors[j])}: {score}")
        above.set_ylabel(f"τ [{unit}]")
        below.set_ylabel(f"residual [{unit}]")
        below.set_xlabel("t [s]")
        above.tick_params(labelbottom=False)
        most = 1.2 * (float(np.quantile(np.abs(left[:, j]), 0.998)) or 1.0)
        below.set_ylim(-most, most)
        below.set_xlim(t[0], t[-1])
    _legend(
        canvas, {"measured": MEASURED, "predicted": PREDICTED, "residual": LEFT, "residual at rest, not scored": FAINT}
    )
    canvas.align_ylabels()
    score = f": mean error {prediction.score:.2%}" if prediction.scored.any() else ""
    canvas.suptitle(f"{plot_text(prediction.source or 'log')}{score}", fontsize=10)
    return canvas


def friction(fit: Fit) -> Figure:
    """Plot friction per motor against speed: the samples, and the model over their range.

    Points are measured torques minus those of the rigid-body model. The model is drawn away from reversals, without
    load and, for load-dependent friction, at the 90th percentile of the load; the dashed line is the Coulomb and
    viscous friction of `fit.robot`.
    """
    problem = fit.problem
    canvas, cells = _cells(problem.n_motors, (2.5,))
    speeds, friction_torque, loads, counted = _friction_torque(fit)
    coulomb, viscous = fit.simple_friction
    has_load = any(term.name == "load" for term in problem.terms)
    for j, (cell,) in enumerate(cells):
        axes = canvas.add_subplot(cell)
        torque, speed = ("N·m", "rad/s") if problem.turns[j] else ("N", "m/s")
        keep = np.flatnonzero(counted[:, j])
        shown = keep[:: max(1, len(keep) // POINTS)]
        axes.plot(speeds[shown, j], friction_torque[shown, j], ".", color=FAINT, markersize=1.6, alpha=0.5, zorder=1)
        least, most = float(speeds[keep, j].min(initial=0.0)), float(speeds[keep, j].max(initial=0.0))
        heavy = float(np.quantile(np.abs(loads[keep, j]), 0.9)) if len(keep) else 0.0
        offset = 0.0
        for side in ((least, -1e-3), (1e-3, most)):
            if side[0] >= side[1]:
                continue
            v = np.linspace(*side, 200)
            axes.plot(v, _model(fit, j, v, 0.0), color=PREDICTED)
            if has_load:
                axes.plot(v, _model(fit, j, v, heavy), color=SECOND)
            offset = float(_model(fit, j, np.zeros(1), 0.0)[0])
            axes.plot(v, coulomb[j] * np.sign(v) + viscous[j] * v + offset, "--", color=LEFT, linewidth=1.0)
        title = plot_text(problem.robot.actuators[j])
        axes.set_title(f"{title}, load {heavy:.3g} {torque}" if has_load else title)
        axes.set_xlabel(f"speed [{speed}]")
        axes.set_ylabel(f"friction [{torque}]")
        if len(keep):
            low, high = np.quantile(friction_torque[keep, j], (0.002, 0.998))
            room = 0.15 * max(high - low, 1e-9)
            axes.set_ylim(low - room, high + room)
    lines = {"samples": FAINT, "model without load": PREDICTED}
    lines |= {"model with load (see title)": SECOND} if has_load else {}
    _legend(canvas, lines, {"Coulomb and viscous, of fit.robot": LEFT})
    canvas.suptitle(f"{plot_text(problem.robot.name)}: motor friction", fontsize=10)
    return canvas


def residual(prediction: Prediction) -> Figure:
    """Plot the residuals of each motor: histogram with normal distribution, and autocorrelation."""
    canvas = figure(9.0, 1.7 * len(prediction.motors) + 0.6)
    grid = canvas.subplots(len(prediction.motors), 2, squeeze=False)
    step = float(np.median(np.diff(prediction.t)))
    for j, (left, right) in enumerate(grid):
        unit = prediction.units[j] if prediction.units else "N·m"
        keep = prediction.scored[:, j]
        e = (prediction.measured - prediction.tau)[:, j] * keep
        moving = e[keep] if keep.any() else np.zeros(1)
        size = max(float(np.std(moving)), 1e-300)
        x = np.linspace(-4.0, 4.0, 200)
        left.hist(moving / size, bins=np.linspace(-4.0, 4.0, 61), density=True, color=LEFT, alpha=0.5)
        left.plot(x, np.exp(-0.5 * x**2) / np.sqrt(2.0 * np.pi), color=MEASURED, linewidth=1.0)
        left.set_title(f"{plot_text(prediction.motors[j])}: standard deviation {size:.3g} {unit}")
        left.set_ylabel("density")
        sums = autocorrelation([e], min(len(e), max(2, round(LAGS / step))))
        right.plot(step * np.arange(len(sums)), sums / max(sums[0], 1e-300), color=LEFT)
        right.axhline(0.0, color="#888888", linewidth=0.6)
        right.set_ylim(-0.5, 1.05)
        right.set_ylabel("correlation")
    grid[-1][0].set_xlabel("residual / standard deviation")
    grid[-1][1].set_xlabel("lag [s]")
    canvas.suptitle(
        f"{plot_text(prediction.source or 'log')}: residuals, normal distribution, and autocorrelation", fontsize=10
    )
    return canvas


def _cells(count: int, heights: tuple[float, ...]) -> tuple[Figure, list[list[Any]]]:
    """Return a figure and the panels of each motor, one below the other; several motors take two columns."""
    columns = min(2, count)
    rows = -(-count // columns)
    canvas = figure(5.0 * columns, sum(heights) * rows + 0.7)
    grid = canvas.add_gridspec(len(heights) * rows, columns, height_ratios=heights * rows)
    each = range(len(heights))
    return canvas, [[grid[len(heights) * (k // columns) + i, k % columns] for i in each] for k in range(count)]


def _legend(canvas: Figure, lines: dict[str, str], dashed: dict[str, str] | None = None) -> None:
    Line2D = matplotlib(".lines").Line2D

    dashed = dashed or {}
    handles = [
        *(Line2D([], [], color=colour) for colour in lines.values()),
        *(Line2D([], [], color=colour, linestyle="--") for colour in dashed.values()),
    ]
    canvas.legend(handles, [*lines, *dashed], loc="outside lower center", ncols=len(handles))


def _times(t: Array) -> tuple[Array, Array]:
    """Return times from zero with shortened gaps, and the start indices of new segments."""
    steps = np.diff(t, prepend=t[0])
    usual = float(np.median(steps[1:])) if len(t) > 1 else 1.0
    breaks = (steps < 0.0) | (steps > 5.0 * usual)
    steps = np.where(breaks, np.minimum(np.where(steps < 0.0, APART, steps), APART), steps)
    return np.cumsum(steps), breaks


def _broken(values: Array, breaks: Array) -> Array:
    """Return a curve with NaN at the start of each segment, so that no line connects segments."""
    return np.where(breaks, np.nan, values)


def _friction_torque(fit: Fit) -> tuple[Array, Array, Array, Array]:
    """Return speeds, measured torques minus rigid-body torques, loads, and the used rows of all records."""
    parts: list[Sequence[Array]] = []
    for record in fit.records:
        rigid = record.rigid(fit.theta)
        parts.append((record.moved.speed, record.moved.tau - rigid, rigid, record.log.moving))
    speeds, friction_torque, loads, counted = (np.concatenate([part[k] for part in parts]) for k in range(4))
    return speeds, friction_torque, loads, counted


def _model(fit: Fit, motor: int, v: Array, load: float) -> Array:
    """Return the friction of a motor at speeds, away from reversals."""
    every = np.repeat(v[:, None], fit.problem.n_motors, axis=1)
    values = fit.problem.friction_values(sliding(every, np.full_like(every, load)))
    return np.sum(values * fit.problem.friction(fit.theta), axis=-1)[:, motor]


# Predictions

SCORED = 0.02
"""Speed [rad/s] above which a motor's rows are scored; below, stiction is undetermined."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted and measured torques (n, motors) [N·m, N] at times t [s], with the speeds of the motors.

    A motor is scored in the rows where it is faster than `slow` (motors,).

    >>> import numpy as np
    >>> one = np.ones((5, 1))
    >>> Prediction(np.arange(5.0), 0.9 * one, one, one, ("joint",), np.array([0.02])).relative.round(3)
    array([0.1])
    """

    t: Array
    tau: Array
    measured: Array
    speed: Array
    motors: tuple[str, ...]
    slow: Array
    source: str = ""
    units: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Prediction of {len(self.t)} samples of {len(self.motors)} motors: mean error {self.score:.2%}>"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    @staticmethod
    def joined(parts: Sequence[Prediction]) -> Prediction:
        """Return several predictions concatenated."""
        arrays: dict[str, Any] = {
            x: np.concatenate([getattr(part, x) for part in parts]) for x in ("t", "tau", "measured", "speed")
        }
        return replace(parts[0], **arrays, source=", ".join(part.source for part in parts if part.source))

    @cached_property
    def scored(self) -> Array:
        """Return the scored rows per motor: those in which it moves; all rows of a static log."""
        moves = np.abs(self.speed) > self.slow
        return moves if moves.any() else np.ones_like(moves)

    @cached_property
    def relative(self) -> Array:
        """Return ‖error‖/‖torque‖ per motor over the scored rows; NaN for a motor without such rows or torque."""
        error, torque = ((np.sum((x * self.scored) ** 2, axis=0)) for x in (self.tau - self.measured, self.measured))
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Array = np.sqrt(np.where(torque > 0.0, error / torque, np.nan))
        return result

    @property
    def score(self) -> float:
        """Return the mean of `relative` over the motors that move, over all in a static log.

        If all torques are zero, it is 0 for a prediction without error and infinite otherwise.
        """
        known = self.relative[~np.isnan(self.relative)]
        return float(known.mean()) if len(known) else np.inf if self.rms.any() else 0.0

    @cached_property
    def rms(self) -> Array:
        """Return the RMS error per motor over the scored rows [N·m, N]."""
        count = np.maximum(self.scored.sum(axis=0), 1)
        return np.sqrt(np.sum(((self.tau - self.measured) * self.scored) ** 2, axis=0) / count)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot measured and predicted torques per motor, with the residual below; write to `path` if given.

        The extension selects the format: .png, .pdf or .svg.

        >>> import numpy as np
        >>> t, one = np.arange(50.0), np.ones((50, 1))
        >>> len(Prediction(t, 0.9 * one, one, one, ("joint",), np.zeros(1)).plot().axes)
        2
        """
        return written("prediction.plot", path, lambda: overlay(self))

    def table(self) -> Table:
        """Return the errors per motor."""
        worst = np.max(np.abs((self.tau - self.measured) * self.scored), axis=0)
        rows = tuple(
            (motor, 100.0 * float(part), float(rms), float(most), int(n))
            for motor, part, rms, most, n in zip(
                self.motors, self.relative, self.rms, worst, self.scored.sum(axis=0), strict=True
            )
        )
        mean = ("mean", 100.0 * self.score, None, None, None)
        note = f"rows in which the motor is faster than {SCORED:g} rad/s; a tenth of that in m/s for prismatic joints"
        columns = ("motor", "error [%]", "rms [N·m, N]", "largest", "rows")
        return Table(f"{self.source or 'log'}: predicted torques", columns, (*rows, mean), (note,))
