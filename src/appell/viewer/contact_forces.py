"""Forces at the contacts of a run, and of a robot whose frames are held to the world.

A run records when points rest on walls, and q, v, a and tau at the integrator's steps, but no forces. They follow from
the equation of motion, M a + C v + G − Bτ = Jᵀλ, with J the Jacobian of the points that rest: along the normals of
their walls where such forces satisfy it (no friction), otherwise in all directions. λ is the solution of least norm:
the force itself where the contacts determine it, an even distribution where they do not (four feet of a table). A joint
at rest at a limit takes its share of the equation. Runs loaded from a file have their forces by the same equation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from appell.recursion.points import Place
from appell.results.run import ContactInterval, Run
from appell.robot.robot import Robot
from appell.robot.stance import held_frames
from appell.shapes.drawable import Drawable
from appell.spatial.scalar import Array

CUTOFF = 1e-9
"""Singular values of Jᵀ below this share of the largest count as zero."""
FRICTIONLESS = 1e-6
"""The share of the forces that normal forces may leave over and still count as all of them."""
LIMITS = ("lower limit", "upper limit")
"""What a run calls the walls of joints at their limits."""


class Contact(NamedTuple):
    """A contact from `times[0]` to `times[-1]`: its name, the point's place on a body, forces (n, 3) in world axes."""

    name: str
    body: int
    place: Array
    times: Array
    forces: Array

    def at(self, t: float) -> Array:
        """Return the force [N] at a time of the contact."""
        return np.array([np.interp(t, self.times, column) for column in self.forces.T])

    def is_closed(self, t: float) -> bool:
        """Return whether the contact exists at a time."""
        return bool(self.times[0] <= t <= self.times[-1])

    def position(self, poses: Array) -> Array:
        """Return where the point is, given the poses of the bodies."""
        return np.asarray(poses[self.body, :3, :3] @ self.place + poses[self.body, :3, 3])


def run_contacts(run: Run, drawable: Drawable) -> list[Contact]:
    """Return the contacts of a run: points at rest on walls, and frames held to the world.

    >>> import appell
    >>> from appell.shapes.drawable import drawable
    >>> ball = appell.load("two-link")
    >>> run_contacts(appell.simulate(ball, [0.0, 0.0], [0.0, 0.0], 0.1), drawable(ball))
    []
    """
    robot = drawable.robot
    known = resting_places(run, drawable)
    rests = [rest for rest in run.rests if rest.point in known or rest.wall in LIMITS]
    samples: list[list[tuple[float, Array]]] = [[] for _ in rests]
    active = np.array([[rest.start <= t <= rest.end for rest in rests] for t in run.t]).reshape(len(run.t), len(rests))
    for pattern in np.unique(active, axis=0):
        which = np.flatnonzero(pattern)
        rows = np.flatnonzero((active == pattern).all(axis=1))
        if not which.size:
            continue
        points = [k for k in which if rests[k].wall not in LIMITS]
        joints = [rests[k].point for k in which if rests[k].wall in LIMITS]
        normals = [_normal(run, rests[k]) for k in points]
        places = [known[rests[k].point] for k in points]
        forces = _forces(run, robot, rows, places, [rests[k].radius for k in points], normals, joints)
        for i, k in enumerate(points):
            samples[k] += zip(run.t[rows].tolist(), forces[:, i], strict=True)
    found = [
        Contact(rest.point, *known[rest.point], *_sorted(sample))
        for rest, sample in zip(rests, samples, strict=True)
        if sample
    ]
    if held_count(robot):
        found += _held_contacts(robot, run.t, robot.contact_forces(run.q, run.v, run.tau))
    return found


def stance(robot: Robot, q: Array, tau: Array) -> list[Contact]:
    """Return the contacts of frames held to the world at rest under forces of the actuators."""
    forces = robot.contact_forces(q, np.zeros(robot.nv), tau)
    return _held_contacts(robot, np.zeros(1), forces[None])


def held_count(robot: Robot) -> int:
    """Return how many frames of the robot are held to the world."""
    return sum(_is_held(robot, k) for k in range(len(robot.model.closures)))


def _is_held(robot: Robot, k: int) -> bool:
    closure = robot.model.closures[k]
    return bool(closure.first == held_frames.ground(closure.name))


def _held_contacts(robot: Robot, times: Array, forces: Array) -> list[Contact]:
    frames = robot.model.frame_index
    return [
        Contact(name, frames[name].body, _position(robot, name), times, forces[:, k, :3])
        for k, name in enumerate(robot.closure_names)
        if _is_held(robot, k)
    ]


def _forces(
    run: Run,
    robot: Robot,
    rows: Array,
    places: list[tuple[int, Array]],
    radii: list[float],
    normals: list[Callable[[Array], Array]],
    joints: list[str],
) -> Array:
    """Return the forces (n, k, 3) at k points in some samples of a run, where joints may be at their limits too.

    The force on a ball acts where it touches the wall.
    """
    q, v, a, tau = run.q[rows], run.v[rows], run.a[rows], run.tau[rows]
    n, k = len(q), len(places)
    if not k:
        return np.zeros((n, 0, 3))
    # behind the points three more for each, a metre away along the axes of its body, for its angular velocity
    about = tuple(_place(body, at) for body, place in places for at in (place, *(place + np.eye(3))))
    about = (*about[::4], *(x for i, x in enumerate(about) if i % 4))
    # velocities of the points, and of the joints at limits, for one unit velocity after the other: Jᵀ, row by row
    unit = np.eye(robot.nv)
    moved = robot.evaluate("point_velocities", q[:, None], unit, about=about)
    at = [robot.model.v_slices[_body(robot, joint)].start for joint in joints]
    limits = robot.tree_velocity(q[:, None], unit)[..., at]
    lacking = robot.generalised_forces(q, v, a) - robot.evaluate("actuation", q, tau)
    points = robot.evaluate("point_positions", q, about=about)
    upright = np.stack([normal(points[:, i]) for i, normal in enumerate(normals)], axis=1)
    axes = points[:, k:].reshape(n, k, 3, 3) - points[:, :k, None]
    turned = moved[:, :, k:].reshape(n, -1, k, 3, 3) - moved[:, :, :k, None]
    arms = np.einsum("nkji,nki->nkj", axes, -np.array(radii)[:, None] * upright)
    moved = moved[:, :, :k] + np.einsum("nkj,nvkjx->nvkx", arms, turned)
    along = np.einsum("nvki,nki->nvk", moved, upright)
    pushes, left = _solved(along, limits, lacking)
    forces, _ = _solved(moved.reshape(n, robot.nv, -1), limits, lacking)
    is_normal = left <= FRICTIONLESS * np.maximum(np.linalg.norm(lacking, axis=-1), 1e-12)
    return np.where(is_normal[:, None, None], pushes[..., None] * upright, forces.reshape(n, k, 3))


def _solved(transposed: Array, limits: Array, lacking: Array) -> tuple[Array, Array]:
    """Return the multipliers of least norm, without those of joints at limits, and what they leave over."""
    matrix = np.concatenate([transposed, limits], axis=-1)
    found = (np.linalg.pinv(matrix, rcond=CUTOFF) @ lacking[..., None])[..., 0]
    left = np.linalg.norm((matrix @ found[..., None])[..., 0] - lacking, axis=-1)
    return found[:, : transposed.shape[-1]], left


def _normal(run: Run, rest: ContactInterval) -> Callable[[Array], Array]:
    """Return a wall's normal at points (n, 3); of a wall out of a file, the normal of the last impact before."""
    parts = [part for wall in run.walls for part in getattr(wall, "parts", ())]
    part = next((part for part in parts if part.label == rest.wall), None)
    if part is not None:
        moved = part.offset(rest.radius) if rest.radius else part
        return lambda p: np.asarray(_unit(moved.gradient(p)))
    struck = [
        impact.normals[impact.points.index(rest.point)]
        for impact in run.impacts
        if rest.point in impact.points and impact.time <= rest.start
    ]
    last = struck[-1] if struck else np.zeros(3)
    return lambda p: np.broadcast_to(last, p.shape)


def _unit(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0.0, length, 1.0))


def _body(robot: Robot, joint: str) -> int:
    return next(k for k, body in enumerate(robot.model.bodies) if body.joint.name == joint)


def _sorted(sample: list[tuple[float, Array]]) -> tuple[Array, Array]:
    sample = sorted(sample, key=lambda pair: pair[0])
    return np.array([t for t, _ in sample]), np.array([force for _, force in sample])


def _position(robot: Robot, frame: str) -> Array:
    return np.array(robot.model.frame_index[frame].placement.position, dtype=float)


def resting_places(run: Run, drawable: Drawable) -> dict[str, tuple[int, Array]]:
    """Return the points that ever rest, as a body and a place on it."""
    frames = drawable.robot.model.frame_index
    return {rest.point: (frames[rest.link].body, rest.position) for rest in run.rests if rest.link in frames}


def _place(body: int, place: Array) -> Place:
    x, y, z = map(float, place)
    return Place(body, (x, y, z))
