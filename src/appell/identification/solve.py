"""Linear fits of base parameters and friction: by QR, singular values, the normal equations, or ridge.

These are the four methods of valera2003. All solve min Σⱼ ‖Rⱼθ − zⱼ‖²/σⱼ² in the base parameters. They differ in poorly
excited directions: QR and the normal equations use no regularisation, SVD truncates small singular values, and ridge
regression keeps θ near the nominal model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from appell.errors import InputError
from appell.identification.basis import Array
from appell.identification.problem import Problem, Triangle

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
    Q = np.linalg.qr(_unit(W[:, chosen]))[0]
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
    result: Array = scipy.linalg.solve_triangular(R, Q.T @ z)
    return result


def svd(W: Array, z: Array, start: Array) -> Array:
    """Return the truncated SVD solution nearest to the start."""
    U, s, V = np.linalg.svd(W, full_matrices=False)
    keep = s > CUT * s[0]
    result: Array = start + V[keep].T @ ((U[:, keep].T @ (z - W @ start)) / s[keep])
    return result


def pinv(W: Array, z: Array, start: Array) -> Array:
    """Return (WᵀW)⁻¹Wᵀz."""
    result: Array = scipy.linalg.solve(W.T @ W, W.T @ z, assume_a="pos")
    return result


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
    result: Array = start + V.T @ (s * c / (s**2 + best))
    return result


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


def _unit(W: Array) -> Array:
    lengths = np.linalg.norm(W, axis=0)
    return W / np.where(lengths > 0.0, lengths, 1.0)
