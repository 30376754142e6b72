"""Uncertainty of a fit: standard errors for correlated residuals.

Filtered residuals and model errors are correlated in time. With ρⱼ the autocorrelation of motor j's residuals, the
covariance of the estimate is H⁻¹SH⁻¹,

    H = Σⱼ WⱼᵀWⱼ/σⱼ²,   S = Σⱼ Wⱼᵀ Ρⱼ Wⱼ/σⱼ²,   Ρⱼ the Toeplitz matrix of ρⱼ,                                        (1)

where ρⱼ is that of the residuals with a linear taper over L lags (W. Newey and K. West, 1987), so that Ρⱼ is positive
semidefinite; or that of filtered white noise, if it lasts longer: a fit absorbs the slowest part of the noise, so that
the residuals contain too little of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy

from appell.identification.problem import Record
from appell.identification.solve import Shown
from appell.logs.filters import zero_phase
from appell.logs.prepare import Prepared
from appell.spatial.scalar import Array

PERIODS = 5.0
"""L in periods of the cutoff frequency; more distant residuals count as independent."""
WELL, ROUGHLY = 0.1, 0.5
"""Relative standard errors below which a parameter is rated well or roughly identified."""

BLIND = 1e-9
"""Relative information below which a direction of the unknowns is not identifiable …"""
HIDDEN = 1e-6
"""… and component in such a direction above which an unknown is not identifiable."""


def covariance(records: Sequence[Record], loads: Sequence[Array], theta: Array, seen: Shown, sigma: Array) -> Array:
    """Return the covariance of the identifiable unknowns, (n, n), by Eq. (1)."""
    n = len(seen.columns)
    H, S = np.zeros((n, n)), np.zeros((n, n))
    for record, load in zip(records, loads, strict=True):
        for j, (mine, W, error) in enumerate(_rows(record, load, theta, seen)):
            one, other = information(record.log, W / sigma[j], error)
            H[np.ix_(mine, mine)] += one
            S[np.ix_(mine, mine)] += other
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
    inverse = np.linalg.pinv(H * np.outer(scale, scale), rcond=1e-12, hermitian=True) * np.outer(scale, scale)
    result: Array = inverse @ S @ inverse
    return result


def information(log: Prepared, W: Array, error: Array) -> tuple[Array, Array]:
    """Return the parts of H and S of one motor, from its weighted rows (n, k) and residuals of any scale."""
    parts = [(W[segment], error[segment]) for segment in log.segments]
    width = max(1, round(PERIODS * log.rate / log.cutoff))
    sums = autocorrelation([e for _, e in parts], width)
    measured = sums / max(sums[0], np.finfo(float).tiny) * (1.0 - np.arange(width) / width)
    rho = max(measured, _filtered(log, width), key=_duration)
    H = np.sum([V.T @ V for V, _ in parts], axis=0)
    S = np.sum([V.T @ _toeplitz(rho, V) for V, _ in parts], axis=0)
    return H, S


def inverse(H: Array) -> tuple[Array, Array]:
    """Return the pseudo-inverse of an information matrix, and which unknowns are not identifiable.

    >>> inverse(np.array([[2.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]]))[1]
    array([False,  True,  True])
    """
    lengths = np.sqrt(np.maximum(np.diag(H), 0.0))
    scale = 1.0 / np.where(lengths > 0.0, lengths, 1.0)
    values, vectors = np.linalg.eigh(H * np.outer(scale, scale))
    seen = values > BLIND * values[-1]
    hidden = np.abs(vectors[:, ~seen]).max(axis=1, initial=0.0) > HIDDEN
    return (vectors[:, seen] / values[seen]) @ vectors[:, seen].T * np.outer(scale, scale), hidden


def _rows(record: Record, load: Array, theta: Array, seen: Shown) -> Iterator[tuple[list[int], Array, Array]]:
    """Yield per motor the unknowns that act on it, their rows, and residuals, 0 in unused rows."""
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


def autocorrelation(errors: Sequence[Array], width: int) -> Array:
    """Return Σ e_t·e_{t+k} of residuals in segments at lags 0 … width − 1.

    >>> autocorrelation([np.array([1.0, 2.0, 3.0])], 3).round(9)
    array([14.,  8.,  3.])
    """
    sums = np.zeros(width)
    for error in errors:
        n = len(error)
        spectrum = np.fft.rfft(error, 2 * n)
        reach = min(width, n)
        sums[:reach] += np.fft.irfft(spectrum * spectrum.conj(), 2 * n)[:reach]
    return sums


def _filtered(log: Prepared, width: int) -> Array:
    """Return ρ of white noise filtered like a log."""
    impulse = np.zeros((4 * width + 1, 1))
    impulse[2 * width] = 1.0
    response = zero_phase(impulse, log.rate, log.cutoff, log.order)[:, 0]
    sums = autocorrelation([response], width)
    result: Array = sums / sums[0]
    return result


def _duration(rho: Array) -> float:
    """Return the number of samples per independent observation."""
    return float(2.0 * rho.sum() - rho[0])


def _toeplitz(rho: Array, V: Array) -> Array:
    """Return Ρ·V, Ρ the symmetric Toeplitz matrix of ρ."""
    kernel = np.concatenate([rho[:0:-1], rho])
    result: Array = scipy.signal.oaconvolve(V, kernel[:, None], mode="full", axes=0)[
        len(rho) - 1 : len(rho) - 1 + len(V)
    ]
    return result


def rating(value: float, error: float, well: float = WELL, roughly: float = ROUGHLY) -> str:
    """Return the rating of a value by its relative standard error.

    >>> rating(1.0, 0.01), rating(1.0, 0.3), rating(0.1, 0.3)
    ('well', 'roughly', 'not identified')
    """
    relative = error / abs(value) if value else np.inf
    return "well" if relative <= well else "roughly" if relative <= roughly else "not identified"
