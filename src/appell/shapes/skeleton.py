"""A robot as lines: from every joint to the next and on to the ends of the tree, or the curves of its kind."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from appell.model.model import WORLD, Model
from appell.recursion.points import Place, positions
from appell.robot.robot import Robot
from appell.spatial.scalar import Array, Vector
from appell.spatial.vector import ZERO

TURNING = ("revolute", "continuous", "helical", "cylindrical")


class Skeleton(NamedTuple):
    """Points of bodies, the lines through them, and which of them are seen.

    The first points are the origins of the bodies, in the order of their `joints`. `hubs` are the points at which a
    joint turns, each with the joint's axis in the body's frame.
    """

    places: tuple[Place, ...]
    lines: tuple[tuple[int, ...], ...]
    seen: tuple[int, ...]
    joints: tuple[str, ...]
    hubs: tuple[tuple[int, Vector], ...]

    @property
    def drawn(self) -> list[int]:
        """Return the points that are seen, and those of the lines."""
        return sorted({k for line in self.lines for k in line}.union(self.seen))

    def positions(self, robot: Robot, q: Array) -> Array:
        """Return where the points are at configurations (n, nq), as (n, points, 3)."""
        tree = np.moveaxis(robot.tree_configuration(q), -1, 0)
        found = positions(robot.model, tuple(tree), self.places)
        return np.stack([np.stack(np.broadcast_arrays(*p, tree[0])[:3], axis=-1) for p in found], axis=-2)


def skeleton(robot: Robot) -> Skeleton:
    """Return the lines that draw a robot.

    Bodies that no other hangs on reach to the frames fixed to them, and where there are none, to their centre of mass.
    The base, and what slides on it without mass, is not drawn: a free robot hangs on nothing. Where a robot has curves,
    it is drawn by them alone.

    >>> import appell
    >>> len(skeleton(appell.load("shafei-tree")).lines)
    10
    """
    return _curved(robot) if robot.facts.curves else _rods(robot.model)


def _curved(robot: Robot) -> Skeleton:
    places, joints = _origins(robot.model)
    lines, hubs = [], []
    for curve in robot.facts.curves:
        lines.append(tuple(range(len(places), len(places) + len(curve.points))))
        hubs += [(len(places), curve.axis)] if curve.axis is not None else []
        places += [Place(curve.body, point) for point in curve.points]
    seen = sorted({k for line in lines for k in (line[0], line[-1])})
    return Skeleton(tuple(places), tuple(lines), tuple(seen), joints, tuple(hubs))


def _rods(model: Model) -> Skeleton:
    bodies = model.bodies
    places, joints = _origins(model)
    attached = [k for k, body in enumerate(bodies) if not _is_ground(model, body.parent)]
    # joints that turn about one place of their parent share a rod
    shared = {(bodies[k].parent, _seat(model, k)): k for k in reversed(attached)}
    rods = [(bodies[k].parent, k) for k in sorted(shared.values())]
    carriers = {body.parent for body in bodies}
    for k, body in enumerate(bodies):
        if k in carriers:
            continue
        for tip in _tips(model, k) or [_plain(body.inertia.centre)]:
            if any(abs(x) > 1e-9 for x in tip):
                rods.append((k, len(places)))
                places.append(Place(k, tip))
    massive = [k for k, body in enumerate(bodies) if body.inertia.mass > 0.0]
    seen = sorted({k for rod in rods for k in rod}.union(massive)) or list(range(len(places)))
    hubs = [(k, body.joint.axis) for k, body in enumerate(bodies) if k in seen and body.joint.kind in TURNING]
    return Skeleton(tuple(places), tuple(rods), tuple(seen), joints, tuple(hubs))


def _origins(model: Model) -> tuple[list[Place], tuple[str, ...]]:
    return [Place(k, ZERO) for k in range(len(model.bodies))], tuple(body.joint.name for body in model.bodies)


def _seat(model: Model, body: int) -> object:
    """Return where a body's origin stays on its parent; the body itself where it does not stay."""
    joint = model.bodies[body].joint
    stays = joint.kind in ("revolute", "continuous", "ball")
    return tuple(round(float(x), 9) for x in joint.placement.position) if stays else body


def _is_ground(model: Model, body: int) -> bool:
    """Return whether a body is the world, or a slide without mass that stands between the world and the robot."""
    while body != WORLD:
        if model.bodies[body].inertia.mass > 0.0:
            return False
        body = model.bodies[body].parent
    return True


def _tips(model: Model, body: int) -> list[Vector]:
    """Return the places of the frames on a body, each once, without its origin."""
    own = {tuple(round(float(x), 9) for x in frame.placement.position) for frame in model.frames if frame.body == body}
    return [(x, y, z) for x, y, z in sorted(own) if any((x, y, z))]


def _plain(position: Any) -> Vector:
    x, y, z = position
    return (float(x), float(y), float(z))
