"""Straight lines of a frame with constant orientation, as motions of the joints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.planning.goal import checked_frame, misfit, positive, triple, vector
from appell.planning.trajectory.trajectory import ConstantSpeed, Timing, Trajectory, TrajectoryState, timing_of
from appell.robot.robot import Robot
from appell.spatial.scalar import Array, frozen

_KNOTS = (64, 512, 4096)
"""Numbers of steps along a line; the next is tried where one fails."""
_TURN = 0.25
"""The largest motion of a joint in one step [rad or m] that certainly stays on its branch."""
_EXACT = 1e-12
"""Residual [m, rad] at which Newton's method has converged."""
_MISSED = 1e-10
"""Residual [m, rad] from which a configuration is not on the line."""


@dataclass(frozen=True, eq=False)
class CartesianLine(Trajectory):
    """A straight line of a frame from its position at `q0` to the position `end` [m], with constant orientation.

    The branch is that of `q0`, and joints pass ±π without a jump. The timing is either a constant `speed` [m/s], or
    `timing`: a timing law, or a duration [s]. The frame is the last of the robot's file unless named. Positions,
    velocities and accelerations of the joints are exact to rounding: q by Newton's method, v = J⁻¹ẋ and
    a = J⁻¹(ẍ − J̇v). It is for robots of six velocities; joint limits are ignored.

    Parameters
    ----------
    robot
        A robot with six joints of one coordinate each.
    q0
        First configuration (6,) [rad, m].
    end
        Last position (3,) of the frame [m].
    speed
        Constant speed [m/s]; either this or `timing`.
    timing
        A timing law, or a duration [s].
    frame
        Name of the frame; the last one of the robot by default.

    Examples
    --------
    >>> import appell, numpy as np
    >>> from appell.planning.analytic_ik import analytic_ik
    >>> from appell.planning.goal import pose
    >>> robot = appell.load("puma600")
    >>> goal = pose([0.6, 0.175, 0.25], np.deg2rad([45, 60, 90]))
    >>> q0 = analytic_ik(robot, goal).pick(shoulder=1, elbow=1, wrist=1)
    >>> line = appell.trajectory.CartesianLine(robot, q0, [0.018, 0.757, 0.0], speed=0.1)
    >>> round(line.duration, 5)
    8.60202
    >>> robot.inverse_dynamics(*line(0.0)).round(4)[1:3]
    array([-56.3153, -25.3889])
    """

    robot: Robot
    q0: ArrayLike
    end: ArrayLike
    speed: float | None = None
    timing: float | Timing | None = None
    frame: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "frame", checked_frame(self.robot, self.frame))
        if self.robot.nv != 6 or self.robot.nq != 6:
            raise InputError(
                f"CartesianLine: expected a robot of six joints with one coordinate each, which a pose determines; "
                f"robot '{self.robot.name}' has nq {self.robot.nq} and nv {self.robot.nv}"
            )
        object.__setattr__(self, "q0", frozen(vector("q0", self.q0, 6)))
        object.__setattr__(self, "end", frozen(triple("end", self.end)))
        if (self.speed is None) == (self.timing is None):
            raise InputError("CartesianLine: expected either a speed or a timing")
        if self.speed is not None:
            if self.length == 0.0:
                raise InputError("end: the frame is already there, and a line of no length takes no time at any speed")
            object.__setattr__(self, "timing", ConstantSpeed(self.length / positive("speed", self.speed)))
        _ = self._guide  # a line that cannot be followed is an error here, not later

    @property
    def length(self) -> float:
        """Return the length of the line [m]."""
        return float(np.linalg.norm(self._way))

    @property
    def duration(self) -> float:
        """Return how long the line takes [s]."""
        return self._timing.duration

    def at(self, t: Array) -> TrajectoryState:
        """Return the joints by Newton's method and their derivatives through the Jacobian."""
        s, rate, change = self._timing.at(t)
        q = self._solved(s, self._guide(s))
        J = self.robot.jacobian(q, self._frame)
        twist, push = np.zeros((2, *q.shape))
        twist[..., :3], push[..., :3] = rate[..., None] * self._way, change[..., None] * self._way
        v = np.linalg.solve(J, twist[..., None])[..., 0]
        bias = self.robot.acceleration(q, v, np.zeros_like(v), self._frame)  # J̇v
        return TrajectoryState(q, v, np.linalg.solve(J, (push - bias)[..., None])[..., 0])

    @property
    def _timing(self) -> Timing:
        assert self.timing is not None
        return timing_of(self.timing)

    @property
    def _frame(self) -> str:
        assert self.frame is not None
        return self.frame

    @cached_property
    def _first(self) -> Array:
        return self.robot.pose(np.asarray(self.q0), self._frame)

    @cached_property
    def _way(self) -> Array:
        return np.asarray(self.end) - self._first[:3, 3]

    def _poses(self, s: Array) -> Array:
        poses = np.broadcast_to(self._first, (*s.shape, 4, 4)).copy()
        poses[..., :3, 3] += s[..., None] * self._way
        return poses

    @cached_property
    def _guide(self) -> scipy.interpolate.CubicHermiteSpline:
        """Return approximate joint coordinates over s, found by following the line from its start."""
        place = first = 0.0
        for count in _KNOTS:
            s = np.linspace(0.0, 1.0, count + 1)
            q, slope = np.zeros((2, count + 1, 6))
            q[0] = np.asarray(self.q0)
            for k in range(count + 1):
                if k:
                    q[k] = self._newton(s[k], q[k - 1] + slope[k - 1] / count)
                slope[k], side = self._slope(q[k])
                first = side if k == 0 else first
                place = s[k]
                if not np.abs(slope[k]).max() <= _TURN * count or side != first:  # NaN included
                    break
            else:
                return scipy.interpolate.CubicHermiteSpline(s, q, slope)
        where = self._poses(np.array(place))[:3, 3].round(4)
        raise InputError(
            f"CartesianLine: robot '{self.robot.name}' cannot follow the line beyond {place:.1%} of it, at position "
            f"{where}: there it comes out of reach or into a singular pose; try another branch for q0, or a shorter "
            "line"
        )

    def _slope(self, q: Array) -> tuple[Array, float]:
        """Return dq/ds, NaN where the Jacobian is singular, and the sign of det J, which changes at singularities."""
        J = self.robot.jacobian(q, self._frame)
        if not np.isfinite(J).all():
            return np.full(6, np.nan), 0.0
        try:
            return np.linalg.solve(J, [*self._way, 0.0, 0.0, 0.0]), float(np.sign(np.linalg.det(J)))
        except np.linalg.LinAlgError:
            return np.full(6, np.nan), 0.0

    def _newton(self, s: float, q: Array) -> Array:
        """Return the joint coordinates at s, or NaN if Newton's method fails."""
        goal = self._poses(np.array(s))
        for _ in range(8):
            e = misfit(self.robot.pose(q, self._frame), goal)
            if np.abs(e).max() < _EXACT:
                return q
            try:
                q = q + np.linalg.solve(self.robot.jacobian(q, self._frame), e)
            except np.linalg.LinAlgError:
                break
        return np.full(6, np.nan)

    def _solved(self, s: Array, q: Array) -> Array:
        """Return the joint coordinates at many s from approximate ones: three steps square the error three times."""
        goal = self._poses(s)
        for _ in range(3):
            e = misfit(self.robot.pose(q, self._frame), goal)
            q = q + np.linalg.solve(self.robot.jacobian(q, self._frame), e[..., None])[..., 0]
        off = np.abs(misfit(self.robot.pose(q, self._frame), goal)).max(initial=0.0)
        if not off < _MISSED:
            raise InputError(
                f"CartesianLine: the joints of robot '{self.robot.name}' were missed by {off:.2g} m or rad, so close "
                "does the line pass by a singular pose; try another branch for q0, or another line"
            )
        return q
