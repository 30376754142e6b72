"""From the coordinates that a trajectory moves to the states that a robot's verbs take.

A trajectory has one coordinate per independent velocity: of an open robot its own, of a closed one the positions of its
actuators, of a spherical one the platform's angles. The robot is carried from its home along the independent motions,
which keeps it in one assembly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from appell.errors import InputError
from appell.identification.basis import Array
from appell.model.build import listed
from appell.robot.base import State
from appell.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class ActuatedPath:
    """A robot whose velocities have a coordinate each: their names, and their places in q."""

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

        They are open, and quaternions not of unit length, by the square of the step alone.
        """
        n = len(self.names)
        along = size * np.eye(n).reshape(n, *(1,) * (q.ndim - 1), n)
        result: Array = q + self.robot.evaluate("coordinate_rates", q, along)
        return result


def actuated_path(robot: Robot) -> ActuatedPath:
    """Return what carries a robot along a trajectory of joints; raise if no such trajectory moves it.

    >>> import appell
    >>> actuated_path(appell.load("five-bar")).names
    ('mot1', 'mot2')
    """
    if not isinstance(robot, Robot):
        raise InputError(f"robot: expected a robot, got {type(robot).__name__}")
    if robot.nv != robot.nu:
        passive = [name for name in robot.independent if name not in robot.actuators]
        raise InputError(
            f"excite: the motors of robot '{robot.name}' do not determine its motion, {listed(passive)} move freely; "
            "excite the robot with those joints fixed"
        )
    if robot.facts.curved is None:
        raise InputError(
            f"excite: robot '{robot.name}' rolls, or its loops bind parts of a joint: positions of its motors do not "
            "determine its configuration, and no series closes; excite the arm that it carries, fixed"
        )
    places = robot.places("q")
    wide = dict.fromkeys(name.partition("[")[0] for name in robot.independent if len(places.get(name, ())) != 1)
    if wide:
        raise InputError(
            f"excite: robot '{robot.name}' has joints of several coordinates, {listed(wide)}, and no series moves "
            "them; fix the base, or give the rest of the robot alone"
        )
    names = tuple(robot.independent)
    return ActuatedPath(robot, names, tuple(places[name][0] for name in names))
