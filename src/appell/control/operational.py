"""Computed torque in operational space (Khatib 1987): a frame of the robot follows a path in world axes.

With the error e of the frame's pose, its velocity V and x̂ = V̇* + kd·(V* − V) + kp·e, the joint accelerations are

    a = J̄ (x̂ − J̇v) + (1 − J̄J)·a₀,      J̄ = M⁻¹Jᵀ (J M⁻¹ Jᵀ)⁻¹                                            (1)

and τ = ID(q, v, a). J̄ is the dynamically consistent inverse; null-space motion a₀ of a redundant robot
does not disturb the frame. Where J loses rank, the singular directions are not controlled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import finite_array, numbers
from appell.errors import InputError
from appell.messages import shown
from appell.planning.goal import misfit
from appell.robot.robot import Robot
from appell.simulation.laws.checks import configuration, force_limits, fully_actuated, per_force, state, within
from appell.spatial.scalar import Array

Path = Callable[[float], Sequence[ArrayLike]]
"""A function of t that returns a pose (4, 4), velocity (6,) and acceleration (6,), linear first, in world axes."""
LOST = 1e-9
"""Directions whose mobility is below this fraction of the largest are singular."""


class OperationalSpace:
    """Operational-space control: joint torques that make a frame follow a path; without memory.

    Parameters
    ----------
    robot : Robot
        The model used by the controller, without loops.
    frame : str
        Name of a link or frame.
    path : callable
        A function of the time that returns (pose (4, 4), velocity (6,), acceleration (6,)), linear first, world axes.
    kp, kd : array_like
        Gains [1/s²] and [1/s], one number or (6,).
    axes : sequence of int
        The controlled axes: 0 to 2 translation along, 3 to 5 rotation about x, y and z of the world.
    posture : array_like, optional
        Null-space posture of a redundant robot, (nq,). Default: the null-space motion is only damped.
    posture_gains : pair of array_like
        kp and kd of the posture [1/s²] and [1/s].
    limit : array_like, "file" or None
        Torques are clipped to ±limit [N·m]: one number, (nv,), or "file" for the effort limits of the robot's file.

    Raises
    ------
    InputError
        When an argument does not match the robot.

    References
    ----------
    O. Khatib, *A unified approach for motion and force control of robot manipulators: the operational space
    formulation*, IEEE J. Robotics and Automation 3 (1987) 43–53.

    Examples
    --------
    >>> import appell, numpy as np
    >>> robot, q = appell.load("puma600"), np.array([0.1, -0.8, 2.6, 0.3, 0.9, 0.2])
    >>> start, still = robot.pose(q, "link6"), np.zeros(6)
    >>> law = appell.control.OperationalSpace(robot, "link6", lambda t: (start, still, still), 100.0, 20.0)
    >>> np.allclose(law(0.0, q, np.zeros(6)), robot.gravity(q))
    True
    """

    def __init__(  # noqa: PLR0913  # keyword options
        self,
        robot: Robot,
        frame: str,
        path: Path,
        kp: ArrayLike,
        kd: ArrayLike,
        *,
        axes: Sequence[int] = range(6),
        posture: ArrayLike | None = None,
        posture_gains: tuple[ArrayLike, ArrayLike] = (25.0, 10.0),
        limit: ArrayLike | str | None = None,
    ) -> None:
        self.robot = fully_actuated("OperationalSpace", robot)
        robot.pose(robot.neutral(), frame)  # or raise
        self.frame = frame
        if not callable(path):
            raise InputError(f"path: expected a function t -> (pose, velocity, acceleration), got {shown(path)}")
        self.path = path
        self.kp, self.kd = _gains("kp", kp), _gains("kd", kd)
        self.axes = list(axes) if isinstance(axes, Sequence) else []
        known = [k for k in self.axes if isinstance(k, int) and not isinstance(k, bool) and k in range(6)]
        if not self.axes or known != self.axes or len(set(known)) != len(known):
            raise InputError(f"axes: expected some of 0 to 5, each once, got {shown(axes)}")
        self.posture = None if posture is None else configuration(robot, "posture", posture)
        if not isinstance(posture_gains, Sequence) or len(posture_gains) != 2:
            raise InputError(f"posture_gains: expected kp and kd, got {shown(posture_gains)}")
        stiff, damp = posture_gains
        self._stiff, self._damp = per_force(robot, "posture kp", stiff), per_force(robot, "posture kd", damp)
        self.limit = force_limits(robot, limit)

    def __call__(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the torques [N·m] at a time and a state, (..., nv)."""
        robot, axes = self.robot, self.axes
        t, q, v = state(robot, t, q, v)
        J = robot.jacobian(q, self.frame)[..., axes, :]
        wanted = self._wanted(t, q, v)[..., axes, None]
        carried = np.linalg.solve(robot.mass_matrix(q), np.swapaxes(J, -1, -2))  # M⁻¹Jᵀ
        inverse = carried @ np.linalg.pinv(J @ carried, rcond=LOST, hermitian=True)
        free = -self._damp * v
        if self.posture is not None:
            free = free + self._stiff * self.robot.evaluate("tracking_error", q, self.posture)
        a = inverse @ wanted + free[..., None] - inverse @ (J @ free[..., None])
        return within(robot.inverse_dynamics(q, v, a[..., 0]), self.limit)

    def _wanted(self, t: float, q: Array, v: Array) -> Array:
        """Return x̂ − J̇v, (..., 6)."""
        robot = self.robot
        parts = self.path(t)
        try:
            pose, velocity, acceleration = parts
        except (TypeError, ValueError):
            raise InputError(
                f"path: expected (pose, velocity, acceleration) at t = {t:.6g} s, got {shown(parts)}"
            ) from None
        goal = numbers(robot.name, "path pose", (4, 4), finite_array("path pose", pose))
        speed, rate = (
            numbers(robot.name, f"path {name}", (6,), finite_array(f"path {name}", x))
            for name, x in (("velocity", velocity), ("acceleration", acceleration))
        )
        error = misfit(robot.pose(q, self.frame), goal)
        bias = robot.acceleration(q, v, np.zeros_like(v), self.frame)
        return np.asarray(rate + self.kd * (speed - robot.velocity(q, v, self.frame)) + self.kp * error - bias)


def _gains(name: str, value: ArrayLike) -> Array:
    """Return one gain per axis, (6,)."""
    given = finite_array(name, value)
    if given.shape not in ((), (6,)) or not (given >= 0.0).all():
        raise InputError(f"{name}: expected one number of 0 or more, or six, got {shown(value)}")
    return np.broadcast_to(given, (6,))
