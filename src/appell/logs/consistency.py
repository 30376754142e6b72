"""Consistency of the rows of a recording: time increases and joint positions do not jump."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from appell.spatial.scalar import Array

FASTEST = 100.0
"""Largest plausible joint speed [rad/s or m/s]; 20 times the typical speed if that is more."""
LARGEST = 1e9
"""Largest plausible position, speed, torque or current."""
PAUSE = 100.0
"""Isolated rows belong to the recording if they are at most this many periods away."""
FEW = 10
MARGIN = 5
"""Number of rows next to a break that are checked one by one, because adjacent rows do not show which is wrong."""


class Verdict(NamedTuple):
    """Per row: whether it belongs to the recording, and whether it repeats the previous time."""

    fits: Array
    repeats: Array


@np.errstate(over="ignore")  # of invalid times, whose rows are rejected
def verdict(t: Array, q: Array, others: Array) -> Verdict:
    """Return the consistent rows: the longest chain with increasing time and plausible joint speeds.

    Two long segments may be separated by a long pause. A few isolated rows far away in time are rejected.

    >>> t = np.array([5.0, 5.1, 0.0, 5.2, 5.3, 1e99, 5.4])
    >>> verdict(t, np.zeros((7, 1)), np.zeros((7, 0))).fits
    array([ True,  True, False,  True,  True, False,  True])
    """
    n = len(t)
    sane = np.asarray((np.abs(q) < LARGEST).all(axis=1) & (np.abs(others) < LARGEST).all(axis=1))
    repeats = np.zeros(n, dtype=bool)
    repeats[1:] = (t[1:] == t[:-1]) & sane[1:] & sane[:-1]
    candidates = np.flatnonzero(sane & ~repeats)
    fits = np.zeros(n, dtype=bool)
    if len(candidates):
        fits[candidates[_chain(t[candidates], q[candidates])]] = True
    # a repeated time is as valid as its first row
    leader = np.maximum.accumulate(np.where(repeats, 0, np.arange(n)))
    return Verdict(fits, repeats & fits[leader])


def _chain(t: Array, q: Array) -> Array:
    """Return the rows of the longest chain."""
    if len(t) < 2:
        return np.arange(len(t))
    dt = np.diff(t)
    period = float(np.median(dt[dt > 0.0])) if (dt > 0.0).any() else 1.0
    steps = _distance(q[1:], q[:-1])
    usual = np.percentile(steps / np.maximum(dt, period)[:, None], 90.0, axis=0)
    speed = np.maximum(FASTEST, 20.0 * usual)
    reached = (steps <= speed * np.maximum(dt, period)[:, None]).all(axis=1)
    leaps, pauses = (dt <= 0.0) | ~reached, dt > PAUSE * period
    if not (leaps | pauses).any():
        return np.arange(len(t))
    starts, ends, sizes = _runs(leaps, pauses)
    return _longest(t, q, speed, period, (starts, ends, sizes))


def _distance(x: Array, y: Array) -> Array:
    """Return the distance of coordinates; a full revolution is a wrapped counter and not a jump."""
    gap = np.abs(x - y)
    return np.asarray(np.minimum(gap, np.abs(gap - 2.0 * np.pi)))


def _runs(leaps: Array, pauses: Array) -> tuple[Array, Array, Array]:
    """Return the first and last row of the segments between breaks, and the length of each segment's run.

    Next to a jump the segments are single rows.
    """
    n = len(leaps) + 1
    cut = leaps | pauses
    run = np.concatenate([[0], np.cumsum(cut)])
    sizes = np.bincount(run)[run]
    for k in np.flatnonzero(leaps):
        cut[max(k - MARGIN, 0) : k + MARGIN + 1] = True
    starts = np.concatenate([[0], np.flatnonzero(cut) + 1])
    ends = np.concatenate([np.flatnonzero(cut), [n - 1]])
    return starts, ends, sizes[starts]


def _longest(t: Array, q: Array, speed: Array, period: float, runs: tuple[Array, Array, Array]) -> Array:
    """Return the rows of the longest chain of segments, linked by increasing time and reachable distances."""
    starts, ends, sizes = runs
    best, before = ends - starts + 1, np.full(len(starts), -1)
    for k in range(1, len(starts)):
        dt = t[starts[k]] - t[ends[:k]]
        near = _distance(q[starts[k]], q[ends[:k]]) <= speed * np.maximum(dt, period)[:, None]
        is_lone = np.minimum(best[:k], max(int(sizes[k]), int(ends[k] - starts[k]) + 1)) < FEW
        linked = (dt > 0.0) & near.all(axis=1) & ~(is_lone & (dt > PAUSE * period))
        if linked.any():
            scores = np.where(linked, best[:k], 0)
            # the latest of equal ones, which is the nearest
            before[k] = k - 1 - int(np.argmax(scores[::-1]))
            best[k] += scores[before[k]]
    kept: list[Array] = []
    k = int(np.argmax(best))
    while k >= 0:
        kept.append(np.arange(starts[k], ends[k] + 1))
        k = int(before[k])
    return np.concatenate(kept[::-1])
