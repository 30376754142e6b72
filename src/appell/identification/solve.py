"""Linear fits of base parameters and friction: by QR, singular values, the normal equations or ridge; uncertainty.

These are the four methods of valera2003. All solve min Σⱼ ‖Rⱼθ − zⱼ‖²/σⱼ² in the base parameters. They differ in poorly
excited directions: QR and the normal equations use no regularisation, SVD truncates small singular values, and ridge
regression keeps θ near the nominal model.

Filtered residuals and model errors are correlated in time. With ρⱼ the autocorrelation of motor j's residuals, the
covariance of the estimate is H⁻¹SH⁻¹,

    H = Σⱼ WⱼᵀWⱼ/σⱼ²,   S = Σⱼ Wⱼᵀ Ρⱼ Wⱼ/σⱼ²,   Ρⱼ the Toeplitz matrix of ρⱼ,                                        (1)

where ρⱼ is that of the residuals with a linear taper over L lags (W. Newey and K. West, 1987), so that Ρⱼ is positive
semidefinite; or that of filtered white noise, if it lasts longer: a fit absorbs the slowest part of the noise, so that
the residuals contain too little of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from appell.errors import InputError
from appell.identification.problem import LogRecord, Problem, Triangle
from appell.logs.prepare import Prepared, zero_phase
from appell.spatial.scalar import Array

DEPENDENT = 1e-7
"""Distance of a normalised friction column from the span of the others below which it is dependent."""
CUT = 1e-3
"""Threshold of singular values relative to the largest."""
FULL = {"qr": 1e12, "pinv": 1e7}
"""Largest condition numbers, with normalised columns, of methods without regularisation."""
ROUNDING = 1e-12
"""Residuals below this fraction of a motor's torque are rounding errors."""


class Shown(NamedTuple):
    """The identifiable unknowns: base parameters first, then friction; their columns of W, and the excluded ones."""

    columns: tuple[int, ...]
    names: tuple[str, ...]
    left_out: tuple[str, ...]


def shown(problem: Problem, triangles: list[Triangle]) -> Shown:
    """Return the base parameters and the distinguishable friction terms of a log."""
    names, base = problem.names, problem.base
    W = stacked(problem, triangles, np.ones(len(triangles)))[0]
    friction = range(problem.n_rigid, len(names))
    chosen = list(base.kept)
    left = []
    lengths = np.linalg.norm(W, axis=0)
    Q = np.linalg.qr(W[:, chosen] / np.where(lengths[chosen] > 0.0, lengths[chosen], 1.0))[0]
    for k in friction:
        column = W[:, k] / lengths[k] if lengths[k] > 0.0 else W[:, k]
        for _ in range(2):
            column = column - Q @ (Q.T @ column)
        size = float(np.linalg.norm(column))
        if size > DEPENDENT:
            Q = np.column_stack([Q, column / size])
            chosen.append(k)
        else:
            left.append(names[k])
    labels = (*base.labels, *(names[k] for k in chosen[base.n :]))
    return Shown(tuple(chosen), labels, tuple(left))


def stacked(problem: Problem, triangles: list[Triangle], sigma: Array) -> tuple[Array, Array]:
    """Return the rows of all motors, divided by their standard deviations, and the right-hand side."""
    blocks = []
    for triangle, deviation in zip(triangles, sigma, strict=True):
        block = np.zeros((len(triangle.z), len(problem.names)))
        block[:, triangle.columns] = triangle.R / deviation
        blocks.append(block)
    z = np.concatenate([t.z / s for t, s in zip(triangles, sigma, strict=True)])
    return np.vstack(blocks), z


def residual_sigma(problem: Problem, triangles: list[Triangle], theta: Array, taken: float, size: Array) -> Array:
    """Return the standard deviation of the residuals of each motor [N·m, N]; `taken` are the degrees of freedom used.

    It is at least a fraction of the `size` (motors,) of the torques, so that a log without noise has finite weights.
    """
    share = taken / max(problem.n_motors, 1)
    squares = [t.square(theta) / max(t.n - share, 1.0) for t in triangles]
    return np.maximum(np.sqrt(squares), ROUNDING * size)


def qr(W: Array, z: Array, start: Array) -> Array:
    """Return the least-squares solution by QR decomposition."""
    Q, R = np.linalg.qr(W)
    return scipy.linalg.solve_triangular(R, Q.T @ z)


def svd(W: Array, z: Array, start: Array) -> Array:
    """Return the truncated SVD solution nearest to the start."""
    U, s, V = np.linalg.svd(W, full_matrices=False)
    keep = s > CUT * s[0]
    return start + V[keep].T @ ((U[:, keep].T @ (z - W @ start)) / s[keep])


def pinv(W: Array, z: Array, start: Array) -> Array:
    """Return (WᵀW)⁻¹Wᵀz."""
    return scipy.linalg.solve(W.T @ W, W.T @ z, assume_a="pos")


def ridge(W: Array, z: Array, start: Array) -> Array:
    """Return the minimum of ‖Wx − z‖² + λ‖x − start‖², λ by generalised cross-validation."""
    U, s, V = np.linalg.svd(W, full_matrices=False)
    y = z - W @ start
    c = U.T @ y
    outside = float(y @ y - c @ c)

    def validation_error(log: float) -> float:
        kept = s**2 / (s**2 + np.exp(log))
        left = float(np.sum(((1.0 - kept) * c) ** 2)) + outside
        return left / max(len(z) - float(kept.sum()), 1.0) ** 2

    logs = np.linspace(np.log(1e-12 * s[0] ** 2), np.log(s[0] ** 2), 200)
    best = np.exp(logs[int(np.argmin([validation_error(x) for x in logs]))])
    return start + V.T @ (s * c / (s**2 + best))


METHODS: dict[str, Callable[[Array, Array, Array], Array]] = {"qr": qr, "svd": svd, "pinv": pinv, "ridge": ridge}
"""The linear fits by name, each a function of (W with normalised columns, z, start)."""


def linear(problem: Problem, triangles: list[Triangle], sigma: Array, seen: Shown, method: str) -> Array:
    """Return θ of a linear fit: identified base parameters, and the nominal model in the null space.

    For "physical" it is the initial value: by QR, or by SVD if the log does not determine all base parameters.

    Raises
    ------
    InputError
        When the log does not determine all base parameters and the method has no regularisation.
    """
    R, z = stacked(problem, triangles, sigma)
    columns = list(seen.columns)
    W = R[:, columns]
    lengths = np.linalg.norm(W, axis=0)
    lengths[lengths == 0.0] = 1.0
    start = start_values(problem, seen)
    condition = float(np.linalg.cond(W / lengths)) if len(W) >= len(columns) else np.inf
    if method == "physical":
        method = "qr" if condition <= FULL["qr"] else "svd"
    if not (W.any() and condition <= FULL.get(method, np.inf)):
        raise InputError(
            f"identify: the log does not determine the {len(columns)} unknowns of method '{method}' (condition number "
            f"{condition:.2g}); record a motion of every motor (see appell.excite), or use method='physical'"
        )
    values = METHODS[method](W / lengths, z, start * lengths) / lengths
    return lifted(problem, seen, values)


def start_values(problem: Problem, seen: Shown) -> Array:
    """Return the nominal values of the identifiable unknowns, without friction."""
    return np.concatenate(
        [problem.base.values(problem.nominal[: problem.n_rigid]), np.zeros(len(seen.names) - problem.base.n)]
    )


def lifted(problem: Problem, seen: Shown, values: Array) -> Array:
    """Return θ with given values of the identifiable unknowns, otherwise nearest to the nominal model."""
    base = problem.base
    theta = np.zeros(len(problem.names))
    theta[: problem.n_rigid] = base.expand(values[: base.n], problem.nominal[: problem.n_rigid])
    theta[list(seen.columns[base.n :])] = values[base.n :]
    return theta


def lowered(problem: Problem, seen: Shown, theta: Array) -> Array:
    """Return the values of the identifiable unknowns of θ."""
    return np.concatenate([problem.base.values(theta[: problem.n_rigid]), theta[list(seen.columns[problem.base.n :])]])


# Uncertainty

PERIODS = 5.0
"""L in periods of the cutoff frequency; more distant residuals count as independent."""
WELL, ROUGHLY = 0.1, 0.5
"""Relative standard errors below which a parameter is rated well or roughly identified."""

BLIND = 1e-9
"""Relative information below which a direction of the unknowns is not identifiable …"""
HIDDEN = 1e-6
"""… and component in such a direction above which an unknown is not identifiable."""


def covariance(records: Sequence[LogRecord], loads: Sequence[Array], theta: Array, seen: Shown, sigma: Array) -> Array:
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
    return inverse @ S @ inverse


def information(log: Prepared, W: Array, error: Array) -> tuple[Array, Array]:
    """Return the parts of H and S of one motor, from its weighted rows (n, k) and residuals of any scale."""
    parts = [(W[segment], error[segment]) for segment in log.segments]
    width = max(1, round(PERIODS * log.rate / log.cutoff))
    sums = autocorrelation([e for _, e in parts], width)
    measured = sums / max(sums[0], np.finfo(float).tiny) * (1.0 - np.arange(width) / width)
    rho = max(measured, _filtered(log, width), key=np.sum)
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


def _rows(record: LogRecord, load: Array, theta: Array, seen: Shown) -> Iterator[tuple[list[int], Array, Array]]:
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
        predicted = np.concatenate([Y[:, j] @ theta[columns] for _, Y in chunks])
        yield mine, W, (record.moved.tau[:, j] - predicted) * keep


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
    return sums / sums[0]


def _toeplitz(rho: Array, V: Array) -> Array:
    """Return Ρ·V, Ρ the symmetric Toeplitz matrix of ρ."""
    kernel = np.concatenate([rho[:0:-1], rho])
    return scipy.signal.oaconvolve(V, kernel[:, None], mode="full", axes=0)[len(rho) - 1 : len(rho) - 1 + len(V)]


def rating(value: float, error: float, well: float = WELL, roughly: float = ROUGHLY) -> str:
    """Return the rating of a value by its relative standard error.

    >>> rating(1.0, 0.01), rating(1.0, 0.3), rating(0.1, 0.3)
    ('well', 'roughly', 'not identified')
    """
    relative = error / abs(value) if value else np.inf
    return "well" if relative <= well else "roughly" if relative <= roughly else "not identified"
