"""Contact points of a robot, and the native kinematics of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

import numpy as np

from appell.arguments import finite_array, number
from appell.errors import InputError
from appell.messages import alternatives, listed, shown
from appell.model.model import WORLD, Model
from appell.model.shapes import COLLISION, Shape
from appell.recursion.points import Place
from appell.robot.robot import Robot, checked_robot
from appell.spatial.scalar import Array, Vector
from appell.spatial.vector import IDENTITY, ZERO, add

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


RIM = 8
"""Contact points on each rim of a cylinder."""


def contact_points(robot: Robot) -> list[Point]:
    """Return the contact points of a robot's collision shapes.

    A sphere gives its centre with its radius, a capsule the centres of its two ends with its radius, a box its 8
    corners, and a cylinder 8 points on each of its two rims. Ellipsoids and meshes give none. The k-th collision shape
    of a link is named ``link/k``, its points ``link/k/0``, ``link/k/1`` and so on if it has several.

    Parameters
    ----------
    robot : Robot
        The robot.

    Returns
    -------
    list of Point
        The points, without those of links that are fixed to the world.

    Raises
    ------
    InputError
        When no collision shape of a moving link gives a point.

    Examples
    --------
    >>> import appell
    >>> from dataclasses import replace
    >>> from appell.model.shapes import Shape
    >>> arm = appell.load("two-link")
    >>> foot = Shape("link2", "collision", "capsule", (0.05, 0.8))
    >>> for point in contact_points(arm.with_model(replace(arm.model, shapes=(foot,)))):
    ...     print(point.label, point.position, point.radius)
    link2/0/0 (0.0, 0.0, -0.4) 0.05
    link2/0/1 (0.0, 0.0, 0.4) 0.05
    """
    model = checked_robot("contact_points", robot).model
    found, others = [], []
    for link, shapes in model.shapes_of(COLLISION).items():
        if model.frame_index[link].body == WORLD:
            continue
        for k, shape in enumerate(shapes):
            places, radius = _places(shape)
            names = [f"{link}/{k}/{i}" for i in range(len(places))] if len(places) > 1 else [f"{link}/{k}"]
            placed = zip(names, (shape.placement.apply(place) for place in places), strict=False)
            found += [Point(link, place, name, radius=radius) for name, place in placed]
            others += [] if places else [f"{shape.kind} of {link}"]
    if not found:
        why = f"its shapes ({listed(others, 4)}) give none" if others else "its moving links have no collision shapes"
        raise InputError(
            f"contact_points: robot '{model.name}' has no contact points: {why}, only spheres, capsules, boxes and "
            "cylinders do; name points=, such as appell.simulation.Point"
        )
    return found


def _places(shape: Shape) -> tuple[list[Vector], float]:
    """Return the contact points of a shape in its own frame, and the radius of the balls about them."""
    sizes = shape.sizes
    if shape.kind == "sphere":
        return [ZERO], sizes[0]
    if shape.kind == "capsule":
        return [(0.0, 0.0, z) for z in (-0.5 * sizes[1], 0.5 * sizes[1])], sizes[0]
    if shape.kind == "box":
        x, y, z = (0.5 * edge for edge in sizes)
        return [(a * x, b * y, c * z) for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], 0.0
    if shape.kind == "cylinder":
        turns = [2.0 * math.pi * k / RIM for k in range(RIM)]
        rim = [(sizes[0] * math.cos(turn), sizes[0] * math.sin(turn)) for turn in turns]
        return [(x, y, z) for z in (-0.5 * sizes[1], 0.5 * sizes[1]) for x, y in rim], 0.0
    return [], 0.0


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

    Behind the points are three more for each ball, a metre from its centre along the axes of its body: the velocity of
    any point of the body follows from the four.

    >>> import appell, numpy as np
    >>> robot = appell.load("shafei-tree")
    >>> Points(robot, resolve(robot, ["O1", "O2"])).positions(robot.neutral())
    array([[0., 0., 0.],
           [1., 0., 0.]])
    """

    def __init__(self, robot: Robot, points: Sequence[Named]) -> None:
        self._robot, every = robot, [point.place for point in points]
        self.names = tuple(point.name for point in points)
        self.radii = tuple(point.radius for point in points)
        self._beside: dict[int, int] = {}
        for k, (body, at) in enumerate(every[:]):
            if self.radii[k]:
                self._beside[k] = len(every)
                every += [Place(body, add(at, axis)) for axis in IDENTITY]
        self.places = tuple(every)

    def turned(self, k: int, p: Array, x: Array, arm: Array) -> Array:
        """Return ω × arm (3,) of the velocities x (n, 3) of a ball's body; likewise for Jacobians and biases.

        `p` are the positions (n, 3) of all points, `arm` (3,) is in world axes.
        """
        first = self._beside[k]
        beside = slice(first, first + 3)
        return np.asarray(np.tensordot((p[beside] - p[k]) @ arm, x[beside] - x[k], axes=1))

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
        if not self.places:
            leading = np.broadcast_shapes(*(np.shape(x)[:-1] for x in (q, *others)))
            return np.zeros((*leading, 0, 3))
        result: Array = self._robot.evaluate(verb, q, *others, about=self.places)
        return result
