"""Errors of a verb's arguments, in words: NumPy says that something does not fit, this says what and how."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.errors import InputError
from appell.kernels.runtime.program_spec import ProgramSpec


def numbers(robot: str, name: str, shape: tuple[int, ...], argument: Any) -> NDArray[Any]:
    """Return an argument as an array of real numbers whose last axes have a shape; raise what is wrong if not."""
    try:
        array = np.asarray(argument)
    except ValueError:
        raise InputError(f"{name}: expected an array of numbers, got a ragged list for robot '{robot}'") from None
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name}: expected real numbers, got {array.dtype} for robot '{robot}'")
    if array.ndim < len(shape) or array.shape[array.ndim - len(shape) :] != shape:
        expected = ", ".join(map(str, shape))
        got = f"(..., {array.shape[-1]})" if array.ndim else "a single number"
        raise InputError(f"{name}: expected (..., {expected}), got {got} for robot '{robot}'")
    return array


def explain(robot: str, recipe: ProgramSpec, arguments: tuple[Any, ...], out: Any, error: Exception) -> InputError:
    """Return the error to raise when a kernel refused its arguments."""
    leading = []
    for port, argument in zip(recipe.inputs, arguments, strict=True):
        try:
            array = numbers(robot, port.name, port.shape, argument)
        except InputError as misfit:
            return misfit
        leading.append((port.name, array.shape[: array.ndim - len(port.shape)]))
    try:
        shape = np.broadcast_shapes(*(axes for _, axes in leading))
    except ValueError:
        shapes = ", ".join(f"{name} {axes}" for name, axes in leading)
        return InputError(f"{recipe.name}: the leading axes do not broadcast ({shapes}) for robot '{robot}'")
    places = out if isinstance(out, tuple) else (out,)
    if out is not None and len(places) != len(recipe.outputs):
        got = f"{len(places)} of them" if isinstance(out, tuple) else type(out).__name__
        return InputError(f"out: expected a tuple of {len(recipe.outputs)} arrays, got {got} for robot '{robot}'")
    for port, place in zip(recipe.outputs, places, strict=False):
        if place is not None and getattr(place, "shape", None) != shape + port.shape:
            got = getattr(place, "shape", type(place).__name__)
            return InputError(f"out: expected an array of shape {shape + port.shape}, got {got} for robot '{robot}'")
        if place is not None and place.dtype.kind != "f":
            return InputError(f"out: expected an array of floats, got {place.dtype} for robot '{robot}'")
    return InputError(f"{recipe.name} of robot '{robot}': {error}")
