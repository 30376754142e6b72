"""Joints that make a mass matrix singular: they move no inertia, each alone or several together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from appell.spatial.scalar import Array

ROUNDING = 1e-15
"""Relative size below which a diagonal entry of the mass matrix is zero."""
SINGULAR = 1e-13
"""An eigenvalue of the scaled mass matrix below this is a rounded zero."""
SHARE = 1e-3
"""Component of a unit eigenvector from which the joint of a velocity is named."""


class Massless(NamedTuple):
    """Joints that move no inertia: each `alone`, or, if there are none, several `together`."""

    alone: list[str]
    together: list[str]


def massless(velocities: Sequence[str], mass: Array, below: float = SINGULAR) -> Massless:
    """Return the joints of small pivots: zeros of the diagonal, or what small eigenvalues' vectors move.

    For its eigenvalues M is scaled to a unit diagonal; those under `below` count. `velocities` are the names of the
    rows, such as ``root[2]`` for one of several of a joint.

    >>> massless(["a", "b"], np.array([[1.0, 1.0], [1.0, 1.0]]))
    Massless(alone=[], together=['a', 'b'])
    """
    joints, size = [name.partition("[")[0] for name in velocities], np.abs(np.diagonal(mass))
    is_zero = size <= ROUNDING * size.max(initial=0.0)
    if is_zero.any():
        return Massless(_named(joints, is_zero), [])
    values, vectors = np.linalg.eigh(scaled(mass))
    share = np.abs(vectors[:, np.abs(values) < below]).max(axis=1, initial=0.0)
    return Massless([], _named(joints, share > SHARE))


def scaled(mass: Array) -> Array:
    """Return M (..., n, n) scaled to a unit diagonal, whose condition number no unit changes."""
    size = np.sqrt(np.abs(np.diagonal(mass, axis1=-2, axis2=-1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(mass / (size[..., :, None] * size[..., None, :]))


def _named(joints: Sequence[str], which: Array) -> list[str]:
    return list(dict.fromkeys(name for name, is_in in zip(joints, which, strict=True) if is_in))
