"""Segments between gaps in time, and wrapped counters."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from appell.spatial.scalar import Array

LONGEST = 4.5
"""A time step longer than this many periods is a gap, which is not interpolated."""


def stretches(t: Array) -> list[slice]:
    """Return the slices of rows between gaps.

    >>> stretches(np.array([0.0, 0.1, 0.2, 0.9, 1.0]))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    dt = np.diff(t)
    cuts = [0, *(np.flatnonzero(dt > LONGEST * np.median(dt)) + 1).tolist(), len(t)]
    return [slice(a, b) for a, b in pairwise(cuts)]


def unwrapped(t: Array, q: Array) -> tuple[Array, Array]:
    """Return unwrapped angles, and the (row, joint) pairs of the wraps.

    A step is a wrap if it is a full revolution to within five times the joint's typical step, or a twentieth of a
    revolution.

    >>> q, wraps = unwrapped(np.arange(3.0), np.array([[3.1], [-3.1], [-3.0]]))
    >>> q.ravel().round(3).tolist(), wraps.tolist()
    ([3.1, 3.183, 3.283], [[1, 0]])
    """
    steps = np.diff(q, axis=0)
    turns = np.round(steps / (2.0 * np.pi))
    slack = np.maximum(5.0 * np.percentile(np.abs(steps), 90.0, axis=0), 0.1 * np.pi)
    wraps = (turns != 0.0) & (np.abs(steps - 2.0 * np.pi * turns) < np.minimum(slack, 0.5 * np.pi))
    if not wraps.any():
        return q, np.empty((0, 2), dtype=int)
    moved = np.cumsum(np.where(wraps, turns, 0.0), axis=0)
    straight = q - 2.0 * np.pi * np.concatenate([np.zeros((1, q.shape[1])), moved])
    return straight, np.argwhere(wraps) + np.array([1, 0])
