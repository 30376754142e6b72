"""Trajectories of joints: lines, ramps, splines, sinusoids and Fourier series."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from appell.arguments import number
from appell.errors import InputError
from appell.messages import shown
from appell.planning.goal import positive, real, span, vector
from appell.planning.trajectory.trajectory import Timing, Trajectory, TrajectoryState, timing_of
from appell.spatial.scalar import Array, frozen


@dataclass(frozen=True, eq=False)
class JointLine(Trajectory):
    """A straight line from one configuration to another, all joints synchronised.

    `timing` is a timing law, or the duration [s] of a motion at constant speed.

    Parameters
    ----------
    start
        First configuration (n,) [rad, m].
    end
        Last configuration (n,) [rad, m].
    timing
        A timing law, or the duration [s] of a motion at constant speed.

    Examples
    --------
    >>> from appell.planning.trajectory.trajectory import Quintic
    >>> line = JointLine([0.0, 0.0], [1.0, -2.0], Quintic(2.0))
    >>> line(1.0).v
    array([ 0.9375, -1.875 ])
    """

    start: ArrayLike
    end: ArrayLike
    timing: float | Timing

    def __post_init__(self) -> None:
        start = frozen(vector("start", self.start))
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", frozen(vector("end", self.end, start.size)))
        object.__setattr__(self, "timing", timing_of(self.timing))

    @property
    def duration(self) -> float:
        """Return the duration of the timing law [s]."""
        return timing_of(self.timing).duration

    def at(self, t: Array) -> TrajectoryState:
        """Return start + s·(end − start) and its derivatives."""
        s, rate, change = (x[..., None] for x in timing_of(self.timing).at(t))
        start, end = np.asarray(self.start), np.asarray(self.end)
        way = end - start
        return TrajectoryState((1.0 - s) * start + s * end, rate * way, change * way)


@dataclass(frozen=True, eq=False)
class Ramp(Trajectory):
    """A reference that stands still, moves at constant speed from `begin` to `finish` [s], and stands still again.

    Its acceleration is zero throughout; the velocity jumps at the two corners.

    Parameters
    ----------
    start
        First configuration (n,) [rad, m].
    end
        Last configuration (n,) [rad, m].
    begin
        Time at which the motion begins [s].
    finish
        Time at which it ends [s].
    duration
        Duration of the whole reference [s]; infinite by default.

    Examples
    --------
    >>> ramp = Ramp([0.0], [3.0], begin=1.0, finish=2.5, duration=4.0)
    >>> ramp([0.5, 1.5, 3.0]).v
    array([[0.], [2.], [0.]])
    """

    start: ArrayLike
    end: ArrayLike
    begin: float
    finish: float
    duration: float = math.inf

    def __post_init__(self) -> None:
        start = frozen(vector("start", self.start))
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "end", frozen(vector("end", self.end, start.size)))
        begin, finish = (number(f"Ramp: {x} must be a time [s]", getattr(self, x)) for x in ("begin", "finish"))
        if not 0.0 <= begin < finish <= span("Ramp: duration", self.duration):
            raise InputError(
                f"Ramp: expected 0 ≤ begin < finish ≤ duration, got begin {self.begin}, finish {self.finish}, "
                f"duration {self.duration}"
            )

    def at(self, t: Array) -> TrajectoryState:
        """Return the corner before, the line, or the corner after."""
        start, end = np.asarray(self.start), np.asarray(self.end)
        span = self.finish - self.begin
        s = np.clip((t - self.begin) / span, 0.0, 1.0)[..., None]
        goes = ((t >= self.begin) & (t <= self.finish))[..., None]
        q = (1.0 - s) * start + s * end
        return TrajectoryState(q, np.where(goes, (end - start) / span, 0.0), np.zeros_like(q))


@dataclass(frozen=True, eq=False)
class Spline(Trajectory):
    """A spline through points (k, n) at times (k,), of degree 3 or 5.

    A cubic has continuous accelerations and the end velocities `v0` and `v1`; a quintic has continuous derivatives up
    to the fourth, and zero acceleration at both ends. Times begin at 0 and increase; velocities are zero unless
    given.

    Parameters
    ----------
    times
        Times (k,) of the points [s]; the first is 0.
    points
        Configurations (k, n) [rad, m].
    degree
        3 or 5.
    v0
        Velocities (n,) at the first point [rad/s, m/s]; zero by default.
    v1
        Velocities (n,) at the last point [rad/s, m/s]; zero by default.

    Examples
    --------
    >>> spline = Spline([0.0, 1.0, 2.0], [[0.0], [1.0], [0.0]])
    >>> spline([0.0, 1.0, 2.0]).q.round(12)
    array([[0.], [1.], [0.]])
    """

    times: ArrayLike
    points: ArrayLike
    degree: int = 3
    v0: ArrayLike | None = field(default=None, kw_only=True)
    v1: ArrayLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        times, points = vector("times", self.times), real("points", self.points, "an array (points, joints)")
        if points.ndim != 2 or points.shape[0] != times.size or times.size < 2:
            raise InputError(
                f"points: expected two points or more, one row per time, got shape {points.shape} for {times.size} "
                "times"
            )
        if times[0] != 0.0 or (np.diff(times) <= 0.0).any():
            raise InputError(f"times: expected times that begin at 0 and increase, got {times}")
        if not isinstance(self.degree, int) or self.degree not in (3, 5):
            raise InputError(f"degree: expected 3 or 5, got {shown(self.degree)}")
        for name, value in (("times", times), ("points", points)):
            object.__setattr__(self, name, frozen(value))
        for name, given in (("v0", self.v0), ("v1", self.v1)):
            v = np.zeros(points.shape[1]) if given is None else vector(name, given, points.shape[1])
            object.__setattr__(self, name, frozen(v))

    @property
    def duration(self) -> float:
        """Return the last time [s]."""
        return float(np.asarray(self.times)[-1])

    @cached_property
    def _splines(self) -> tuple[scipy.interpolate.BSpline[Any], ...]:
        points = np.asarray(self.points)
        ends: Any = [[(1, np.asarray(v))] for v in (self.v0, self.v1)]
        if self.degree == 5:
            ends = [[*end, (2, np.zeros(points.shape[1]))] for end in ends]
        q = scipy.interpolate.make_interp_spline(np.asarray(self.times), points, k=self.degree, bc_type=tuple(ends))
        return q, q.derivative(1), q.derivative(2)

    def at(self, t: Array) -> TrajectoryState:
        """Return the spline and its derivatives."""
        q, v, a = (spline(t) for spline in self._splines)
        return TrajectoryState(q, v, a)


@dataclass(frozen=True, eq=False)
class Fourier(Trajectory):
    """A periodic motion q = centre + Σₖ sines[k]·sin((k+1)ωt) + cosines[k]·cos((k+1)ωt), ω = 2π·frequency.

    `sines` and `cosines` are (harmonics, n); `frequency` [Hz] is that of the first harmonic. Without a duration it
    never ends.

    Parameters
    ----------
    centre
        Mean configuration (n,) [rad, m].
    sines
        Amplitudes of the sines (harmonics, n) [rad, m].
    cosines
        Amplitudes of the cosines (harmonics, n) [rad, m].
    frequency
        Frequency of the first harmonic [Hz].
    duration
        Duration [s]; infinite by default.

    Examples
    --------
    >>> circle = Fourier([0.0, 0.0], sines=[[0.0, 1.0]], cosines=[[1.0, 0.0]], frequency=0.25)
    >>> circle([0.0, 1.0]).q.round(12)
    array([[1., 0.], [0., 1.]])
    """

    centre: ArrayLike
    sines: ArrayLike
    cosines: ArrayLike
    frequency: float
    duration: float = math.inf

    def __post_init__(self) -> None:
        centre = frozen(vector("centre", self.centre))
        shape = None
        for name in ("sines", "cosines"):
            table = real(name, getattr(self, name), "an array (harmonics, joints)")
            if table.ndim != 2 or table.shape[1] != centre.size or (shape is not None and table.shape != shape):
                harmonics = "harmonics" if shape is None else shape[0]
                raise InputError(f"{name}: expected an array ({harmonics}, {centre.size}), got shape {table.shape}")
            shape = table.shape
            object.__setattr__(self, name, frozen(table))
        object.__setattr__(self, "centre", centre)
        positive("frequency", self.frequency)
        span("duration", self.duration)

    def at(self, t: Array) -> TrajectoryState:
        """Return the series and its derivatives."""
        sines, cosines = np.asarray(self.sines), np.asarray(self.cosines)
        omega = 2.0 * math.pi * self.frequency * np.arange(1, len(sines) + 1)
        s, c = np.sin(omega * t[..., None]), np.cos(omega * t[..., None])
        q = np.asarray(self.centre) + s @ sines + c @ cosines
        v = (omega * c) @ sines - (omega * s) @ cosines
        return TrajectoryState(q, v, -((omega**2 * s) @ sines) - (omega**2 * c) @ cosines)


def sinusoid(
    centre: ArrayLike, amplitude: ArrayLike, frequency: float, phase: ArrayLike = 0.0, duration: float = math.inf
) -> Fourier:
    """Return q = centre + amplitude·sin(2π·frequency·t + phase), all joints at one frequency [Hz].

    Parameters
    ----------
    centre
        Mean configuration (n,) [rad, m].
    amplitude
        Amplitudes (n,) [rad, m].
    frequency
        Frequency [Hz].
    phase
        Phase [rad]: one number, or one per joint (n,).
    duration
        Duration [s]; infinite by default.

    Returns
    -------
    Fourier
        The trajectory.

    Examples
    --------
    >>> sinusoid([0.0, 1.0], [1.0, 0.5], frequency=1.0)(0.25).q
    array([1. , 1.5])
    """
    middle = vector("centre", centre)
    size = vector("amplitude", amplitude, middle.size)
    shift = real("phase", phase, "one angle, or one per joint")
    if shift.shape not in ((), middle.shape):
        raise InputError(f"phase: expected one angle, or one per joint ({middle.size}), got shape {shift.shape}")
    return Fourier(middle, [size * np.cos(shift)], [size * np.sin(shift)], frequency, duration)
