"""When a function of the motion first falls through zero within a step: none is missed, and how that is known.

On a step the motion is a polynomial, and every watched function of it is approximated by its Chebyshev series through
:data:`NODES` points. The series is trusted when its last coefficients are below :data:`TAIL` (for gaps, in metres);
where they are not, the step is halved until they are. Its roots are the eigenvalues of its companion matrix: all of
them, not those between two samples that happen to differ in sign. A point that grazes a wall between two steps is
therefore found if it goes deeper than :data:`DEPTH`, which is well above the tail; what stays shallower counts as not
having touched. A function that is below zero already when a step begins, by no more than its `lag` (another event at
that very moment may have moved it by a hair), crosses when it gets deeper than it was.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from appell.results.path import Segment, fit_matrix, points
from appell.spatial.scalar import Array

Watched = Callable[[Array, Array], Array]
"""The watched functions (m, n) of times (m,) and states (m, ny)."""

NODES = 17
TAIL = 1e-12
DEPTH = 1e-11
HALVINGS = 7
"""How often a step is halved for the sake of a series; what still has a tail then is taken as it is."""


class Crossing(NamedTuple):
    """Which function falls through zero, and when."""

    which: int
    time: float


class Bounds(NamedTuple):
    """Per watched function, how deep it must go to count, and how deep it may be already when a step begins."""

    depths: Array
    lags: Array


def first(segment: Segment, watched: Watched, bounds: Bounds, allowed: Callable[[int, float], bool]) -> Crossing | None:
    """Return the first crossing of a step, of those functions that go below −depth and crossings that are allowed."""
    return _first(segment, watched, bounds, allowed, (segment.start, segment.end), 0)


def _first(
    segment: Segment,
    watched: Watched,
    bounds: Bounds,
    allowed: Callable[[int, float], bool],
    span: tuple[float, float],
    halvings: int,
) -> Crossing | None:
    depths = bounds.depths
    middle, half = 0.5 * (span[0] + span[1]), 0.5 * (span[1] - span[0])
    times = middle + half * points(NODES)
    series = fit_matrix(NODES) @ watched(times, segment.at(times))
    rest = np.abs(series[1:]).sum(axis=0)
    near = np.flatnonzero(series[0] - rest < -depths)  # elsewhere the series stays above −depth
    if not near.size:
        return None
    tails = np.abs(series[-2:, near]).max(axis=0)
    if halvings < HALVINGS and (tails > TAIL * np.maximum(1.0, depths[near] / DEPTH)).any():
        for part in ((span[0], middle), (middle, span[1])):
            found = _first(segment, watched, bounds, allowed, part, halvings + 1)
            if found is not None:
                return found
        return None
    crossings = []
    for k in near:
        lag = float(bounds.lags[k]) if span[0] == segment.start else 0.0
        x = _falls(series[:, k], float(depths[k]), lag, partial(_asked, allowed, int(k), middle, half))
        if x is not None:
            crossings.append(Crossing(int(k), middle + half * x))
    return min(crossings, key=lambda crossing: crossing.time, default=None)


def _asked(allowed: Callable[[int, float], bool], which: int, middle: float, half: float, x: float) -> bool:
    return allowed(which, middle + half * x)


def _falls(series: Array, depth: float, lag: float, allowed: Callable[[float], bool]) -> float | None:
    """Return where in [−1, 1] a series falls through zero on its way to −depth."""
    start = float(chebyshev.chebval(-1.0, series))
    shifted = series.copy()
    shifted[0] += depth - start if -lag < start < 0.0 else depth
    slope = chebyshev.chebder(series)
    deep = [x for x in _roots(shifted) if chebyshev.chebval(x, slope) < 0.0]
    zeros = [x for x in _roots(series) if chebyshev.chebval(x, slope) < 0.0] if deep else []
    for x in deep:
        before = [zero for zero in zeros if zero <= x + 1e-12]
        moment = before[-1] if before else x  # a function that began below zero has no other
        if allowed(moment):
            return moment
    return None


def _roots(series: Array) -> list[float]:
    """Return the real roots of a Chebyshev series in [−1, 1], ascending."""
    trimmed = chebyshev.chebtrim(series, 1e-17 * float(np.abs(series).max()))
    if len(trimmed) < 2:
        return []
    found = chebyshev.chebroots(trimmed)
    real = found[np.abs(found.imag) < 1e-7].real
    return sorted(float(np.clip(x, -1.0, 1.0)) for x in real if -1.0 - 1e-9 <= x <= 1.0 + 1e-9)
