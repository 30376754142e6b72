"""Linear fits of base parameters and friction: by QR, singular values, the normal equations, or ridge.

These are the four of valera2003. All solve min Σⱼ ‖Rⱼθ − zⱼ‖²/σⱼ² in the sums that motions can tell; they differ in
what they do where a log tells little: QR and the normal equations take it as it is, singular values below a threshold
are left out, and ridge holds θ near the nominal model.
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
"""A column of friction that far from the others, of unit length, depends on them."""
CUT = 1e-3
"""Singular values below this part of the largest are left out."""
FULL = {"qr": 1e12, "pinv": 1e7}
"""Condition numbers, columns of unit length, above which a method returns rounding; the others take any."""
ROUNDING = 1e-12
"""Residuals below this part of a motor's torque are rounding."""


class Shown(NamedTuple):
    """The unknowns that a log shows: base parameters first, then friction; columns of W for them, and what was left."""

    columns: tuple[int, ...]
    names: tuple[str, ...]
    left_out: tuple[str, ...]


def shown(problem: Problem, triangles: list[Triangle]) -> Shown:
    """Return the base parameters and those terms of friction that a log can tell from one another."""
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
    """Return the rows of all motors, each by its own standard deviation, and their right side."""
    blocks = []
    for triangle, deviation in zip(triangles, sigma, strict=True):
        block = np.zeros((len(triangle.z), len(problem.names)))
        block[:, triangle.columns] = triangle.R / deviation
        blocks.append(block)
    z = np.concatenate([t.z / s for t, s in zip(triangles, sigma, strict=True)])
    return np.vstack(blocks), z


def residual_sigma(problem: Problem, triangles: list[Triangle], theta: Array, taken: float, size: Array) -> Array:
    """Return the standard deviation of the residuals of each motor [N·m, N]; the fit took so many rows for itself.

    It is at least a part of the `size` (motors,) of the torques, so that a log without noise has finite weights.
    """
    share = taken / max(problem.n_motors, 1)
    squares = [t.square(theta) / max(t.n - share, 1.0) for t in triangles]
    return np.maximum(np.sqrt(squares), ROUNDING * size)


def qr(W: Array, z: Array, start: Array) -> Array:
    """Return the least-squares solution by an orthogonal triangle."""
    Q, R = np.linalg.qr(W)
    result: Array = scipy.linalg.solve_triangular(R, Q.T @ z)
    return result


def svd(W: Array, z: Array, start: Array) -> Array:
    """Return the solution nearest to the start whose small singular values are left as they were."""
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
"""The linear fits by name, each of (W with columns of unit length, z, where to start)."""


def linear(problem: Problem, triangles: list[Triangle], sigma: Array, seen: Shown, method: str) -> Array:
    """Return θ by a linear fit: the sums that are shown, and the nominal model in what no motion shows.

    For "physical" it is where to begin: by QR, or by singular values where the log does not determine all sums.

    Raises
    ------
    InputError
        When the log does not determine all sums and the method needs that.
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
            f"{condition:.2g}); record a motion of every motor (appell.excite plans one), or take method='physical'"
        )
    values = METHODS[method](W / lengths, z, start * lengths) / lengths
    return lifted(problem, seen, values)


def start_values(problem: Problem, seen: Shown) -> Array:
    """Return what the nominal model says of the sums that are shown, without friction."""
    return np.concatenate(
        [problem.base.values(problem.nominal[: problem.n_rigid]), np.zeros(len(seen.names) - problem.base.n)]
    )


def lifted(problem: Problem, seen: Shown, values: Array) -> Array:
    """Return θ with given values of what is shown, nearest to the nominal model besides."""
    base = problem.base
    theta = np.zeros(len(problem.names))
    theta[: problem.n_rigid] = base.expand(values[: base.n], problem.nominal[: problem.n_rigid])
    theta[list(seen.columns[base.n :])] = values[base.n :]
    return theta


def lowered(problem: Problem, seen: Shown, theta: Array) -> Array:
    """Return the values of what is shown, of θ."""
    return np.concatenate([problem.base.values(theta[: problem.n_rigid]), theta[list(seen.columns[problem.base.n :])]])


def _unit(W: Array) -> Array:
    lengths = np.linalg.norm(W, axis=0)
    return W / np.where(lengths > 0.0, lengths, 1.0)
