"""Laws of the joints: the three of valera2003's table 4, and PD with gravity compensation.

All of valera2003's are inverse dynamics, (29) τ = M(q)·u + C(q, v)·v + G(q), and differ in the acceleration u. With the
error e = q* ⊖ q (the paper's has the other sign), they are

    point to point                   u = kp·e − kd·v
    tracking                         u = a* + kd·ė + kp·e
    tracking with integral action    u = a* + kd·ė + kp·e + ki·∫e dt

where the damping of the last two acts on the error's rate ė = v* − v, which the paper prints as q̇. Friction and rotor
inertia that the robot's model has are compensated too, for they are part of its inverse dynamics.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.control.joints import (
    Clock,
    Trajectory,
    configuration,
    error_of,
    force_limits,
    open_robot,
    per_velocity,
    sample,
    straight,
    within,
)
from appell.errors import InputError
from appell.robot.robot import Robot
from appell.simulate.law import ComputedTorque, GravityPD

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class PointToPoint:
    """Joint forces ID(q, v, kp·(goal ⊖ q) − kd·v), valera2003 table 4, first row.

    Parameters
    ----------
    robot
        An open robot, as the controller believes it to be.
    goal
        Where to go, (..., nq).
    kp, kd
        Gains in units of acceleration, one number or (..., nv); :func:`gains` makes them.
    limit
        Forces are kept within ±limit: None, one number, (nv,), or "file" for those of the robot's file.

    Raises
    ------
    InputError
        When an argument does not fit the robot.

    >>> import appell
    >>> robot = appell.load("puma600")
    >>> law = appell.control.PointToPoint(robot, [0.5] * 6, *appell.control.gains(8.0))
    >>> run = appell.simulate(robot, [0.0] * 6, [0.0] * 6, 2.0, control=law, rtol=1e-6)
    >>> run.q[-1].round(4)
    array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    """

    robot: Robot
    goal: ArrayLike
    kp: ArrayLike
    kd: ArrayLike
    limit: ArrayLike | str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        robot = open_robot("PointToPoint", self.robot)
        set_all(
            self,
            goal=configuration(robot, "goal", self.goal),
            kp=per_velocity(robot, "kp", self.kp),
            kd=per_velocity(robot, "kd", self.kd),
            limit=force_limits(robot, self.limit),
            _error=error_of(robot),
        )

    def __call__(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the forces at a state, (..., nv); the time does not matter."""
        law: Any = self
        q, v = straight(self.robot, q), np.asarray(v, dtype=float)
        u = law.kp * law._error(q, law.goal) - law.kd * v
        return within(self.robot.inverse_dynamics(q, v, u), law.limit)

    def reference(self, t: float) -> tuple[Array, Array, Array]:
        """Return the goal, at rest."""
        goal = np.asarray(self.goal)
        still = np.zeros((*goal.shape[:-1], self.robot.nv))
        return goal, still, still

    def as_law(self, times: ArrayLike | None = None) -> ComputedTorque:
        """Return this law for :func:`appell.rollout`, which runs it in native code; it needs no times.

        >>> import appell
        >>> robot = appell.load("puma600")
        >>> law = appell.control.PointToPoint(robot, [0.5] * 6, 64.0, 16.0)
        >>> run = appell.rollout(robot, [0.0] * 6, [0.0] * 6, None, 1e-3, steps=2000, control=law.as_law())
        >>> run.q[-1].round(4)
        array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
        """
        law: Any = self
        return ComputedTorque(law.kp, law.kd, law.goal, believed=self.robot, limit=law.limit)


class Tracking:
    """Joint forces ID(q, v, a* + kd·(v* − v) + kp·(q* ⊖ q) + ki·z), valera2003 table 4, second and third row.

    Without `ki` the law has no memory, and q and v may have leading axes. With it, z = ∫(q* ⊖ q) dt is memory that
    advances with the times the law is asked at: from one to the next by the trapezoidal rule, not at all when a time is
    asked twice. The first call, and the first after :meth:`reset`, starts with z = 0. So the law must be sampled, as by
    ``appell.simulate(..., rate=1000)``; times that run backwards, as those of an adaptive integrator do, are an error.

    Anti-windup is by conditional integration: z of a joint whose force is at its limit does not grow further that way.

    Parameters
    ----------
    robot
        An open robot, as the controller believes it to be.
    trajectory
        Anything that gives (q, v, a) of a time.
    kp, kd, ki
        Gains in units of acceleration, one number or (..., nv); :func:`gains` and :func:`integral_gains` make them.
    limit
        Forces are kept within ±limit: None, one number, (nv,), or "file" for those of the robot's file.

    Raises
    ------
    InputError
        When an argument does not fit the robot; when called, if the trajectory's sizes do not, or time runs backwards.

    >>> import appell, numpy as np
    >>> robot = appell.load("puma600")
    >>> def nod(t):
    ...     return np.full(6, 0.2 * np.sin(t)), np.full(6, 0.2 * np.cos(t)), np.full(6, -0.2 * np.sin(t))
    >>> law = appell.control.Tracking(robot, nod, kp=100.0, kd=20.0)
    >>> run = appell.simulate(robot, *nod(0.0)[:2], 1.0, control=law)
    >>> bool(np.abs(run.q[-1] - nod(1.0)[0]).max() < 1e-8)
    True
    """

    def __init__(
        self,
        robot: Robot,
        trajectory: Trajectory,
        kp: ArrayLike,
        kd: ArrayLike,
        ki: ArrayLike | None = None,
        *,
        limit: ArrayLike | str | None = None,
    ) -> None:
        self.robot = open_robot("Tracking", robot)
        if not callable(trajectory):
            raise InputError(f"trajectory: expected a function t -> (q, v, a), got {type(trajectory).__name__}")
        self.trajectory = trajectory
        self.kp, self.kd = per_velocity(robot, "kp", kp), per_velocity(robot, "kd", kd)
        self.ki = None if ki is None else per_velocity(robot, "ki", ki)
        self.limit = force_limits(robot, limit)
        self._error = error_of(robot)
        self._clock = Clock("Tracking with integral action")
        self.reset()

    def reset(self) -> None:
        """Forget the integral: the next call is the first."""
        self._clock.reset()
        self._integral, self._last = np.zeros(self.robot.nv), np.zeros(self.robot.nv)

    @property
    def integral(self) -> Array:
        """Return z, the integral of the error so far [rad·s]."""
        return self._integral.copy()

    def reference(self, t: float) -> tuple[Array, Array, Array]:
        """Return q*, v* and a* at a time."""
        return sample(self.robot, self.trajectory, t)

    def __call__(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the forces at a time and a state, (..., nv)."""
        goal_q, goal_v, goal_a = self.reference(t)
        q, v = straight(self.robot, q), np.asarray(v, dtype=float)
        error = self._error(q, goal_q)
        u = goal_a + self.kd * (goal_v - v) + self.kp * error
        if self.ki is None:
            return within(self.robot.inverse_dynamics(q, v, u), self.limit)
        elapsed = self._clock.advance(t)
        grown = self._integral + (0.0 if elapsed is None else 0.5 * elapsed) * (self._last + error)
        tau = self.robot.inverse_dynamics(q, v, u + self.ki * grown)
        is_winding = (np.abs(tau) > self.limit) & (tau * error > 0.0)
        if is_winding.any():
            grown = np.where(is_winding, self._integral, grown)
            tau = self.robot.inverse_dynamics(q, v, u + self.ki * grown)
        self._integral, self._last = grown, error
        return within(tau, self.limit)

    def as_law(self, times: ArrayLike) -> ComputedTorque:
        """Return this law for :func:`appell.rollout`, which runs it in native code, step k starting at ``times[k]``.

        Raises
        ------
        InputError
            With integral action, for a rollout's laws have no memory.

        >>> import appell, numpy as np
        >>> robot = appell.load("two-link")
        >>> law = appell.control.Tracking(robot, lambda t: ([t, t], [1.0, 1.0], [0.0, 0.0]), 100.0, 20.0)
        >>> run = appell.rollout(robot, [0, 0], [1, 1], None, 1e-3, control=law.as_law(np.arange(500) * 1e-3))
        >>> run.q[-1].round(2)
        array([0.5, 0.5])
        """
        if self.ki is not None:
            raise InputError("as_law: the laws of a rollout have no memory; leave ki out, or use appell.simulate")
        moments = np.atleast_1d(np.asarray(times, dtype=float))
        q, v, a = (np.stack(rows) for rows in zip(*(self.reference(float(t)) for t in moments), strict=True))
        return ComputedTorque(self.kp, self.kd, q, v, a, believed=self.robot, limit=self.limit)


@dataclass(frozen=True, eq=False)
class PDGravity:
    """Joint forces G(q) + kp·(goal ⊖ q) − kd·v, stable whatever the inertia (Takegaki and Arimoto 1981).

    Parameters
    ----------
    robot
        An open robot, as the controller believes it to be.
    goal
        Where to go, (..., nq).
    kp, kd
        Gains in units of force, [N·m/rad] and [N·m·s/rad], one number or (..., nv).
    limit
        Forces are kept within ±limit: None, one number, (nv,), or "file" for those of the robot's file.

    Raises
    ------
    InputError
        When an argument does not fit the robot.

    >>> import appell
    >>> robot = appell.load("puma600")
    >>> law = appell.control.PDGravity(robot, [0.5] * 6, kp=900.0, kd=200.0)
    >>> bool(abs(law(0.0, [0.5] * 6, [0.0] * 6) - robot.gravity([0.5] * 6)).max() == 0.0)
    True
    """

    robot: Robot
    goal: ArrayLike
    kp: ArrayLike
    kd: ArrayLike
    limit: ArrayLike | str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        robot = open_robot("PDGravity", self.robot)
        set_all(
            self,
            goal=configuration(robot, "goal", self.goal),
            kp=per_velocity(robot, "kp", self.kp),
            kd=per_velocity(robot, "kd", self.kd),
            limit=force_limits(robot, self.limit),
            _error=error_of(robot),
        )

    def __call__(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the forces at a state, (..., nv); the time does not matter."""
        law: Any = self
        q = straight(self.robot, q)
        tau = self.robot.gravity(q) + law.kp * law._error(q, law.goal) - law.kd * np.asarray(v, dtype=float)
        return within(tau, law.limit)

    def reference(self, t: float) -> tuple[Array, Array, Array]:
        """Return the goal, at rest."""
        goal = np.asarray(self.goal)
        still = np.zeros((*goal.shape[:-1], self.robot.nv))
        return goal, still, still

    def as_law(self, times: ArrayLike | None = None) -> GravityPD:
        """Return this law for :func:`appell.rollout`, which runs it in native code; it needs no times."""
        law: Any = self
        return GravityPD(law.kp, law.kd, law.goal, believed=self.robot, limit=law.limit)


def set_all(record: Any, **values: Any) -> None:
    """Set fields of a frozen record while it is made."""
    for name, value in values.items():
        object.__setattr__(record, name, value)
