"""Joint control laws: the three of valera2003 table 4, PD, and PD with gravity compensation.

The laws of valera2003 are computed torque, (29) τ = M(q)·u + C(q, v)·v + G(q), and differ in the acceleration u. With
the error e = q* ⊖ q (of opposite sign in the paper), they are

    point to point                   u = kp·e − kd·v
    tracking                         u = a* + kd·ė + kp·e
    tracking with integral action    u = a* + kd·ė + kp·e + ki·∫e dt

where the damping of the last two acts on the error rate ė = v* − v, printed as q̇ in the paper. Friction and rotor
inertia of the model are compensated too, as part of its inverse dynamics.

For a closed-loop robot, q is the configuration of the spanning tree and v the independent velocities; the feedback acts
on the driven ones, the first of them, and the output is the motor torques.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from appell.robot.robot import Robot
from appell.simulation.laws.base import JointLaw
from appell.simulation.laws.checks import Trajectory, followed

__all__ = ["PD", "JointLaw", "PDGravity", "PointToPoint", "Tracking"]


class PD(JointLaw):
    """PD control: joint torques kp·(q* ⊖ q) + kd·(v* − v).

    Parameters
    ----------
    robot : Robot
        The robot.
    goal : array_like or callable
        Target configuration (..., nq), or a trajectory: a function of the time that returns (q, v, a).
    kp, kd : array_like
        Gains [N·m/rad] and [N·m·s/rad], one number or (..., nu).
    ki : array_like, optional
        Gains of integral action [N·m/(rad·s)], see :class:`Tracking`.
    limit : array_like, "file" or None
        Torques are clipped to ±limit [N·m]: one number, (nu,), or "file" for the effort limits of the robot's file.

    Raises
    ------
    InputError
        When an argument does not match the robot.

    Examples
    --------
    >>> import appell
    >>> law = appell.control.PD(appell.load("two-link"), [0.5, 0.0], kp=2.0, kd=1.0)
    >>> law(0.0, [0.0, 0.0], [0.0, 3.0])
    array([ 1., -3.])
    """

    equation = verb = "pd"


class PointToPoint(JointLaw):
    """Computed torque to a fixed goal: joint torques ID(q, v, kp·(goal ⊖ q) − kd·v).

    Parameters
    ----------
    robot : Robot
        The model used by the controller.
    goal : array_like
        Target configuration (..., nq); for a closed-loop robot, only the motor coordinates are used.
    kp, kd : array_like
        Gains [1/s²] and [1/s], one number or (..., nu), see :func:`gains`.
    ki : array_like, optional
        Gains of integral action [1/s³], see :class:`Tracking`.
    limit : array_like, "file" or None
        Torques are clipped to ±limit [N·m]: one number, (nu,), or "file" for the effort limits of the robot's file.

    Raises
    ------
    InputError
        When an argument does not match the robot.

    References
    ----------
    valera2003, table 4, first row.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("puma600")
    >>> law = appell.control.PointToPoint(robot, [0.5] * 6, *appell.control.gains(8.0))
    >>> run = appell.simulate(robot, [0.0] * 6, [0.0] * 6, 2.0, control=law, rtol=1e-6)
    >>> run.q[-1].round(4)
    array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    """

    equation, verb = "computed_torque", "point_to_point"


class PDGravity(JointLaw):
    """PD control with gravity compensation: joint torques G(q) + kp·(goal ⊖ q) − kd·v, stable for any inertia.

    Parameters
    ----------
    robot : Robot
        The model used by the controller.
    goal : array_like
        Target configuration (..., nq).
    kp, kd : array_like
        Gains [N·m/rad] and [N·m·s/rad], one number or (..., nu).
    ki : array_like, optional
        Gains of integral action [N·m/(rad·s)], see :class:`Tracking`.
    limit : array_like, "file" or None
        Torques are clipped to ±limit [N·m]: one number, (nu,), or "file" for the effort limits of the robot's file.

    Raises
    ------
    InputError
        When an argument does not match the robot.

    References
    ----------
    M. Takegaki, S. Arimoto, *A new feedback method for dynamic control of manipulators*, J. Dyn. Sys. Meas. Control 103
    (1981) 119–125.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("puma600")
    >>> law = appell.control.PDGravity(robot, [0.5] * 6, kp=900.0, kd=200.0)
    >>> bool(abs(law(0.0, [0.5] * 6, [0.0] * 6) - robot.gravity([0.5] * 6)).max() == 0.0)
    True
    """

    equation = verb = "pd_gravity"


class Tracking(JointLaw):
    """Computed torque along a trajectory: joint torques ID(q, v, a* + kd·(v* − v) + kp·(q* ⊖ q) + ki·z).

    Without `ki` the law has no memory, and q and v may have leading axes. With it, z = ∫(q* ⊖ q) dt is integrated from
    call to call by the trapezoidal rule; a repeated time adds nothing. The first call, also after :meth:`reset`, starts
    with z = 0. Such a law must be sampled, as in ``appell.simulate(..., rate=1000)``: decreasing times, as an adaptive
    integrator produces them, are an error.

    Anti-windup is by conditional integration: z of a joint whose torque is at its limit does not grow further.

    Parameters
    ----------
    robot : Robot
        The model used by the controller.
    trajectory : callable
        A function of the time that returns (q, v, a); for a closed-loop robot, only the motor coordinates are used.
    kp, kd, ki : array_like
        Gains [1/s²], [1/s] and [1/s³], one number or (..., nu), see :func:`gains` and :func:`integral_gains`.
    limit : array_like, "file" or None
        Torques are clipped to ±limit [N·m]: one number, (nu,), or "file" for the effort limits of the robot's file.

    Raises
    ------
    InputError
        When an argument does not match the robot; in a call, when the trajectory's sizes do not, or time decreases.

    References
    ----------
    valera2003, table 4, second and third row.

    Examples
    --------
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
