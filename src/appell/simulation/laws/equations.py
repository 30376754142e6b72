"""Equations of the joint control laws, generic in the scalar: torques from a state, a reference, and gains.

A control law computes the feedback kp·e + kd·ė + ki·z of the error e = q* ⊖ q; its equation (:data:`EQUATIONS`)
converts it to torques. On traced scalars it becomes part of a rollout or of exported code; on arrays it is the call.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from appell.program.record import Recorder
from appell.recursion.kinematics import Scalars
from appell.robot.robot import Robot
from appell.spatial.scalar import Scalar, select, sign

Dynamics = Callable[[Scalars, Scalars], Scalars]
"""Actuator torques from v and a, at a fixed configuration."""
Push = Callable[[Scalars], Scalars]
"""Actuator torques equivalent to generalised forces on the driven velocities."""


class Model(NamedTuple):
    """The robot model of a control law: inverse dynamics, and the map from generalised forces to actuator torques."""

    dynamics: Dynamics
    push: Push


def computed_torque(model: Model, v: Scalars, goal_a: Scalars, correction: Scalars) -> Scalars:
    """Return ID(q, v, a* + correction)."""
    return tuple(model.dynamics(v, tuple(x + y for x, y in zip(goal_a, correction, strict=True))))


def proportional(model: Model, v: Scalars, goal_a: Scalars, correction: Scalars) -> Scalars:
    """Return the feedback as a torque."""
    return tuple(model.push(correction))


def with_gravity(model: Model, v: Scalars, goal_a: Scalars, correction: Scalars) -> Scalars:
    """Return the gravity torques plus the feedback as a torque."""
    held = model.dynamics(tuple(0.0 * x for x in v), tuple(0.0 * x for x in goal_a))
    return tuple(x + y for x, y in zip(held, model.push(correction), strict=True))


EQUATIONS = {"computed_torque": computed_torque, "pd": proportional, "pd_gravity": with_gravity}
"""The equations by name."""


class Feedback(NamedTuple):
    """Feedback of a control law: the error q* ⊖ q, its rate v* − v, and their gains; one number per torque each."""

    error: Scalars
    rate: Scalars
    kp: Scalars
    kd: Scalars


class Integral(NamedTuple):
    """Integral action: gains, torque limits, memory, and the time since the last call.

    The memory is z, one number per torque, then the last errors; all zero before the first call, where `elapsed` is 0.
    """

    ki: Scalars
    limit: Scalars
    memory: Scalars
    elapsed: Scalar


def forces(
    force: Callable[[Scalars], Scalars], feedback: Feedback, integral: Integral | None = None
) -> tuple[Scalars, Scalars]:
    """Return the torques of a control law before clipping, and its updated memory, () without integral action.

    `force` maps the feedback kp·e + kd·ė + ki·z to torques. The trapezoidal rule increases z by ½ Δt (e' + e). Where
    the resulting torque exceeds its limit and e would increase it further, z does not change (anti-windup).
    """
    error, rate, kp, kd = feedback
    correction = tuple(p * e + d * r for p, e, d, r in zip(kp, error, kd, rate, strict=True))
    if integral is None:
        return force(correction), ()

    def with_integral(z: Scalars) -> Scalars:
        return force(tuple(x + k * y for x, k, y in zip(correction, integral.ki, z, strict=True)))

    before, last = integral.memory[: len(error)], integral.memory[len(error) :]
    grown = tuple(z + 0.5 * integral.elapsed * (old + e) for z, old, e in zip(before, last, error, strict=True))
    wanted = with_integral(grown)
    if all(map(_is_endless, integral.limit)):
        return wanted, (*grown, *error)
    rows = zip(wanted, error, integral.limit, before, grown, strict=True)
    z = tuple(after if _is_endless(most) else _unwound(tau, e, most, old, after) for tau, e, most, old, after in rows)
    return with_integral(z), (*z, *error)


def _unwound(tau: Scalar, error: Scalar, limit: Scalar, before: Scalar, after: Scalar) -> Scalar:
    """Return z before where |τ| > limit and τ·e > 0, else z after."""
    return select(sign(tau) * tau - limit, select(tau * error, before, after), after)


def clamped(tau: Scalar, limit: Scalar) -> Scalar:
    """Return a torque clipped to ±limit; NaN stays NaN.

    >>> clamped(3.0, 2.0), clamped(-3.0, 2.0), clamped(1.0, 2.0)
    (2.0, -2.0, 1.0)
    """
    if _is_endless(limit):
        return tau
    return select(tau - limit, limit, select(-limit - tau, -limit, tau))


def freed(tau: Scalar, limit: Scalar, x: Scalar) -> Scalar:
    """Return x where a torque is within ±limit, else 0.

    >>> freed(1.0, 2.0, 5.0), freed(-3.0, 2.0, 5.0)
    (5.0, 0.0)
    """
    return x if _is_endless(limit) else select(limit - sign(tau) * tau, x, 0.0)


def _is_endless(limit: Scalar) -> bool:
    """Return whether a limit is a constant and infinite, so that no clipping is traced."""
    return isinstance(limit, float) and math.isinf(limit)


def traced_model(call: Recorder, robot: Robot, q: Scalars, checks: list[Any] | None = None) -> Model:
    """Return the robot model of a control law on traced scalars; the values of guards are stored in `checks`."""

    def dynamics(v: Scalars, a: Scalars) -> Scalars:
        tau, *values = call(robot.program("inverse_dynamics").spec.program(), q, v, a)
        if checks is not None:
            checks[:] = values
        return tau

    def push(force: Scalars) -> Scalars:
        passive = (0.0,) * (robot.nv - robot.nu)
        return call(robot.program("actuator_forces").spec.program(), q, (*force, *passive))[0]

    return Model(dynamics, push)
