"""The fastest motion along a path under limits, by reachability analysis.

With ℓ the length along the path in the space of the joints, x = ℓ̇² and u = ℓ̈, limits of accelerations and joint forces
are linear in u and x at each place of the path:

    q′u + q″x,    A u + (B + D/ℓ̇) x + C,

and from one sample to the next, Δ apart, x′ = x + 2Δu. Since every joint can hold the robot, ℓ̇ = 0 is feasible
everywhere; so the speeds from which the end can be reached are 0 ≤ x ≤ K. Going backward, K is the largest x for which
some u leads below the next K; going forward, u is the largest that does (H. Pham and Q.-C. Pham, "A new approach to
time-optimal path parameterization based on reachability analysis", 2018). Limits are imposed at both ends of each
interval. D, of joint damping, is divided by the speed of the solution before until the solution repeats itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy

from appell.errors import InputError
from appell.planning.checks import Array
from appell.planning.trajectory.limits import Limits, PathForces, check_bounded, check_standing, path_forces
from appell.planning.trajectory.timing import Progress, Timing
from appell.planning.trajectory.trajectory import Trajectory, TrajectoryState
from appell.robot.robot import Robot

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
    >>> from appell.planning.trajectory.timing import Trapezoid
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
        kept: Array = found[inside & (np.diff(found, prepend=-1.0) > 0.1 * _SPLIT * self.duration)]
        return kept

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


def time_optimal(robot: Robot, trajectory: Trajectory, limits: Limits, samples: int) -> TimedPath:
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


class _Rows(NamedTuple):
    """Limits as lines, per interval: u ≤ upper_slope·x + upper and u ≥ lower_slope·x + lower."""

    upper_slope: Array
    upper: Array
    lower_slope: Array
    lower: Array


def _rows(at: TrajectoryState, forces: PathForces, limits: Limits, x: Array) -> tuple[Array, Array, Array]:
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
    lines = _Rows(
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
        most[k] = _largest(_Rows(*(part[k] for part in lines)), float(most[k + 1]), float(double[k]), float(most[k]))
    x = np.zeros(n)
    for k in range(n - 1):
        highest = float(np.min(lines.upper_slope[k] * x[k] + lines.upper[k], initial=np.inf))
        u = min(highest, (most[k + 1] - x[k]) / double[k])
        x[k + 1] = min(max(x[k] + double[k] * u, 0.0), most[k + 1])
    return x


def _largest(lines: _Rows, after: float, double: float, x: float) -> float:
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
