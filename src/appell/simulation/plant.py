"""The vector field of a robot without Coulomb friction, made smooth for the integrator.

*Coulomb friction of joints* is discontinuous at zero velocity: the engine adds it, see
:mod:`appell.simulation.contact.contact_interval`. At *singularities* of a closed-loop robot its independent velocities
no longer determine the motion; the integration continues in other coordinates
(:meth:`appell.Robot.coordinates_near`), and results are converted to the robot's own.
"""

from __future__ import annotations

import numpy as np

from appell.errors import InputError
from appell.results.path import Segment, fit_matrix
from appell.robot.robot import Robot
from appell.simulation.contact.contact_interval import Friction
from appell.simulation.record import StopError
from appell.spatial.scalar import Array


class Plant:
    """The dynamics of a robot for an engine; with walls, `charts` is False and the coordinates are not switched."""

    def __init__(self, robot: Robot, *, charts: bool) -> None:
        self.robot = robot
        self._charted = charts
        self._now = robot
        self.friction = _coulomb(robot)
        self.bare = _without_coulomb(robot) if self.friction.static.any() else robot

    def motion(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """Return q̇ and the accelerations, in the present coordinates."""
        robot = self.bare if self.friction.static.any() else self._now
        try:
            rate, a = robot.evaluate("motion", q, v, tau)
        except InputError as outside:  # of the workspace
            raise StopError(str(outside)) from None
        return rate, a

    def closed(self, q: Array) -> Array:
        """Return q with its loops closed."""
        return np.asarray(self._now.project(q))

    def switched(self, q: Array, v: Array) -> tuple[Array, bool]:
        """Switch to well-conditioned coordinates at q; return v in them and whether they changed."""
        best = self.robot.coordinates_near(q) if self._charted else self._now
        if best is self._now:
            return v, False
        tree = self._now.tree_velocity(q, v)
        self._now = best
        return best.reduced(q, tree), True

    def own_velocity(self, q: Array, v: Array) -> Array:
        """Return v (..., nv) in the robot's own coordinates."""
        if self._now is self.robot:
            return v
        return self.robot.reduced(q, self._now.tree_velocity(q, v))

    def own_acceleration(self, q: Array, v: Array, a: Array) -> Array:
        """Return a in the robot's own coordinates."""
        if self._now is self.robot:
            return a
        return self.robot.reduced(q, self._now.tree_acceleration(q, v, a))

    def own_segment(self, segment: Segment) -> Segment:
        """Return a step with its velocities in the robot's own coordinates."""
        if self._now is self.robot:
            return segment
        nodes = len(segment.coefficients)
        y, nq = segment.on(nodes), self.robot.nq
        return segment._replace(
            coefficients=fit_matrix(nodes) @ np.hstack([y[:, :nq], self.own_velocity(y[:, :nq], y[:, nq:])])
        )


def _coulomb(robot: Robot) -> Friction:
    """Return the Coulomb friction of joints; none for a robot with other actuation."""
    model, still = robot.model, np.zeros(robot.nv)
    if robot.facts.sizes["t"] != robot.nu:
        return Friction(still, still, still, still)
    joints = [body.joint for body in model.bodies for _ in range(body.joint.type.nv)]
    kinetic = np.array([own.friction for own in model.joint_parameters], dtype=float)
    static = np.maximum(kinetic, [joint.static_friction for joint in joints])
    return Friction(kinetic, static, np.array([joint.stribeck_velocity for joint in joints]), still)


def _without_coulomb(robot: Robot) -> Robot:
    return robot.with_model(robot.model.without("friction"))
