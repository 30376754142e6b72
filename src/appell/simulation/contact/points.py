"""Contact points of a robot, and the native kinematics of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from appell.arguments import finite_array, number
from appell.errors import InputError
from appell.messages import alternatives, listed, shown
from appell.model.model import WORLD, Model
from appell.recursion.points import Place
from appell.robot.robot import Robot
from appell.spatial.scalar import Array
from appell.spatial.vector import ZERO

STEADY = ("revolute", "continuous", "ball")
"""Joints whose origin is fixed to the parent."""


@dataclass(frozen=True)
class Point:
    """A contact point of a robot, or a sphere about it.

    Parameters
    ----------
    frame : str
        Name of a link or frame.
    position : sequence of float
        Position in the frame [m], (3,).
    name : str
        Name of the point. Default: from the frame and the position.
    radius : float
        Radius of the sphere about the point [m].

    Raises
    ------
    InputError
        When a value is invalid.

    Examples
    --------
    >>> import appell
    >>> appell.simulation.Point("link2", (0.5, 0.0, 0.0)).label
    'link2[0.5, 0, 0]'
    """

    frame: str
    position: Sequence[float] = (0.0, 0.0, 0.0)
    name: str = ""
    _: KW_ONLY
    radius: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("frame", self.frame), ("name", self.name)):
            if not isinstance(value, str):
                raise InputError(f"Point: {name} must be text, got {shown(value)}")
        if finite_array("Point: position", self.position).shape != (3,):
            raise InputError(f"Point: position must be three finite numbers, got {shown(self.position)}")
        number("Point: radius must be a length [m] of 0 or more", self.radius, 0.0)

    @property
    def label(self) -> str:
        """Return the point's name, or the frame's name with the position."""
        where = f"[{', '.join(f'{x:g}' for x in self.position)}]" if any(self.position) else ""
        return self.name or self.frame + where


class Named(NamedTuple):
    """A resolved point: its name, its position on a body, and the radius of the sphere about it."""

    name: str
    place: Place
    radius: float = 0.0


def resolve(robot: Robot, points: Iterable[str | Point] | None) -> list[Named]:
    """Return the given points; by default every joint origin and every end of the tree."""
    if points is None:
        return default_points(robot.model)
    try:
        given = [] if isinstance(points, str) else list(points)
    except TypeError:
        given = []
    if not given or not all(isinstance(point, str | Point) for point in given):
        raise InputError(f"points: expected a list of names or appell.simulation.Point, got {shown(points)}")
    found = [_resolved(robot.model, point) for point in given]
    names = [point.name for point in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"points: {listed(twice)} given twice; name every point once")
    return found


def _resolved(model: Model, point: str | Point) -> Named:
    if not isinstance(point, str | Point):
        raise InputError(f"points: expected names or appell.simulation.Point, got {shown(point)}")
    wanted = Point(point) if isinstance(point, str) else point
    if wanted.frame not in model.frame_index:
        hint = alternatives(wanted.frame, model.frame_index)
        raise InputError(f"points: robot '{model.name}' has no frame '{wanted.frame}'; {hint}")
    frame = model.frame_index[wanted.frame]
    x, y, z = frame.placement.apply((float(wanted.position[0]), float(wanted.position[1]), float(wanted.position[2])))
    return Named(wanted.label, Place(frame.body, (float(x), float(y), float(z))), float(wanted.radius))


def default_points(model: Model) -> list[Named]:
    """Return every joint origin and every end of the tree, by link, each position once.

    The ends are the links fixed to bodies without children. Massless bodies connect the axes of one joint; their
    origins are excluded, as are points fixed to the world.
    """
    parents = {body.parent for body in model.bodies}
    candidates = [Named(body.name, Place(i, ZERO)) for i, body in enumerate(model.bodies) if body.inertia.mass > 0.0]
    candidates += [
        Named(frame.name, Place(frame.body, tuple(map(float, frame.placement.position))))  # type: ignore[arg-type]
        for frame in model.frames
        if frame.body != WORLD and frame.body not in parents
    ]
    bodies = {body.name for body in model.bodies}
    kept: dict[Place, Named] = {}
    for candidate in candidates:
        canonical = _canonical(model, candidate.place)
        # of frames at one position the last is the link, after its joint and a flange
        if canonical.body != WORLD and (canonical not in kept or kept[canonical].name not in bodies):
            kept[canonical] = candidate
    return list(kept.values())


def _canonical(model: Model, place: Place) -> Place:
    """Return a point, rounded to a nanometre, on the body nearest to the base that it is fixed to."""
    body, position = place
    while body != WORLD and not any(abs(x) > 1e-9 for x in position) and model.bodies[body].joint.kind in STEADY:
        joint = model.bodies[body].joint
        body, position = model.bodies[body].parent, joint.placement.position
    x, y, z = (round(float(x), 9) + 0.0 for x in position)
    return Place(body, (x, y, z))


class Points:
    """The kinematics of several points, in one native call per quantity.

    >>> import appell, numpy as np
    >>> robot = appell.load("shafei-tree")
    >>> Points(robot, resolve(robot, ["O1", "O2"])).positions(robot.neutral())
    array([[0., 0., 0.],
           [1., 0., 0.]])
    """

    def __init__(self, robot: Robot, points: Sequence[Named]) -> None:
        self._robot, self._places = robot, tuple(point.place for point in points)
        self.names = tuple(point.name for point in points)

    def positions(self, q: Array) -> Array:
        """Return the positions, (..., n, 3)."""
        return self._evaluated("point_positions", q)

    def velocities(self, q: Array, v: Array) -> Array:
        """Return the velocities, (..., n, 3)."""
        return self._evaluated("point_velocities", q, v)

    def biases(self, q: Array, v: Array) -> Array:
        """Return the accelerations at v̇ = 0, (..., n, 3)."""
        return self._evaluated("point_biases", q, v)

    def jacobians(self, q: Array) -> Array:
        """Return the Jacobians (n, 3, nv) of the points at one configuration."""
        unit: Array = self.velocities(q, np.eye(self._robot.nv))
        return np.moveaxis(unit, 0, -1)

    def _evaluated(self, verb: str, q: Array, *others: Array) -> Array:
        if not self._places:
            leading = np.broadcast_shapes(*(np.shape(x)[:-1] for x in (q, *others)))
            return np.zeros((*leading, 0, 3))
        result: Array = self._robot.evaluate(verb, q, *others, about=self._places)
        return result
