"""Time scaling: the same path in another time, so that limits hold.

Uniform scaling plays a trajectory k times as long. With x = 1/k it has velocities x·v, accelerations x²·a and joint
forces C + D x + B x² (:mod:`appell.planning.trajectory.limits`), so that each limit at each moment bounds x by the root
of a quadratic. Optimal scaling keeps the path alone and varies the speed along it
(:mod:`appell.planning.trajectory.time_optimal`); what it leaves between its samples, uniform scaling corrects.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import truth, whole
from appell.errors import InputError
from appell.planning.checks import Array, positive
from appell.planning.trajectory.limits import (
    Limits,
    check_bounded,
    check_standing,
    checked_limits,
    checked_path,
    limited_joint,
    path_forces,
)
from appell.planning.trajectory.time_optimal import time_optimal
from appell.planning.trajectory.trajectory import Trajectory, TrajectoryState
from appell.robot.robot import Robot

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
    scaled, limit = ScaledTrajectory(motion, 1.0 / x), Limits._fields[kind]
    factor = scaled.duration / original.duration
    return TimeScaling(scaled, factor, limit, limited_joint(robot, limit, int(joint)), float(times[at] / x))


def _bounds(robot: Robot, trajectory: Trajectory, limits: Limits, times: Array) -> Array:
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
