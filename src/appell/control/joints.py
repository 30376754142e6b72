"""What every law of the joints needs: checked arguments, the error of a configuration, forces within their limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.errors import InputError
from appell.loops.closed_robot import ClosedRobot
from appell.recursion.kinematics import Scalars
from appell.robot.arguments import check_quaternions, numbers
from appell.robot.robot import Robot
from appell.simulate.law import tracking_error
from appell.simulate.plant import quaternions

Array = NDArray[Any]
Trajectory = Callable[[float], Sequence[ArrayLike]]
"""Anything that gives q, v and a at a time t [s]."""


def open_robot(law: str, robot: Any) -> Robot:
    """Return the robot of a law, which must be an open one."""
    if not isinstance(robot, Robot) or isinstance(robot, ClosedRobot) or robot.model.closures:
        name = getattr(robot, "name", type(robot).__name__)
        raise InputError(f"{law}: expected an open robot, got '{name}'; give a robot without loops")
    return robot


def driven_robot(law: str, robot: Any) -> Robot:
    """Return the robot of a law that can lead motors of robots with loops too; they come first among its velocities."""
    if not isinstance(robot, ClosedRobot):
        return open_robot(law, robot)
    wide = [name for name in robot.actuators if "[" in name]
    moved = robot.structure.independent[: len(robot.actuators)] != robot.structure.actuated
    if wide or moved or not robot.actuators:
        what = f"its actuator '{wide[0]}' is one of several of a joint" if wide else "they are not, or there are none"
        raise InputError(
            f"{law}: the first independent velocities of '{robot.name}' must be its motors, of one coordinate each; "
            f"{what}"
        )
    return robot


def n_forces(robot: Robot) -> int:
    """Return how many forces drive a robot: of one with loops its motors', else one per velocity."""
    return len(robot.actuators) if isinstance(robot, ClosedRobot) else robot.nv


def per_velocity(robot: Robot, name: str, value: ArrayLike) -> Array:
    """Return numbers of 0 or more, (..., nv), from one number or from one per velocity; of loops, per motor."""
    size = n_forces(robot)
    wanted = np.full(size, value) if np.ndim(value) == 0 else value
    array = numbers(robot.name, name, (size,), wanted).astype(float)
    if not (array >= 0.0).all():
        raise InputError(f"{name}: expected numbers of 0 or more for robot '{robot.name}', got {value!r}")
    return array


def configuration(robot: Robot, name: str, q: ArrayLike) -> Array:
    """Return a finite configuration (..., nq), quaternions of unit length."""
    array = numbers(robot.name, name, (robot.nq,), q).astype(float)
    if not np.isfinite(array).all():
        raise InputError(f"{name}: expected finite numbers for robot '{robot.name}', got {array.tolist()}")
    check_quaternions(robot.name, robot.model.independent, array)
    return array


def effort_limits(robot: Robot) -> Array:
    """Return the largest force of every velocity that the robot's file allows, (nv,); infinite where it says nothing.

    Of a robot with loops, of every motor.

    >>> import appell
    >>> effort_limits(appell.load("two-link"))
    array([inf, inf])
    """
    bodies = robot.model.independent.bodies
    every = np.array([body.joint.limits.effort for body in bodies for _ in range(body.joint.type.nv)], dtype=float)
    return every[list(robot.structure.actuated)] if isinstance(robot, ClosedRobot) else every


def force_limits(robot: Robot, limit: ArrayLike | str | None) -> Array:
    """Return the limits of a law: none, those of the robot's file ("file"), or those given."""
    if limit is None:
        return np.full(n_forces(robot), np.inf)
    if isinstance(limit, str):
        if limit != "file":
            raise InputError(f"limit: expected forces, None or 'file', got '{limit}'")
        return effort_limits(robot)
    return per_velocity(robot, "limit", limit)


def within(tau: Array, limit: Array) -> Array:
    """Return forces kept within ±limit."""
    return np.asarray(np.clip(tau, -limit, limit))


def straight(robot: Robot, q: ArrayLike) -> Array:
    """Return q with quaternions of unit length: within a step of an integrator they have it but nearly."""
    array = np.asarray(q, dtype=float)
    places = quaternions(robot)
    if places:
        array = array.copy()
        for k in places:
            array[..., k : k + 4] /= np.linalg.norm(array[..., k : k + 4], axis=-1, keepdims=True)
    return array


def scalar_error(robot: Robot, q: Scalars, goal: Scalars) -> Scalars:
    """Return goal ⊖ q, one number per force, of scalars of any type."""
    if isinstance(robot, ClosedRobot):
        return tuple(goal[k] - q[k] for k in motor_coordinates(robot))
    return tracking_error(robot.model, q, goal)


def motor_coordinates(robot: ClosedRobot) -> list[int]:
    """Return where the motors' coordinates stand in q."""
    model = robot.model
    starts = {along.start: at.start for at, along in zip(model.q_slices, model.v_slices, strict=True)}
    return [starts[k] for k in robot.structure.actuated]


def error_of(robot: Robot) -> Callable[[Array, Array], Array]:
    """Return the function of q and goal that gives goal ⊖ q, (..., nv), as the laws of a rollout measure it."""
    if isinstance(robot, ClosedRobot):
        motors = motor_coordinates(robot)
        return lambda q, goal: goal[..., motors] - q[..., motors]
    if all(body.joint.type.nq == 1 for body in robot.model.independent.bodies):
        return lambda q, goal: goal - q

    def error(q: Array, goal: Array) -> Array:
        q, goal = np.broadcast_arrays(q, goal)
        columns = (tuple(np.moveaxis(x, -1, 0)) for x in (q, goal))
        return np.stack(np.broadcast_arrays(*scalar_error(robot, *columns)), axis=-1)

    return error


def followed(trajectory: Any) -> Trajectory:
    """Return a trajectory if it is one."""
    if not callable(trajectory):
        raise InputError(f"trajectory: expected a function t -> (q, v, a), got {type(trajectory).__name__}")
    checked: Trajectory = trajectory
    return checked


def sample(robot: Robot, trajectory: Trajectory, t: float) -> tuple[Array, Array, Array]:
    """Return q*, v* and a* of a trajectory at a time, their sizes checked."""
    parts = trajectory(t)
    try:
        q, v, a = parts
    except (TypeError, ValueError):
        raise InputError(f"trajectory: expected (q, v, a) at t = {t:.6g} s, got {type(parts).__name__}") from None
    sizes = (("q", q, robot.nq), ("v", v, robot.nv), ("a", a, robot.nv))
    q, v, a = (numbers(robot.name, f"trajectory {name}", (n,), x).astype(float, copy=False) for name, x, n in sizes)
    return q, v, a


class Clock:
    """The time of a law with memory: how far it has come since the last sample."""

    def __init__(self, law: str) -> None:
        self._law = law
        self._last: float | None = None

    def reset(self) -> None:
        """Forget the last sample."""
        self._last = None

    def advance(self, t: float) -> float | None:
        """Return the time since the last sample, None at the first; raise where it runs backwards."""
        last, self._last = self._last, t if self._last is None else max(t, self._last)
        if last is None:
            return None
        if t < last:
            raise InputError(
                f"{self._law}: has memory and was asked at t = {t:.9g} s after t = {last:.9g} s; sample it "
                "(appell.simulate(..., rate=1000)), and call reset() before a new run"
            )
        return t - last
