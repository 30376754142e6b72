"""How a spherical robot is drawn: the arcs of its legs on a sphere, or a star on a triangle.

Its file gives directions and inertias, no lengths: the sphere has a radius of its own, a tenth of a metre.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from appell.loops.spherical import euler
from appell.loops.spherical.mechanism import Mechanism
from appell.model.model import WORLD
from appell.robot.kind import Curve
from appell.spatial.rotation import normalized
from appell.spatial.scalar import Vector
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, matvec, matvec_t, negate, scale, sub, transpose

RADIUS = 0.1
"""How far from the common centre the robot is drawn [m]."""
POINTS = 25
"""Points of an arc."""
NEAR = 1e-9
"""Directions [1] and angles [rad] nearer than this are one."""


def curves(robot: Mechanism) -> tuple[Curve, ...]:
    """Return the lines that draw a robot, fixed to the bodies of its tree: two links per leg, then the platform."""
    return tuple(_star(robot) if _is_star(robot) else _legs(robot))


def _legs(robot: Mechanism) -> Iterator[Curve]:
    """Yield two arcs per leg, from e₁ to e₂ and on to e₃, and the platform: spokes from every e₃ to the centre."""
    for k, leg in enumerate(robot.legs):
        for link, angle in enumerate((leg.alpha1, leg.alpha2)):
            # R_x(s)·z in the link's axes
            ends = [IDENTITY[2], (0.0, -math.sin(angle), math.cos(angle))]
            start, end = (matvec_t(leg.frames[link], p) for p in ends)
            yield Curve(2 * k + link, _arc(start, end), start)
        tip = leg.platform_axis
        yield Curve(2 * len(robot.legs), (scale(RADIUS, tip), ZERO), tip)


def _star(robot: Mechanism) -> Iterator[Curve]:
    """Yield the sides of the base's triangle, a carriage on each, and the arcs of the star that slide through them."""
    corners = [transpose(leg.base)[1] for leg in robot.legs]
    home = euler.rotation(robot.sequence, robot.home)
    for k, leg in enumerate(robot.legs):
        yield Curve(WORLD, _arc(corners[k], corners[(k + 1) % len(corners)]))
        carriage = matvec_t(leg.frames[0], IDENTITY[1])  # r = −e₂
        yield Curve(2 * k, (scale(RADIUS, carriage),), carriage)
        aside, across, _ = transpose(leg.platform)
        # which way the carriage is from the pole: r = −e₂, with e₂ across e₁ and e₃, (e₃ × e₂)·e₁ of the branch's sign
        reached = scale(-leg.branch, cross(leg.motor_axis, matvec(home, leg.platform_axis)))
        side = aside if dot(matvec(home, aside), reached) > 0.0 else negate(aside)
        yield Curve(2 * len(robot.legs), _arc(negate(across), sub(side, scale(0.3, across))))


def _is_star(robot: Mechanism) -> bool:
    """Return whether it is enferadi2010's: quarter turns, a common pole, and motors across the sides of a triangle."""
    quarters = all(abs(arc - 0.5 * math.pi) < NEAR for leg in robot.legs for arc in (leg.alpha1, leg.alpha2))
    poles = [transpose(leg.platform)[1] for leg in robot.legs]
    sides = zip(robot.legs, (*robot.legs[1:], robot.legs[0]), strict=True)
    ends = [(leg.motor_axis, transpose(leg.base)[1], transpose(other.base)[1]) for leg, other in sides]
    is_triangle = all(abs(dot(axis, b)) < NEAR < math.hypot(*cross(a, b)) for axis, a, b in ends)
    return quarters and is_triangle and all(math.dist(pole, poles[0]) < NEAR for pole in poles)


def _arc(start: Vector, end: Vector) -> tuple[Vector, ...]:
    """Return points of the great circle from one direction to another, by the shorter way."""
    a = normalized(start)
    b = normalized(sub(end, scale(dot(end, a), a)))
    whole = math.atan2(dot(end, b), dot(end, a))
    steps = [whole * k / (POINTS - 1) for k in range(POINTS)]
    return tuple(scale(RADIUS, add(scale(math.cos(s), a), scale(math.sin(s), b))) for s in steps)
