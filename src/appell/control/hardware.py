"""Sensors and amplifiers of an arm: conversion between encoder counts, volts, joint angles and torques.

valera2003 section 3: incremental encoders on the motor shafts, an absolute potentiometer on each joint (0 to 5 V), a
digital-to-analogue converter of ±10 V and 12 bits before each amplifier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.arguments import finite_array, number, numbers, whole
from appell.errors import InputError
from appell.spatial.scalar import Array

POTENTIOMETER = 5.0
"""Potentiometer voltage at the upper end; 0 at the lower."""


@dataclass(frozen=True, eq=False)
class Hardware:
    """Sensors and amplifiers of an arm, one entry per joint, (n,).

    Parameters
    ----------
    counts : array_like
        Encoder counts per motor revolution.
    gear : array_like
        Gear ratio, motor revolutions per joint revolution; negative for opposite directions.
    torque : array_like
        Joint torque per volt at the amplifier [N·m/V]: amplifier gain, motor constant and gear ratio together.
    lower, upper : array_like
        Joint angles at 0 V and 5 V of the potentiometer [rad].
    speed : array_like
        Largest joint speed [rad/s]; a faster encoder reading is a fault.
    volts : float
        Range ±volts of the converters [V].
    bits : int
        Resolution of the converters, also of the potentiometer readings.

    Raises
    ------
    InputError
        When sizes differ or a value is out of range.

    Examples
    --------
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
        """Return the signed joint angle per count [rad], (n,)."""
        return np.asarray(2.0 * np.pi / (np.asarray(self.counts) * np.asarray(self.gear)))

    @property
    def limit(self) -> Array:
        """Return the largest torques of the amplifiers [N·m], (n,); use them as the `limit` of a control law."""
        return np.asarray(self.volts * np.asarray(self.torque))

    def encode(self, angle: ArrayLike) -> NDArray[np.int64]:
        """Return encoder counts at joint angles.

        Parameters
        ----------
        angle : array_like, shape (..., n)
            Joint angles [rad].

        Returns
        -------
        array, shape (..., n)
            Integer counts.

        Examples
        --------
        >>> Hardware([200], [62.6], [10.0], [-2.8], [2.8], [2.0]).encode([0.1])
        array([199])
        """
        return np.floor(self._row("angle", angle) / self.resolution).astype(np.int64)

    def angles(self, counts: ArrayLike) -> Array:
        """Return joint angles at encoder counts, in the middle of each count.

        Parameters
        ----------
        counts : array_like, shape (..., n)
            Encoder counts.

        Returns
        -------
        array, shape (..., n)
            Joint angles [rad].

        Examples
        --------
        >>> Hardware([200], [62.6], [10.0], [-2.8], [2.8], [2.0]).angles([199]).round(4)
        array([0.1001])
        """
        return np.asarray((self._row("counts", counts) + 0.5) * self.resolution)

    def potentiometer(self, angle: ArrayLike) -> Array:
        """Return potentiometer voltages at joint angles, quantised by the converter.

        Parameters
        ----------
        angle : array_like, shape (..., n)
            Joint angles [rad].

        Returns
        -------
        array, shape (..., n)
            Voltages from 0 to 5 V.

        Examples
        --------
        >>> Hardware([200], [62.6], [10.0], [-2.8], [2.8], [2.0]).potentiometer([0.1]).round(3)
        array([2.59])
        """
        share = (self._row("angle", angle) - np.asarray(self.lower)) / (np.asarray(self.upper) - self.lower)
        steps = 2**self.bits - 1
        return np.asarray(POTENTIOMETER * np.round(np.clip(share, 0.0, 1.0) * steps) / steps)

    def absolute(self, volts: ArrayLike) -> Array:
        """Return joint angles at potentiometer voltages.

        Parameters
        ----------
        volts : array_like, shape (..., n)
            Voltages [V].

        Returns
        -------
        array, shape (..., n)
            Joint angles [rad].

        Examples
        --------
        >>> Hardware([200], [62.6], [10.0], [-2.8], [2.8], [2.0]).absolute([5.0])
        array([2.8])
        """
        span = np.asarray(self.upper) - self.lower
        return np.asarray(np.asarray(self.lower) + span * self._row("volts", volts) / POTENTIOMETER)

    def command(self, tau: ArrayLike) -> Array:
        """Return amplifier voltages for torques, not clipped to the range.

        Parameters
        ----------
        tau : array_like, shape (..., n)
            Joint torques [N·m].

        Returns
        -------
        array, shape (..., n)
            Voltages [V].

        Examples
        --------
        >>> Hardware([200], [62.6], [10.0], [-2.8], [2.8], [2.0]).command([1.0])
        array([0.1])
        """
        return np.asarray(self._row("tau", tau) / np.asarray(self.torque))

    def convert(self, volts: ArrayLike) -> Array:
        """Return the output of the digital-to-analogue converters: clipped and quantised.

        Parameters
        ----------
        volts : array_like, shape (..., n)
            Voltages [V].

        Returns
        -------
        array, shape (..., n)
            Voltages [V].

        Examples
        --------
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
"""The PUMA of valera2003, with the paper's counts and volts. Gear ratios and largest torques (here at 10 V), which the
paper lacks, are the PUMA 560's (Corke and Armstrong-Hélouvry 1994; Armstrong, Khatib and Burdick 1986). The
potentiometer ranges,
which contain three of the eight solution branches of the paper's line, and the largest speeds are assumptions."""
