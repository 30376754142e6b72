"""Trajectories of joints: lines, ramps, splines, sinusoids and Fourier series; straight lines of a frame."""

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
from appell.planning.goal import checked_frame, misfit, positive, real, span, triple, vector
from appell.planning.trajectory.trajectory import ConstantSpeed, Timing, Trajectory, TrajectoryState, timing_of
from appell.robot.robot import Robot
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


# Straight lines of a frame with constant orientation, as motions of the joints

_KNOTS = (64, 512, 4096)
"""Numbers of steps along a line; the next is tried where one fails."""
_TURN = 0.25
"""The largest motion of a joint in one step [rad or m] that certainly stays on its branch."""
_EXACT = 1e-12
"""Residual [m, rad] at which Newton's method has converged."""
_MISSED = 1e-10
"""Residual [m, rad] from which a configuration is not on the line."""


@dataclass(frozen=True, eq=False)
class CartesianLine(Trajectory):
    """A straight line of a frame from its position at `q0` to the position `end` [m], with constant orientation.

    The branch is that of `q0`, and joints pass ±π without a jump. The timing is either a constant `speed` [m/s], or
    `timing`: a timing law, or a duration [s]. The frame is the last of the robot's file unless named. Positions,
    velocities and accelerations of the joints are exact to rounding: q by Newton's method, v = J⁻¹ẋ and
    a = J⁻¹(ẍ − J̇v). It is for robots of six velocities; joint limits are ignored.

    Parameters
    ----------
    robot
        A robot with six joints of one coordinate each.
    q0
        First configuration (6,) [rad, m].
    end
        Last position (3,) of the frame [m].
    speed
        Constant speed [m/s]; either this or `timing`.
    timing
        A timing law, or a duration [s].
    frame
        Name of the frame; the last one of the robot by default.

    Examples
    --------
    >>> import appell, numpy as np
    >>> from appell.planning.analytic_ik import analytic_ik
    >>> from appell.planning.goal import pose
    >>> robot = appell.load("puma600")
    >>> goal = pose([0.6, 0.175, 0.25], np.deg2rad([45, 60, 90]))
    >>> q0 = analytic_ik(robot, goal).pick(shoulder=1, elbow=1, wrist=1)
    >>> line = appell.trajectory.CartesianLine(robot, q0, [0.018, 0.757, 0.0], speed=0.1)
    >>> round(line.duration, 5)
    8.60202
    >>> robot.inverse_dynamics(*line(0.0)).round(4)[1:3]
    array([-56.3153, -25.3889])
    """

    robot: Robot
    q0: ArrayLike
    end: ArrayLike
    speed: float | None = None
    timing: float | Timing | None = None
    frame: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "frame", checked_frame(self.robot, self.frame))
        if self.robot.nv != 6 or self.robot.nq != 6:
            raise InputError(
                f"CartesianLine: expected a robot of six joints with one coordinate each, which a pose determines; "
                f"robot '{self.robot.name}' has nq {self.robot.nq} and nv {self.robot.nv}"
            )
        object.__setattr__(self, "q0", frozen(vector("q0", self.q0, 6)))
        object.__setattr__(self, "end", frozen(triple("end", self.end)))
        if (self.speed is None) == (self.timing is None):
            raise InputError("CartesianLine: expected either a speed or a timing")
        if self.speed is not None:
            if self.length == 0.0:
                raise InputError("end: the frame is already there, and a line of no length takes no time at any speed")
            object.__setattr__(self, "timing", ConstantSpeed(self.length / positive("speed", self.speed)))
        _ = self._guide  # a line that cannot be followed is an error here, not later

    @property
    def length(self) -> float:
        """Return the length of the line [m]."""
        return float(np.linalg.norm(self._way))

    @property
    def duration(self) -> float:
        """Return how long the line takes [s]."""
        return self._timing.duration

    def at(self, t: Array) -> TrajectoryState:
        """Return the joints by Newton's method and their derivatives through the Jacobian."""
        s, rate, change = self._timing.at(t)
        q = self._solved(s, self._guide(s))
        J = self.robot.jacobian(q, self._frame)
        twist, push = np.zeros((2, *q.shape))
        twist[..., :3], push[..., :3] = rate[..., None] * self._way, change[..., None] * self._way
        v = np.linalg.solve(J, twist[..., None])[..., 0]
        bias = self.robot.acceleration(q, v, np.zeros_like(v), self._frame)  # J̇v
        return TrajectoryState(q, v, np.linalg.solve(J, (push - bias)[..., None])[..., 0])

    @property
    def _timing(self) -> Timing:
        assert self.timing is not None
        return timing_of(self.timing)

    @property
    def _frame(self) -> str:
        assert self.frame is not None
        return self.frame

    @cached_property
    def _first(self) -> Array:
        return self.robot.pose(np.asarray(self.q0), self._frame)

    @cached_property
    def _way(self) -> Array:
        return np.asarray(self.end) - self._first[:3, 3]

    def _poses(self, s: Array) -> Array:
        poses = np.broadcast_to(self._first, (*s.shape, 4, 4)).copy()
        poses[..., :3, 3] += s[..., None] * self._way
        return poses

    @cached_property
    def _guide(self) -> scipy.interpolate.CubicHermiteSpline:
        """Return approximate joint coordinates over s, found by following the line from its start."""
        place = first = 0.0
        for count in _KNOTS:
            s = np.linspace(0.0, 1.0, count + 1)
            q, slope = np.zeros((2, count + 1, 6))
            q[0] = np.asarray(self.q0)
            for k in range(count + 1):
                if k:
                    q[k] = self._newton(s[k], q[k - 1] + slope[k - 1] / count)
                slope[k], side = self._slope(q[k])
                first = side if k == 0 else first
                place = s[k]
                if not np.abs(slope[k]).max() <= _TURN * count or side != first:  # NaN included
                    break
            else:
                return scipy.interpolate.CubicHermiteSpline(s, q, slope)
        where = self._poses(np.array(place))[:3, 3].round(4)
        raise InputError(
            f"CartesianLine: robot '{self.robot.name}' cannot follow the line beyond {place:.1%} of it, at position "
            f"{where}: there it comes out of reach or into a singular pose; try another branch for q0, or a shorter "
            "line"
        )

    def _slope(self, q: Array) -> tuple[Array, float]:
        """Return dq/ds, NaN where the Jacobian is singular, and the sign of det J, which changes at singularities."""
        J = self.robot.jacobian(q, self._frame)
        if not np.isfinite(J).all():
            return np.full(6, np.nan), 0.0
        try:
            return np.linalg.solve(J, [*self._way, 0.0, 0.0, 0.0]), float(np.sign(np.linalg.det(J)))
        except np.linalg.LinAlgError:
            return np.full(6, np.nan), 0.0

    def _newton(self, s: float, q: Array) -> Array:
        """Return the joint coordinates at s, or NaN if Newton's method fails."""
        goal = self._poses(np.array(s))
        for _ in range(8):
            e = misfit(self.robot.pose(q, self._frame), goal)
            if np.abs(e).max() < _EXACT:
                return q
            try:
                q = q + np.linalg.solve(self.robot.jacobian(q, self._frame), e)
            except np.linalg.LinAlgError:
                break
        return np.full(6, np.nan)

    def _solved(self, s: Array, q: Array) -> Array:
        """Return the joint coordinates at many s from approximate ones: three steps square the error three times."""
        goal = self._poses(s)
        for _ in range(3):
            e = misfit(self.robot.pose(q, self._frame), goal)
            q = q + np.linalg.solve(self.robot.jacobian(q, self._frame), e[..., None])[..., 0]
        off = np.abs(misfit(self.robot.pose(q, self._frame), goal)).max(initial=0.0)
        if not off < _MISSED:
            raise InputError(
                f"CartesianLine: the joints of robot '{self.robot.name}' were missed by {off:.2g} m or rad, so close "
                "does the line pass by a singular pose; try another branch for q0, or another line"
            )
        return q
