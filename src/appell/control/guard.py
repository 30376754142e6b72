"""Safety checks of the control loop: overheated motors, encoder faults, missed periods, invalid torques."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from appell.arguments import number
from appell.control.hardware import Hardware
from appell.control.plant import Reading
from appell.spatial.scalar import Array


class Stop(NamedTuple):
    """The reason for a safe stop.

    Parameters
    ----------
    time : float
        Time of the stop [s].
    kind : str
        The type of fault.
    joint : int or None
        The joint, counted from 0; None for all.
    message : str
        A description.

    Examples
    --------
    >>> Stop(0.1, "thermal switch", 2, "at t = 0.1 s the motor of joint 3 is overheated; let it cool").joint
    2
    """

    time: float
    kind: str
    joint: int | None
    message: str


@dataclass(frozen=True)
class Safety:
    """Thresholds of the safety checks.

    Parameters
    ----------
    disagreement : float
        Largest difference between an encoder and its potentiometer [rad]; detects an encoder that no longer counts once
        the arm has moved this far.
    stall : float
        Longest time without a count at a voltage of at least `stall_share` of the range [s].
    stall_share : float
        Fraction of the voltage range, see `stall`.
    late : float
        Largest delay of a period, as a fraction of the period; a later one counts as missed.

    Raises
    ------
    InputError
        When a value is negative.

    Examples
    --------
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
    """Checks every reading of a run."""

    def __init__(self, hardware: Hardware, safety: Safety, home: Array, first: Reading, period: float) -> None:
        self._hardware, self._safety, self._home = hardware, safety, home
        self._last = np.array(first.counts)  # a plant may reuse its arrays
        self._last_time = -period  # homing read once per period
        self._still = np.zeros(hardware.n)

    def check(self, t: float, reading: Reading, volts: Array) -> Stop | None:
        """Return the fault at a reading, None if there is none; `volts` are those since the last reading."""
        hot = np.flatnonzero(reading.hot)
        if hot.size:
            k = int(hot[0])
            return Stop(
                t, "thermal switch", k, f"at t = {t:.4g} s the motor of joint {k + 1} is overheated; let it cool"
            )
        return self._lost(t, reading, volts)

    def late(self, due: float, began: float, period: float) -> Stop | None:
        """Return the fault of a period that started too late, None if it did not."""
        if began - due <= self._safety.late * period:
            return None
        words = (
            f"at t = {began:.4g} s a period started {1e3 * (began - due):.3g} ms late (period {1e3 * period:.3g} ms); "
            "the control law is too slow, or the rate too high"
        )
        return Stop(began, "missed period", None, words)

    def _lost(self, t: float, reading: Reading, volts: Array) -> Stop | None:
        hardware, safety = self._hardware, self._safety
        elapsed = t - self._last_time
        moved = np.abs(reading.counts - self._last)
        possible = np.asarray(hardware.speed) * elapsed / np.abs(hardware.resolution) + 1.0
        is_driven = np.abs(volts) >= safety.stall_share * hardware.volts
        self._still = np.where(is_driven & (moved == 0), self._still + elapsed, 0.0)
        self._last, self._last_time = np.array(reading.counts), t
        apart = np.abs(self._home + reading.counts * hardware.resolution - hardware.absolute(reading.volts))
        for k in range(hardware.n):
            if moved[k] > possible[k]:
                why = f"it jumped by {int(moved[k])} counts; at most {int(possible[k])} are possible"
            elif apart[k] > safety.disagreement:
                why = f"it differs by {apart[k]:.3g} rad from its potentiometer"
            elif self._still[k] >= safety.stall:
                why = f"it did not change for {self._still[k]:.3g} s at {volts[k]:.3g} V (or the joint is stalled)"
            else:
                continue
            return Stop(t, "encoder fault", k, f"at t = {t:.4g} s the encoder of joint {k + 1} failed: {why}")
        return None
