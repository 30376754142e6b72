"""From the coordinates that a trajectory moves to the states that a robot's verbs take.

An open robot's are its own. A closed robot is moved by its actuators, and the rest of the tree follows: it is carried
from its home along the independent motions, which keeps it in one assembly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from appell.errors import InputError
from appell.identify.basis import AnyRobot, Array, State
from appell.loops.closed_robot import ClosedRobot
from appell.loops.spherical.robot import SphericalRobot
from appell.model.build import listed
from appell.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class Carrier:
    """A robot whose velocities have a coordinate each: their names, their values at home, and how to go elsewhere."""

    robot: AnyRobot
    names: tuple[str, ...]
    home: Array
    place: Callable[[Array], Array]
    """From coordinates (..., nv) to configurations (..., nq)."""

    def state(self, q: Array, v: Array, a: Array) -> State:
        """Return the state of coordinates, velocities and accelerations (..., nv)."""
        return State(self.place(q), v, a)

    def steps(self, q: Array, size: float) -> Array:
        """Return configurations a small step along each coordinate from q (..., nq): (nv, ..., nq)."""
        n = len(self.names)
        along = size * np.eye(n).reshape(n, *(1,) * (q.ndim - 1), n)
        if not isinstance(self.robot, ClosedRobot):
            result: Array = q + along
            return result
        moved: Array = q + self.robot.expand(q, along)  # open by the square of the step alone
        return moved


def carrier(robot: AnyRobot) -> Carrier:
    """Return what carries a robot along a trajectory of joints; raise if no such trajectory moves it.

    >>> import appell
    >>> carrier(appell.load("five-bar")).names
    ('mot1', 'mot2')
    """
    if isinstance(robot, SphericalRobot):
        return Carrier(robot, tuple(robot.joint_names), robot.neutral(), lambda q: q)
    if not isinstance(robot, Robot):
        raise InputError(f"robot: expected a robot, got {type(robot).__name__}")
    if isinstance(robot, ClosedRobot):
        return _closed(robot)
    other = [b.joint.name for b in robot.model.independent.bodies if b.joint.type.nq != 1]
    if other:
        raise InputError(
            f"excite: robot '{robot.name}' has joints of several coordinates, {listed(other)}, and no series moves "
            "them; fix the base, or give the rest of the robot alone"
        )
    return Carrier(robot, tuple(robot.joint_names), robot.neutral(), lambda q: q)


def _closed(robot: ClosedRobot) -> Carrier:
    if robot.independent != robot.actuators:
        passive = [name for name in robot.independent if name not in robot.actuators]
        raise InputError(
            f"excite: the motors of robot '{robot.name}' do not determine its motion, {listed(passive)} move freely; "
            "excite the robot with those joints fixed"
        )
    if len(robot.structure.closing.rows) < robot.rank.value:  # rows that hold velocities and close no position
        raise InputError(
            f"excite: robot '{robot.name}' rolls: its motors' places do not say where it is, and no series closes; "
            "excite the arm that it carries, fixed"
        )
    bodies, start = robot.model.bodies, robot.neutral()
    at = {b.joint.name: where for b, where in zip(bodies, robot.model.q_slices, strict=True)}
    other = [name for name in robot.actuators if name not in at or at[name].stop - at[name].start != 1]
    if other or any(b.joint.type.nq != b.joint.type.nv for b in bodies):
        raise InputError(
            f"excite: robot '{robot.name}' has joints of several coordinates, {listed(other or ['quaternions'])}; a "
            "series moves robots of simple joints alone"
        )
    home = np.array([start[at[name].start] for name in robot.actuators])
    return Carrier(robot, tuple(robot.actuators), home, lambda q: robot.integrate(start, q - home))
