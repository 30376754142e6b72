"""Validation of arguments: positive numbers, one number per joint, finite real arrays."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.errors import InputError

Array = NDArray[np.float64]


def moments(name: str, t: ArrayLike) -> Array:
    """Return times as an array; raise if they are no finite real numbers."""
    return real(name, t, "times in seconds")


def positive(name: str, x: float) -> float:
    """Return a positive finite number; raise if it is none."""
    if not (isinstance(x, Real) and math.isfinite(x) and x > 0.0):
        raise InputError(f"{name}: expected a positive number, got {x!r}")
    return float(x)


def vector(name: str, x: ArrayLike, size: int | None = None) -> Array:
    """Return one number per joint; raise if there are not `size` of them."""
    array = real(name, x, "one number per joint")
    if array.ndim != 1 or array.size == 0 or (size is not None and array.size != size):
        expected = "one number per joint" if size is None else f"{size} numbers, one per joint"
        raise InputError(f"{name}: expected {expected}, got an array of shape {array.shape}")
    return array


def real(name: str, x: ArrayLike, expected: str) -> Array:
    """Return an array of finite real numbers; raise what is wrong if it is none."""
    try:
        array = np.asarray(x)
    except ValueError:
        raise InputError(f"{name}: expected {expected}, got a ragged list") from None
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name}: expected {expected}, got {array.dtype}")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: expected {expected}, got one that is not finite")
    result: Array = array.astype(float)
    return result


def frozen(x: Any) -> Array:
    """Return a copy as floats that cannot be written."""
    array = np.array(x, dtype=float)
    array.flags.writeable = False
    return array
