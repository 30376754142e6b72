"""The spherical parallel robots as tubes on a sphere: the arcs of their legs, or a star on a triangle.

Their files give directions and inertias, no lengths: what is drawn has a radius of its own, a tenth of a metre.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.loops.spherical.mechanism import Leg, Mechanism
from appell.loops.spherical.programs import body_rotation
from appell.loops.spherical.robot import SphericalRobot
from appell.model.model import WORLD
from appell.view.bones import Bones
from appell.view.geometry import along, disc, tube
from appell.view.meshes import Piece
from appell.view.palette import GROUND, JOINTS, RODS, TOOL, upward
from appell.view.visuals import Colour

Array = NDArray[Any]
RADIUS = 0.1
"""How far from the common centre the outer links are drawn [m]."""
THICK = 0.0035
ROUND = 49
"""Points of an arc."""


class SphericalPuppet:
    """A spherical robot to draw: two links a leg, then the platform.

    >>> import appell
    >>> SphericalPuppet(appell.load("sst")).poses([0.5, 0.5, 0.0]).shape
    (8, 4, 4)
    """

    bones: Bones | None = None
    remarks: Sequence[str] = ()

    def __init__(self, robot: SphericalRobot) -> None:
        self._mechanism = robot.mechanism
        self.names: Sequence[str] = robot.link_names
        self.up = upward(robot.mechanism.gravity)
        make = _star if _is_star(robot.mechanism) else _legs
        self.pieces: Sequence[Piece] = list(make(robot.mechanism, self.poses(robot.neutral())))

    def poses(self, q: ArrayLike) -> Array:
        """Return the poses of the bodies and, last, of the world; all turn about one point."""
        angles = tuple(np.asarray(q, dtype=float).tolist())
        poses = np.tile(np.eye(4), (len(self.names) + 1, 1, 1))
        for body in range(len(self.names)):
            poses[body, :3, :3] = body_rotation(self._mechanism, angles, body)
        return poses


def _legs(robot: Mechanism, _: Array) -> Iterator[Piece]:
    """Yield the motors, two arcs a leg, and the platform: spokes to the legs' last axes."""
    platform = len(robot.inertias) - 1
    inner = 0.82 * RADIUS
    for k, leg in enumerate(robot.legs):
        motor = np.array(leg.motor_axis)
        yield _hub(WORLD, 1.1 * RADIUS * motor, motor, GROUND)
        # along link 1 from e₁ to e₂, along link 2 from e₂ to e₃, each R_x(s) z in the link's own axes
        for link, (arc, radius) in enumerate(((leg.alpha1, RADIUS), (leg.alpha2, inner))):
            yield _tube(2 * k + link, _own(leg, link, _arc(arc)) * radius, RODS)
        elbow = _own(leg, 1, np.array([[0.0, 0.0, 1.0]]))[0]
        yield _hub(2 * k + 1, 0.91 * RADIUS * elbow, elbow, JOINTS)
        tip = np.array(leg.platform_axis)
        yield _hub(platform, inner * tip, tip, JOINTS)
        yield _tube(platform, np.linspace(0.0, 1.0, 5)[:, None] * inner * tip, TOOL)


def _star(robot: Mechanism, home: Array) -> Iterator[Piece]:
    """Yield the base's triangle, a carriage a side, and the star whose arcs slide through the carriages."""
    platform = len(robot.inertias) - 1
    corners: list[Array] = [np.array(leg.base)[:, 1] for leg in robot.legs]
    for k, leg in enumerate(robot.legs):
        yield _tube(WORLD, RADIUS * _between(corners[k], corners[(k + 1) % 3]), GROUND)
        carriage = _own(leg, 0, np.array([[0.0, 1.0, 0.0]]))[0]  # r = −e₂
        yield _hub(2 * k, RADIUS * carriage, carriage, JOINTS)
        own: Array = np.array(leg.platform)
        pole, aside = -own[:, 1], own[:, 0]
        reached = home[platform, :3, :3].T @ home[2 * k, :3, :3] @ carriage
        aside = aside if aside @ reached > 0.0 else -aside
        yield _tube(platform, RADIUS * _between(pole, 0.3 * pole + aside), TOOL)


def _is_star(robot: Mechanism) -> bool:
    """Return whether all arcs are quarter turns and the legs share a pole on the platform, as enferadi2010's do."""
    quarters = all(abs(arc - 0.5 * math.pi) < 1e-9 for leg in robot.legs for arc in (leg.alpha1, leg.alpha2))
    poles = np.array([np.array(leg.platform)[:, 1] for leg in robot.legs])
    return quarters and bool(np.ptp(poles, axis=0).max() < 1e-9)


def _own(leg: Leg, link: int, points: Array) -> Array:
    """Return points of a link's own axes in those of its pose."""
    return points @ np.array(leg.frames[link])


def _arc(angle: float) -> Array:
    s = np.linspace(0.0, angle, ROUND)
    return np.stack([np.zeros(ROUND), -np.sin(s), np.cos(s)], axis=1)


def _between(start: Array, end: Array) -> Array:
    """Return the great circle from one direction to another."""
    a = start / np.linalg.norm(start)
    b = end - (end @ a) * a
    angle = math.atan2(float(np.linalg.norm(b)), float(end @ a))
    s = np.linspace(0.0, angle, ROUND)[:, None]
    return np.asarray(np.cos(s) * a + np.sin(s) * b / np.linalg.norm(b))


def _tube(body: int, line: Array, colour: Colour) -> Piece:
    return Piece(body, *tube(line, THICK), colour)


def _hub(body: int, place: Array, axis: Array, colour: Colour) -> Piece:
    vertices, faces = disc()
    sized = vertices * [2.2 * THICK, 2.2 * THICK, 5.0 * THICK]
    return Piece(body, sized @ along(axis).T + place, faces, colour)
