"""The robot as an integrator sees it: a smooth field, whatever the robot.

Two things would not be smooth. *Coulomb friction of joints* jumps where a joint turns round; here it is f·tanh(v/v₀)
with v₀ = :data:`CREEP`, the same beyond a few v₀, and a joint that would stick creeps below v₀ instead. *Singularities*
of a robot with loops are where its motors no longer determine the motion; there the robot goes on in other coordinates
(:meth:`appell.ClosedRobot.chart`), and what is told outside stays in the robot's own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.errors import InputError
from appell.loops.closed_robot import ClosedRobot
from appell.loops.spherical.robot import SphericalRobot
from appell.results.path import Segment, fit_matrix
from appell.robot.robot import Robot
from appell.robot.strain import quaternion_places
from appell.simulate.record import StopError

Array = NDArray[Any]
CREEP = 1e-3
"""Speed [rad/s or m/s] below which the Coulomb friction of a joint is smoothed."""


class Plant:
    """A robot's motion for an engine; with walls, `charts` is False and the coordinates stay."""

    def __init__(self, robot: Robot, *, charts: bool) -> None:
        self.robot = robot
        self._charted = charts and isinstance(robot, ClosedRobot)
        self._now = robot
        self._friction = _coulomb(robot)
        self.bare = robot if self._friction is None else _without_coulomb(robot)

    @property
    def is_smoothed(self) -> bool:
        """Return whether joints have Coulomb friction, which is smoothed."""
        return self._friction is not None

    def motion(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """Return q̇ and the accelerations, in the coordinates of the moment."""
        if isinstance(self._now, SphericalRobot):
            return v, self._forward(q, v, tau)
        if self._friction is not None:
            rate, a = self.bare._call("motion", (q, v, self.with_friction(v, tau)), None)
        else:
            rate, a = self._now._call("motion", (q, v, tau), None)
        return rate, a

    def _forward(self, q: Array, v: Array, tau: Array) -> Array:
        """Return the accelerations of a closed form, whose coordinates' rates are its velocities."""
        try:
            return self.robot.forward_dynamics(q, v, tau)
        except InputError as outside:
            raise StopError(str(outside)) from None

    def with_friction(self, v: Array, tau: Array) -> Array:
        """Return forces less the friction of the joints."""
        return tau if self._friction is None else tau - self._friction * np.tanh(v / CREEP)

    def closed(self, q: Array) -> Array:
        """Return q with its loops closed."""
        return np.asarray(self._now.project(q)) if isinstance(self._now, ClosedRobot) else q

    def switched(self, q: Array, v: Array) -> tuple[Array, bool]:
        """Go over to coordinates that are good at q; return v in them and whether they are others than before."""
        if not (self._charted and isinstance(self.robot, ClosedRobot) and isinstance(self._now, ClosedRobot)):
            return v, False
        best = self.robot.chart(q)
        if best is self._now:
            return v, False
        whole = self._now.expand(q, v)
        self._now = best
        return np.asarray(whole[list(best.structure.independent)]), True

    def told(self, q: Array, v: Array) -> Array:
        """Return v (..., nv) in the robot's own coordinates."""
        if self._now is self.robot or not isinstance(self._now, ClosedRobot):
            return v
        return np.asarray(self._now.expand(q, v)[..., self._own])

    def told_acceleration(self, q: Array, v: Array, a: Array) -> Array:
        """Return a in the robot's own coordinates."""
        if self._now is self.robot or not isinstance(self._now, ClosedRobot):
            return a
        return np.asarray(self._now.expand_acceleration(q, v, a)[..., self._own])

    def told_segment(self, segment: Segment) -> Segment:
        """Return a step with its velocities in the robot's own coordinates."""
        if self._now is self.robot:
            return segment
        nodes = len(segment.coefficients)
        y, nq = segment.on(nodes), self.robot.nq
        return segment._replace(
            coefficients=fit_matrix(nodes) @ np.hstack([y[:, :nq], self.told(y[:, :nq], y[:, nq:])])
        )

    @property
    def _own(self) -> list[int]:
        assert isinstance(self.robot, ClosedRobot)
        return list(self.robot.structure.independent)


def _coulomb(robot: Robot) -> Array | None:
    """Return the Coulomb friction per velocity of an open robot, None where there is none."""
    if isinstance(robot, ClosedRobot) or not isinstance(robot, Robot) or robot.model.is_coupled:
        return None
    friction = np.concatenate([[body.joint.friction] * body.joint.type.nv for body in robot.model.bodies] or [[0.0]])
    return friction if friction.any() else None


def _without_coulomb(robot: Robot) -> Robot:
    bodies = tuple(replace(body, joint=replace(body.joint, friction=0.0)) for body in robot.model.bodies)
    return Robot(replace(robot.model, bodies=bodies))


def quaternions(robot: Robot) -> list[int]:
    """Return where quaternions begin in q; a closed form has none."""
    return quaternion_places(robot.model.independent) if isinstance(robot, Robot) else []
