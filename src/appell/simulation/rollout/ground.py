"""What the robots of a rollout may touch: arguments, checked, and walls as programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import number, real_array, whole
from appell.errors import InputError, warn
from appell.messages import listed, shown
from appell.model.model import WORLD
from appell.robot.robot import Robot
from appell.simulation.callbacks import raised
from appell.simulation.contact.gaps import check_names, chosen, coefficient, joint_ends
from appell.simulation.contact.points import Named, Point, Points, contact_points, resolve
from appell.simulation.rollout.time_stepping import Ground, Limit, Site
from appell.simulation.walls.shapes import SignedDistance
from appell.simulation.walls.wall import Parallel, PerPoint, Wall, check_range
from appell.spatial.scalar import Array
from appell.trace.derive import gradient
from appell.trace.expr import Expr
from appell.trace.tape import Port, Tape, trace

Coefficients = PerPoint | ArrayLike
"""One number, one per point by name, or arrays (..., contacts)."""


MOST = 40
"""Contacts of a rollout, whose program grows with their square."""
INSIDE = 1e-3
"""Depth [m] from which a robot counts as inside a wall at the start."""


class Pair(NamedTuple):
    """A contact point and a wall."""

    point: Named
    wall: Wall

    @property
    def name(self) -> str:
        """Return the names of both."""
        return f"{self.point.name}, {self.wall.label}"


class Contacts(NamedTuple):
    """The contacts of a rollout, what the program needs, and arrays (..., contacts) of numbers."""

    pairs: tuple[Pair, ...]
    ground: Ground
    numbers: dict[str, Array]

    def warn_inside(self, robot: Robot, q: Array) -> None:
        """Warn of robots (..., nq) that start inside a wall."""
        if not self.pairs:
            return
        p = Points(robot, [pair.point for pair in self.pairs]).positions(q)
        depths = [
            pair.point.radius - pair.wall.gap(p[..., k, :]) / np.linalg.norm(pair.wall.gradient(p[..., k, :]), axis=-1)
            for k, pair in enumerate(self.pairs)
        ]
        depth = np.stack(depths, axis=-1) + self.numbers["offset"]
        if (worst := float(depth.max(initial=0.0))) > INSIDE:
            robots, k = (
                np.moveaxis(depth > INSIDE, -1, 0),
                int(np.argmax(depth.reshape(-1, len(self.pairs)).max(axis=0))),
            )
            warn(
                f"rollout: {int(robots.any(axis=0).sum())} of {robots[0].size} robots '{robot.name}' start inside a "
                f"wall, the deepest by {worst:.3g} m ({self.pairs[k].name}); change q0 or move the wall"
            )


def contacts(
    robot: Robot,
    walls: Sequence[Wall],
    points: Iterable[str | Point] | None,
    friction: Coefficients,
    restitution: Coefficients,
    offsets: ArrayLike,
    limits: bool | float,
    sweeps: int,
) -> Contacts:
    """Return the contacts of a robot's points with walls, wall by wall."""
    given = _walls(walls)
    named = resolve(robot, contact_points(robot) if points is None else points) if given else []
    if fixed := [point.name for point in named if point.place.body == WORLD]:
        raise InputError(f"points: {listed(fixed)} cannot move; choose points of the links of robot '{robot.name}'")
    names = [point.name for point in named]
    parts = (wall for one in given for wall in one.parts)
    pairs = tuple(Pair(named[k], wall) for wall in parts for k in chosen(wall, names))
    if len(pairs) > MOST:
        raise InputError(
            f"points: {len(pairs)} contacts of robot '{robot.name}' with walls, at most {MOST} in a rollout; name the "
            "points that touch, such as appell.simulation.Point"
        )
    sites = tuple(_site(pair) for pair in pairs)
    numbers = {}
    for name, common, most in (("friction", friction, np.inf), ("restitution", restitution, 1.0)):
        check_names([getattr(wall, name) for wall in given], names)
        numbers[name] = _coefficients(robot, name, common, most, pairs, names)
    numbers["offset"] = _per_contact(robot, "offsets", offsets, len(pairs))
    ends, rebound = _limits(robot, limits, restitution)
    return Contacts(pairs, Ground(sites, whole("sweeps", sweeps), ends, rebound), numbers)


def _limits(robot: Robot, limits: bool | float, restitution: Coefficients) -> tuple[tuple[Limit, ...], float]:
    """Return the limits of joints, each joint once, and their restitution."""
    if isinstance(limits, bool | np.bool_):
        if not limits:
            return (), 0.0
        if isinstance(restitution, Mapping) or np.ndim(restitution):
            raise InputError(
                "limits: with a restitution per contact, limits must be a number: the restitution at the limits"
            )
        limits = number("restitution", restitution, 0.0, 1.0)
    found: dict[int, Limit] = {}
    for _, at, along, bound, sign in joint_ends(robot):
        own = found.get(along, Limit(at, along, -math.inf, math.inf))
        found[along] = own._replace(lower=bound) if sign > 0.0 else own._replace(upper=bound)
    return tuple(found.values()), number("limits: expected a restitution in [0, 1]", limits, 0.0, 1.0)


def _site(pair: Pair) -> Site:
    """Return a contact with the wall for the centres of balls, if there is a program of it, else with the wall."""
    (body, position), radius = pair.point.place, pair.point.radius
    moved = pair.wall.offset(radius) if radius else pair.wall
    if isinstance(moved, Parallel):
        return Site(body, position, radius, radius, wall_tape(pair.wall))
    return Site(body, position, radius, 0.0, wall_tape(moved))


def _walls(walls: Any) -> tuple[Wall, ...]:
    given = tuple(walls) if isinstance(walls, Iterable) else (walls,)
    if not all(isinstance(wall, Wall) for wall in given):
        raise InputError(f"walls: expected a list of walls such as appell.walls.Plane, got {shown(walls)}")
    for wall in (part for one in given for part in one.parts):
        if not wall.is_endless:
            raise InputError(f"{wall.label}: walls with ends do not act in rollouts; use appell.simulate, or a Line")
    return given


def _coefficients(
    robot: Robot, name: str, common: Any, most: float, pairs: Sequence[Pair], points: Sequence[str]
) -> Array:
    """Return a coefficient of every contact: the wall's, else the run's."""
    own = [getattr(pair.wall, name) for pair in pairs]
    if isinstance(common, Mapping) or np.ndim(common) == 0:
        check_names([common], points)
        check_range(name, common, most)
        return np.array([coefficient(law, common, pair.point.name) for law, pair in zip(own, pairs, strict=True)])
    array = _per_contact(robot, name, common, len(pairs))
    if not ((array >= 0.0) & (array <= most)).all():
        span = f"[0, {most:g}]" if most <= 1.0 else "0 or more"
        raise InputError(f"{name}: expected numbers in {span}, got {shown(common)}")
    given = [k for k, law in enumerate(own) if law is not None]
    array = np.array(array)
    array[..., given] = [coefficient(own[k], 0.0, pairs[k].point.name) for k in given]
    return array


def _per_contact(robot: Robot, name: str, value: ArrayLike, n: int) -> Array:
    array = real_array(name, value, f" for robot '{robot.name}'").astype(float)
    array = np.full(n, array) if array.ndim == 0 else array
    if array.shape[-1] != n or not np.isfinite(array).all():
        raise InputError(
            f"{name}: expected finite numbers (..., {n}), one per contact, got shape {array.shape} for robot "
            f"'{robot.name}'"
        )
    return array


def wall_tape(wall: Wall) -> Tape:
    """Return the program of a wall's gap and its gradient at a point.

    >>> import appell
    >>> wall_tape(appell.walls.Plane()).run([5.0, 5.0, 0.25])
    [0.25, 0.0, 0.0, 1.0]
    """

    def program(p: Sequence[Expr]) -> Any:
        at = np.empty(3, dtype=object)
        at[:] = p
        # functions of users may index a position, and would then get arrays without axes
        function, at = (wall.function, at[None]) if isinstance(wall, SignedDistance) else (wall.gap, at)
        try:
            (gap,) = np.asarray(function(at), dtype=object).reshape(1).tolist()
        except Exception as error:  # a user's function may raise anything
            raise InputError(
                f"{wall.label}: its gap cannot be compiled for a rollout, since it raised {raised(error)}; write it "
                "with + − · / and numpy's sin, cos and sqrt, without conditions"
            ) from error
        return (gap,), tuple(gradient([gap], [1.0], list(p)))

    return trace("wall", program, [Port("p", (3,))], [Port("gap", ()), Port("slope", (3,))])
