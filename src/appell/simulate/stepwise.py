"""A rollout in NumPy, one call of a kernel per stage: for robots too long for a march of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.recursion.kinematics import Scalars
from appell.recursion.rates import coordinate_rates
from appell.robot.robot import Robot
from appell.simulate.law import Feedback, Integral, Law, forces, tracking_error
from appell.simulate.scheme import quaternions

Array = NDArray[Any]


def stepwise(
    robot: Robot,
    method: str,
    law: Law | None,
    states: Sequence[Array],
    fixed: Sequence[Array],
    drives: Sequence[Array],
    weights: Array,
    kept: range,
) -> tuple[list[Array], Array]:
    """Return what a :class:`appell.kernels.marcher.Marcher` returns of the same arrays."""
    q, v = (np.array(state) for state in states[:2])
    memory = np.array(states[2]) if len(states) > 2 else None  # of a law with integral action
    weights, places = weights.astype(q.dtype), quaternions(robot.model)
    results = [np.empty((len(x), len(kept), x.shape[1]), x.dtype) for x in (q, v)]
    lasted = np.zeros(len(q), np.int64)
    for step in range(kept[-1] + 1):
        if step in kept:
            results[0][:, kept.index(step)], results[1][:, kept.index(step)] = q, v
        if step == kept[-1]:
            break
        tau = drives[0][:, step]
        if law is not None:
            goals = [drive[:, step] for drive in drives[1:]]
            tau, memory = _driven(robot, law, q, v, tau, fixed, goals, memory)
        with np.errstate(over="ignore", invalid="ignore"):
            q, v = _moved(robot, method, q, v, tau, weights)
            for at in places:
                q[:, at] /= np.linalg.norm(q[:, at], axis=-1, keepdims=True)
        lasted += np.isfinite(q).all(axis=-1) & np.isfinite(v).all(axis=-1)
    return results, lasted


def _moved(robot: Robot, method: str, q: Array, v: Array, tau: Array, weights: Array) -> tuple[Array, Array]:
    """Return the state after one step, quaternions as they come."""
    if method == "euler":
        v = v + weights[0, 0] * robot._call("motion", (q, v, tau), None)[1]
        rates = coordinate_rates(robot.model, _columns(q), _columns(v))
        return q + weights[0, 0] * _stacked(rates), v
    q0, v0, dq, dv = q, v, 0.0 * q, 0.0 * v
    for share, ahead, total in weights:
        rate, a = robot._call("motion", (q, v, tau), None)
        dq, dv = dq + share * rate, dv + share * a
        q, v = q0 + ahead * rate + total * dq, v0 + ahead * a + total * dv
    return q, v


def _driven(
    robot: Robot,
    law: Law,
    q: Array,
    v: Array,
    tau: Array,
    fixed: Sequence[Array],
    goals: Sequence[Array],
    memory: Array | None,
) -> tuple[Array, Array | None]:
    """Return the given joint forces and the law's, within the limit, and the law's memory if it has one."""
    kp, kd, limit, *ki = (_columns(x) for x in fixed)
    goal_q, goal_v, goal_a, *elapsed = goals
    believed = law.believed or robot

    def dynamics(_: Scalars, v: Scalars, a: Scalars) -> Any:
        return _columns(believed._call("inverse_dynamics", (q, _stacked(v), _stacked(a)), None))

    def force(correction: Scalars) -> Scalars:
        wanted = law.torque(dynamics, _columns(q), _columns(v), _columns(goal_a), correction)
        return _columns(tau + _stacked(wanted))

    error = tracking_error(robot.model, _columns(q), _columns(goal_q))
    feedback = Feedback(error, _columns(goal_v - v), kp, kd)
    integral = None if memory is None else Integral(ki[0], limit, _columns(memory), elapsed[0][:, 0])
    wanted, after = forces(force, feedback, integral)
    clipped: Array = np.clip(_stacked(wanted), -fixed[2], fixed[2])
    return clipped, _stacked(after) if after else None


def _columns(x: Array) -> Scalars:
    return tuple(np.moveaxis(x, -1, 0))


def _stacked(columns: Scalars) -> Array:
    return np.stack(columns, axis=-1)
