"""The motion between the recorded times: one polynomial per integration step."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from appell.spatial.scalar import Array


class Segment(NamedTuple):
    """One step: from t0 to t1, with Chebyshev coefficients (degree + 1, n) of the state on it."""

    start: float
    end: float
    coefficients: Array

    def at(self, t: Array) -> Array:
        """Return the state at times (m,), as (m, n)."""
        x = (2.0 * np.asarray(t) - self.start - self.end) / (self.end - self.start)
        return chebyshev.chebvander(x, len(self.coefficients) - 1) @ self.coefficients

    def on(self, nodes: int) -> Array:
        """Return the state at Chebyshev's points of the step, as (nodes, n)."""
        return points_matrix(nodes, len(self.coefficients)) @ self.coefficients


@cache
def points(nodes: int) -> Array:
    """Return Chebyshev's points, both ends among them, ascending in [−1, 1]."""
    return np.asarray(-np.cos(np.pi * np.arange(nodes) / (nodes - 1)))


@cache
def points_matrix(nodes: int, count: int) -> Array:
    """Return the matrix from `count` coefficients to values at Chebyshev's points."""
    return np.asarray(chebyshev.chebvander(points(nodes), count - 1))


@cache
def fit_matrix(nodes: int) -> Array:
    """Return the matrix from values at Chebyshev's points to the coefficients of the polynomial through them."""
    return np.asarray(np.linalg.inv(chebyshev.chebvander(points(nodes), nodes - 1)))


def hermite(start: float, end: float, values: tuple[Array, Array], rates: tuple[Array, Array]) -> Segment:
    """Return the cubic with given values and rates at its ends."""
    h, x = end - start, points(4)
    s = 0.5 * (x + 1.0)[:, None]
    blend = (
        (1.0 + 2.0 * s) * (1.0 - s) ** 2 * values[0]
        + s**2 * (3.0 - 2.0 * s) * values[1]
        + h * (s * (1.0 - s) ** 2 * rates[0] - s**2 * (1.0 - s) * rates[1])
    )
    return Segment(start, end, fit_matrix(4) @ blend)


class Path:
    """Segments of one degree, one after the other; at an impact, where two meet, the later one counts.

    `quaternions` are the places in the state where one begins; polynomials keep their length but nearly.

    >>> straight = Segment(0.0, 2.0, np.array([[1.0], [1.0]]))
    >>> Path([straight]).at([0.0, 0.5, 2.0]).ravel()
    array([0. , 0.5, 2. ])
    """

    def __init__(self, segments: Sequence[Segment], quaternions: Sequence[int] = ()) -> None:
        self.starts = np.array([s.start for s in segments])
        self.ends = np.array([s.end for s in segments])
        self.coefficients = np.array([s.coefficients for s in segments])
        self.quaternions = np.array(quaternions, dtype=int)

    @staticmethod
    def of(starts: Array, ends: Array, coefficients: Array, quaternions: Array) -> Path:
        """Return the path of arrays that a path was saved as."""
        return Path([Segment(*parts) for parts in zip(starts, ends, coefficients, strict=True)], quaternions.tolist())

    def at(self, t: Any) -> Array:
        """Return the state at times (...), as (..., n); outside the path, at its nearer end."""
        times = np.clip(np.asarray(t, dtype=float), self.starts[0], self.ends[-1])
        k = np.clip(np.searchsorted(self.starts, times, side="right") - 1, 0, len(self.starts) - 1)
        x = (2.0 * times - self.starts[k] - self.ends[k]) / (self.ends[k] - self.starts[k])
        basis = chebyshev.chebvander(np.atleast_1d(x), self.coefficients.shape[1] - 1).reshape(*x.shape, -1)
        return np.asarray(np.einsum("...d,...dn->...n", basis, self.coefficients[k]))
