"""A robot without shapes of its own: rods along its lines, hubs where joints turn, plates where many rods meet."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from appell.model.model import WORLD, Model
from appell.robot.robot import Robot
from appell.shapes.geometry import along, disc, matrix, plate
from appell.shapes.meshes import Piece
from appell.shapes.palette import GROUND, JOINTS, RODS, TOOL, linear
from appell.shapes.skeleton import TURNING, skeleton
from appell.spatial.scalar import Array
from appell.spatial.vector import ZERO

PLATE = 3
"""Lines on one body from which on it is a platform, and rods from its origin are the spokes of a plate."""


class StickFigure(NamedTuple):
    """Rods between points of bodies.

    `bodies` (k,) and `places` (k, 3) are the points, `rods` (m, 2) which of them are joined, `colours` (m, 3) those of
    the rods; `hubs` (h,) are the points where a joint turns, `axes` (h, 3) its axes in the body's frame.
    """

    bodies: Array
    places: Array
    rods: Array
    colours: Array
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

    @property
    def ends(self) -> tuple[Array, Array]:
        """Return the points at which rods end, and their colours; where several rods meet, that of the last."""
        found = dict(zip(self.rods.ravel().tolist(), np.repeat(self.colours, 2, axis=0), strict=True))
        return np.array(sorted(found), dtype=int), np.array([found[k] for k in sorted(found)]).reshape(-1, 3)

    def turns(self, poses: Array) -> tuple[Array, Array]:
        """Return the hubs' places (h, 3) and rotations from z (h, 3, 3)."""
        turned = poses[self.bodies[self.hubs], :3, :3]
        return self.points(poses)[self.hubs], along(np.einsum("hij,hj->hi", turned, self.axes))


def stick_figure(robot: Robot, poses: Array, wanted: set[int]) -> StickFigure:
    """Return the stick figure of some bodies; `poses` are those of any configuration, to measure by.

    >>> import appell
    >>> from appell.shapes.drawable import body_poses
    >>> robot = appell.load("two-link")
    >>> len(stick_figure(robot, body_poses(robot, [0.0, 0.0]), {0, 1}).rods)
    2
    """
    model, shape = robot.model, skeleton(robot)
    ground = _ground(model) if wanted else []
    places = [*shape.places, *((WORLD, ZERO) for _ in ground[:1])]
    bodies = np.array([body for body, _ in places])
    spokes = [(len(places) - 1, body) for body in ground]
    lines = [*spokes, *(line for line in shape.lines if bodies[line[0]] in {WORLD, *wanted})]
    own = [bodies[line[0]] if len(set(bodies[list(line)])) == 1 else None for line in lines]
    platforms = {body for body, n in Counter(own).items() if body is not None and n >= PLATE}
    tints = [
        GROUND if bodies[line[0]] == WORLD else TOOL if body in platforms else RODS
        for line, body in zip(lines, own, strict=True)
    ]
    hubs = [(k, axis) for k, axis in shape.hubs if bodies[k] in wanted]
    found = StickFigure(
        bodies,
        np.array([position for _, position in places], dtype=float),
        np.array([rod for line in lines for rod in pairwise(line)], dtype=int).reshape(-1, 2),
        np.array([linear(t) for t, line in zip(tints, lines, strict=True) for _ in line[1:]], np.uint8).reshape(-1, 3),
        np.array([k for k, _ in hubs], dtype=int),
        np.array([axis for _, axis in hubs], dtype=float).reshape(-1, 3),
        0.0,
    )
    return found._replace(radius=_radius(found.points(poses), lines))


def _ground(model: Model) -> list[int]:
    """Return the bodies that turn about a place of the world other than its origin: the base reaches to them."""
    return [
        k
        for k, body in enumerate(model.bodies)
        if body.parent == WORLD and body.joint.kind in (*TURNING, "ball") and any(body.joint.placement.position)
    ]


def _radius(points: Array, lines: list[tuple[int, ...]]) -> float:
    """Return how thick rods are: by the usual length of lines, within what the whole robot's size makes sensible."""
    lengths = np.array([np.linalg.norm(np.diff(points[list(line)], axis=0), axis=1).sum() for line in lines])
    size = float(np.ptp(points, axis=0).max()) or 1.0
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


def plates(model: Model, found: StickFigure) -> list[Piece]:
    """Return a plate for every body from whose origin three rods or more go to points of its own."""
    pieces = []
    for body in range(len(model.bodies)):
        ends = found.rods[found.rods[:, 0] == body, 1]
        ends = ends[found.bodies[ends] == body]
        if len(ends) >= PLATE:
            vertices, faces = plate(found.places[ends], 1.2 * found.radius)
            pieces.append(Piece(body, vertices[faces].reshape(-1, 3), np.arange(faces.size).reshape(-1, 3), TOOL))
    return pieces
