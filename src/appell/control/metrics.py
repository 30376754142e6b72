"""What a run of the control loop gave: its record, the numbers one judges it by, and its figure."""

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
    """How much later than due the periods began [s], and how long at most reading to writing took [s]."""

    mean: float
    deviation: float
    greatest: float
    computing: float


@dataclass(frozen=True, eq=False)
class LoopRun:
    """What the loop saw and did, one row a period.

    `t` is when each period was due, `late` how much later it began, `took` how long it took to read, compute and write;
    `q`, `v` are the loop's estimates, `tau` what the law wanted, `volts` what the converters gave, `saturated` where
    they could not give more, `goal` the law's reference (not-a-number where a law has none). `stopped` says why the run
    was stopped, None if it was not.
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
        """Return the goal less q, (periods, n) [rad]."""
        return self.goal - self.q

    @property
    def rms_error(self) -> Array:
        """Return the root of the mean square of the error per joint [rad]."""
        return np.asarray(np.sqrt(np.mean(self.error**2, axis=0)))

    @property
    def max_error(self) -> Array:
        """Return the greatest error per joint [rad]."""
        return np.asarray(np.abs(self.error).max(axis=0))

    @property
    def saturation_time(self) -> Array:
        """Return how long each joint's volts were at the end of their range [s]."""
        return np.asarray(self.period * np.count_nonzero(self.saturated, axis=0))

    @property
    def jitter(self) -> Jitter:
        """Return how punctual the periods were."""
        late = self.late
        return Jitter(float(late.mean()), float(late.std()), float(late.max()), float(self.took.max()))

    def settling(self, band: ArrayLike = 0.01) -> Array:
        """Return when each joint's error came within ±band [rad] for good [s]; not-a-number where it never did.

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
        """Return a figure of error, volts and lateness against time; write it to `path` where one is given.

        The file's ending says what it is: .png, .pdf or .svg.

        >>> import numpy as np
        >>> t, x = np.arange(4.0), np.zeros((4, 1))
        >>> len(LoopRun(1.0, t, 0 * t, 0 * t, x, x, x, x, x > 9, x, None).plot().axes)
        3
        """
        if not self.t.size:
            raise InputError("LoopRun.plot: the run was stopped before its first period; there is nothing to draw")
        return written("LoopRun.plot", path, self._drawn)

    def _drawn(self) -> Figure:
        canvas = figure(7.0, 7.0)
        axes = canvas.subplots(3, 1, sharex=True)
        for k in range(self.q.shape[1]):
            colour = COLOURS[k % len(COLOURS)]
            axes[0].plot(self.t, self.error[:, k], color=colour, label=f"joint {k + 1}")
            axes[1].step(self.t, self.volts[:, k], color=colour, where="post")
        axes[2].plot(self.t, 1e3 * self.late, color=COLOURS[0], label="late")
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
