"""Contact forces of frames held to the world: margins within their friction cones, torques that keep them there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import numbers, real_array
from appell.errors import InputError
from appell.messages import shown
from appell.robot.stance import friction_cones
from appell.robot.stance.friction_cones import StanceTorques
from appell.robot.stance.held_frames import ground
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from appell.robot.robot import Robot


def friction_margin(robot: Robot, forces: ArrayLike, mu: ArrayLike, normals: ArrayLike) -> Array:
    """Return the margins of contact forces within their friction cones, infinite for closures of other kinds."""
    coefficients, axes = _cones(robot, mu, normals)
    found = numbers(robot.name, "forces", (len(robot.closure_names), 6), forces).astype(float)
    return np.where(_is_held(robot), friction_cones.margin(found[..., :3], coefficients, axes), np.inf)


def stance_torques(
    robot: Robot, state: tuple[ArrayLike, ...], mu: ArrayLike, normals: ArrayLike, weights: ArrayLike | None
) -> StanceTorques:
    """Return the least-squares joint torques of a motion (q, v, a) with contact forces in their friction cones."""
    q, v, a = state
    coefficients, upright = _cones(robot, mu, normals)
    least = robot.inverse_dynamics(q, v, a, weights=weights)
    shape, at = least.shape[:-1], np.flatnonzero(_is_held(robot))
    own = ((q, robot.nq), (v, robot.nv), (np.ones(robot.nu) if weights is None else weights, robot.nu))
    rows = [np.broadcast_to(np.asarray(x, dtype=float), (*shape, n)).reshape(-1, n) for x, n in own]
    count = len(robot.closure_names)
    friction = np.broadcast_to(coefficients, (*shape, count)).reshape(-1, count)[:, at]
    axes = np.broadcast_to(upright, (*shape, count, 3)).reshape(-1, count, 3)[:, at]
    motors = np.swapaxes(robot.actuator_jacobian(rows[0]), -1, -2)

    def forces(i: int, tau: Array) -> Array:
        return robot.contact_forces(rows[0][i], rows[1][i], tau)[:, at, :3]

    flat = least.reshape(-1, robot.nu)
    tau, is_feasible = friction_cones.within_cones(flat, motors, rows[2], forces, friction, axes)
    tau = tau.reshape(least.shape)
    return StanceTorques(tau, robot.contact_forces(q, v, tau), is_feasible.reshape(shape))


def _is_held(robot: Robot) -> Array:
    """Return which closures hold a frame to the world."""
    return np.array([tie.first == ground(tie.name) for tie in robot.model.closures], dtype=bool)


def _cones(robot: Robot, mu: ArrayLike, normals: ArrayLike) -> tuple[Array, Array]:
    """Return coefficients of friction, and normals of length 1."""
    coefficients = real_array("mu", mu, f" for robot '{robot.name}'").astype(float)
    if not ((coefficients >= 0.0) & np.isfinite(coefficients)).all():
        raise InputError(f"mu: expected numbers that are not negative, got {shown(mu)} for robot '{robot.name}'")
    count = len(robot.closure_names)
    if coefficients.ndim and coefficients.shape[-1] != count:
        raise InputError(f"mu: expected one number or (..., {count}), got {shown(mu)} for robot '{robot.name}'")
    given = numbers(robot.name, "normals", (3,), normals).astype(float)
    if given.ndim > 1 and given.shape[-2] != count:
        raise InputError(f"normals: expected (3,) or (..., {count}, 3), got {shown(normals)}")
    lengths = np.linalg.norm(given, axis=-1, keepdims=True)
    if not ((lengths > 0.0) & np.isfinite(lengths)).all():
        raise InputError(f"normals: expected vectors of a length above 0, got {shown(normals)}")
    return coefficients, given / lengths
