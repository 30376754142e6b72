"""A rollout in NumPy, one call of a kernel per stage: for robots too long for a march of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.recursion.kinematics import Scalars
from appell.recursion.rates import coordinate_rates
from appell.robot.robot import Robot
from appell.simulate.law import Law, correction
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
    q, v = (np.array(state) for state in states)
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
            tau = _driven(robot, law, q, v, tau, fixed, [drive[:, step] for drive in drives[1:]])
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
    robot: Robot, law: Law, q: Array, v: Array, tau: Array, fixed: Sequence[Array], goals: Sequence[Array]
) -> Array:
    """Return the given joint forces and the law's, within the limit."""
    kp, kd, limit = fixed
    believed = law.believed or robot

    def dynamics(_: Scalars, v: Scalars, a: Scalars) -> Any:
        return _columns(believed._call("inverse_dynamics", (q, _stacked(v), _stacked(a)), None))

    given = [_columns(x) for x in (q, v, kp, kd, goals[0], goals[1])]
    wanted = law.torque(dynamics, given[0], given[1], _columns(goals[2]), correction(robot.model, *given))
    clipped: Array = np.clip(tau + _stacked(wanted), -limit, limit)
    return clipped


def _columns(x: Array) -> Scalars:
    return tuple(np.moveaxis(x, -1, 0))


def _stacked(columns: Scalars) -> Array:
    return np.stack(columns, axis=-1)
