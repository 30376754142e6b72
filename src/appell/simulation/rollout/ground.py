"""What the robots of a rollout may touch: arguments, checked, and walls as programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import number, real_array, whole
from appell.errors import InputError
from appell.messages import listed, shown
from appell.model.model import WORLD
from appell.robot.robot import Robot
from appell.simulation.callbacks import raised
from appell.simulation.contact.gaps import check_names, chosen, coefficient, joint_ends
from appell.simulation.contact.points import Point, resolve
from appell.simulation.rollout.time_stepping import Ground, Limit, Site
from appell.simulation.walls.wall import PerPoint, Wall, check_range
from appell.spatial.scalar import Array
from appell.trace.adjoint import gradient
from appell.trace.expr import Expr
from appell.trace.tape import Port, Tape, flatten, trace

Coefficients = PerPoint | ArrayLike
"""One number, one per point by name, or arrays (..., contacts)."""


class Contacts(NamedTuple):
    """The contacts of a rollout: their names, what the program needs, and arrays (..., contacts) of numbers."""

    names: tuple[str, ...]
    ground: Ground
    numbers: dict[str, Array]


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
    named = resolve(robot, points) if given else []
    if fixed := [point.name for point in named if point.place.body == WORLD]:
        raise InputError(f"points: {listed(fixed)} cannot move; choose points of the links of robot '{robot.name}'")
    names, sites, laws = list[str](), list[Site](), list[tuple[Wall, str]]()
    points_by_name = [point.name for point in named]
    for wall in (part for whole in given for part in whole.parts):
        tape = wall_tape(wall)
        for k in chosen(wall, points_by_name):
            place, radius = named[k].place, named[k].radius
            sites.append(Site(place.body, place.position, radius, tape))
            laws.append((wall, named[k].name))
            names.append(f"{named[k].name}, {wall.label}")
    numbers = {}
    for name, common, most in (("friction", friction, np.inf), ("restitution", restitution, 1.0)):
        check_names([getattr(wall, name) for wall in given], points_by_name)
        numbers[name] = _coefficients(robot, name, common, most, laws, points_by_name)
    numbers["offset"] = _per_contact(robot, "offsets", offsets, len(sites))
    ends, rebound = _limits(robot, limits, restitution)
    return Contacts(tuple(names), Ground(tuple(sites), whole("sweeps", sweeps), ends, rebound), numbers)


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
        found[along] = own._replace(**{"lower" if sign > 0.0 else "upper": bound})
    return tuple(found.values()), number("limits: expected a restitution in [0, 1]", limits, 0.0, 1.0)


def _walls(walls: Any) -> tuple[Wall, ...]:
    given = tuple(walls) if isinstance(walls, Iterable) else (walls,)
    if not all(isinstance(wall, Wall) for wall in given):
        raise InputError(f"walls: expected a list of walls such as appell.walls.Plane, got {shown(walls)}")
    return given


def _coefficients(
    robot: Robot, name: str, common: Any, most: float, laws: Sequence[tuple[Wall, str]], points: Sequence[str]
) -> Array:
    """Return a coefficient of every contact: the wall's, else the run's."""
    if isinstance(common, Mapping) or np.ndim(common) == 0:
        check_names([common], points)
        check_range(name, common, most)
        return np.array([coefficient(getattr(wall, name), common, point) for wall, point in laws])
    array = _per_contact(robot, name, common, len(laws))
    if not ((array >= 0.0) & (array <= most)).all():
        span = f"[0, {most:g}]" if most <= 1.0 else "0 or more"
        raise InputError(f"{name}: expected numbers in {span}, got {shown(common)}")
    own = [getattr(wall, name) for wall, _ in laws]
    given = [k for k, value in enumerate(own) if value is not None]
    if given:
        array = np.array(array)
        array[..., given] = [coefficient(own[k], 0.0, laws[k][1]) for k in given]
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
        function = getattr(wall, "function", wall.gap)
        try:
            (gap,) = flatten(np.asarray(function(at), dtype=object).reshape(1).tolist())
        except Exception as error:  # a user's function may raise anything
            raise InputError(
                f"{wall.label}: its gap cannot be compiled for a rollout, since it raised {raised(error)}; write it "
                "with + − · / and numpy's sin, cos and sqrt, without conditions"
            ) from error
        return (gap,), tuple(gradient([gap], [1.0], list(p)))

    return trace("wall", program, [Port("p", (3,))], [Port("gap", ()), Port("slope", (3,))])
