"""Rollouts in NumPy, one kernel call per stage: for robots with too many bodies for a compiled rollout."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from appell.robot.robot import Robot
from appell.simulation.integrators import runge_kutta
from appell.simulation.laws.joint_laws import JointLaw
from appell.spatial.scalar import Array


def stepwise(  # noqa: PLR0913, PLR0917  (the arguments of a compiled rollout, and those of its factory)
    robot: Robot,
    method: str,
    law: JointLaw | None,
    states: Sequence[Array],
    fixed: Sequence[Array],
    drives: Sequence[Array],
    dt: float,
    kept: range,
    parameters: Array | None = None,
) -> tuple[list[Array], Array]:
    """Return the results of a :class:`appell.kernels.runtime.rollout_kernel.RolloutKernel` for these arguments."""
    q, v = (np.array(state) for state in states[:2])
    memory = np.array(states[2]) if len(states) > 2 else None  # of integral action
    results = [np.empty((len(x), len(kept), x.shape[1]), x.dtype) for x in (q, v)]
    lasted = np.zeros(len(q), np.int64)
    for step in range(kept[-1] + 1):
        if step in kept:
            results[0][:, kept.index(step)], results[1][:, kept.index(step)] = q, v
        if step == kept[-1]:
            break
        tau = drives[0][:, step]
        if law is not None:
            goal_q, goal_v, goal_a, *elapsed = (drive[:, step] for drive in drives[1:])
            since = elapsed[0][:, 0] if elapsed else 0.0
            tau, memory = law.forces(q, v, (goal_q, goal_v, goal_a), tau, memory=memory, elapsed=since)
        with np.errstate(over="ignore", invalid="ignore"):
            q, v = _moved(robot, method, q, v, tau, dt, parameters)
            for k in robot.facts.quaternions:
                q[:, k : k + 4] /= np.linalg.norm(q[:, k : k + 4], axis=-1, keepdims=True)
        lasted += np.isfinite(q).all(axis=-1) & np.isfinite(v).all(axis=-1)
    return results, lasted


def _moved(
    robot: Robot, method: str, q: Array, v: Array, tau: Array, dt: float, pi: Array | None
) -> tuple[Array, Array]:
    """Return the state after one step, quaternions not normalised."""

    def field(_: float, y: Array) -> Array:
        return np.concatenate(robot.evaluate("motion", y[:, : robot.nq], y[:, robot.nq :], tau, parameters=pi), axis=-1)

    y = np.concatenate([q, v], axis=-1)
    if method == "euler":
        v = v + dt * field(0.0, y)[:, robot.nq :]
        return q + dt * robot.evaluate("coordinate_rates", q, v), v
    y = runge_kutta(method, field, 0.0, y, dt)
    return y[:, : robot.nq], y[:, robot.nq :]
