"""Errors of a verb's arguments, in words: NumPy says that something does not fit, this says what and how."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.errors import InputError
from appell.kernels.recipe import Recipe
from appell.model.joints import QUATERNION
from appell.model.model import Model


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


def explain(robot: str, recipe: Recipe, arguments: tuple[Any, ...], out: Any, error: Exception) -> InputError:
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
    for port, place in zip(recipe.outputs, out if isinstance(out, tuple) else (out,), strict=False):
        if place is not None and getattr(place, "shape", None) != shape + port.shape:
            got = getattr(place, "shape", type(place).__name__)
            return InputError(f"out: expected an array of shape {shape + port.shape}, got {got} for robot '{robot}'")
        if place is not None and place.dtype.kind != "f":
            return InputError(f"out: expected an array of floats, got {place.dtype} for robot '{robot}'")
    return InputError(f"{recipe.name} of robot '{robot}': {error}")


UNIT = 1e-6
"""How far from 1 the norm of a quaternion may be: the rounding of single precision, and some drift."""


def has_quaternions(model: Model) -> bool:
    """Return whether any joint's coordinates hold a quaternion."""
    return any(body.joint.kind in QUATERNION for body in model.bodies)


def check_quaternions(robot: str, model: Model, q: Any) -> None:
    """Raise if a quaternion in q is not of unit length; what is not a number, or not of the right size, passes."""
    try:
        values = np.asarray(q, dtype=float)
    except (TypeError, ValueError):
        return
    if values.ndim == 0 or values.shape[-1] != model.nq:
        return
    for body, where in zip(model.bodies, model.q_slices, strict=True):
        if body.joint.kind in QUATERNION:
            part = values[..., where][..., QUATERNION[body.joint.kind]]
            x, y, z, w = (part[..., k] for k in range(4))  # four strided products are faster than any reduction
            squares = x * x + y * y + z * z + w * w
            off = np.abs(squares - 1.0) > 2.0 * UNIT
            if off.any():
                index = np.unravel_index(int(np.argmax(off)), np.shape(off)) if np.ndim(off) else ()
                sample = f" of sample {tuple(map(int, index))}" if index else ""
                norm = float(np.sqrt(squares[index]))
                raise InputError(
                    f"q: the quaternion of joint '{body.joint.name}'{sample} has norm {norm:.9g}, expected 1 for robot "
                    f"'{robot}'; normalise it, or move with robot.integrate"
                )
