"""States of a robot along a trajectory of its independent coordinates.

A trajectory has one coordinate per independent velocity: the joint positions of an open robot, the actuator positions
of a closed one, the platform angles of a spherical one. The configuration is integrated from the home position along
the independent velocities, which keeps one assembly mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from appell.errors import InputError
from appell.identification.basis import Array
from appell.messages import listed
from appell.model.parameters import joint_of_velocity
from appell.robot.properties.base_columns import State
from appell.robot.robot import Robot, checked_robot


@dataclass(frozen=True, eq=False)
class ActuatedPath:
    """A robot with one coordinate per velocity: their names, and their indices in q."""

    robot: Robot
    names: tuple[str, ...]
    places: tuple[int, ...]

    @cached_property
    def home(self) -> Array:
        """Return the coordinates (nv) in the robot's neutral configuration."""
        return self.robot.neutral()[list(self.places)]

    def state(self, q: Array, v: Array, a: Array) -> State:
        """Return the state of coordinates, velocities and accelerations (..., nv)."""
        return State(self.robot.integrate(self.robot.neutral(), q - self.home), v, a)

    def steps(self, q: Array, size: float) -> Array:
        """Return configurations a small step along each coordinate from q (..., nq): (nv, ..., nq).

        Closure and quaternion norm hold to first order in the step.
        """
        n = len(self.names)
        along = size * np.eye(n).reshape(n, *(1,) * (q.ndim - 1), n)
        result: Array = q + self.robot.evaluate("coordinate_rates", q, along)
        return result


def actuated_path(robot: Robot) -> ActuatedPath:
    """Return the path of a robot along joint trajectories; raise if none determines its motion.

    >>> import appell
    >>> actuated_path(appell.load("five-bar")).names
    ('mot1', 'mot2')
    """
    if checked_robot("robot", robot).nv != robot.nu:
        passive = [name for name in robot.independent if name not in robot.actuators]
        raise InputError(
            f"excite: the motors of robot '{robot.name}' do not determine its motion: {listed(passive)} are passive; "
            "excite the robot with those joints fixed"
        )
    if robot.facts.curved is None:
        raise InputError(
            f"excite: robot '{robot.name}' has velocities that are not rates of coordinates (rolling wheels, or "
            "loops through a joint with several coordinates); "
            "excite its arm with a fixed base"
        )
    places = robot.places("q")
    joints = (joint_of_velocity(name, places)[0] for name in robot.independent if len(places.get(name, ())) != 1)
    wide = dict.fromkeys(joints)
    if wide:
        raise InputError(
            f"excite: robot '{robot.name}' has joints with several coordinates: {listed(wide)}; fix the base, or "
            "excite the other joints only"
        )
    names = tuple(robot.independent)
    return ActuatedPath(robot, names, tuple(places[name][0] for name in names))
