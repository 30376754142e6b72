"""Laws of the joints: the three of valera2003's table 4, PD, and PD with gravity compensation.

All of valera2003's are inverse dynamics, (29) τ = M(q)·u + C(q, v)·v + G(q), and differ in the acceleration u. With the
error e = q* ⊖ q (the paper's has the other sign), they are

    point to point                   u = kp·e − kd·v
    tracking                         u = a* + kd·ė + kp·e
    tracking with integral action    u = a* + kd·ė + kp·e + ki·∫e dt

where the damping of the last two acts on the error's rate ė = v* − v, which the paper prints as q̇. Friction and rotor
inertia that the robot's model has are compensated too, for they are part of its inverse dynamics.

Of a robot with loops, q is that of the spanning tree and v that of the independent velocities; the laws feed back the
driven ones, the motors, which are the first of them, and give the motors' forces.
"""

from __future__ import annotations

import math
import os
from abc import ABC
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from appell.recursion.kinematics import Scalars
from appell.robot.robot import Robot
from appell.simulation.laws.checks import (
    Clock,
    Trajectory,
    a_robot,
    configuration,
    followed,
    force_limits,
    per_force,
    sample,
    state,
    within,
)
from appell.simulation.laws.equations import EQUATIONS, Feedback, Integral, Model, forces
from appell.simulation.laws.export import Terms, write_law
from appell.spatial.scalar import Array

Reference = tuple[Array, Array, Array]


class JointLaw(ABC):
    """What every law of the joints has: a robot, gains per force, limits, a reference, and an equation.

    It is called with a time and a state, compiled into :func:`appell.rollout`, and written as C.
    """

    equation: ClassVar[str]
    """Its equation in :data:`appell.simulation.laws.equations.EQUATIONS`."""
    verb: ClassVar[str]
    """The name of its function in exported code."""

    def __init__(
        self,
        robot: Robot,
        goal: ArrayLike | Trajectory,
        kp: ArrayLike,
        kd: ArrayLike,
        ki: ArrayLike | None = None,
        *,
        limit: ArrayLike | str | None = None,
    ) -> None:
        self.robot = a_robot(type(self).__name__, robot)
        self.goal = goal if callable(goal) else configuration(robot, "goal", goal)
        self.kp, self.kd = per_force(robot, "kp", kp), per_force(robot, "kd", kd)
        self.ki = None if ki is None else per_force(robot, "ki", ki)
        self.limit = force_limits(robot, limit)
        self._clock = Clock(f"{type(self).__name__} with integral action")
        self.reset()

    def reset(self) -> None:
        """Forget the integral: the next call is the first."""
        self._clock.reset()
        self._memory = np.zeros(2 * self.robot.nu)

    @property
    def integral(self) -> Array:
        """Return z, the integral of the error so far [rad·s]."""
        return self._memory[..., : self.robot.nu].copy()

    def reference(self, t: float) -> Reference:
        """Return q*, v* and a* at a time: of a trajectory, or of a goal at rest."""
        if callable(self.goal):
            return sample(self.robot, self.goal, t)
        still = np.zeros((*self.goal.shape[:-1], self.robot.nv))
        return self.goal, still, still

    def references(self, times: Array) -> Reference:
        """Return q*, v* and a* at times, (..., times, n) each; those of a goal once for all times."""
        moments = times if callable(self.goal) else times[:1]
        rows = zip(*(self.reference(float(t)) for t in moments), strict=True)
        q, v, a = (np.stack(np.broadcast_arrays(*row), axis=-2) for row in rows)
        return q, v, a

    def __call__(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the forces at a time and a state, (..., nu)."""
        t, q, v = state(self.robot, t, q, v)
        if self.ki is None:
            return self.forces(q, v, self.reference(t))[0]
        elapsed = self._clock.advance(t)
        tau, self._memory = self.forces(q, v, self.reference(t), memory=self._memory, elapsed=elapsed or 0.0)
        return tau

    def forces(
        self,
        q: Array,
        v: Array,
        reference: Reference,
        tau: ArrayLike = 0.0,
        *,
        memory: Array | None = None,
        elapsed: ArrayLike = 0.0,
    ) -> tuple[Array, Array]:
        """Return the forces of states within their limits, with `tau` added, and the memory of integral action."""
        robot, n = self.robot, self.robot.nu
        goal_q, goal_v, goal_a = reference
        # the equations are given whole arrays as their scalars: one of all forces
        v_all, goal_a_all = (v,), (goal_a[..., :n],)

        def dynamics(v: Scalars, a: Scalars) -> Scalars:
            return (robot.inverse_dynamics(q, v[0], a[0]),)

        def push(force: Scalars) -> Scalars:
            passive = np.zeros((*force[0].shape[:-1], robot.nv - n))
            return (robot.evaluate("actuator_forces", q, np.concatenate([force[0], passive], axis=-1)),)

        def force(correction: Scalars) -> Scalars:
            wanted = EQUATIONS[self.equation](Model(dynamics, push), v_all, goal_a_all, correction)
            return (tau + wanted[0],)

        error = robot.evaluate("tracking_error", q, goal_q)
        feedback = Feedback((error,), ((goal_v - v)[..., :n],), (self.kp,), (self.kd,))
        integral = None
        if self.ki is not None and memory is not None:
            limit = self.limit if np.isfinite(self.limit).any() else math.inf
            before = memory[..., :n], memory[..., n:]
            integral = Integral((self.ki,), (limit,), before, np.asarray(elapsed)[..., None])
        (wanted,), after = forces(force, feedback, integral)
        return within(wanted, self.limit), np.concatenate(after, axis=-1) if after else np.zeros(0)

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
            double tau[TWO_LINK_NU]);
        """
        terms = Terms(self.kp, self.kd, self.ki, self.limit)
        return write_law(self.robot, self.equation, self.verb, terms, to, path, real=real, libm=libm, prefix=prefix)


class PD(JointLaw):
    """Joint forces kp·(q* ⊖ q) + kd·(v* − v).

    Parameters
    ----------
    robot
        A robot.
    goal
        Where to go, (..., nq), or a trajectory: anything that gives (q, v, a) of a time.
    kp, kd
        Gains in units of force, [N·m/rad] and [N·m·s/rad], one number or (..., nu).
    limit
        Forces are kept within ±limit: None, one number, (nu,), or "file" for those of the robot's file.

    Raises
    ------
    InputError
        When an argument does not fit the robot.

    >>> import appell
    >>> law = appell.control.PD(appell.load("two-link"), [0.5, 0.0], kp=2.0, kd=1.0)
    >>> law(0.0, [0.0, 0.0], [0.0, 3.0])
    array([ 1., -3.])
    """

    equation = verb = "pd"


class PointToPoint(JointLaw):
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

    equation, verb = "computed_torque", "point_to_point"


class PDGravity(JointLaw):
    """Joint forces G(q) + kp·(goal ⊖ q) − kd·v, stable whatever the inertia (Takegaki and Arimoto 1981).

    Parameters
    ----------
    robot
        A robot, as the controller believes it to be.
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

    equation = verb = "pd_gravity"


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

    equation, verb = "computed_torque", "tracking"

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
        super().__init__(robot, followed(trajectory), kp, kd, ki, limit=limit)
