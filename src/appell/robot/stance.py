"""Robots that stand: frames held to the world, and contact forces within friction cones.

A force f on a frame with normal n lies in its cone where |f − (n·f)n| ≤ μ n·f. Forces of redundant actuators are
τ = τ₀ + Nz with N the null space of Γ_aᵀ, and contact forces are affine in τ: f = f₀ + Fz. The z of least τᵀWτ with all
f in their cones is a second-order cone program of as many unknowns as actuators are redundant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from appell.arguments import numbers, real_array
from appell.errors import InputError
from appell.extras import extra
from appell.messages import listed, shown
from appell.model.closure import KINDS, Closure
from appell.model.model import WORLD, Frame, Model
from appell.recursion.kinematics import world_poses
from appell.robot.calls.compile import about_of
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array
from appell.spatial.vector import matmul, transpose

if TYPE_CHECKING:
    from appell.robot.robot import Robot

RANK = 1e-10
"""Singular values of Γ_a below this, beside the largest, are zeros."""


class StanceTorques(NamedTuple):
    """Torques of a stance (..., nu), their contact forces (..., closures, 6), and whether all lie in their cones (...).

    Where no torques have that, they are those of least squares.
    """

    tau: Array
    forces: Array
    is_feasible: Array


def margin(forces: Array, mu: Array, normals: Array) -> Array:
    """Return μ n·f − |f − (n·f)n| of forces (..., 3) [N]: not negative within the cone."""
    along = (normals * forces).sum(axis=-1)
    across = np.linalg.norm(forces - along[..., None] * normals, axis=-1)
    return np.asarray(mu * along - across)


def within_cones(
    tau: Array, motors: Array, weights: Array, forces: Callable[[int, Array], Array], mu: Array, normals: Array
) -> tuple[Array, Array]:
    """Return the torques (n, nu) of least squares whose contact forces are in their cones, and where there are any.

    `motors` (n, nv, nu) are Γ_aᵀ, `mu` (n, k) and `normals` (n, k, 3) those of the cones. `forces` gives their forces
    (…, k, 3) of a sample under torques (…, nu).
    """
    clarabel = extra("clarabel", "torques within friction cones need")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    result, is_feasible = tau.copy(), np.zeros(len(tau), dtype=bool)
    for i, matrix in enumerate(motors):
        _, values, rows = np.linalg.svd(matrix)
        free = rows[int((values > RANK * values[0]).sum()) :]
        start, *others = forces(i, np.concatenate([tau[i][None], tau[i] + free]))
        onto = np.array([_parts(*cone) for cone in zip(mu[i], normals[i], strict=True)])
        parts = np.einsum("kij,kj->ki", onto, start).reshape(-1)
        slopes = np.array([np.einsum("kij,kj->ki", onto, f - start).reshape(-1) for f in others])
        z, is_feasible[i] = _least(clarabel, settings, tau[i], free, weights[i], parts, slopes)
        result[i] += z @ free
    return result, is_feasible


def _parts(mu: float, normal: Array) -> Array:
    """Return the matrix from a force to μ times its part along the normal and two parts across it."""
    across = np.linalg.svd(normal[None])[2][1:]
    return np.vstack([mu * normal, across])


def _least(
    clarabel: Any, settings: Any, tau: Array, free: Array, weights: Array, start: Array, slopes: Array
) -> tuple[Array, bool]:
    """Return z of least (τ + Nz)ᵀW(τ + Nz) with each three of start + z·slopes in a cone; zeros if there is none."""
    if not len(free):
        parts = start.reshape(-1, 3)
        return np.zeros(0), bool((parts[:, 0] >= np.linalg.norm(parts[:, 1:], axis=1)).all())
    square = sparse.csc_matrix(np.triu((free * weights) @ free.T))
    cones = [clarabel.SecondOrderConeT(3)] * (len(start) // 3)
    # clarabel's form: minimise ½ zᵀPz + cᵀz with b − Az in the cones
    solver = clarabel.DefaultSolver(
        square, free @ (weights * tau), sparse.csc_matrix(-slopes.T), start, cones, settings
    )
    found = solver.solve()
    if found.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        return np.zeros(len(free)), False
    return np.array(found.x), True


ROWS = {3: KINDS["point"], 6: KINDS["frame"]}
"""The kind of closure by number of rows: the frame's origin, or the frame."""


def checked(robot: Robot, frames: Mapping[str, int], at: ArrayLike | None) -> Model:
    """Return the model of a robot with frames fixed to the world at their poses in one configuration."""
    model = robot.kind.as_tree()
    wanted = _rows(robot.name, frames)
    for name in wanted:
        about_of(robot.kind, "pose", name, "held")
        if model.frame_index[name].body < 0:
            raise InputError(f"held: frame '{name}' of robot '{robot.name}' is fixed to the world already")
        if ground(name) in model.frame_index:
            raise InputError(f"held: frame '{name}' of robot '{robot.name}' is held already; name each frame once")
    q = robot.neutral() if at is None else robot.configuration("at", at)
    if q.ndim != 1 or not np.isfinite(q).all():
        raise InputError(f"held: at: expected one configuration ({robot.nq},) of finite numbers, got {shown(at)}")
    return held(model, wanted, robot.tree_configuration(q))


def held(model: Model, frames: Mapping[str, int], q: Array) -> Model:
    """Return the model with frames fixed at their poses at q, in world axes; a floating base is not actuated."""
    poses = [*world_poses(model, tuple(map(float, q))), Pose()]  # the world comes last, at index −1
    added, closures = [], []
    for name, rows in frames.items():
        body, placement = model.frame_index[name].body, model.frame_index[name].placement
        rotation, position = poses[body].then(placement)
        upright = matmul(placement.rotation, transpose(rotation))  # world axes, while the frame is held
        added += [
            Frame(ground(name), WORLD, Pose(position=position)),
            Frame(f"{name}/held", body, Pose(upright, placement.position)),
        ]
        closures.append(Closure(name, ground(name), f"{name}/held", ROWS[rows]))
    bodies = zip(model.bodies, model.q_slices, strict=True)
    motors = [b.joint.name for b in model.bodies if b.joint.kind != "free" or b.parent != WORLD]
    return replace(
        model,
        frames=(*model.frames, *added),
        closures=(*model.closures, *closures),
        actuators=model.actuators or tuple(motors),
        home=tuple((body.joint.name, tuple(map(float, q[at]))) for body, at in bodies),
        independent_velocities=(),
    )


def ground(name: str) -> str:
    """Return the name of the world frame to which a frame is fixed."""
    return f"{name}/ground"


def _rows(robot: str, frames: Any) -> dict[str, int]:
    """Return the frames to be held, each with 3 or 6 rows."""
    if not isinstance(frames, Mapping) or not frames:
        raise InputError(
            f"held: expected frames of robot '{robot}' and 3 or 6 rows each, as in {{'foot': 3}}, got {shown(frames)}"
        )
    bad = [name for name, rows in frames.items() if isinstance(rows, bool) or rows not in ROWS]
    if bad:
        raise InputError(
            f"held: expected 3 rows (the frame's origin) or 6 (the frame), got {shown(frames[bad[0]])} for frame "
            f"{listed(map(str, bad[:1]))} of robot '{robot}'"
        )
    return {name: int(rows) for name, rows in frames.items()}


def friction_margin(robot: Robot, forces: ArrayLike, mu: ArrayLike, normals: ArrayLike) -> Array:
    """Return the margins of contact forces within their friction cones, infinite for closures of other kinds."""
    coefficients, axes = _cones(robot, mu, normals)
    found = numbers(robot.name, "forces", (len(robot.closure_names), 6), forces).astype(float)
    return np.where(_is_held(robot), margin(found[..., :3], coefficients, axes), np.inf)


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
    tau, is_feasible = within_cones(flat, motors, rows[2], forces, friction, axes)
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
