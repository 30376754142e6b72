"""Finite differences in time, and relative differences of arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from appell.spatial.scalar import Array

H = 2e-3
"""Step of the finite differences [s]."""
WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
"""Central differences of eighth order."""


def rate(of: Callable[[Array], Array], t: Array) -> Array:
    """Return the derivative of a function of time by finite differences.

    >>> bool(abs(rate(np.sin, np.array([0.5])) - np.cos(0.5))[0] < 1e-12)
    True
    """
    steps = [w * (of(t + k * H) - of(t - k * H)) for k, w in WEIGHTS.items()]
    return np.asarray(np.sum(steps, axis=0) / H)


def off(ours: Array, theirs: Array) -> float:
    """Return the largest difference relative to the largest value."""
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())
