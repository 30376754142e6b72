"""A robot as sticks: from every joint to the next, and on to the ends of the tree."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from appell.model.model import WORLD, Model
from appell.recursion.points import Place, positions
from appell.spatial.scalar import Vector
from appell.spatial.vector import ZERO

Array = NDArray[Any]


class Skeleton(NamedTuple):
    """Points of bodies, which of them are joined, and which are seen.

    The first points are the origins of the bodies, in the order of their `joints`.
    """

    places: tuple[Place, ...]
    sticks: tuple[tuple[int, int], ...]
    seen: tuple[int, ...]
    joints: tuple[str, ...]

    def positions(self, model: Model, q: Array) -> Array:
        """Return where the points are at configurations (n, nq), as (n, points, 3)."""
        found = positions(model, tuple(np.moveaxis(np.asarray(q, dtype=float), -1, 0)), self.places)
        return np.stack([np.stack(np.broadcast_arrays(*p, q[..., 0])[:3], axis=-1) for p in found], axis=-2)


def skeleton(model: Model) -> Skeleton:
    """Return the sticks of a robot.

    Bodies that no other hangs on reach to the frames fixed to them, and where there are none, to their centre of mass.
    The base, and what slides on it without mass, is not drawn: a free robot hangs on nothing.

    >>> import appell
    >>> bones = skeleton(appell.load("shafei-tree").model)
    >>> len(bones.sticks)
    10
    """
    bodies = model.bodies
    places = [Place(k, ZERO) for k in range(len(bodies))]
    hung = [k for k, body in enumerate(bodies) if not _is_ground(model, body.parent)]
    # joints that turn about one place of their parent share a stick
    shared = {(bodies[k].parent, _seat(model, k)): k for k in reversed(hung)}
    sticks = [(bodies[k].parent, k) for k in sorted(shared.values())]
    carriers = {body.parent for body in bodies}
    for k, body in enumerate(bodies):
        if k in carriers:
            continue
        for tip in _tips(model, k) or [_plain(body.inertia.centre)]:
            if any(abs(x) > 1e-9 for x in tip):
                sticks.append((k, len(places)))
                places.append(Place(k, tip))
    massive = [k for k, body in enumerate(bodies) if body.inertia.mass > 0.0]
    seen = sorted({k for stick in sticks for k in stick}.union(massive)) or list(range(len(places)))
    return Skeleton(tuple(places), tuple(sticks), tuple(seen), tuple(body.joint.name for body in bodies))


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
