"""A servo: the joint forces that hold a robot at a goal, as a law for :func:`appell.simulate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.robot.robot import Robot
from appell.simulate.plant import quaternions

Array = NDArray[Any]
Law = Callable[[float, Array, Array], Array]


def pd(robot: Robot, kp: ArrayLike, kd: ArrayLike, goal: ArrayLike, *, gravity: bool = False) -> Law:
    """Return the law τ = kp·(goal ⊖ q) − kd·v, with G(q) added where asked; a free base is not driven by G.

    >>> import appell
    >>> robot = appell.load("two-link")
    >>> pd(robot, 2.0, 1.0, [0.5, 0.0])(0.0, [0.0, 0.0], [0.0, 3.0])
    array([ 1., -3.])
    """
    motors, turning = driven(robot), quaternions(robot)
    stiff, damp, wanted = (np.asarray(x, dtype=float) for x in (kp, kd, goal))
    away = _difference(robot, np.broadcast_to(stiff, robot.nv))

    def law(_: float, q: Array, v: Array) -> Array:
        q = np.array(q, dtype=float)
        for k in turning:  # within a step they have unit length but nearly
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        tau = stiff * away(q, wanted) - damp * np.asarray(v)
        return np.asarray(tau + np.where(motors, robot.gravity(q), 0.0) if gravity else tau)

    return law


def _difference(robot: Robot, gains: Array) -> Callable[[Array, Array], Array]:
    """Return goal ⊖ q; where only joints of one coordinate have gains, the short way."""
    model = robot.model.independent
    spans = list(zip(model.q_slices, model.v_slices, strict=True))
    simple = [(at.start, along.start) for at, along in spans if at.stop - at.start == along.stop - along.start == 1]
    coordinates, velocities = (np.array(x, dtype=int) for x in zip(*simple, strict=True)) if simple else ((), ())
    if np.delete(gains, velocities).any():
        return robot.difference

    def plain(q: Array, goal: Array) -> Array:
        result = np.zeros(robot.nv)
        result[velocities] = goal[coordinates] - q[coordinates]
        return result

    return plain


def driven(robot: Robot) -> Array:
    """Return which velocities have a motor: all but those of free joints, (nv,)."""
    model = robot.model.independent
    return np.array(
        [
            body.joint.kind != "free"
            for body, at in zip(model.bodies, model.v_slices, strict=True)
            for _ in range(at.start, at.stop)
        ],
        dtype=bool,
    )
