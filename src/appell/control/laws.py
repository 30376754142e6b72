"""Laws of the joints: the three of valera2003's table 4, and PD with gravity compensation.

All of valera2003's are inverse dynamics, (29) τ = M(q)·u + C(q, v)·v + G(q), and differ in the acceleration u. With the
error e = q* ⊖ q (the paper's has the other sign), they are

    point to point                   u = kp·e − kd·v
    tracking                         u = a* + kd·ė + kp·e
    tracking with integral action    u = a* + kd·ė + kp·e + ki·∫e dt

where the damping of the last two acts on the error's rate ė = v* − v, which the paper prints as q̇. Friction and rotor
inertia that the robot's model has are compensated too, for they are part of its inverse dynamics.

Of a robot with loops, q is that of the spanning tree and v that of the independent velocities; the laws feed back the
motors, which are the first of them, and give the motors' forces.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.control.export import Terms, write_law
from appell.control.joints import (
    Clock,
    Trajectory,
    configuration,
    driven_robot,
    error_of,
    followed,
    force_limits,
    n_forces,
    open_robot,
    per_velocity,
    sample,
    straight,
    within,
)
from appell.robot.robot import Robot
from appell.simulate.law import ComputedTorque, GravityPD

Array = NDArray[Any]


class JointLaw(ABC):
    """What every law of the joints has: a robot, gains per force, and limits; it can be written as C."""

    verb: ClassVar[str]
    """What the law is called in exported code."""

    def __init__(self, robot: Robot, kp: ArrayLike, kd: ArrayLike, limit: ArrayLike | str | None) -> None:
        self.robot = robot
        self.kp, self.kd = per_velocity(robot, "kp", kp), per_velocity(robot, "kd", kd)
        self.limit = force_limits(robot, limit)
        self._error = error_of(robot)
        self._n = n_forces(robot)

    @abstractmethod
    def __call__(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the forces at a time and a state, (..., nv); of a robot with loops, of its motors."""

    @abstractmethod
    def reference(self, t: float) -> tuple[Array, Array, Array]:
        """Return q*, v* and a* at a time."""

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        to: str = "c",
        real: str = "double",
        libm: bool = True,
        prefix: str | None = None,
    ) -> Path:
        r"""Write the law as C99 that needs no allocation: ``path`` and a header beside it.

        Gains, limits and the robot are constants of the code. The reference comes as arguments, for what a program
        does with its robot changes more often than its robot: q*, v* and a* of tracking, the goal of the others. A law
        with integral action takes and returns its memory, and the time since its last call; nothing is kept inside.
        All options are those of :meth:`appell.Robot.export`.

        Raises
        ------
        InputError
            When gains or limits have leading axes, or an option does not fit.

        >>> import appell, tempfile
        >>> law = appell.control.PDGravity(appell.load("two-link"), [0.0, 0.0], kp=9.0, kd=6.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = law.export(folder + "/arm.c")
        ...     print(*file.with_suffix(".h").read_text().splitlines()[-11:-6], sep="\n")
        void two_link_pd_gravity(
            const double q[TWO_LINK_NQ],
            const double v[TWO_LINK_NV],
            const double goal[TWO_LINK_NQ],
            double tau[TWO_LINK_NV]);
        """
        return write_law(self.robot, self.verb, self._terms(), to, path, real=real, libm=libm, prefix=prefix)

    def _terms(self) -> Terms:
        return Terms(self.kp, self.kd, None, self.limit)


class Regulator(JointLaw):
    """A law that leads to a goal at rest."""

    def __init__(
        self, robot: Robot, goal: ArrayLike, kp: ArrayLike, kd: ArrayLike, limit: ArrayLike | str | None
    ) -> None:
        super().__init__(robot, kp, kd, limit)
        self.goal = configuration(robot, "goal", goal)

    def reference(self, t: float) -> tuple[Array, Array, Array]:
        """Return the goal, at rest."""
        still = np.zeros((*self.goal.shape[:-1], self.robot.nv))
        return self.goal, still, still

    def _correction(self, q: Array, v: Array) -> Array:
        """Return kp·(goal ⊖ q) − kd·v."""
        return np.asarray(self.kp * self._error(q, self.goal) - self.kd * v[..., : self._n])


class PointToPoint(Regulator):
    """Joint forces ID(q, v, kp·(goal ⊖ q) − kd·v), valera2003 table 4, first row.

    Parameters
    ----------
    robot
        A robot, as the controller believes it to be.
    goal
        Where to go, (..., nq); of a robot with loops, the motors' coordinates count.
    kp, kd
        Gains in units of acceleration, one number or (..., nv); :func:`gains` makes them. Of loops, one per motor.
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

    verb = "point_to_point"

    def __init__(
        self, robot: Robot, goal: ArrayLike, kp: ArrayLike, kd: ArrayLike, *, limit: ArrayLike | str | None = None
    ) -> None:
        super().__init__(driven_robot("PointToPoint", robot), goal, kp, kd, limit)

    def __call__(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the forces at a state, (..., nv); the time does not matter."""
        q, v = straight(self.robot, q), np.asarray(v, dtype=float)
        return within(self.robot.inverse_dynamics(q, v, self._correction(q, v)), self.limit)

    def as_law(self, times: ArrayLike | None = None) -> ComputedTorque:
        """Return this law for :func:`appell.rollout`, which runs it in native code; it needs no times.

        >>> import appell
        >>> robot = appell.load("puma600")
        >>> law = appell.control.PointToPoint(robot, [0.5] * 6, 64.0, 16.0)
        >>> run = appell.rollout(robot, [0.0] * 6, [0.0] * 6, None, 1e-3, steps=2000, control=law.as_law())
        >>> run.q[-1].round(4)
        array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
        """
        believed = open_robot("as_law", self.robot)
        return ComputedTorque(self.kp, self.kd, self.goal, believed=believed, limit=self.limit)


class PDGravity(Regulator):
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

    verb = "pd_gravity"

    def __init__(
        self, robot: Robot, goal: ArrayLike, kp: ArrayLike, kd: ArrayLike, *, limit: ArrayLike | str | None = None
    ) -> None:
        super().__init__(open_robot("PDGravity", robot), goal, kp, kd, limit)

    def __call__(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the forces at a state, (..., nv); the time does not matter."""
        q, v = straight(self.robot, q), np.asarray(v, dtype=float)
        return within(self.robot.gravity(q) + self._correction(q, v), self.limit)

    def as_law(self, times: ArrayLike | None = None) -> GravityPD:
        """Return this law for :func:`appell.rollout`, which runs it in native code; it needs no times."""
        return GravityPD(self.kp, self.kd, self.goal, believed=self.robot, limit=self.limit)


class Tracking(JointLaw):
    """Joint forces ID(q, v, a* + kd·(v* − v) + kp·(q* ⊖ q) + ki·z), valera2003 table 4, second and third row.

    Without `ki` the law has no memory, and q and v may have leading axes. With it, z = ∫(q* ⊖ q) dt is memory that
    advances with the times the law is asked at: from one to the next by the trapezoidal rule, not at all when a time is
    asked twice. The first call, and the first after :meth:`reset`, starts with z = 0. So the law must be sampled, as by
    ``appell.simulate(..., rate=1000)``; times that run backwards, as those of an adaptive integrator do, are an error.

    Anti-windup is by conditional integration: z of a joint whose force is at its limit does not grow further that way.

    Parameters
    ----------
    robot
        A robot, as the controller believes it to be.
    trajectory
        Anything that gives (q, v, a) of a time; of a robot with loops, the motors' coordinates count.
    kp, kd, ki
        Gains in units of acceleration, one number or (..., nv); :func:`gains` and :func:`integral_gains` make them. Of
        loops, one per motor.
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

    verb = "tracking"

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
        super().__init__(driven_robot("Tracking", robot), kp, kd, limit)
        self.trajectory = followed(trajectory)
        self.ki = None if ki is None else per_velocity(robot, "ki", ki)
        self._clock = Clock("Tracking with integral action")
        self.reset()

    def reset(self) -> None:
        """Forget the integral: the next call is the first."""
        self._clock.reset()
        self._integral, self._last = np.zeros(self._n), np.zeros(self._n)

    @property
    def integral(self) -> Array:
        """Return z, the integral of the error so far [rad·s]."""
        return self._integral.copy()

    def reference(self, t: float) -> tuple[Array, Array, Array]:
        """Return q*, v* and a* at a time."""
        return sample(self.robot, self.trajectory, t)

    def __call__(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the forces at a time and a state, (..., nv)."""
        n = self._n
        goal_q, goal_v, goal_a = self.reference(t)
        q, v = straight(self.robot, q), np.asarray(v, dtype=float)
        error = self._error(q, goal_q)
        u = goal_a[..., :n] + self.kd * (goal_v[..., :n] - v[..., :n]) + self.kp * error
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

        Its integral starts from zero there, and advances by the time of a step. A robot with loops has no such law.

        >>> import appell, numpy as np
        >>> robot = appell.load("two-link")
        >>> law = appell.control.Tracking(robot, lambda t: ([t, t], [1.0, 1.0], [0.0, 0.0]), 100.0, 20.0)
        >>> run = appell.rollout(robot, [0, 0], [1, 1], None, 1e-3, control=law.as_law(np.arange(500) * 1e-3))
        >>> run.q[-1].round(2)
        array([0.5, 0.5])
        """
        believed, moments = open_robot("as_law", self.robot), np.atleast_1d(np.asarray(times, dtype=float))
        q, v, a = (np.stack(rows) for rows in zip(*(self.reference(float(t)) for t in moments), strict=True))
        return ComputedTorque(self.kp, self.kd, q, v, a, believed=believed, limit=self.limit, ki=self.ki)

    def _terms(self) -> Terms:
        return Terms(self.kp, self.kd, self.ki, self.limit)
