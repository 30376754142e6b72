"""The vector field of a robot, made smooth for the integrator.

*Coulomb friction of joints* is discontinuous at zero velocity; here it is regularised as f·tanh(v/v₀) with v₀ =
:data:`CREEP`: equal beyond a few v₀, and a joint that would stick creeps slower than v₀ instead. At *singularities* of
a closed-loop robot its independent velocities no longer determine the motion; the integration continues in other
coordinates (:meth:`appell.Robot.coordinates_near`), and results are converted to the robot's own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from appell.errors import InputError
from appell.results.path import Segment, fit_matrix
from appell.robot.robot import Robot
from appell.simulation.record import StopError
from appell.spatial.scalar import Array

CREEP = 1e-3
"""Speed [rad/s or m/s] v₀ of the regularised Coulomb friction."""


class Plant:
    """The dynamics of a robot for an engine; with walls, `charts` is False and the coordinates are not switched."""

    def __init__(self, robot: Robot, *, charts: bool) -> None:
        self.robot = robot
        self._charted = charts
        self._now = robot
        self._friction = _coulomb(robot)
        self.bare = robot if self._friction is None else _without_coulomb(robot)

    @property
    def is_smoothed(self) -> bool:
        """Return whether the robot has Coulomb friction, which is regularised."""
        return self._friction is not None

    def motion(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """Return q̇ and the accelerations, in the present coordinates."""
        robot = self._now if self._friction is None else self.bare
        try:
            rate, a = robot.evaluate("motion", q, v, self.with_friction(v, tau))
        except InputError as outside:  # of the workspace
            raise StopError(str(outside)) from None
        return rate, a

    def with_friction(self, v: Array, tau: Array) -> Array:
        """Return the joint torques minus the regularised Coulomb friction."""
        return tau if self._friction is None else tau - self._friction * np.tanh(v / CREEP)

    def held(self, q: Array, v: Array, step: float) -> list[str]:
        """Return the joints that Coulomb friction holds at rest, where its slope is too steep for steps much longer."""
        if self._friction is None:
            return []
        rates = self._friction / CREEP * np.diag(np.linalg.inv(self.robot.mass_matrix(q)))
        is_held = (np.abs(v) < CREEP) & (rates * step > 1.0)
        names = (body.joint.name for body in self.robot.model.bodies for _ in range(body.joint.type.nv))
        return [name for name, here in zip(names, is_held, strict=True) if here]

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


def _coulomb(robot: Robot) -> Array | None:
    """Return the Coulomb friction per joint torque, None for a robot without it or with other actuation."""
    if robot.facts.sizes["t"] != robot.nu:
        return None
    friction = np.array([own.friction for own in robot.model.joint_parameters], dtype=float)
    return friction if friction.any() else None


def _without_coulomb(robot: Robot) -> Robot:
    bodies = tuple(replace(body, joint=replace(body.joint, friction=0.0)) for body in robot.model.bodies)
    return robot.with_model(replace(robot.model, bodies=bodies))
