"""Numbers, angles, poses, limits and inertias from files and arguments, checked once.

Every function takes a value and its :class:`Place`, and returns plain Python floats without negative zeros: every exact
zero or one here saves an operation in the compiled robot.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from numbers import Real

import numpy as np

from appell.arguments import LARGEST
from appell.errors import InputError, ReadError
from appell.messages import shown
from appell.model.model import GRAVITY, Limits
from appell.read.place import Place, check_keys
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import about, from_quaternion
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY, ZERO, matmul

ROUNDING = 1e-15
"""Rounding error of the sine or cosine of a multiple of π/2, for a few turns."""

INERTIA_KEYS = ("mass", "centre", "inertia", "parameters")
LIMIT_KEYS = ("lower", "upper", "velocity", "effort")

_DEGREES = re.compile(r"\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*deg\s*")


def number(value: object, place: Place) -> float:
    """Return a finite number as a float.

    >>> number(3, Place())
    3.0
    """
    x = bound(value, place)
    if not abs(x) <= LARGEST:
        raise place.error(f"expected a finite number below {LARGEST:g} in size, got {x:g}")
    return x


def bound(value: object, place: Place) -> float:
    """Return a number that may be infinite but not NaN, such as a limit.

    >>> bound(float("inf"), Place())
    inf
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise place.error(f"expected a number, got {shown(value)}")
    try:
        x = float(value)
    except OverflowError:
        raise place.error("expected a number within the range of float64, got a larger one") from None
    if math.isnan(x):
        raise place.error("expected a number, got NaN")
    return x + 0.0


def angle(value: object, place: Place) -> float:
    """Return an angle in radians, given as a number of radians or as text such as "90 deg".

    >>> angle("90 deg", Place()) == angle(math.pi / 2, Place())
    True
    """
    return number(_radians(value, place), place)


def _radians(value: object, place: Place) -> object:
    if not isinstance(value, str):
        return value
    match = _DEGREES.fullmatch(value)
    if match is None:
        raise place.error(f"expected radians as a number or degrees as text such as '90 deg', got {shown(value)}")
    return math.radians(float(match[1]))


def sequence(value: object, place: Place) -> list[object]:
    """Return the entries of a list, a tuple or an array."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, list | tuple):
        raise place.error(f"expected a list, got {shown(value)}")
    return list(value)


def numbers(value: object, count: int, place: Place) -> tuple[float, ...]:
    """Return a list of `count` finite numbers.

    >>> numbers([1, 2.5], 2, Place())
    (1.0, 2.5)
    """
    entries = sequence(value, place)
    if len(entries) != count:
        raise place.error(f"expected {count} numbers, got {len(entries)}")
    return tuple(number(entry, place.at(i)) for i, entry in enumerate(entries))


def vector(value: object, place: Place) -> Vector:
    """Return three finite numbers.

    >>> vector([1, 2, 3], Place())
    (1.0, 2.0, 3.0)
    """
    x, y, z = numbers(value, 3, place)
    return (x, y, z)


def table(value: object, place: Place) -> Mapping[str, object]:
    """Return a table of keys and values."""
    if not isinstance(value, Mapping):
        raise place.error(f"expected a table of keys and values, got {shown(value)}")
    return value


def text(value: object, place: Place) -> str:
    """Return text that is not empty."""
    if not isinstance(value, str):
        raise place.error(f"expected text, got {shown(value)}")
    if not value.strip():
        raise place.error("expected text, got an empty one")
    return value


def symmetric(value: object, place: Place) -> Matrix:
    """Return an inertia tensor of 3 numbers (its diagonal), 6 (xx, xy, yy, xz, yz, zz) or 3 rows of 3.

    >>> symmetric([1, 2, 3], Place())
    ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 3.0))
    """
    entries = sequence(value, place)
    if len(entries) == 3 and all(isinstance(entry, list | tuple | np.ndarray) for entry in entries):
        rows = (vector(entries[0], place.at(0)), vector(entries[1], place.at(1)), vector(entries[2], place.at(2)))
        size = max(abs(x) for row in rows for x in row)
        if any(abs(rows[i][j] - rows[j][i]) > 1e-9 * size for i in range(3) for j in range(i)):
            raise place.error("expected a symmetric matrix; off-diagonal entries differ")
        return rows
    if len(entries) == 3:
        xx, yy, zz = numbers(entries, 3, place)
        return ((xx, 0.0, 0.0), (0.0, yy, 0.0), (0.0, 0.0, zz))
    if len(entries) == 6:
        xx, xy, yy, xz, yz, zz = numbers(entries, 6, place)
        return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    raise place.error(f"expected 3 numbers (the diagonal), 6 (xx xy yy xz yz zz) or 3 rows of 3, got {len(entries)}")


def inertia(entries: Mapping[str, object], place: Place) -> Inertia:
    """Return the inertia of `mass`, `centre` and `inertia` about it, or of ten `parameters` about the origin.

    >>> inertia({"mass": 2.0, "centre": [0, 0, 0.5]}, Place()).tensor[0][0]
    0.5
    """
    if "parameters" in entries:
        clash = [key for key in INERTIA_KEYS if key in entries and key != "parameters"]
        if clash:
            raise place.error(f"give 'parameters' or '{clash[0]}', not both")
        return Inertia.from_parameters(numbers(entries["parameters"], 10, place.at("parameters")))
    return Inertia.from_centre(
        number(entries.get("mass", 0.0), place.at("mass")),
        vector(entries.get("centre", ZERO), place.at("centre")),
        symmetric(entries.get("inertia", ZERO), place.at("inertia")),
    )


def limits(value: object, turns: bool, place: Place) -> Limits:
    """Return the limits of a table of `lower`, `upper`, `velocity` and `effort`; angles where the joint turns.

    >>> limits({"upper": "180 deg"}, True, Place()).upper == math.pi
    True
    """
    entries = table(value, place)
    check_keys(entries, LIMIT_KEYS, place)
    bounds = {}
    for key, entry in entries.items():
        in_radians = _radians(entry, place.at(key)) if turns and key != "effort" else entry
        bounds[key] = bound(in_radians, place.at(key))
    given = Limits(**bounds)
    if given.lower > given.upper:
        raise place.error(f"the lower limit {given.lower:g} is above the upper limit {given.upper:g}; swap them")
    return given


def cos_sin(radians: float) -> tuple[float, float]:
    """Return cosine and sine, exactly 0 and ±1 where the angle is a multiple of π/2 up to rounding.

    >>> cos_sin(math.pi / 2)
    (0.0, 1.0)
    """
    c, s = math.cos(radians), math.sin(radians)
    if abs(c) < ROUNDING:
        return 0.0, math.copysign(1.0, s)
    if abs(s) < ROUNDING:
        return math.copysign(1.0, c), 0.0
    return c, s


def rotation(rpy: Vector) -> Matrix:
    """Return Rz(yaw)·Ry(pitch)·Rx(roll), exact for quarter turns.

    >>> rotation((math.pi / 2, 0.0, 0.0))
    ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
    """
    x, y, z = (about(axis, *cos_sin(radians)) for axis, radians in zip(IDENTITY, rpy, strict=True))
    return tidy(matmul(matmul(z, y), x))


def tidy(matrix: Matrix) -> Matrix:
    """Return a matrix without negative zeros.

    >>> tidy(((-0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)))[0]
    (0.0, 0.0, 1.0)
    """
    a, b, c = (tuple(x + 0.0 for x in row) for row in matrix)
    return (a, b, c)


def quaternion_rotation(parts: Sequence[float], place: Place) -> Matrix:
    """Return the rotation of a quaternion x y z w, which is normalised; zero length is an error.

    >>> quaternion_rotation([0.0, 0.0, 0.0, 2.0], Place("arm.urdf"))
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    """
    size = math.hypot(*parts)
    if not size > 1e-9:
        raise place.error("the quaternion has zero length; expected x y z w of unit length")
    x, y, z, w = (part / size for part in parts)
    return tidy(from_quaternion(x, y, z, w))


def pose(xyz: Vector, rpy: Vector) -> Pose:
    """Return the pose of an offset and roll, pitch, yaw.

    >>> pose((0.0, 0.0, 1.0), ZERO) == Pose(IDENTITY, (0.0, 0.0, 1.0))
    True
    """
    return Pose(rotation(rpy), xyz)


def direction(axis: Vector) -> Vector:
    """Return the axis without rounding errors beside a coordinate axis; `build` normalises it.

    >>> direction((0.0, -0.7, 4e-17))
    (0.0, -1.0, 0.0)
    """
    size = math.hypot(*axis)
    kept = [x if abs(x) > ROUNDING * size else 0.0 for x in axis]
    if sum(x != 0.0 for x in kept) == 1:
        kept = [math.copysign(1.0, x) if x else 0.0 for x in kept] if size > 1e-9 else kept
    return (kept[0], kept[1], kept[2])


def gravity_vector(override: Sequence[float] | None, default: Vector = GRAVITY) -> Vector:
    """Return the given gravity [m/s²], or the default if None.

    >>> gravity_vector((0, 0, -1.62))
    (0.0, 0.0, -1.62)
    """
    if override is None:
        return default
    try:
        return vector(override, Place("gravity"))
    except ReadError:
        example = "three finite numbers in m/s², such as (0, 0, -9.81)"
        raise InputError(f"gravity must be {example}; got {shown(override)}") from None
