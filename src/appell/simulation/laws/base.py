"""The base class of joint control laws: calls, references, rollouts and export."""

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
    """Base class of the joint control laws: a robot, gains, torque limits, a reference, and an equation.

    A law is a callable (t, q, v) → τ, is compiled into :func:`appell.rollout`, and can be exported to C.
    """

    equation: ClassVar[str]
    """Name of its equation in :data:`appell.simulation.laws.equations.EQUATIONS`."""
    verb: ClassVar[str]
    """Name of its function in exported code."""

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
        """Reset the memory of integral action, before a new run.

        Examples
        --------
        >>> import appell
        >>> law = appell.control.PD(appell.load("two-link"), [0.0, 0.0], kp=1.0, kd=1.0, ki=1.0)
        >>> _ = law(0.0, [1.0, 0.0], [0.0, 0.0]), law(0.5, [1.0, 0.0], [0.0, 0.0])
        >>> law.integral
        array([-0.5,  0. ])
        >>> law.reset()
        >>> law.integral
        array([0., 0.])
        """
        self._clock.reset()
        self._memory = np.zeros(2 * self.robot.nu)

    @property
    def integral(self) -> Array:
        """Return z, the integral of the error so far [rad·s], (..., nu)."""
        return self._memory[..., : self.robot.nu].copy()

    def reference(self, t: float) -> Reference:
        """Return the reference at a time: the trajectory's, or the goal at rest.

        Parameters
        ----------
        t : float
            Time [s].

        Returns
        -------
        q, v, a : array
            q* (..., nq), v* and a* (..., nv).

        Examples
        --------
        >>> import appell
        >>> appell.control.PD(appell.load("two-link"), [0.5, 0.0], kp=2.0, kd=1.0).reference(0.0)
        (array([0.5, 0. ]), array([0., 0.]), array([0., 0.]))
        """
        if callable(self.goal):
            return sample(self.robot, self.goal, t)
        still = np.zeros((*self.goal.shape[:-1], self.robot.nv))
        return self.goal, still, still

    def references(self, times: Array) -> Reference:
        """Return the reference at several times.

        Parameters
        ----------
        times : array, shape (m,)
            Times [s].

        Returns
        -------
        q, v, a : array
            q* (..., m, nq), v* and a* (..., m, nv); m is 1 for a constant goal.

        Examples
        --------
        >>> import appell, numpy as np
        >>> law = appell.control.PD(appell.load("two-link"), [0.5, 0.0], kp=2.0, kd=1.0)
        >>> law.references(np.arange(3.0))[0]
        array([[0.5, 0. ]])
        """
        moments = times if callable(self.goal) else times[:1]
        rows = zip(*(self.reference(float(t)) for t in moments), strict=True)
        q, v, a = (np.stack(np.broadcast_arrays(*row), axis=-2) for row in rows)
        return q, v, a

    def __call__(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the torques [N·m] at a time and a state, (..., nu)."""
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
        """Return torques clipped to their limits, and the updated memory of integral action.

        Parameters
        ----------
        q, v : array
            States (..., nq) and (..., nv).
        reference : tuple of arrays
            q*, v* and a*.
        tau : array_like
            Torques to add before clipping, (..., nu).
        memory : array, optional
            Memory of integral action, (..., 2 nu): z, then the last errors.
        elapsed : array_like
            Time since the last sample [s].

        Returns
        -------
        tau, memory : array
            Torques (..., nu), and the memory, empty without integral action.

        Examples
        --------
        >>> import appell, numpy as np
        >>> law = appell.control.PD(appell.load("two-link"), [0.5, 0.0], kp=2.0, kd=1.0)
        >>> law.forces(np.zeros(2), np.zeros(2), law.reference(0.0))[0]
        array([1., 0.])
        """
        robot, n = self.robot, self.robot.nu
        goal_q, goal_v, goal_a = reference
        # the scalars of the equations are arrays here, each with all torques
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
        r"""Write the control law as C99 without memory allocation: ``path`` and a header beside it.

        Gains, limits and the robot are constants in the code. The reference is passed as arguments: q*, v* and a* for
        tracking, the goal otherwise. With integral action, the function takes and returns the memory and takes the time
        since the last call; it has no static state.

        Parameters
        ----------
        path : str or path
            The source file to write, such as "arm.c".
        to : str
            "c", the only target.
        real : str
            Number type: "double" or "float".
        libm : bool
            False: without math.h, with polynomials for sine and cosine.
        prefix : str, optional
            Prefix of names in the code. Default: from the robot's name.

        Returns
        -------
        Path
            The path of the source file.

        Raises
        ------
        InputError
            When gains or limits have leading axes, or an option is invalid.

        Examples
        --------
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
