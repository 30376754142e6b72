"""Unit quaternions x y z w, as NumPy arrays with any leading axes: products, exponential and logarithm.

The exponential of an angular motion δ [rad] is the rotation about δ by ‖δ‖; near zero the series keep full precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
_SMALL = 1e-4
"""Angle below which three terms of a series are exact to rounding."""


def multiply(a: Array, b: Array) -> Array:
    """Return the product a ⊗ b: the rotation b, then a."""
    x, y, z, w = np.moveaxis(a, -1, 0)
    u, v, r, s = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            w * u + x * s + y * r - z * v,
            w * v - x * r + y * s + z * u,
            w * r + x * v - y * u + z * s,
            w * s - x * u - y * v - z * r,
        ],
        axis=-1,
    )


def conjugate(a: Array) -> Array:
    """Return the opposite rotation."""
    return np.multiply(a, [-1.0, -1.0, -1.0, 1.0])


def normalized(a: Array) -> Array:
    """Return a / ‖a‖."""
    result: Array = np.divide(a, np.linalg.norm(a, axis=-1, keepdims=True))
    return result


def rotate(a: Array, vector: Array) -> Array:
    """Return the vector turned by the rotation a: v + 2 w (u × v) + 2 u × (u × v)."""
    axis, w = a[..., :3], a[..., 3:]
    turned = 2.0 * np.cross(axis, vector)
    return np.add(vector + w * turned, np.cross(axis, turned))


def exponential(delta: Array) -> Array:
    """Return the rotation about δ by ‖δ‖.

    >>> exponential(np.zeros(3))
    array([0., 0., 0., 1.])
    """
    angle = np.linalg.norm(delta, axis=-1, keepdims=True)
    half = 0.5 * angle
    small = angle < _SMALL
    safe = np.where(small, 1.0, angle)
    ratio = np.where(small, 0.5 - half * half / 12.0, np.sin(half) / safe)
    return np.concatenate([ratio * delta, np.cos(half)], axis=-1)


def logarithm(a: Array) -> Array:
    """Return the δ with ‖δ‖ ≤ π whose exponential is a.

    >>> logarithm(np.array([0.0, 0.0, 0.0, 1.0]))
    array([0., 0., 0.])
    """
    a = np.where(a[..., 3:] < 0.0, -a, a)
    axis, w = a[..., :3], a[..., 3:]
    sine = np.linalg.norm(axis, axis=-1, keepdims=True)
    small = sine < _SMALL
    safe = np.where(small, 1.0, sine)
    ratio = np.where(small, 2.0 / w * (1.0 - (sine / w) ** 2 / 3.0), 2.0 * np.arctan2(sine, w) / safe)
    result: Array = np.multiply(ratio, axis)
    return result


def left_jacobian(delta: Array, vector: Array) -> Array:
    """Return ∫₀¹ exp(s δ) v ds: the displacement of a body moving by v while turning by δ, in the body frame."""
    angle = np.linalg.norm(delta, axis=-1, keepdims=True)
    small = angle < _SMALL
    safe = np.where(small, 1.0, angle)
    b = np.where(small, 0.5 - angle**2 / 24.0, (1.0 - np.cos(angle)) / safe**2)
    c = np.where(small, 1.0 / 6.0 - angle**2 / 120.0, (angle - np.sin(angle)) / safe**3)
    turned = np.cross(delta, vector)
    result: Array = np.add(vector + b * turned, c * np.cross(delta, turned))
    return result


def left_jacobian_inverse(delta: Array, vector: Array) -> Array:
    """Return the v that :func:`left_jacobian` maps to a vector."""
    angle = np.linalg.norm(delta, axis=-1, keepdims=True)
    half = 0.5 * angle
    small = angle < _SMALL
    safe = np.where(small, 1.0, angle)
    tangent = np.where(small, 1.0, np.tan(np.where(small, 1.0, half)))
    c = np.where(small, 1.0 / 12.0 + angle**2 / 720.0, (1.0 - half / tangent) / safe**2)
    turned = np.cross(delta, vector)
    result: Array = np.add(vector - 0.5 * turned, c * np.cross(delta, turned))
    return result
