"""Differences: derivatives in time of whatever can be computed at a time, and how far two arrays are apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from appell.spatial.scalar import Array

H = 2e-3
"""The step of differences in time [s]."""
WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
"""Central differences of eighth order."""


def rate(of: Callable[[Array], Array], t: Array) -> Array:
    """Return the derivative of a function of time, by differences.

    >>> bool(abs(rate(np.sin, np.array([0.5])) - np.cos(0.5))[0] < 1e-12)
    True
    """
    steps = [w * (of(t + k * H) - of(t - k * H)) for k, w in WEIGHTS.items()]
    return np.asarray(np.sum(steps, axis=0) / H)


def off(ours: Array, theirs: Array) -> float:
    """Return the greatest difference, relative to the greatest number."""
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())
