"""States of a robot from measurements of its motors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from appell.errors import AppellError, InputError
from appell.identification.basis import motor_accelerations
from appell.logs.prepare import Prepared
from appell.robot.robot import Robot
from appell.spatial.scalar import Array


class MeasuredStates(NamedTuple):
    """States of a robot (n, …), and positions, velocities and torques of its motors (n, motors)."""

    q: Array
    v: Array
    a: Array
    path: Array
    speed: Array
    tau: Array


def motion(robot: Robot, log: Prepared) -> MeasuredStates:
    """Return the states of a robot along a log of its motors.

    With J the motors' Jacobian, v = J⁻¹v_motors and a = J⁻¹(a_motors − J̇v).

    Raises
    ------
    InputError
        When the log does not match the robot.
    """
    if log.q.shape[1] != robot.nu:
        raise InputError(
            f"{log.source or 'log'}: {log.q.shape[1]} columns of q, but robot '{robot.name}' has {robot.nu} motors; "
            "map one column per motor, in the order of robot.actuators"
        )
    if robot.nv != robot.nu:
        raise InputError(
            f"robot '{robot.name}' has {robot.nv - robot.nu} passive velocities that are not measured; fix these "
            "joints in the file, or identify the open chains"
        )
    q = _configurations(robot, log)
    J = robot.actuator_jacobian(q)
    v = np.linalg.solve(J, log.v[..., None])[..., 0]
    bias = motor_accelerations(robot, q, v, np.zeros_like(v))
    a = np.linalg.solve(J, (log.a - bias)[..., None])[..., 0]
    return MeasuredStates(q, v, a, log.q, log.v, log.tau)


def _configurations(robot: Robot, log: Prepared) -> Array:
    """Return the configurations (n, nq) at the measured motor positions, each solved from the previous one."""
    result = np.empty((len(log), robot.nq))
    for segment in log.segments:
        q = robot.neutral()
        for k in range(segment.start, segment.stop):
            try:
                q = result[k] = robot.from_actuators(log.q[k], q)
            except AppellError as error:
                raise InputError(
                    f"{log.source or 'log'}: at {log.t[k]:.3f} s robot '{robot.name}' has no configuration at the "
                    f"measured motor positions; check the order, signs and offsets of the columns of q, or crop "
                    f"the log before a singularity ({error})"
                ) from None
    return result
