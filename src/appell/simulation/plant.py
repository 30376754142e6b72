"""The robot as an integrator sees it: a smooth field, whatever the robot.

Two things would not be smooth. *Coulomb friction of joints* jumps where a joint turns round; here it is f·tanh(v/v₀)
with v₀ = :data:`CREEP`, the same beyond a few v₀, and a joint that would stick creeps below v₀ instead. *Singularities*
of a robot with loops are where its motors no longer determine the motion; there the robot goes on in other coordinates
(:meth:`appell.Robot.coordinates_near`), and results stay in the robot's own.
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
"""Speed [rad/s or m/s] below which the Coulomb friction of a joint is smoothed."""


class Plant:
    """A robot's motion for an engine; with walls, `charts` is False and the coordinates stay."""

    def __init__(self, robot: Robot, *, charts: bool) -> None:
        self.robot = robot
        self._charted = charts
        self._now = robot
        self._friction = _coulomb(robot)
        self.bare = robot if self._friction is None else _without_coulomb(robot)

    @property
    def is_smoothed(self) -> bool:
        """Return whether joints have Coulomb friction, which is smoothed."""
        return self._friction is not None

    def motion(self, q: Array, v: Array, tau: Array) -> tuple[Array, Array]:
        """Return q̇ and the accelerations, in the coordinates of the moment."""
        robot = self._now if self._friction is None else self.bare
        try:
            rate, a = robot.evaluate("motion", q, v, self.with_friction(v, tau))
        except InputError as outside:  # of the workspace
            raise StopError(str(outside)) from None
        return rate, a

    def with_friction(self, v: Array, tau: Array) -> Array:
        """Return forces less the friction of the joints."""
        return tau if self._friction is None else tau - self._friction * np.tanh(v / CREEP)

    def closed(self, q: Array) -> Array:
        """Return q with its loops closed."""
        return np.asarray(self._now.project(q))

    def switched(self, q: Array, v: Array) -> tuple[Array, bool]:
        """Go over to coordinates that are good at q; return v in them and whether they are others than before."""
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
    """Return the Coulomb friction per force of a robot whose every joint has its own, None where there is none."""
    if robot.facts.sizes["t"] != robot.nu:
        return None
    friction = np.array([own.friction for own in robot.model.joint_parameters], dtype=float)
    return friction if friction.any() else None


def _without_coulomb(robot: Robot) -> Robot:
    bodies = tuple(replace(body, joint=replace(body.joint, friction=0.0)) for body in robot.model.bodies)
    return robot.with_model(replace(robot.model, bodies=bodies))
