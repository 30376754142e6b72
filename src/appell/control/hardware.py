"""The wires between a computer and an arm: counts, volts and bits, and what they mean at the joints.

valera2003 section 3: incremental encoders on the motors' shafts, an absolute potentiometer on each joint (0 to 5 V), a
digital-to-analogue converter of ±10 V and 12 bits before each amplifier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.errors import InputError
from appell.robot.arguments import finite_array, number, numbers, whole
from appell.spatial.scalar import Array

POTENTIOMETER = 5.0
"""Volts at a potentiometer's upper end; 0 at its lower."""


@dataclass(frozen=True, eq=False)
class Hardware:
    """How the joints of an arm are wired: every entry (n,), one per joint.

    Parameters
    ----------
    counts
        Encoder counts in one turn of the motor.
    gear
        Turns of the motor in one of the joint; negative where they turn opposite ways.
    torque
        Force at the joint for one volt at the amplifier [N·m/V]: amplifier gain, motor constant and gear in one.
    lower, upper
        Joint angles at which a potentiometer gives 0 V and 5 V [rad].
    speed
        The greatest speed the joint can reach [rad/s]; an encoder that tells of more is lost.
    volts, bits
        Range ±volts and resolution of the converters, which a potentiometer's readings share.

    Raises
    ------
    InputError
        When sizes differ or a number is not above zero that must be.

    >>> hardware = Hardware([200], [62.6], [10.0], [-2.8], [2.8], [2.0])
    >>> hardware.angles(hardware.encode([0.1])).round(4), hardware.command([1.0])
    (array([0.1001]), array([0.1]))
    """

    counts: ArrayLike
    gear: ArrayLike
    torque: ArrayLike
    lower: ArrayLike
    upper: ArrayLike
    speed: ArrayLike
    volts: float = 10.0
    bits: int = 12

    def __post_init__(self) -> None:
        names = ("counts", "gear", "torque", "lower", "upper", "speed")
        rows = {name: np.atleast_1d(finite_array(f"hardware: {name}", getattr(self, name))) for name in names}
        size = rows["counts"].size
        for name, row in rows.items():
            if row.shape != (size,) or not size:
                raise InputError(f"hardware: {name} must be {size} finite numbers, one per joint, got {row.tolist()}")
            object.__setattr__(self, name, row)
        positive = {"counts": rows["counts"], "torque": rows["torque"], "speed": rows["speed"]}
        positive |= {"|gear|": np.abs(rows["gear"]), "upper − lower": rows["upper"] - rows["lower"]}
        for name, row in positive.items():
            if not (row > 0.0).all():
                raise InputError(f"hardware: {name} must be above zero, got {row.tolist()}")
        turn = np.abs(rows["counts"] * rows["gear"])
        if not ((turn >= 1e-3) & (turn <= 1e12)).all():
            raise InputError(f"hardware: counts × gear must be from 1e-3 to 1e12 per turn, got {turn.tolist()}")
        number("hardware: volts must be a number > 0", self.volts, 1e-9)
        whole("hardware: bits", self.bits, 1, 64)

    @property
    def n(self) -> int:
        """Return the number of joints."""
        return int(np.size(self.counts))

    @property
    def resolution(self) -> Array:
        """Return the joint angle of one count, with its sign [rad]."""
        return np.asarray(2.0 * np.pi / (np.asarray(self.counts) * np.asarray(self.gear)))

    @property
    def limit(self) -> Array:
        """Return the greatest force that the amplifiers can give [N·m]; a law's `limit` should be this."""
        return np.asarray(self.volts * np.asarray(self.torque))

    def encode(self, angle: ArrayLike) -> NDArray[np.int64]:
        """Return the whole counts at joint angles."""
        return np.floor(self._row("angle", angle) / self.resolution).astype(np.int64)

    def angles(self, counts: ArrayLike) -> Array:
        """Return the joint angles of counts, each in the middle of what it may be."""
        return np.asarray((self._row("counts", counts) + 0.5) * self.resolution)

    def potentiometer(self, angle: ArrayLike) -> Array:
        """Return what the potentiometers give at joint angles [V], in steps of the converter; no more than 0 to 5."""
        share = (self._row("angle", angle) - np.asarray(self.lower)) / (np.asarray(self.upper) - self.lower)
        steps = 2**self.bits - 1
        return np.asarray(POTENTIOMETER * np.round(np.clip(share, 0.0, 1.0) * steps) / steps)

    def absolute(self, volts: ArrayLike) -> Array:
        """Return the joint angles at the potentiometers' volts."""
        span = np.asarray(self.upper) - self.lower
        return np.asarray(np.asarray(self.lower) + span * self._row("volts", volts) / POTENTIOMETER)

    def command(self, tau: ArrayLike) -> Array:
        """Return the volts that ask for forces; what is beyond the range, the converter cuts."""
        return np.asarray(self._row("tau", tau) / np.asarray(self.torque))

    def convert(self, volts: ArrayLike) -> Array:
        """Return the volts that a converter gives out: within its range, in its steps.

        >>> PUMA600.convert([0.0, 11.0, -11.0, 0.001, 0.003, 5.0]).round(4).tolist()
        [0.0, 9.9951, -10.0, 0.0, 0.0049, 5.0]
        """
        step = 2.0 * self.volts / 2**self.bits
        half = 2 ** (self.bits - 1)
        return np.asarray(step * np.clip(np.round(self._row("volts", volts) / step), -half, half - 1))

    def _row(self, name: str, x: ArrayLike) -> Array:
        return numbers("hardware", name, (self.n,), x).astype(float)


PUMA600 = Hardware(
    counts=[200, 200, 250, 250, 250, 250],
    gear=[62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686],
    torque=[9.76, 18.64, 8.94, 2.42, 2.01, 2.13],
    lower=np.radians([-180.0, -270.0, -90.0, -180.0, -180.0, -300.0]),
    upper=np.radians([180.0, 90.0, 270.0, 180.0, 180.0, 300.0]),
    speed=[3.0, 3.0, 4.0, 6.0, 6.0, 8.0],
)
"""The PUMA of valera2003: counts and volts are the paper's. It gives neither gear ratios nor greatest torques (here at
10 V), which are the PUMA 560's (Corke and Armstrong-Hélouvry 1994; Armstrong, Khatib and Burdick 1986). Ranges of the
potentiometers, which hold three of the eight branches of the paper's line, and greatest speeds are assumed."""
