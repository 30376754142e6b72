"""Results of a control loop: its record, performance metrics, and plot."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.control.guard import Stop
from appell.errors import InputError
from appell.results.style import COLOURS, figure, written
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Jitter(NamedTuple):
    """Delays of the periods: mean, standard deviation and maximum [s]; longest time from reading to writing [s]."""

    mean: float
    deviation: float
    greatest: float
    computing: float


@dataclass(frozen=True, eq=False)
class LoopRun:
    """The record of a control loop, one row per period.

    Parameters
    ----------
    period : float
        Nominal period [s].
    t : array, shape (m,)
        Nominal times of the periods [s].
    late : array, shape (m,)
        Delay of each period [s].
    took : array, shape (m,)
        Time for reading, computing and writing [s].
    q, v : array, shape (m, n)
        Estimated joint angles [rad] and velocities [rad/s].
    tau : array, shape (m, n)
        Torques of the control law [N·m].
    volts : array, shape (m, n)
        Converter outputs [V].
    saturated : array of bool, shape (m, n)
        Where the output was at its limit.
    goal : array, shape (m, n)
        Reference of the control law [rad], NaN if it has none.
    stopped : Stop or None
        The reason for a safe stop.

    Examples
    --------
    >>> import numpy as np
    >>> t, x = np.arange(4.0), np.ones((4, 1))
    >>> LoopRun(1.0, t, 0 * t, 0 * t, x, x, x, x, x > 9, 0 * x, None).rms_error
    array([1.])
    """

    period: float
    t: Array
    late: Array
    took: Array
    q: Array
    v: Array
    tau: Array
    volts: Array
    saturated: Array
    goal: Array
    stopped: Stop | None

    @property
    def error(self) -> Array:
        """Return the tracking error goal − q, (m, n) [rad]."""
        return self.goal - self.q

    @property
    def rms_error(self) -> Array:
        """Return the RMS tracking error per joint, (n,) [rad]."""
        return np.asarray(np.sqrt(np.mean(self.error**2, axis=0)))

    @property
    def max_error(self) -> Array:
        """Return the largest absolute tracking error per joint, (n,) [rad]."""
        return np.asarray(np.abs(self.error).max(axis=0))

    @property
    def saturation_time(self) -> Array:
        """Return the total time in saturation per joint, (n,) [s]."""
        return np.asarray(self.period * np.count_nonzero(self.saturated, axis=0))

    @property
    def jitter(self) -> Jitter:
        """Return the timing statistics of the periods."""
        late = self.late
        return Jitter(float(late.mean()), float(late.std()), float(late.max()), float(self.took.max()))

    def settling(self, band: ArrayLike = 0.01) -> Array:
        """Return the settling time of each joint.

        Parameters
        ----------
        band : array_like
            Tolerance ±band of the error [rad], one number or (n,).

        Returns
        -------
        array, shape (n,)
            Times [s] after which the error stays within the band; NaN if it does not.

        Examples
        --------
        >>> import numpy as np
        >>> t, goal = np.arange(4.0), np.zeros((4, 1))
        >>> q = np.array([[1.0], [0.1], [-0.3], [0.1]])
        >>> LoopRun(1.0, t, 0 * t, 0 * t, q, q, q, q, q > 9, goal, None).settling(0.2)
        array([3.])
        """
        inside = np.abs(self.error) <= np.asarray(band)
        for_good = np.logical_and.accumulate(inside[::-1], axis=0)[::-1]
        first = np.argmax(for_good, axis=0)
        return np.where(for_good.any(axis=0), self.t[first], np.nan)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot tracking error, amplifier volts and timing.

        Parameters
        ----------
        path : str or path, optional
            The file to write: .png, .pdf or .svg.

        Returns
        -------
        Figure
            The Matplotlib figure.

        Raises
        ------
        InputError
            When the run has no period, or the file cannot be written.

        Examples
        --------
        >>> import numpy as np
        >>> t, x = np.arange(4.0), np.zeros((4, 1))
        >>> len(LoopRun(1.0, t, 0 * t, 0 * t, x, x, x, x, x > 9, x, None).plot().axes)
        3
        """
        if not self.t.size:
            raise InputError("LoopRun.plot: the run was stopped before its first period; no data to plot")
        return written("LoopRun.plot", path, self._drawn)

    def _drawn(self) -> Figure:
        canvas = figure(7.0, 7.0)
        axes = canvas.subplots(3, 1, sharex=True)
        for k in range(self.q.shape[1]):
            colour = COLOURS[k % len(COLOURS)]
            axes[0].plot(self.t, self.error[:, k], color=colour, label=f"joint {k + 1}")
            axes[1].step(self.t, self.volts[:, k], color=colour, where="post")
        axes[2].plot(self.t, 1e3 * self.late, color=COLOURS[0], label="delay")
        axes[2].plot(self.t, 1e3 * self.took, color=COLOURS[1], label="reading to writing")
        for panel, label in zip(axes, ("error [rad]", "amplifier [V]", "time [ms]"), strict=True):
            panel.set_ylabel(label)
            if self.stopped:
                panel.axvline(self.stopped.time, color="#888888", linestyle="--")
        axes[0].legend(loc="upper right", ncols=3)
        axes[2].legend(loc="upper right")
        axes[2].set_xlabel("t [s]")
        if self.stopped:
            axes[0].set_title(f"stopped: {self.stopped.kind}")
        return canvas
