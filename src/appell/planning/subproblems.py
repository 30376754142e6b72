"""Subproblems of closed-form inverse kinematics, on arrays with any leading axes.

A problem without a solution gives the nearest angle instead of NaN; the caller compares the resulting pose with the
target. Where every angle is a solution (a point on its own axis), the result is zero.
"""

from __future__ import annotations

import math

import numpy as np

from appell.planning.checks import Array


def turned(axis: Array, angle: Array, x: Array) -> Array:
    """Return x rotated about a unit axis: Rodrigues' formula."""
    c, s = np.cos(angle)[..., None], np.sin(angle)[..., None]
    result: Array = c * x + s * np.cross(axis, x) + (1.0 - c) * dot(axis, x)[..., None] * axis
    return result


def matrix(axis: Array, angle: Array) -> Array:
    """Return the rotation about a unit axis as (..., 3, 3)."""
    rows = turned(axis, angle[..., None], np.eye(3))  # of the unit vectors: the columns of the matrix
    return rows.swapaxes(-1, -2)


def dot(x: Array, y: Array) -> Array:
    """Return the scalar product along the last axis."""
    result: Array = (x * y).sum(axis=-1)
    return result


def across(axis: Array, x: Array) -> Array:
    """Return the component of x perpendicular to a unit axis."""
    result: Array = x - dot(axis, x)[..., None] * axis
    return result


def carrying(axis: Array, x: Array, y: Array) -> Array:
    """Return the angle about an axis that carries x over y, as nearly as a rotation about it can."""
    x, y = across(axis, x), across(axis, y)
    result: Array = np.arctan2(dot(axis, np.cross(x, y)), dot(x, y))
    return result


def harmonic(A: Array, B: Array, C: Array, side: float, *, is_near: bool = False) -> Array:
    """Return an angle with A cos x + B sin x = C: on the `side` (±1) of the maximum of the left-hand side.

    With `is_near` the side refers to the extremum, maximum or minimum, that is nearer to zero.
    """
    A, B, C = np.broadcast_arrays(A, B, C)
    if is_near:
        flip = np.where(A < 0.0, -1.0, 1.0)
        A, B, C = flip * A, flip * B, flip * C
    size = np.hypot(A, B)
    # arccos(C/size), by atan2 so that it is exact near 0 and π too; clamped to them where |C| > size
    away = np.arctan2(np.sqrt(np.maximum((size - C) * (size + C), 0.0)), C)
    result: Array = np.where(size > 0.0, np.arctan2(B, A) + side * away, 0.0)
    return result


def sliding(direction: Array, x: Array, squared: Array, side: float) -> Array:
    """Return the d with |x + d·direction|² = squared that is larger (side 1) or smaller (−1); the direction is a unit.

    d² + 2d·(x·u) + |x|² − squared = 0
    """
    middle = -dot(direction, x)
    nearest = dot(x, x) - middle**2  # squared distance of the line from the origin
    result: Array = middle + side * np.sqrt(np.maximum(squared - nearest, 0.0))
    return result


def principal(angle: Array) -> Array:
    """Return the equivalent angle between −π and π."""
    result: Array = angle - 2.0 * math.pi * np.round(angle / (2.0 * math.pi))
    return result
