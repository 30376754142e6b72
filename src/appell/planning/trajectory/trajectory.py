"""The protocol of a trajectory, q, v and a at one time or many, and timing laws.

Time runs from 0 to `duration`. Before and after, a trajectory stands still at its first or last configuration, with
v = a = 0, so that a controller that runs past the end holds the goal. The times 0 and `duration` belong to the motion.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple, Protocol, final

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.messages import shown
from appell.planning.goal import moments, positive
from appell.spatial.scalar import Array

_SLACK = 1e-12
"""Time past the end, relative to the duration, that still counts as the end: rounding error."""


class TrajectoryState(NamedTuple):
    """Coordinates, velocities and accelerations, each (..., n), in the order of the arguments of inverse dynamics.

    Parameters
    ----------
    q
        Coordinates (..., n) [rad, m].
    v
        Velocities (..., n) [rad/s, m/s].
    a
        Accelerations (..., n) [rad/s², m/s²].

    Examples
    --------
    >>> import appell
    >>> line = appell.trajectory.JointLine([0.0, 0.0], [1.0, 2.0], 4.0)
    >>> appell.load("two-link").inverse_dynamics(*line([0.0, 1.0])).shape
    (2, 2)
    """

    q: Array
    v: Array
    a: Array


class Trajectory(ABC):
    """A motion in time, of joints with one coordinate each (nq = nv).

    Called with times of any shape, it returns arrays of that shape with the joints as the last axis.

    >>> from appell.planning.trajectory.curves import JointLine
    >>> line = JointLine([0.0, 1.0], [2.0, 1.0], 4.0)
    >>> line([0.0, 2.0, 4.0]).q
    array([[0., 1.], [1., 1.], [2., 1.]])
    >>> line(9.0)  # held at the end
    TrajectoryState(q=array([2., 1.]), v=array([0., 0.]), a=array([0., 0.]))
    """

    @property
    @abstractmethod
    def duration(self) -> float:
        """Return the duration of the motion [s]; infinite if it never ends."""

    @abstractmethod
    def at(self, t: Array) -> TrajectoryState:
        """Return the motion at times between 0 and `duration`, which are not checked.

        Parameters
        ----------
        t
            Times (...) [s] between 0 and the duration.

        Returns
        -------
        TrajectoryState
            q, v and a, each (..., n).

        Examples
        --------
        >>> import appell, numpy as np
        >>> appell.trajectory.JointLine([0.0], [1.0], 2.0).at(np.array([1.0])).q
        array([[0.5]])
        """

    @final
    def __call__(self, t: ArrayLike) -> TrajectoryState:
        """Return the motion at any times; it stands still outside 0 and `duration`."""
        times = moments("t", t)
        slack = _SLACK * self.duration if np.isfinite(self.duration) else 0.0
        q, v, a = self.at(np.clip(times, 0.0, self.duration))
        is_over = ((times < -slack) | (times > self.duration + slack))[..., None]
        return TrajectoryState(q, np.where(is_over, 0.0, v), np.where(is_over, 0.0, a))


# Timing laws: the share s of a path traversed by a time, from 0 to 1, with two derivatives


class Progress(NamedTuple):
    """The share s of a path traversed so far, with ds/dt and d²s/dt²."""

    s: Array
    rate: Array
    change: Array


class Timing(Protocol):
    """The protocol of a timing law."""

    @property
    def duration(self) -> float:
        """Return the duration of the path [s]."""

    def at(self, t: Array) -> Progress:
        """Return the progress at times within 0 and `duration`."""


@dataclass(frozen=True)
class ConstantSpeed:
    """Constant speed: s = t/T; the speed jumps at both ends.

    Parameters
    ----------
    duration
        Duration of the path [s].

    Examples
    --------
    >>> import numpy as np
    >>> ConstantSpeed(4.0).at(np.array([1.0])).s
    array([0.25])
    """

    duration: float

    def __post_init__(self) -> None:
        positive("duration", self.duration)

    def at(self, t: Array) -> Progress:
        """Return t/T.

        Parameters
        ----------
        t
            Times (...) [s] between 0 and the duration.

        Returns
        -------
        Progress
            s, ds/dt and d²s/dt², each (...).
        """
        s = t / self.duration
        return Progress(s, np.full_like(s, 1.0 / self.duration), np.zeros_like(s))


@dataclass(frozen=True)
class Trapezoid:
    """Constant acceleration for `ramp` seconds, constant speed, and constant deceleration for `ramp` seconds.

    The top speed is 1/(T − ramp) of the path per second. With ramp = T/2 there is no time at constant speed.

    Parameters
    ----------
    duration
        Duration of the path [s].
    ramp
        Duration of the acceleration, and of the deceleration [s].

    Examples
    --------
    >>> import numpy as np
    >>> Trapezoid(3.0, 1.0).at(np.array([0.0, 1.0, 1.5, 2.0, 3.0])).rate
    array([0. , 0.5, 0.5, 0.5, 0. ])
    """

    duration: float
    ramp: float

    def __post_init__(self) -> None:
        positive("duration", self.duration)
        if positive("ramp", self.ramp) > 0.5 * self.duration:
            raise InputError(
                f"ramp: expected at most half the duration of {self.duration:g} s, got {self.ramp:g} s; "
                "speeding up and slowing down take one ramp each"
            )

    @classmethod
    def fastest(cls, length: float, speed: float, acceleration: float) -> Trapezoid:
        """Return the fastest such law over a length within a speed and an acceleration.

        Parameters
        ----------
        length
            Length of the path [m or rad].
        speed
            Largest speed [m/s or rad/s].
        acceleration
            Largest acceleration [m/s² or rad/s²].

        Returns
        -------
        Trapezoid
            The timing law of least duration.

        Examples
        --------
        >>> Trapezoid.fastest(1.0, speed=0.5, acceleration=1.0)
        Trapezoid(duration=2.5, ramp=0.5)
        """
        length, speed = positive("length", length), positive("speed", speed)
        acceleration = positive("acceleration", acceleration)
        top = min(speed, math.sqrt(length * acceleration))
        ramp = top / acceleration
        return cls(max(length / top + ramp, 2.0 * ramp), ramp)

    def at(self, t: Array) -> Progress:
        """Return the parabola, the straight line or the mirrored parabola.

        Parameters
        ----------
        t
            Times (...) [s] between 0 and the duration.

        Returns
        -------
        Progress
            s, ds/dt and d²s/dt², each (...).
        """
        T, ramp = self.duration, self.ramp
        top = 1.0 / (T - ramp)
        left = T - t
        is_first, is_last = t < ramp, left < ramp
        s = np.where(is_first, 0.5 * top / ramp * t * t, top * (t - 0.5 * ramp))
        s = np.where(is_last, 1.0 - 0.5 * top / ramp * left * left, s)
        rate = top / ramp * np.minimum(np.minimum(t, left), ramp)
        change = top / ramp * (np.where(is_first, 1.0, 0.0) - np.where(is_last, 1.0, 0.0))
        return Progress(s, rate, change)


@dataclass(frozen=True)
class Quintic:
    """s = 10x³ − 15x⁴ + 6x⁵ with x = t/T: speed and acceleration are zero at both ends.

    Parameters
    ----------
    duration
        Duration of the path [s].

    Examples
    --------
    >>> import numpy as np
    >>> Quintic(2.0).at(np.array([0.0, 1.0, 2.0])).s
    array([0. , 0.5, 1. ])
    """

    duration: float

    def __post_init__(self) -> None:
        positive("duration", self.duration)

    def at(self, t: Array) -> Progress:
        """Return the polynomial and its derivatives.

        Parameters
        ----------
        t
            Times (...) [s] between 0 and the duration.

        Returns
        -------
        Progress
            s, ds/dt and d²s/dt², each (...).
        """
        T = self.duration
        x = t / T
        s = x**3 * (10.0 + x * (6.0 * x - 15.0))
        rate = 30.0 * x**2 * (1.0 - x) ** 2 / T
        change = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / T**2
        return Progress(s, rate, change)


def timing_of(timing: float | Timing) -> Timing:
    """Return a timing law; a number is a duration at constant speed."""
    if isinstance(timing, (float, Real)):  # mypy does not know that a float is a Real
        return ConstantSpeed(positive("duration", timing))
    if not callable(getattr(timing, "at", None)) or not hasattr(timing, "duration"):
        raise InputError(f"timing: expected a duration in seconds or a timing law such as Quintic, got {shown(timing)}")
    return timing
