"""Walls from TOML tables, and readers of the values in scenarios."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from appell.errors import InputError
from appell.messages import alternatives, listed, shown
from appell.read.place import Place, check_keys
from appell.read.values import angle, number, numbers, rotation, sequence, table, text, vector
from appell.simulation.walls.heightfield import Heightfield
from appell.simulation.walls.quadrics import Arc, Circle, Ellipse, Sphere
from appell.simulation.walls.shapes import Box, Line, Plane, Polyline
from appell.simulation.walls.wall import PerPoint, Wall
from appell.spatial.scalar import Matrix

Read = Callable[[object, Place], Any]
SHARED = ("restitution", "friction", "points", "name")
MOST = {"restitution": 1.0, "friction": np.inf}
"""Coefficients between points and walls, and their upper bounds."""


def read_wall(value: object, known: list[str], place: Place) -> Wall:
    """Return the wall described by a table; `known` are the names of the robot's contact points."""
    entries = table(value, place)
    if "kind" not in entries:
        raise place.error(f"'kind' is missing; known kinds: {listed(WALLS)}")
    maker, fields, required = WALLS[choice(entries["kind"], tuple(WALLS), place.at("kind"))]
    check_keys(entries, ("kind", *fields, *SHARED), place)
    missing = [key for key in required if key not in entries]
    if missing:
        raise place.error(f"a {entries['kind']} needs '{missing[0]}'; add it")
    given = {key: read(entries[key], place.at(key)) for key, read in fields.items() if key in entries}
    for key, most in MOST.items():
        if key in entries:
            given[key] = per_point(entries[key], known, place.at(key), most)
    if "name" in entries:
        given["name"] = text(entries["name"], place.at("name"))
    if "points" in entries:
        chosen = [
            text(x, place.at("points").at(k)) for k, x in enumerate(sequence(entries["points"], place.at("points")))
        ]
        for k, name in enumerate(chosen):
            if name not in known:
                raise place.at("points").at(k).error(f"no point '{name}'; {alternatives(name, known, 40)}")
        given["points"] = tuple(chosen)
    try:
        return maker(**given)
    except InputError as error:
        raise place.error(str(error)) from None


def per_point(value: object, points: list[str], place: Place, most: float) -> PerPoint:
    """Return a number from 0 to `most`, or one per point by name."""

    def fit(entry: object, here: Place) -> float:
        x = not_negative(entry, here)
        if x > most:
            raise here.error(f"expected a number from 0 to {most:g}, got {x:g}")
        return x

    if not isinstance(value, Mapping):
        return fit(value, place)
    for name in value:
        if name not in points:
            raise place.error(f"no point '{name}'; {alternatives(name, points, 40)}")
    return {name: fit(entry, place.at(name)) for name, entry in value.items()}


# Values


def positive(value: object, place: Place) -> float:
    """Return a number above zero."""
    x = number(value, place)
    if not x > 0.0:
        raise place.error(f"expected a number above zero, got {x:g}")
    return x


def not_negative(value: object, place: Place) -> float:
    """Return a number of at least zero."""
    x = number(value, place)
    if x < 0.0:
        raise place.error(f"expected zero or more, got {x:g}")
    return x


def truth(value: object, place: Place) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise place.error(f"expected true or false, got {shown(value)}")
    return value


def choice(value: object, known: tuple[str, ...], place: Place) -> str:
    """Return one of the known names."""
    if value not in known:
        raise place.error(f"unknown {shown(value)}; {alternatives(value, known)}")
    return str(value)


def _spot(value: object, place: Place) -> list[float]:
    """Return a position of two or three numbers."""
    entries = sequence(value, place)
    if len(entries) not in (2, 3):
        raise place.error(f"expected two or three numbers, got {len(entries)}")
    return [number(entry, place.at(k)) for k, entry in enumerate(entries)]


def _spots(value: object, place: Place) -> list[list[float]]:
    return [_spot(entry, place.at(k)) for k, entry in enumerate(sequence(value, place))]


def _rotation(value: object, place: Place) -> Matrix:
    """Return the rotation of three angles roll, pitch, yaw."""
    angles = sequence(value, place)
    return rotation(vector([angle(entry, place.at(k)) for k, entry in enumerate(angles)], place))


def _lengths(value: object, place: Place) -> float | tuple[float, ...]:
    """Return one number, or two."""
    return numbers(value, 2, place) if isinstance(value, list) else number(value, place)


def _rows(value: object, place: Place) -> list[tuple[float, ...]]:
    """Return rows of numbers, all as long as the first."""
    rows = [sequence(row, place.at(k)) for k, row in enumerate(sequence(value, place))]
    return [numbers(row, len(rows[0]), place.at(k)) for k, row in enumerate(rows)]


_ROUND: dict[str, Read] = {"radius": positive, "centre": _spot, "inside": truth}
WALLS: dict[str, tuple[Callable[..., Wall], dict[str, Read], tuple[str, ...]]] = {
    "circle": (Circle, {**_ROUND, "axis": vector}, ("radius",)),
    "arc": (Arc, {**_ROUND, "axis": vector, "start": angle, "end": angle}, ("radius", "start", "end")),
    "sphere": (Sphere, _ROUND, ("radius",)),
    "ellipse": (
        Ellipse,
        {"a": positive, "b": positive, "centre": _spot, "angle": angle, "inside": truth, "axis": vector},
        ("a", "b"),
    ),
    "line": (Line, {"start": _spot, "end": _spot, "axis": vector}, ("start", "end")),
    "box": (Box, {"centre": vector, "size": vector, "rotation": _rotation}, ("centre", "size")),
    "heightfield": (Heightfield, {"heights": _rows, "cell": _lengths, "origin": vector}, ("heights", "cell")),
    "plane": (Plane, {"point": _spot, "normal": vector}, ()),
    "polyline": (Polyline, {"corners": _spots, "closed": truth, "axis": vector}, ("corners",)),
}
"""The kinds of walls: the class, the readers of its fields, and its required fields."""
