"""The first falling zero crossing of event functions within a step, located without missing any.

On a step the motion is a polynomial, and every event function is approximated by its Chebyshev series through
:data:`NODES` points. The series is accepted when its last coefficients are below :data:`TAIL` (for gaps, in metres);
otherwise the step is halved. All of its roots are found, as eigenvalues of its companion matrix, and not only those
between samples of different sign. Grazing contact within a step is therefore found if its depth exceeds :data:`DEPTH`,
which is well above the tail; shallower contact is ignored. A function that is negative at the start of a step, by no
more than its `lag` (another event at the same time may have moved it slightly), crosses when it decreases further.
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
"""The event functions (m, n) of times (m,) and states (m, ny)."""

NODES = 17
TAIL = 1e-12
DEPTH = 1e-11
HALVINGS = 7
"""Maximum number of halvings of a step; the series is accepted afterwards."""


class Crossing(NamedTuple):
    """The index of a function and the time of its falling zero crossing."""

    which: int
    time: float


class Bounds(NamedTuple):
    """Per event function, the depth required for an event, and the depth allowed at the start of a step."""

    depths: Array
    lags: Array


def first(segment: Segment, watched: Watched, bounds: Bounds, allowed: Callable[[int, float], bool]) -> Crossing | None:
    """Return the first allowed crossing of a step, of the functions that go below −depth."""
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
    near = np.flatnonzero(series[0] - rest < -depths)  # the other series stay above −depth
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
        x = _falls(series[:, k], float(depths[k]), lag, partial(_is_allowed, allowed, int(k), middle, half))
        if x is not None:
            crossings.append(Crossing(int(k), middle + half * x))
    return min(crossings, key=lambda crossing: crossing.time, default=None)


def _is_allowed(allowed: Callable[[int, float], bool], which: int, middle: float, half: float, x: float) -> bool:
    return allowed(which, middle + half * x)


def _falls(series: Array, depth: float, lag: float, allowed: Callable[[float], bool]) -> float | None:
    """Return the falling zero in [−1, 1] of a series before it reaches −depth."""
    start = float(chebyshev.chebval(-1.0, series))
    shifted = series.copy()
    shifted[0] += depth - start if -lag < start < 0.0 else depth
    slope = chebyshev.chebder(series)
    deep = [x for x in _roots(shifted) if chebyshev.chebval(x, slope) < 0.0]
    zeros = [x for x in _roots(series) if chebyshev.chebval(x, slope) < 0.0] if deep else []
    for x in deep:
        before = [zero for zero in zeros if zero <= x + 1e-12]
        moment = before[-1] if before else x  # a function that starts negative has no zero before
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
