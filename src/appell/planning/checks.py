"""Validation of arguments: positive numbers, one number per joint, finite real arrays."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.arguments import LARGEST, number, real_array
from appell.errors import InputError

Array = NDArray[np.float64]


def moments(name: str, t: ArrayLike) -> Array:
    """Return times as an array of finite real numbers; raise an error for anything else."""
    return real(name, t, "times in seconds")


def positive(name: str, x: float) -> float:
    """Return a positive finite number; raise an error for anything else."""
    return number(f"{name}: expected a positive number", x, 1.0 / LARGEST)


def vector(name: str, x: ArrayLike, size: int | None = None) -> Array:
    """Return one number per joint; raise an error unless there are `size` of them."""
    array = real(name, x, "one number per joint")
    if array.ndim != 1 or array.size == 0 or (size is not None and array.size != size):
        expected = "one number per joint" if size is None else f"{size} numbers, one per joint"
        raise InputError(f"{name}: expected {expected}, got an array of shape {array.shape}")
    return array


def real(name: str, x: ArrayLike, expected: str) -> Array:
    """Return an array of finite real numbers; raise an error that names the fault otherwise."""
    try:
        array = real_array(name, x)
    except InputError as error:
        got = str(error).rpartition("got ")[2]
        raise InputError(f"{name}: expected {expected}, got {got}") from None
    if array.dtype.kind == "b":
        raise InputError(f"{name}: expected {expected}, got {array.dtype}")
    result: Array = array.astype(float)
    if not (np.abs(result) <= LARGEST).all():
        raise InputError(f"{name}: expected {expected}, got one that is not finite, or above {LARGEST:g}")
    return result


def span(name: str, x: float) -> float:
    """Return a duration [s], which may be infinite."""
    return number(f"{name}: expected a positive number", x, 1.0 / LARGEST, math.inf)
