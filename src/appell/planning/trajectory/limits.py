"""Limits of a motion, and how the joint forces along a path depend on its speed.

Along a path q(s) with speed ṡ the joint forces are

    τ = A s̈ + B ṡ² + D ṡ + C:

A is M q′, B holds all other inertial forces, D joint damping, C gravity and Coulomb friction (J.M. Hollerbach, 1984).
Four batched calls of inverse dynamics give the coefficients at all samples, exactly.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import LARGEST, real_array
from appell.errors import InputError
from appell.planning.checks import Array
from appell.planning.trajectory.trajectory import Trajectory
from appell.robot.robot import Robot, checked_robot
from appell.simulation.laws.checks import effort_limits


class Limits(NamedTuple):
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
) -> Limits:
    """Return the limits that are given, and those of the robot's file where none are."""
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
    return Limits(*found)


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
