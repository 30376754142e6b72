"""What stops a motion: a hot motor, an encoder fault, a period missed, forces that are no numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from appell.control.hardware import Hardware
from appell.control.plant import Reading
from appell.robot.arguments import number
from appell.spatial.scalar import Array


class Stop(NamedTuple):
    """Why a motion was stopped: when [s], what kind, which joint (from 0; None for all), and in words."""

    time: float
    kind: str
    joint: int | None
    message: str


@dataclass(frozen=True)
class Safety:
    """What is still safe.

    Parameters
    ----------
    disagreement
        How far an encoder and its potentiometer may differ [rad]; an encoder that no longer counts is found by this as
        soon as the arm has moved so far.
    stall
        How long a joint may get at least `stall_share` of the greatest volts without a single count [s].
    stall_share
        See `stall`.
    late
        How late a period may begin, as a share of the period, before it counts as missed.

    >>> Safety(disagreement=0.05).late
    0.5
    """

    disagreement: float = 0.03
    stall: float = 0.1
    stall_share: float = 0.9
    late: float = 0.5

    def __post_init__(self) -> None:
        for field in fields(self):
            number(f"Safety: {field.name} must be a number of 0 or more", getattr(self, field.name), 0.0)


class Guard:
    """Looks at every reading of a run, and says if the motion must stop."""

    def __init__(self, hardware: Hardware, safety: Safety, home: Array, first: Reading, period: float) -> None:
        self._hardware, self._safety, self._home = hardware, safety, home
        self._last = first.counts
        self._last_time = -period  # homing read once a period
        self._still = np.zeros(hardware.n)

    def check(self, t: float, reading: Reading, volts: Array) -> Stop | None:
        """Return why to stop at a reading, None if all is well; `volts` are those since the last."""
        hot = np.flatnonzero(reading.hot)
        if hot.size:
            k = int(hot[0])
            return Stop(t, "thermal switch", k, f"at t = {t:.4g} s the motor of joint {k + 1} is too hot; let it cool")
        return self._lost(t, reading, volts)

    def late(self, due: float, began: float, period: float) -> Stop | None:
        """Return why to stop where a period began too late, None if it did not."""
        if began - due <= self._safety.late * period:
            return None
        words = (
            f"at t = {began:.4g} s a period began {1e3 * (began - due):.3g} ms late, of {1e3 * period:.3g} ms; the law "
            "takes too long to compute, or the rate is too high"
        )
        return Stop(began, "missed period", None, words)

    def _lost(self, t: float, reading: Reading, volts: Array) -> Stop | None:
        hardware, safety = self._hardware, self._safety
        elapsed = t - self._last_time
        moved = np.abs(reading.counts - self._last)
        possible = np.asarray(hardware.speed) * elapsed / np.abs(hardware.resolution) + 1.0
        is_driven = np.abs(volts) >= safety.stall_share * hardware.volts
        self._still = np.where(is_driven & (moved == 0), self._still + elapsed, 0.0)
        self._last, self._last_time = reading.counts, t
        apart = np.abs(self._home + reading.counts * hardware.resolution - hardware.absolute(reading.volts))
        for k in range(hardware.n):
            if moved[k] > possible[k]:
                why = f"it jumped by {int(moved[k])} counts, where {int(possible[k])} are possible"
            elif apart[k] > safety.disagreement:
                why = f"it differs by {apart[k]:.3g} rad from its potentiometer"
            elif self._still[k] >= safety.stall:
                why = f"it did not change for {self._still[k]:.3g} s at {volts[k]:.3g} V (or the joint is blocked)"
            else:
                continue
            return Stop(t, "lost encoder", k, f"at t = {t:.4g} s the encoder of joint {k + 1} is lost: {why}")
        return None
