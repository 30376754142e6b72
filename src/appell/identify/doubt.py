"""How well a log tells what was fitted: standard deviations that know of correlated residuals.

Filtered residuals are not independent from sample to sample, and what the model does not know comes in waves. With
scores s_t = Σⱼ W_jtᵀ e_jt/σⱼ² the covariance of the estimate is H⁻¹SH⁻¹, H = Σ WᵀW/σ² and S the covariance of Σ s_t
over all lags that matter (W. Newey and K. West, 1987). Their weights, falling linearly to zero over L samples, are those
of sums over windows: S = (1/L) Σ m mᵀ, m the sum of L successive scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from appell.identify.problem import Record
from appell.identify.solve import Shown

Array = NDArray[np.float64]
PERIODS = 10.0
"""Residuals further apart than this many periods of the filter's cutoff are taken as independent."""
WELL, ROUGHLY = 0.1, 0.5
"""Relative standard deviations below which a parameter is told well, or roughly."""

BLIND = 1e-9
"""Directions of the unknowns whose information is this part of the largest show nothing …"""
HIDDEN = 1e-6
"""… and unknowns with more than this part in such a direction are not told."""


def covariance(records: Sequence[Record], loads: Sequence[Array], theta: Array, seen: Shown, sigma: Array) -> Array:
    """Return the covariance of the values that are shown, (shown, shown)."""
    n = len(seen.columns)
    H, S = np.zeros((n, n)), np.zeros((n, n))
    for record, load in zip(records, loads, strict=True):
        scores = np.zeros((len(record), n))
        for s, Y in record.rows(load):
            for j in range(record.problem.n_motors):
                columns = record.problem.columns(j)
                place = {int(c): k for k, c in enumerate(columns)}
                local = [(k, place[c]) for k, c in enumerate(seen.columns) if c in place]
                mine, own = [k for k, _ in local], [c for _, c in local]
                keep = record.log.moving[s, j]
                W = Y[:, j][:, own] * keep[:, None] / sigma[j]
                e = (record.moved.tau[s, j] - Y[:, j] @ theta[columns]) / sigma[j]
                H[np.ix_(mine, mine)] += W.T @ W
                scores[s, mine] += W * e[:, None]
        width = max(1, round(PERIODS * record.log.rate / record.log.cutoff))
        for segment in record.log.segments:
            S += long_run(scores[segment], width)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
    inverse = np.linalg.pinv(H * np.outer(scale, scale), rcond=1e-12, hermitian=True) * np.outer(scale, scale)
    result: Array = inverse @ S @ inverse
    return result


def long_run(scores: Array, width: int) -> Array:
    """Return Σ over lags of the products of scores, weights falling linearly to zero at `width`."""
    padded = np.concatenate([np.zeros((1, scores.shape[1])), np.cumsum(scores, axis=0)])
    ends = np.minimum(np.arange(1, len(scores) + width), len(scores))
    starts = np.maximum(np.arange(1, len(scores) + width) - width, 0)
    sums = padded[ends] - padded[starts]
    result: Array = sums.T @ sums / width
    return result


def inverse(H: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return the inverse of an information matrix so far as it shows anything, and the unknowns that it does not tell.

    >>> inverse(np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]))[1]
    array([False,  True,  True])
    """
    lengths = np.sqrt(np.maximum(np.diag(H), 0.0))
    scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    values, vectors = np.linalg.eigh(H * np.outer(scale, scale))
    seen = values > BLIND * values[-1]
    hidden = np.abs(vectors[:, ~seen]).max(axis=1, initial=0.0) > HIDDEN
    return (vectors[:, seen] / values[seen]) @ vectors[:, seen].T * np.outer(scale, scale), hidden


def verdict(value: float, deviation: float, well: float = WELL, roughly: float = ROUGHLY) -> str:
    """Return in words how well a value is told, by relative deviations that count as well and as roughly.

    >>> verdict(1.0, 0.01), verdict(1.0, 0.3), verdict(0.1, 0.3)
    ('well', 'roughly', 'not by this log')
    """
    relative = deviation / abs(value) if value else np.inf
    return "well" if relative <= well else "roughly" if relative <= roughly else "not by this log"
