"""Time scaling: the same path, played slower or faster as a whole, so that limits hold.

Played k times as long, with x = 1/k, a trajectory has velocities x·v and accelerations x²·a, and the joint forces
τ(x) = τ₀ + τ₁x + τ₂x²: gravity and Coulomb friction do not scale, damping scales with x, all inertial forces with x²
(J.M. Hollerbach, 1984). Each limit at each moment thus bounds x by the root of a quadratic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.planning.checks import Array, positive
from appell.planning.goal import checked_robot
from appell.planning.trajectory.trajectory import Trajectory, TrajectoryState
from appell.read.values import LARGEST
from appell.robot.arguments import real_array, whole
from appell.robot.robot import Robot
from appell.simulation.laws.checks import effort_limits

_ZOOMS, _FINE = 6, 32
"""Rounds and points with which the tightest moments are looked at more closely."""
_MOMENTS = 12
"""How many of the tightest moments are."""


@dataclass(frozen=True, eq=False)
class ScaledTrajectory(Trajectory):
    """A trajectory that takes `factor` times as long.

    >>> from appell.planning.trajectory.curves import JointLine
    >>> ScaledTrajectory(JointLine([0.0], [1.0], 2.0), 3.0)(3.0).v.round(6)
    array([0.166667])
    """

    trajectory: Trajectory
    factor: float

    def __post_init__(self) -> None:
        _trajectory(self.trajectory)
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
    """The shortest duration of a path: the scaled `trajectory`, its `factor`, and what does not allow a shorter one.

    `limit` is "velocity", "acceleration" or "torque"; `joint` is the joint's name and `t` the moment in the scaled
    trajectory [s].

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


class _Limits(NamedTuple):
    velocity: Array
    acceleration: Array
    torque: Array


def time_scaling(
    robot: Robot,
    trajectory: Trajectory,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    torque: ArrayLike | None = None,
    samples: int = 1000,
) -> TimeScaling:
    """Return a trajectory stretched or shortened as a whole until a limit is just met.

    Limits are one number, or one per joint; velocities and torques (forces) that are not given are those of the
    robot's file, infinite where it has none. The trajectory is looked at in `samples` moments, and more closely around
    the tightest of them. A joint that has not the torque to hold the robot against gravity and friction is an error:
    no time scaling helps it.

    >>> import appell
    >>> robot = appell.load("puma560")
    >>> line = appell.trajectory.JointLine([0.0] * 6, [0.5] * 6, appell.trajectory.Quintic(10.0))
    >>> best = appell.trajectory.time_scaling(robot, line, velocity=1.0)
    >>> best.limit, best.factor < 1.0, float(abs(best.trajectory(best.t).v).max().round(9))
    ('velocity', True, 1.0)
    """
    checked_robot(robot)
    if not math.isfinite(_trajectory(trajectory).duration):
        raise InputError("trajectory: expected one with an end, got one that goes on for ever; give it a duration")
    samples = whole("samples", samples, 2, 10_000_000)
    if robot.nu != robot.nv:
        raise InputError(f"robot: the forces of '{robot.name}', {robot.nu}, do not determine its {robot.nv} velocities")
    joints = trajectory(0.0).q.size
    if joints != robot.nq:
        raise InputError(f"trajectory: expected one of {robot.nq} joints, those of '{robot.name}', got {joints}")
    limits = _limits(robot, velocity, acceleration, torque)
    times = np.linspace(0.0, trajectory.duration, samples)
    bounds = _bounds(robot, trajectory, limits, times)
    # Between samples a bound may be tighter still: look closer, again and again, around the tightest local ones.
    tight = bounds.min(axis=(1, 2))
    is_low = (tight <= np.roll(tight, 1)) & (tight <= np.roll(tight, -1))
    is_low[[0, -1]] = True
    places = [i for i in np.argsort(tight, kind="stable") if is_low[i]][:_MOMENTS]
    step = times[1]
    centres = times[places]
    for _ in range(_ZOOMS):
        around = centres[:, None] + np.linspace(-step, step, 2 * _FINE + 1)
        around = np.clip(around, 0.0, trajectory.duration)
        closer = _bounds(robot, trajectory, limits, around.ravel()).min(axis=(1, 2)).reshape(around.shape)
        centres = np.take_along_axis(around, closer.argmin(axis=1)[:, None], axis=1)[:, 0]
        step /= _FINE
    times = np.concatenate([centres, times])
    bounds = np.concatenate([_bounds(robot, trajectory, limits, centres), bounds])
    at, kind, joint = np.unravel_index(int(bounds.argmin()), bounds.shape)
    x = float(bounds[at, kind, joint])
    if not math.isfinite(x):
        raise InputError(
            "time_scaling: no limit bounds this motion; give velocity, acceleration or torque limits, or a motion"
        )
    factor = 1.0 / x
    name = (robot.facts.forces if _Limits._fields[kind] == "torque" else robot.independent)[int(joint)]
    return TimeScaling(
        ScaledTrajectory(trajectory, factor), factor, _Limits._fields[kind], name, float(factor * times[at])
    )


def _trajectory(trajectory: Trajectory) -> Trajectory:
    if not isinstance(trajectory, Trajectory):
        raise InputError(f"trajectory: expected one of appell.trajectory, got {type(trajectory).__name__}")
    return trajectory


def _bounds(robot: Robot, trajectory: Trajectory, limits: _Limits, times: Array) -> Array:
    """Return the largest x that each limit allows each joint at each time, (times, 3, nv)."""
    q, v, a = trajectory.at(times)
    with np.errstate(divide="ignore"):
        by_velocity = limits.velocity / np.abs(v)
        by_acceleration = np.sqrt(limits.acceleration / np.abs(a))
    bounds = np.stack([by_velocity, by_acceleration, np.full_like(v, np.inf)], axis=1)
    if np.isfinite(limits.torque).any():
        still, damping, inertial = _forces(robot, q, v, a)
        _check_standing(robot, limits.torque, still, times)
        upper = _first_root(inertial, damping, still - limits.torque)
        lower = _first_root(-inertial, -damping, -still - limits.torque)
        bounds[:, 2] = np.minimum(upper, lower)
    return bounds


def _forces(robot: Robot, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """Return τ₀, τ₁, τ₂ of τ(x) = τ₀ + τ₁x + τ₂x² from three speeds: exact, the forces being that polynomial."""
    one, two, three = (robot.inverse_dynamics(q, x * v, x * x * a) for x in (1.0, 2.0, 3.0))
    inertial = 0.5 * (three - 2.0 * two + one)
    damping = two - one - 3.0 * inertial
    return one - damping - inertial, damping, inertial


def _first_root(c2: Array, c1: Array, c0: Array) -> Array:
    """Return the smallest x > 0 with c₂x² + c₁x + c₀ = 0, where c₀ < 0; infinite if there is none."""
    c2, c1, c0 = np.broadcast_arrays(c2, c1, c0)
    with np.errstate(divide="ignore", invalid="ignore"):
        square = c1 * c1 - 4.0 * c2 * c0  # NaN where there is no limit, c₀ = −∞
        # x = −2c₀/(c₁ + √…): of the two roots the first positive one for either sign of c₂
        x = -2.0 * c0 / (c1 + np.sqrt(np.maximum(square, 0.0)))
    is_none = (square < 0.0) | ~(x > 0.0) | ~np.isfinite(c0)
    return np.where(is_none, np.inf, x)


def _check_standing(robot: Robot, limit: Array, still: Array, times: Array) -> None:
    over = np.abs(still) >= limit
    if over.any():
        at, joint = np.argwhere(over)[0]
        raise InputError(
            f"time_scaling: joint '{robot.facts.forces[joint]}' needs {abs(still[at, joint]):.4g} to hold the robot "
            f"against gravity and friction at t = {times[at]:.4g} s of the trajectory, and has {limit[joint]:.4g}; "
            "slower does not help"
        )


def _limits(
    robot: Robot, velocity: ArrayLike | None, acceleration: ArrayLike | None, torque: ArrayLike | None
) -> _Limits:
    file = {"velocity": robot.limits.velocity, "acceleration": math.inf, "torque": effort_limits(robot)}
    found = []
    given = {"velocity": velocity, "acceleration": acceleration, "torque": torque}
    for name, value in given.items():
        array = real_array(name, file[name] if value is None else value).astype(float)
        if array.shape not in ((), (robot.nv,)) or not (array > 0.0).all():
            raise InputError(
                f"{name}: expected positive limits, one or one per joint ({robot.nv} of robot '{robot.name}'), got "
                f"{array.tolist()}"
            )
        found.append(np.broadcast_to(np.where(array > LARGEST, math.inf, array), (robot.nv,)))
    return _Limits(*found)
