"""Predicted and measured torques."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.reports.table import Table
from appell.results.style import written
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
        from appell.identification.plots import overlay  # noqa: PLC0415  # circular import

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
