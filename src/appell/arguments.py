"""Checks of arguments, with errors that name the argument, the expected shape and the robot."""

from __future__ import annotations

import operator
from collections.abc import Iterable, KeysView
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.errors import InputError
from appell.messages import alternatives, shown
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array

FRAMEWORKS = ("jax", "torch")
"""Packages whose arrays may be traced or carry gradients; :mod:`appell.interop` supports these."""
LARGEST = 1e50
"""The largest accepted number: products of a few of them stay finite."""
SKEWED = 1e-6
"""Tolerance of RᵀR = 1: files print rotations with six digits or more."""
ABOVE_ZERO = 5e-324
"""The smallest number above zero, for bounds that exclude zero."""


def numbers(robot: str, name: str, shape: tuple[int, ...], argument: Any) -> NDArray[Any]:
    """Return an argument as an array of real numbers with given last axes, or raise an InputError."""
    array = real_array(name, argument, f" for robot '{robot}'")
    if array.ndim < len(shape) or array.shape[array.ndim - len(shape) :] != shape:
        expected = ", ".join(map(str, shape))
        got = f"(..., {array.shape[-1]})" if array.ndim else "a single number"
        raise InputError(f"{name}: expected (..., {expected}), got {got} for robot '{robot}'")
    return array


def real_array(name: str, argument: Any, whose: str = "") -> NDArray[Any]:
    """Return an argument as an array of real numbers; `whose` ends the error message."""
    if isinstance(argument, np.ma.MaskedArray):
        raise InputError(f"{name}: expected an array of numbers, got a masked array{whose}; fill or drop its entries")
    try:
        array = np.asarray(argument)
    except (ValueError, TypeError, OverflowError, RuntimeError) as error:
        package = type(argument).__module__.partition(".")[0]
        if package in FRAMEWORKS:
            raise InputError(
                f"{name}: expected an array of numbers, got {type(argument).__name__} that {package} traces or "
                f"differentiates{whose}; use the verbs of appell.interop.{package}, or detach it"
            ) from None
        got = "a ragged list" if "inhomogeneous" in str(error) else f"{type(argument).__name__} ({error})"
        raise InputError(f"{name}: expected an array of numbers, got {got}{whose}") from None
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name}: expected real numbers, got {array.dtype}{whose}")
    return array


def finite_array(name: str, argument: Any, whose: str = "") -> Array:
    """Return an argument as finite floats, within the range of numbers in files."""
    array = real_array(name, argument, whose).astype(float)
    if not (np.abs(array) <= LARGEST).all():
        wrong = float(array[~(np.abs(array) <= LARGEST)].flat[0])
        raise InputError(f"{name}: expected finite numbers below {LARGEST:g} in size, got {wrong:g}{whose}")
    return array


def proper_poses(name: str, poses: Array) -> Array:
    """Return arrays (..., 4, 4) that are poses: a rotation, a position, and a last row 0 0 0 1."""
    rotation = poses[..., :3, :3]
    off = np.abs(rotation @ rotation.swapaxes(-1, -2) - np.eye(3)).max(initial=0.0)
    if off > SKEWED or (np.linalg.det(rotation) < 0.0).any():
        raise InputError(
            f"{name}: expected a rotation in the upper left 3×3 part (orthogonal, determinant 1), got one that is off "
            f"by {off:.2g}, or a reflection; appell.planning.goal.pose makes poses from angles"
        )
    if np.abs(poses[..., 3, :] - [0.0, 0.0, 0.0, 1.0]).max(initial=0.0) > 0.0:
        raise InputError(f"{name}: expected the last row of a pose to be 0 0 0 1; is the matrix transposed?")
    return poses


def pose_of(what: str, value: ArrayLike) -> Pose:
    """Return the pose of a 4×4 matrix, or of a position."""
    array = finite_array(what, value)
    if array.shape == (3,):
        return Pose(position=_three(array))
    if array.shape != (4, 4):
        raise InputError(f"{what}: expected a pose (4, 4) or a position (3,), got shape {array.shape}")
    proper_poses(what, array)
    return Pose((_three(array[0, :3]), _three(array[1, :3]), _three(array[2, :3])), _three(array[:3, 3]))


def _three(row: Array) -> tuple[float, float, float]:
    x, y, z = (float(entry) + 0.0 for entry in row)
    return (x, y, z)


def number(what: str, argument: Any, low: float = -LARGEST, high: float = LARGEST) -> float:
    """Return one real number between two bounds; `what` begins the message: "rate must be a number > 0"."""
    try:
        array = np.asarray(None if isinstance(argument, np.ma.MaskedArray) else argument)
    except (ValueError, TypeError, OverflowError):
        array = np.asarray(None)
    if array.ndim or array.dtype.kind not in "fiu" or not low <= float(array) <= high:
        raise InputError(f"{what}, got {shown(argument)}")
    return float(array)


def choice(what: str, argument: Any, known: Iterable[str]) -> str:
    """Return one of the known names; `what` begins the message: "simulate: no method"."""
    if not isinstance(argument, str) or argument not in known:
        raise InputError(f"{what} {shown(argument)}; {alternatives(argument, known)}")
    return argument


def truth(name: str, argument: Any) -> bool:
    """Return True or False."""
    if not isinstance(argument, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {shown(argument)}")
    return bool(argument)


def words(name: str, argument: Any) -> list[str]:
    """Return a list of names."""
    if not isinstance(argument, list | tuple | KeysView) or not all(isinstance(word, str) for word in argument):
        raise InputError(f"{name}: expected a list of names, got {shown(argument)}")
    return list(argument)


def whole(name: str, argument: Any, low: int = 1, high: int = 1 << 48) -> int:
    """Return an integer between two bounds."""
    try:
        value = int(operator.index(argument))
    except TypeError:
        value = low - 1
    if isinstance(argument, bool) or not low <= value <= high:
        most = f", at most {high}" if value > high else ""
        raise InputError(f"{name}: expected an integer of at least {low}{most}, got {shown(argument)}")
    return value


def several(what: str, argument: Any) -> list[Any]:
    """Return the entries of a list or the like; `what` begins the message: "reorder: expected a list of joints"."""
    try:
        entries = None if isinstance(argument, str | bytes) else list(argument)
    except TypeError:
        entries = None
    if entries is None:
        raise InputError(f"{what}, got {shown(argument)}")
    return entries


def joint_list(what: str, names: Any) -> list[str]:
    """Return an argument that is a list of joints."""
    given = several(f"{what}: expected names of joints, or coordinates by name", names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in given):
        raise InputError(f"{what}: expected names of joints, or coordinates by name, got {shown(names)}")
    return list(given)


def coordinates(what: str, value: ArrayLike, count: int) -> Array:
    """Return the coordinates of a joint; a single number is accepted."""
    array = np.atleast_1d(finite_array(what, value))
    if array.shape != (count,):
        raise InputError(f"{what}: expected {count} coordinate{'s'[: count != 1]}, got shape {array.shape}")
    return array
