"""How well a log tells what was fitted: standard deviations that know of correlated residuals.

Filtered residuals are not independent from sample to sample, and what the model does not know comes in waves. With ρⱼ
the autocorrelation of motor j's residuals, the covariance of the estimate is H⁻¹SH⁻¹,

    H = Σⱼ WⱼᵀWⱼ/σⱼ²,   S = Σⱼ Wⱼᵀ Ρⱼ Wⱼ/σⱼ²,   Ρⱼ the Toeplitz matrix of ρⱼ,                                        (1)

ρⱼ as the residuals have it, weighed down linearly to zero over L lags (W. Newey and K. West, 1987), so that Ρⱼ stays
positive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.signal import oaconvolve

from appell.identify.problem import Record
from appell.identify.solve import Shown

Array = NDArray[np.float64]
PERIODS = 5.0
"""L in periods of the filter's cutoff: residuals further apart are taken as independent."""
WELL, ROUGHLY = 0.1, 0.5
"""Relative standard deviations below which a parameter is told well, or roughly."""


def covariance(records: Sequence[Record], loads: Sequence[Array], theta: Array, seen: Shown, sigma: Array) -> Array:
    """Return the covariance of the values that are shown, (shown, shown), by Eq. (1)."""
    n = len(seen.columns)
    H, S = np.zeros((n, n)), np.zeros((n, n))
    for record, load in zip(records, loads, strict=True):
        for j, (mine, W, error) in enumerate(_rows(record, load, theta, seen)):
            parts = [(W[segment] / sigma[j], error[segment]) for segment in record.log.segments]
            width = max(1, round(PERIODS * record.log.rate / record.log.cutoff))
            rho = _autocorrelation([e for _, e in parts], width)
            for V, _ in parts:
                H[np.ix_(mine, mine)] += V.T @ V
                S[np.ix_(mine, mine)] += V.T @ _toeplitz(rho, V)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
    inverse = np.linalg.pinv(H * np.outer(scale, scale), rcond=1e-12, hermitian=True) * np.outer(scale, scale)
    result: Array = inverse @ S @ inverse
    return result


def _rows(record: Record, load: Array, theta: Array, seen: Shown) -> Iterator[tuple[list[int], Array, Array]]:
    """Yield per motor which of the shown unknowns act on it, their rows, and the residuals; rows that do not count are 0."""
    problem = record.problem
    chunks = list(record.rows(load))
    for j in range(problem.n_motors):
        columns = problem.columns(j)
        place = {int(c): k for k, c in enumerate(columns)}
        mine = [k for k, c in enumerate(seen.columns) if c in place]
        own = [place[seen.columns[k]] for k in mine]
        keep = record.log.moving[:, j]
        W = np.concatenate([Y[:, j][:, own] for _, Y in chunks]) * keep[:, None]
        said = np.concatenate([Y[:, j] @ theta[columns] for _, Y in chunks])
        yield mine, W, (record.moved.tau[:, j] - said) * keep


def _autocorrelation(errors: Sequence[Array], width: int) -> Array:
    """Return ρ at lags 0 … width − 1 of residuals in stretches, weighed down linearly to zero at `width`."""
    sums = np.zeros(width)
    for error in errors:
        reach = min(width, len(error))
        sums[:reach] += [float(error[: len(error) - k] @ error[k:]) for k in range(reach)]
    return sums / max(sums[0], np.finfo(float).tiny) * (1.0 - np.arange(width) / width)


def _toeplitz(rho: Array, V: Array) -> Array:
    """Return Ρ·V, Ρ the symmetric Toeplitz matrix of ρ."""
    kernel = np.concatenate([rho[:0:-1], rho])
    result: Array = oaconvolve(V, kernel[:, None], mode="full", axes=0)[len(rho) - 1 : len(rho) - 1 + len(V)]
    return result


def verdict(value: float, deviation: float) -> str:
    """Return in words how well a value is told.

    >>> verdict(1.0, 0.01), verdict(1.0, 0.3), verdict(0.1, 0.3)
    ('well', 'roughly', 'not by this log')
    """
    relative = deviation / abs(value) if value else np.inf
    return "well" if relative <= WELL else "roughly" if relative <= ROUGHLY else "not by this log"
