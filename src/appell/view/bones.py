"""A robot without shapes of its own: rods from joint to joint, hubs where joints turn, plates where many rods meet."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from appell.model.model import WORLD, Model
from appell.results.skeleton import skeleton
from appell.view.geometry import along, disc, matrix, plate
from appell.view.meshes import Piece
from appell.view.palette import JOINTS, TOOL

Array = NDArray[Any]
TURNING = ("revolute", "continuous", "helical", "cylindrical")
PLATE = 3
"""Rods of one body from which on they are the spokes of a plate."""


class Bones(NamedTuple):
    """Rods between points of bodies.

    `bodies` (k,) and `places` (k, 3) are the points, `rods` (m, 2) which of them are joined, `grounded` (m,) whether a
    rod belongs to the world; `axes` (h, 3) are the axes of the `hubs` (h,), bodies whose joint turns.
    """

    bodies: Array
    places: Array
    rods: Array
    grounded: Array
    hubs: Array
    axes: Array
    radius: float

    def points(self, poses: Array) -> Array:
        """Return where the points are (k, 3), given the poses of the bodies and, last, of the world."""
        at = poses[self.bodies]
        return np.asarray(np.einsum("kij,kj->ki", at[:, :3, :3], self.places) + at[:, :3, 3])

    def sticks(self, poses: Array) -> tuple[Array, Array, Array]:
        """Return the rods' starts (m, 3), rotations from z (m, 3, 3) and lengths (m,)."""
        p = self.points(poses)
        start, way = p[self.rods[:, 0]], p[self.rods[:, 1]] - p[self.rods[:, 0]]
        return start, along(way), np.linalg.norm(way, axis=-1)

    def turns(self, poses: Array) -> tuple[Array, Array]:
        """Return the hubs' places (h, 3) and rotations from z (h, 3, 3)."""
        at = poses[self.hubs]
        return at[:, :3, 3], along(np.einsum("hij,hj->hi", at[:, :3, :3], self.axes))


def bones(model: Model, poses: Array, wanted: set[int]) -> Bones:
    """Return the bones of some bodies; `poses` are those of any configuration, to measure by.

    >>> import appell
    >>> from appell.view.puppet import tree_poses
    >>> model = appell.load("two-link").model
    >>> len(bones(model, tree_poses(model, [0.0, 0.0]), {0, 1}).rods)
    2
    """
    shape = skeleton(model)
    bodies = [place.body for place in shape.places]
    places = [place.position for place in shape.places]
    rods = [stick for stick in shape.sticks if bodies[stick[0]] in wanted]
    spokes = _ground(model) if wanted else []
    if spokes:
        bodies, places = [*bodies, WORLD], [*places, (0.0, 0.0, 0.0)]
    grounded = [False] * len(rods) + [True] * len(spokes)
    rods += [(len(bodies) - 1, body) for body in spokes]
    turning = [k for k in sorted(wanted) if model.bodies[k].joint.kind in TURNING and k in shape.seen]
    found = Bones(
        np.array(bodies),
        np.array(places, dtype=float),
        np.array(rods, dtype=int).reshape(-1, 2),
        np.array(grounded, dtype=bool),
        np.array(turning, dtype=int),
        np.array([model.bodies[k].joint.axis for k in turning], dtype=float).reshape(-1, 3),
        0.0,
    )
    return found._replace(radius=_radius(found, poses))


def _ground(model: Model) -> list[int]:
    """Return the bodies that turn about a place of the world other than its origin: the base reaches to them."""
    return [
        k
        for k, body in enumerate(model.bodies)
        if body.parent == WORLD and body.joint.kind in (*TURNING, "ball") and any(body.joint.placement.position)
    ]


def _radius(found: Bones, poses: Array) -> float:
    """Return how thick rods are: by their usual length, within what the whole robot's size makes sensible."""
    lengths = found.sticks(poses)[2]
    size = float(np.ptp(found.points(poses), axis=0).max()) or 1.0
    usual = float(np.median(lengths[lengths > 1e-6 * size])) if (lengths > 1e-6 * size).any() else 0.1 * size
    return float(np.clip(0.07 * usual, 0.006 * size, 0.02 * size))


def wheels(model: Model) -> list[Piece]:
    """Return a disc for every wheel that rolls."""
    pieces = []
    for closure in (closure for closure in model.closures if closure.is_rolling):
        frame = model.frame_index[closure.second]
        vertices, faces = disc()
        pose = matrix(*frame.placement)
        sized = vertices * np.array([1.0, 1.0, 0.3]) * closure.radius
        pieces.append(Piece(frame.body, sized @ pose[:3, :3].T + pose[:3, 3], faces, JOINTS))
    return pieces


def plates(found: Bones) -> list[Piece]:
    """Return a plate for every body from which three rods or more go to points of its own."""
    pieces = []
    starts = found.rods[:, 0]
    for body in dict.fromkeys(found.bodies[starts].tolist()):
        ends = [e for s, e in found.rods.tolist() if found.bodies[s] == body and found.bodies[e] == body]
        if len(ends) >= PLATE:
            vertices, faces = plate(found.places[ends], 1.2 * found.radius)
            pieces.append(Piece(body, vertices[faces].reshape(-1, 3), np.arange(faces.size).reshape(-1, 3), TOOL))
    return pieces
