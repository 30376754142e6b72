"""Argument checks of control laws: robots, gains, goals, trajectories and torque limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import LARGEST, number, numbers, real_array
from appell.errors import InputError
from appell.messages import shown
from appell.robot.robot import Robot, checked_robot
from appell.robot.verbs.coordinates import joint_limits
from appell.spatial.scalar import Array

Trajectory = Callable[[float], Sequence[ArrayLike]]
"""A function of the time t [s] that returns (q, v, a)."""


def a_robot(law: str, given: Any) -> Robot:
    """Return the robot of a control law."""
    robot = checked_robot(law, given)
    if not robot.nu:
        raise InputError(f"{law}: robot '{robot.name}' has no actuators")
    if robot.nu > len(robot.driven):
        raise InputError(
            f"{law}: robot '{robot.name}' has {robot.nu} motors for {len(robot.driven)} accelerations (redundant "
            "actuation); "
            "write a control law (t, q, v) with robot.inverse_dynamics, which distributes the torques by least squares"
        )
    return robot


def fully_actuated(law: str, robot: Any) -> Robot:
    """Return the robot of a control law that requires one torque per velocity."""
    found = a_robot(law, robot)
    if found.actuators != found.joint_names:
        raise InputError(f"{law}: robot '{found.name}' has closed loops; use a robot without loops")
    return found


def per_force(robot: Robot, name: str, value: ArrayLike, high: float = LARGEST) -> Array:
    """Return numbers from 0 to a bound, (..., nu), from one number or from one per actuator."""
    given = real_array(name, value, f" for robot '{robot.name}'")
    wanted = np.full(robot.nu, given) if given.ndim == 0 else given
    array = numbers(robot.name, name, (robot.nu,), wanted).astype(float)
    if not ((array >= 0.0) & (array <= high)).all():
        finite = "finite " if high < np.inf else ""
        raise InputError(f"{name}: expected {finite}numbers of 0 or more for robot '{robot.name}', got {shown(value)}")
    return array


def configuration(robot: Robot, name: str, q: ArrayLike) -> Array:
    """Return a finite configuration (..., nq) with unit quaternions."""
    array = robot.configuration(name, q)
    if not np.isfinite(array).all():
        raise InputError(f"{name}: expected finite numbers for robot '{robot.name}', got {array.tolist()}")
    return array


def effort_limits(robot: Robot) -> Array:
    """Return the effort limits of the actuators from the robot's file.

    Parameters
    ----------
    robot : Robot
        A robot of any kind.

    Returns
    -------
    array, shape (nu,)
        Limits [N·m] or [N]; infinite where the file has none.

    Examples
    --------
    >>> import appell
    >>> effort_limits(appell.load("two-link"))
    array([inf, inf])
    """
    return joint_limits(a_robot("effort_limits", robot).model).effort[list(robot.facts.actuated)]


def force_limits(robot: Robot, limit: ArrayLike | str | None) -> Array:
    """Return the torque limits of a control law: none, the effort limits of the robot ("file"), or given ones."""
    if limit is None:
        return np.full(robot.nu, np.inf)
    if isinstance(limit, str):
        if limit != "file":
            raise InputError(f"limit: expected torques [N·m], None or 'file', got {shown(limit)}")
        limits = effort_limits(robot)
        if not np.isfinite(limits).any():
            raise InputError(
                f"limit: robot '{robot.name}' has no effort limits for limit='file'; pass torques [N·m], or set "
                "limits with "
                "robot.with_joint(name, effort=…)"
            )
        return limits
    return per_force(robot, "limit", limit, np.inf)


def within(tau: Array, limit: Array) -> Array:
    """Return torques clipped to ±limit."""
    return np.asarray(np.clip(tau, -limit, limit))


def state(robot: Robot, t: float, q: ArrayLike, v: ArrayLike) -> tuple[float, Array, Array]:
    """Return the checked arguments of a control law: the time, q (..., nq) with unit quaternions, and v (..., nv)."""
    time = number("t: expected a time in seconds", t)
    return time, normalised(robot, q), numbers(robot.name, "v", (robot.nv,), v).astype(float, copy=False)


def normalised(robot: Robot, q: ArrayLike) -> Array:
    """Return q with normalised quaternions: at the stages of an integrator their norm is only close to 1."""
    array = numbers(robot.name, "q", (robot.nq,), q).astype(float, copy=False)
    if robot.facts.quaternions:
        array = array.copy()
        for k in robot.facts.quaternions:
            array[..., k : k + 4] /= np.linalg.norm(array[..., k : k + 4], axis=-1, keepdims=True)
    return array


def followed(trajectory: Any) -> Trajectory:
    """Return a trajectory, checked to be callable."""
    if not callable(trajectory):
        raise InputError(f"trajectory: expected a function t -> (q, v, a), got {type(trajectory).__name__}")
    checked: Trajectory = trajectory
    return checked


def sample(robot: Robot, trajectory: Trajectory, t: float) -> tuple[Array, Array, Array]:
    """Return q*, v* and a* of a trajectory at a time, with their sizes checked."""
    parts = trajectory(t)
    try:
        q, v, a = parts
    except (TypeError, ValueError):
        raise InputError(f"trajectory: expected (q, v, a) at t = {t:.6g} s, got {type(parts).__name__}") from None
    sizes = (("q", q, robot.nq), ("v", v, robot.nv), ("a", a, robot.nv))
    q, v, a = (numbers(robot.name, f"trajectory {name}", (n,), x).astype(float, copy=False) for name, x, n in sizes)
    if not all(np.isfinite(x).all() for x in (q, v, a)):
        raise InputError(f"trajectory: expected finite numbers at t = {t:.6g} s for robot '{robot.name}'")
    return q, v, a


class Clock:
    """Sampling times of a control law with memory."""

    def __init__(self, law: str) -> None:
        self._law = law
        self._last: float | None = None

    def reset(self) -> None:
        """Discard the last sample."""
        self._last = None

    def advance(self, t: float) -> float | None:
        """Return the time since the last sample, None at the first; raise if time decreases."""
        last, self._last = self._last, t if self._last is None else max(t, self._last)
        if last is None:
            return None
        if t < last:
            raise InputError(
                f"{self._law}: has memory and was called at t = {t:.9g} s after t = {last:.9g} s; sample it "
                "(appell.simulate(..., rate=1000)), and call reset() before a new run"
            )
        return t - last
