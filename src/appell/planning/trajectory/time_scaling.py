"""Time scaling: the same path in another time, so that limits hold.

Along a path q(s) with speed ṡ the joint forces are

    τ = A s̈ + B ṡ² + D ṡ + C:

A is M q′, B holds all other inertial forces, D joint damping, C gravity and Coulomb friction (J.M. Hollerbach, 1984).
Four batched calls of inverse dynamics give the coefficients at all samples, exactly.

With ℓ the length along the path in the space of the joints, x = ℓ̇² and u = ℓ̈, limits of accelerations and joint forces
are linear in u and x at each place of the path:

    q′u + q″x,    A u + (B + D/ℓ̇) x + C,

and from one sample to the next, Δ apart, x′ = x + 2Δu. Since every joint can hold the robot, ℓ̇ = 0 is feasible
everywhere; so the speeds from which the end can be reached are 0 ≤ x ≤ K. Going backward, K is the largest x for which
some u leads below the next K; going forward, u is the largest that does (H. Pham and Q.-C. Pham, "A new approach to
time-optimal path parameterization based on reachability analysis", 2018). Limits are imposed at both ends of each
interval. D, of joint damping, is divided by the speed of the solution before until the solution repeats itself.

Uniform scaling plays a trajectory k times as long. With x = 1/k it has velocities x·v, accelerations x²·a and joint
forces C + D x + B x² (below), so that each limit at each moment bounds x by the root of a quadratic. Optimal scaling
keeps the path alone and varies the speed along it; uniform scaling corrects what exceeds limits between its samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from appell.arguments import LARGEST, real_array, truth, whole
from appell.errors import InputError
from appell.planning.goal import positive
from appell.planning.trajectory.trajectory import Progress, Timing, Trajectory, TrajectoryState
from appell.robot.robot import Robot, checked_robot
from appell.simulation.laws.checks import effort_limits
from appell.spatial.scalar import Array

# Limits


class MotionLimits(NamedTuple):
    """Limits of velocities, accelerations and joint forces (nv,), infinite where there are none."""

    velocity: Array
    acceleration: Array
    torque: Array


class PathForces(NamedTuple):
    """The coefficients C, D, B and A of the joint forces, (n, nu) each."""

    still: Array
    damping: Array
    inertial: Array
    accelerating: Array


def checked_path(robot: Robot, trajectory: Trajectory) -> Trajectory:
    """Return a trajectory with an end, of the robot's joints or of the actuators of a closed robot."""
    if not isinstance(trajectory, Trajectory):
        raise InputError(f"trajectory: expected one of appell.trajectory, got {type(trajectory).__name__}")
    if not math.isfinite(trajectory.duration):
        raise InputError("trajectory: expected one with an end, got one that goes on for ever; give it a duration")
    if checked_robot("robot", robot).nu != robot.nv:
        raise InputError(f"robot: the forces of '{robot.name}', {robot.nu}, do not determine its {robot.nv} velocities")
    joints, count = trajectory(0.0).q.size, robot.nu if robot.closure_names else robot.nq
    if joints != count:
        what = "actuators" if robot.closure_names else "joints"
        raise InputError(f"trajectory: expected one of {count} {what}, those of '{robot.name}', got {joints}")
    return trajectory


def checked_limits(
    robot: Robot, velocity: ArrayLike | None, acceleration: ArrayLike | None, torque: ArrayLike | None
) -> MotionLimits:
    """Return the limits that are given, and those of the robot's file where none are."""
    file = {"velocity": robot.limits.velocity, "acceleration": math.inf, "torque": effort_limits(robot)}
    found = []
    for name, value in {"velocity": velocity, "acceleration": acceleration, "torque": torque}.items():
        array = real_array(name, file[name] if value is None else value).astype(float)
        if array.shape not in ((), (robot.nv,)) or not (array > 0.0).all():
            raise InputError(
                f"{name}: expected positive limits, one or one per joint ({robot.nv} of robot '{robot.name}'), got "
                f"{array.tolist()}"
            )
        found.append(np.broadcast_to(np.where(array > LARGEST, math.inf, array), (robot.nv,)))
    return MotionLimits(*found)


def limited_joint(robot: Robot, kind: str, joint: int) -> str:
    """Return the name of the joint that a limit is about."""
    return (robot.facts.forces if kind == "torque" else robot.independent)[joint]


def path_forces(robot: Robot, q: Array, v: Array, a: Array) -> PathForces:
    """Return the coefficients at samples (n, …) of a path with derivatives v and a by s."""
    if robot.closure_names:  # positions of the actuators
        q = robot.from_actuators(q, robot.from_actuators(q[0]))
    one, two, three = (robot.inverse_dynamics(q, x * v, x * x * a) for x in (1.0, 2.0, 3.0))
    inertial = 0.5 * (three - 2.0 * two + one)
    damping = two - one - 3.0 * inertial
    return PathForces(one - damping - inertial, damping, inertial, robot.inverse_dynamics(q, v, a + v) - one)


def check_standing(robot: Robot, limit: Array, still: Array, where: Array, name: str) -> None:
    """Raise if a joint cannot hold the robot at some sample; `where` are the samples, in terms of `name`."""
    over = np.abs(still) >= limit
    if over.any():
        at, joint = np.argwhere(over)[0]
        raise InputError(
            f"time_scaling: joint '{robot.facts.forces[joint]}' needs {abs(still[at, joint]):.4g} to hold the robot "
            f"against gravity and friction at {name.format(where[at])}, and has {limit[joint]:.4g}; slower does not "
            "help"
        )


def check_bounded(is_bounded: bool) -> None:
    """Raise if no limit bounds a motion."""
    if not is_bounded:
        raise InputError(
            "time_scaling: no limit bounds this motion; give velocity, acceleration or torque limits, or a motion"
        )


# Optimal scaling

_FASTEST = 1e6
"""Lengths of a path per second that no limit allows: faster counts as unbounded."""
_SAME = 1e-7
"""Relative change of the duration below which the damping's iteration ends."""
_REPEATS = 30
"""Its steps at most."""
_ROUNDING = 1e-12
"""Damping, beside the inertial forces, that is none."""
_FEWEST = 32
"""Samples of a path at least."""
_STILL = 1e-9
"""Motion of a joint, beside that of all, that is none."""
_SPLIT = 1e-9
"""Parts of a path [of its length] below which samples count as the same place."""


@dataclass(frozen=True, eq=False)
class TimedPath(Trajectory):
    """A path, a trajectory whose time is any parameter, traversed by a timing law.

    Parameters
    ----------
    path
        A trajectory whose time is the path parameter.
    timing
        The timing law.

    Examples
    --------
    >>> from appell.planning.trajectory.curves import JointLine
    >>> from appell.planning.trajectory.trajectory import Trapezoid
    >>> TimedPath(JointLine([0.0], [3.0], 1.0), Trapezoid(4.0, 1.0))(2.0).v
    array([1.])
    """

    path: Trajectory
    timing: Timing

    @property
    def duration(self) -> float:
        """Return the duration of the timing law [s]."""
        return self.timing.duration

    def at(self, t: Array) -> TrajectoryState:
        """Return q(s), q′ṡ and q′s̈ + q″ṡ²."""
        s, rate, change = (x[..., None] * self.path.duration for x in self.timing.at(t))
        q, v, a = self.path.at(np.clip(s[..., 0], 0.0, self.path.duration))
        return TrajectoryState(q, v * rate, v * change + a * rate * rate)


@dataclass(frozen=True, eq=False)
class SampledTiming:
    """A timing law by its rates at samples of the path, with constant d²s/dt² between them.

    `s` (n,) are shares of the path from 0 to 1, `rate` (n,) ds/dt there.

    >>> import numpy as np
    >>> law = SampledTiming(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 0.0]))
    >>> law.duration, law.at(np.array([0.5])).s
    (2.0, array([0.125]))
    """

    s: Array
    rate: Array

    @cached_property
    def _times(self) -> Array:
        return np.concatenate([[0.0], np.cumsum(2.0 * np.diff(self.s) / (self.rate[1:] + self.rate[:-1]))])

    @property
    def duration(self) -> float:
        """Return the duration [s]."""
        return float(self._times[-1])

    def at(self, t: Array) -> Progress:
        """Return the parabola of each interval."""
        k = np.clip(np.searchsorted(self._times, t, side="right") - 1, 0, len(self.s) - 2)
        start, rate = self._times[k], self.rate[k]
        change = (self.rate[k + 1] - rate) / (self._times[k + 1] - start)
        since = t - start
        return Progress(self.s[k] + since * (rate + 0.5 * since * change), rate + since * change, change)


@dataclass(frozen=True, eq=False)
class ArcLength(Trajectory):
    """The path of a trajectory, a quintic spline over the length in the space of the joints."""

    spline: Any

    @property
    def duration(self) -> float:
        """Return the length."""
        return float(self.spline.t[-1])

    @cached_property
    def _derivatives(self) -> tuple[Any, Any]:
        return self.spline.derivative(1), self.spline.derivative(2)

    def at(self, t: Array) -> TrajectoryState:
        """Return q, q′ and q″ at lengths."""
        first, second = self._derivatives
        slope = first(t)
        slope[np.abs(slope) < _STILL] = 0.0  # a joint that stands still has no sign of friction
        return TrajectoryState(self.spline(t), slope, second(t))

    def samples(self, count: int) -> Array:
        """Return lengths from 0 to the end, about evenly spaced in length and angle, closer at the ends.

        Where a joint turns round, there is one just before and one just after: its Coulomb friction jumps in between.
        """
        fine = np.linspace(0.0, self.duration, 4 * count)
        _, slope, curvature = self.at(fine)
        turn = np.linalg.norm(curvature, axis=-1) * self.duration
        density = 1.0 + turn / max(float(turn.mean()), 1.0)
        total = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
        share = 0.5 - 0.5 * np.cos(
            np.linspace(0.0, np.pi, count)
        )  # about even in time where the motion begins and ends
        found = np.interp(share * total[-1], total, fine)
        found[0], found[-1] = 0.0, self.duration
        sides = [-_SPLIT * self.duration, _SPLIT * self.duration]
        for k, joint in zip(*np.nonzero(slope[1:] * slope[:-1] < 0.0), strict=True):
            at = scipy.optimize.brentq(lambda x, j=joint: self._derivatives[0](x)[j], fine[k], fine[k + 1])
            found = np.union1d(found, np.add(at, sides))
        inside = (found >= 0.0) & (found <= self.duration)
        return found[inside & (np.diff(found, prepend=-1.0) > 0.1 * _SPLIT * self.duration)]

    @classmethod
    def of(cls, trajectory: Trajectory, samples: int) -> ArcLength:
        """Return the path of a trajectory through samples of it."""
        q = trajectory.at(np.linspace(0.0, trajectory.duration, samples)).q
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(q, axis=0), axis=-1))])
        if not length[-1] > 0.0:
            raise InputError("trajectory: expected one that moves, got one that stands still; it has no path")
        apart = np.concatenate([[True], np.diff(length) > _SPLIT * length[-1]])
        apart[-1] = True
        kept = np.flatnonzero(apart)
        kept = np.delete(kept, -2) if length[kept[-1]] - length[kept[-2]] <= _SPLIT * length[-1] else kept
        return cls(scipy.interpolate.make_interp_spline(length[kept], q[kept], k=min(5, len(kept) - 1)))


def time_optimal(robot: Robot, trajectory: Trajectory, limits: MotionLimits, samples: int) -> TimedPath:
    """Return the fastest motion from rest to rest along the path of a trajectory, limits held at the samples."""
    samples = max(samples, _FEWEST)
    path = ArcLength.of(trajectory, samples)
    lengths = path.samples(samples)
    at = path.at(lengths)
    forces = path_forces(robot, *at)
    check_standing(robot, limits.torque, forces.still, lengths / path.duration, "{:.1%} of the path")
    with np.errstate(divide="ignore"):
        fastest = ((limits.velocity / np.abs(at.v)).min(axis=-1)) ** 2
    ceiling = (_FASTEST * path.duration) ** 2
    top = np.minimum(fastest, ceiling)
    is_damped = np.abs(forces.damping).max() > _ROUNDING * np.abs(forces.inertial).max()
    x, duration = top, 0.0
    for _ in range(_REPEATS if is_damped else 1):
        x = _fastest(_rows(at, forces, limits, x), top, np.diff(lengths))
        if not (x[1:-1] > np.finfo(float).tiny).all():
            place = lengths[1 + int(np.argmin(x[1:-1]))] / path.duration
            raise InputError(f"time_scaling: the limits leave no speed at {place:.1%} of the path; check their units")
        timing = SampledTiming(lengths / path.duration, np.sqrt(x) / path.duration)
        if abs(timing.duration - duration) <= _SAME * duration:
            break
        duration = timing.duration
    check_bounded(bool((x[1:-1] < 0.999 * ceiling).all()))
    return TimedPath(path, timing)


class _LimitLines(NamedTuple):
    """Limits as lines, per interval: u ≤ upper_slope·x + upper and u ≥ lower_slope·x + lower."""

    upper_slope: Array
    upper: Array
    lower_slope: Array
    lower: Array


def _rows(at: TrajectoryState, forces: PathForces, limits: MotionLimits, x: Array) -> tuple[Array, Array, Array]:
    """Return a, b, c (samples, rows) of the limits a·u + b·x + c ≤ 0; damping at the speeds of x."""
    finite = np.isfinite(limits.acceleration), np.isfinite(limits.torque)
    speed = np.sqrt(np.maximum(x, 1e-12 * max(float(x.max()), 1e-300)))[:, None]
    quadratic = forces.inertial + forces.damping / speed
    a = np.concatenate([at.v[:, finite[0]], forces.accelerating[:, finite[1]]], axis=-1)
    b = np.concatenate([at.a[:, finite[0]], quadratic[:, finite[1]]], axis=-1)
    c = np.concatenate([np.zeros_like(at.v)[:, finite[0]], forces.still[:, finite[1]]], axis=-1)
    most = np.concatenate([limits.acceleration[finite[0]], limits.torque[finite[1]]])
    return np.concatenate([a, -a], -1), np.concatenate([b, -b], -1), np.concatenate([c - most, -c - most], -1)


def _fastest(rows: tuple[Array, Array, Array], top: Array, step: Array) -> Array:
    """Return the largest x at each sample that begins and ends at rest."""
    a, b, c = rows
    # at both ends of an interval, the second at x + 2Δu
    a = np.concatenate([a[:-1], a[1:] + 2.0 * step[:, None] * b[1:]], axis=-1)
    b, c = np.concatenate([b[:-1], b[1:]], axis=-1), np.concatenate([c[:-1], c[1:]], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope, offset = -b / a, -c / a
        along = np.where((a == 0.0) & (b > 0.0), -c / b, np.inf).min(axis=-1, initial=np.inf)  # limits of x alone
    lines = _LimitLines(
        np.where(a > 0.0, slope, 0.0),
        np.where(a > 0.0, offset, np.inf),
        np.where(a < 0.0, slope, 0.0),
        np.where(a < 0.0, offset, -np.inf),
    )
    n = len(top)
    most = top.copy()
    most[:-1] = np.minimum(most[:-1], along)
    most[-1] = 0.0
    double = 2.0 * step
    for k in reversed(range(n - 1)):
        most[k] = _largest(
            _LimitLines(*(part[k] for part in lines)), float(most[k + 1]), float(double[k]), float(most[k])
        )
    x = np.zeros(n)
    for k in range(n - 1):
        highest = float(np.min(lines.upper_slope[k] * x[k] + lines.upper[k], initial=np.inf))
        u = min(highest, (most[k + 1] - x[k]) / double[k])
        x[k + 1] = min(max(x[k] + double[k] * u, 0.0), most[k + 1])
    return x


def _largest(lines: _LimitLines, after: float, double: float, x: float) -> float:
    """Return the largest x, up to one given, for which some u meets all limits and leads to between 0 and `after`.

    The least upper bound of u minus the greatest lower one is concave in x and not negative at 0. Where it is negative,
    the two lines that it is made of meet nearer to the solution and not below it.
    """
    upper_slope, upper, lower_slope, lower = lines
    for _ in range(len(upper) + 4):
        highs, lows = upper_slope * x + upper, lower_slope * x + lower
        i, j = (int(highs.argmin()), int(lows.argmax())) if len(highs) else (-1, -1)
        high = (float(highs[i]), float(upper_slope[i]), float(upper[i])) if i >= 0 else (np.inf, 0.0, np.inf)
        low = (float(lows[j]), float(lower_slope[j]), float(lower[j])) if j >= 0 else (-np.inf, 0.0, -np.inf)
        high = min(high, ((after - x) / double, -1.0 / double, after / double))
        low = max(low, (-x / double, -1.0 / double, 0.0))
        if low[0] <= high[0] or low[1] <= high[1]:
            return x
        meet = (high[2] - low[2]) / (low[1] - high[1])
        if not meet < x:  # rounding
            return x
        x = max(meet, 0.0)
    return x


# Uniform scaling

_ZOOMS, _FINE = 6, 32
"""Rounds and points with which the tightest moments are looked at more closely."""
_MOMENTS = 12
"""How many of the tightest moments are."""
_REST = 1e-9
"""How long the rest at both ends of an optimal motion takes, beside its duration."""


@dataclass(frozen=True, eq=False)
class ScaledTrajectory(Trajectory):
    """A trajectory that takes `factor` times as long.

    Parameters
    ----------
    trajectory
        The original trajectory.
    factor
        Ratio of the durations.

    Examples
    --------
    >>> from appell.planning.trajectory.curves import JointLine
    >>> ScaledTrajectory(JointLine([0.0], [1.0], 2.0), 3.0)(3.0).v.round(6)
    array([0.166667])
    """

    trajectory: Trajectory
    factor: float

    def __post_init__(self) -> None:
        if not isinstance(self.trajectory, Trajectory):
            raise InputError(f"trajectory: expected one of appell.trajectory, got {type(self.trajectory).__name__}")
        positive("factor", self.factor)

    @property
    def duration(self) -> float:
        """Return the scaled duration [s]."""
        return self.factor * self.trajectory.duration

    def at(self, t: Array) -> TrajectoryState:
        """Return the motion at t/k, slowed down by k."""
        inner = np.minimum(t / self.factor, self.trajectory.duration)  # t/k of the end may round to beyond it
        q, v, a = self.trajectory.at(inner)
        return TrajectoryState(q, v / self.factor, a / self.factor**2)


@dataclass(frozen=True, eq=False)
class TimeScaling:
    """The shortest duration of a path.

    Attributes
    ----------
    trajectory : Trajectory
        The motion in its new time.
    factor : float
        Its duration beside that of the trajectory that was given.
    limit : str
        The limit that is met: "velocity", "acceleration" or "torque".
    joint : str
        The name of its joint.
    t : float
        When it is met [s].

    Examples
    --------
    >>> import appell
    >>> line = appell.trajectory.JointLine([0.0, 0.0], [1.0, 2.0], 4.0)
    >>> best = appell.trajectory.time_scaling(appell.load("two-link"), line, velocity=1.0)
    >>> best.limit, best.factor, best.trajectory.duration
    ('velocity', 0.5, 2.0)
    """

    trajectory: ScaledTrajectory
    factor: float
    limit: str
    joint: str
    t: float


def time_scaling(
    robot: Robot,
    trajectory: Trajectory,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    samples: int = 1000,
    *,
    optimal: bool = False,
) -> TimeScaling:
    """Return a trajectory in the shortest time that limits of velocity, acceleration and torque allow.

    Parameters
    ----------
    robot : Robot
        A robot with one force per velocity.
    trajectory : Trajectory
        A motion of the robot's joints; of a robot with loops, a motion of its actuators.
    velocity, acceleration, torque : array_like, optional
        Limits [rad/s, rad/s², N m; m/s, m/s², N], one number or one per joint. Velocities and torques that are not
        given are those of the robot's file, infinite where it has none.
    samples : int
        Moments of the trajectory, or places on the path, at which limits are looked at; more closely around the
        tightest of them.
    optimal : bool
        False: the trajectory is stretched or shortened as a whole. True: only its path is kept; the motion is the
        fastest along it from rest to rest.

    Returns
    -------
    TimeScaling
        The motion, and the limit that does not allow a shorter one.

    Raises
    ------
    InputError
        When no limit bounds the motion, or a joint cannot hold the robot against gravity and friction: no time scaling
        helps it.

    Notes
    -----
    The optimal speed is found by reachability analysis (H. Pham and Q.-C. Pham, 2018): backward along the path for the
    largest speed from which the end can be reached, then forward with the largest acceleration. Coefficients of the
    forces come from four batched calls of inverse dynamics. Joint damping, whose force is linear in the speed, enters
    by iteration.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("puma560")
    >>> line = appell.trajectory.JointLine([0.0] * 6, [0.5] * 6, appell.trajectory.Quintic(10.0))
    >>> best = appell.trajectory.time_scaling(robot, line, velocity=1.0)
    >>> best.limit, best.factor < 1.0, float(abs(best.trajectory(best.t).v).max().round(9))
    ('velocity', True, 1.0)

    At most 1 rad/s² along 1 rad, half of it to brake:

    >>> line = appell.trajectory.JointLine([0.0] * 6, [1.0] * 6, 10.0)
    >>> best = appell.trajectory.time_scaling(robot, line, acceleration=1.0, optimal=True)
    >>> round(best.trajectory.duration, 4)
    2.0
    """
    original = checked_path(robot, trajectory)
    samples = whole("samples", samples, 2, 10_000_000)
    limits = checked_limits(robot, velocity, acceleration, torque)
    motion = time_optimal(robot, original, limits, samples) if truth("optimal", optimal) else original
    # Coulomb friction has no sign at rest: an optimal motion, which brakes by it to the end, is sampled while it moves
    first, last = (_REST * motion.duration, (1.0 - _REST) * motion.duration) if optimal else (0.0, motion.duration)
    times = np.linspace(first, last, samples)
    bounds = _bounds(robot, motion, limits, times)
    # Between samples a bound may be tighter still: look closer, again and again, around the tightest local ones.
    tight = bounds.min(axis=(1, 2))
    is_low = (tight <= np.roll(tight, 1)) & (tight <= np.roll(tight, -1))
    is_low[[0, -1]] = True
    places = [i for i in np.argsort(tight, kind="stable") if is_low[i]][:_MOMENTS]
    step = times[1] - times[0]
    centres = times[places]
    for _ in range(_ZOOMS):
        around = centres[:, None] + np.linspace(-step, step, 2 * _FINE + 1)
        around = np.clip(around, first, last)
        closer = _bounds(robot, motion, limits, around.ravel()).min(axis=(1, 2)).reshape(around.shape)
        centres = np.take_along_axis(around, closer.argmin(axis=1)[:, None], axis=1)[:, 0]
        step /= _FINE
    times = np.concatenate([centres, times])
    bounds = np.concatenate([_bounds(robot, motion, limits, centres), bounds])
    at, kind, joint = np.unravel_index(int(bounds.argmin()), bounds.shape)
    x = float(bounds[at, kind, joint])
    check_bounded(math.isfinite(x))
    scaled, limit = ScaledTrajectory(motion, 1.0 / x), MotionLimits._fields[kind]
    factor = scaled.duration / original.duration
    return TimeScaling(scaled, factor, limit, limited_joint(robot, limit, int(joint)), float(times[at] / x))


def _bounds(robot: Robot, trajectory: Trajectory, limits: MotionLimits, times: Array) -> Array:
    """Return the largest x that each limit allows each joint at each time, (times, 3, nv)."""
    q, v, a = trajectory.at(times)
    with np.errstate(divide="ignore"):
        by_velocity = limits.velocity / np.abs(v)
        by_acceleration = np.sqrt(limits.acceleration / np.abs(a))
    bounds = np.stack([by_velocity, by_acceleration, np.full_like(v, np.inf)], axis=1)
    if np.isfinite(limits.torque).any():
        still, damping, inertial, _ = path_forces(robot, q, v, a)
        check_standing(robot, limits.torque, still, times, "t = {:.4g} s of the trajectory")
        upper = _first_root(inertial, damping, still - limits.torque)
        lower = _first_root(-inertial, -damping, -still - limits.torque)
        bounds[:, 2] = np.minimum(upper, lower)
    return bounds


def _first_root(c2: Array, c1: Array, c0: Array) -> Array:
    """Return the smallest x > 0 with c₂x² + c₁x + c₀ = 0, where c₀ < 0; infinite if there is none."""
    c2, c1, c0 = np.broadcast_arrays(c2, c1, c0)
    with np.errstate(divide="ignore", invalid="ignore"):
        square = c1 * c1 - 4.0 * c2 * c0  # NaN where there is no limit, c₀ = −∞
        # x = −2c₀/(c₁ + √…): of the two roots the first positive one for either sign of c₂
        x = -2.0 * c0 / (c1 + np.sqrt(np.maximum(square, 0.0)))
    is_none = (square < 0.0) | ~(x > 0.0) | ~np.isfinite(c0)
    return np.where(is_none, np.inf, x)
