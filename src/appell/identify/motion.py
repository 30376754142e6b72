"""From what motors measured to the states of a robot: of an open robot the log's own, of a closed one by its loops."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from appell.errors import InputError, ModelError
from appell.identify.basis import AnyRobot
from appell.identify.prepare import Prepared
from appell.loops.closed_robot import ClosedRobot
from appell.loops.spherical.robot import SphericalRobot
from appell.model import manifold

Array = NDArray[np.float64]


class Motion(NamedTuple):
    """States of a robot (n, …) and what its motors did: their coordinates, velocities and torques (n, motors)."""

    q: Array
    v: Array
    a: Array
    path: Array
    speed: Array
    tau: Array


def motion(robot: AnyRobot, log: Prepared) -> Motion:
    """Return the states of a robot along a log of its motors.

    A closed robot's log has the coordinates of its actuators; the loops say where the other joints are, each sample
    beginning from the one before.

    Raises
    ------
    InputError
        When the log does not fit the robot.
    """
    wanted = len(robot.actuators)
    if log.q.shape[1] != wanted:
        raise InputError(
            f"{log.source or 'log'}: {log.q.shape[1]} columns of q, but robot '{robot.name}' has {wanted} motors; "
            "map one column to each, in the order of robot.actuators"
        )
    if isinstance(robot, SphericalRobot):
        raise InputError(f"robot '{robot.name}': identify takes its loops from a file; load it as a closed chain")
    if not isinstance(robot, ClosedRobot):
        if robot.nq != wanted or robot.nv != wanted:
            raise InputError(f"robot '{robot.name}': identify takes robots whose joints have one coordinate each")
        return Motion(log.q, log.v, log.a, log.q, log.v, log.tau)
    if robot.nv != wanted:
        raise InputError(
            f"robot '{robot.name}' has {robot.nv - wanted} passive motions that motors do not measure; fix them in the "
            "file, or identify the open chains"
        )
    return Motion(_followed(robot, log), log.v, log.a, log.q, log.v, log.tau)


def _followed(robot: ClosedRobot, log: Prepared) -> Array:
    """Return closed configurations (n, nq) whose actuators are where the log says."""
    places = [robot.model.q_slices[k].start for k in _bodies(robot)]
    result = np.empty((len(log), robot.nq))
    for segment in log.segments:
        q = _reached(robot, robot.neutral(), places, log.q[segment.start])
        for k in range(segment.start, segment.stop):
            step = robot.expand(q, log.q[k] - q[places])
            q = manifold.integrate(robot.model, q, step)
            q[places] = log.q[k]
            try:
                q = robot.project(q)
            except InputError:
                raise InputError(
                    f"{log.source or 'log'}: at {log.t[k]:.3f} s the loops of robot '{robot.name}' cannot be closed "
                    "with its motors where they are; check the columns of q, or crop the log before a singularity"
                ) from None
            result[k] = q
    return result


def _reached(robot: ClosedRobot, q: Array, places: list[int], goal: Array, pieces: int = 50) -> Array:
    """Return the closed configuration that a motion of the actuators from q to a goal leads to, in small pieces."""
    try:
        for _ in range(pieces):
            left = goal - q[places]
            share = min(1.0, 0.05 / max(float(np.abs(left).max()), 1e-300))
            moved = manifold.integrate(robot.model, q, robot.expand(q, share * left))
            moved[places] = q[places] + share * left
            q = robot.project(moved)
            if share == 1.0:
                return q
    except (InputError, ModelError):
        pass
    raise InputError(
        f"robot '{robot.name}': its actuators cannot go from its home to where the log begins, {goal.round(3).tolist()}"
        "; check the order, the signs and the zeros of the columns of q"
    )


def _bodies(robot: ClosedRobot) -> list[int]:
    index = {body.joint.name: k for k, body in enumerate(robot.model.bodies)}
    return [index[name] for name in robot.actuators]
