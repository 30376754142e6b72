"""Least squares over pseudo-inertias: the same minimum as cvxpy's, at the optimality conditions, and clear failures."""

from __future__ import annotations

import numpy as np
import pytest

from appell.errors import InputError
from appell.identification.physical import UNIT, least_squares, symmetric

pytest.importorskip("clarabel")
SIZE = len(UNIT)


def drawn(rng: np.random.Generator, n_matrices: int, free: int, active: bool):
    """Return a problem whose unconstrained minimum leaves the cones, or stays inside them."""
    n = SIZE * n_matrices + free
    A = rng.normal(size=(2 * n, n)) * np.geomspace(1.0, 30.0, n)
    inside = np.concatenate([np.tile(UNIT, n_matrices), np.ones(free)])
    target = inside - (3.0 * np.abs(rng.normal(size=n)) if active else 0.0)
    b = A @ target + (rng.normal(size=2 * n) if active else 0.0)
    G = rng.normal(size=(3, n))
    return A, b, G, G @ inside - 0.1


def by_cvxpy(A, b, n_matrices, least, G, h):
    cp = pytest.importorskip("cvxpy")
    x = cp.Variable(A.shape[1])
    pattern = np.stack([symmetric(unit).ravel() for unit in np.eye(SIZE)], axis=1)
    matrices = [cp.reshape(pattern @ x[SIZE * k : SIZE * (k + 1)], (4, 4), order="C") for k in range(n_matrices)]
    constraints = [X >> least * np.eye(4) for X in matrices] + ([G @ x >= h] if len(h) else [])
    task = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), constraints)
    task.solve(solver=cp.CLARABEL)
    return x.value


@pytest.mark.parametrize("active", [False, True])
@pytest.mark.parametrize(("n_matrices", "free"), [(1, 0), (1, 4), (3, 5)])
def test_the_minimum_is_cvxpys(n_matrices: int, free: int, active: bool, rng: np.random.Generator) -> None:
    A, b, G, h = drawn(rng, n_matrices, free, active)
    x = least_squares(A, b, n_matrices, 1e-3, G, h)
    assert np.abs(x - by_cvxpy(A, b, n_matrices, 1e-3, G, h)).max() < 1e-6 * max(1.0, np.abs(x).max())
    eigenvalues = [np.linalg.eigvalsh(symmetric(x[SIZE * k : SIZE * (k + 1)]))[0] for k in range(n_matrices)]
    assert min(eigenvalues) > 1e-3 - 1e-7
    assert (G @ x - h).min() > -1e-7
    assert (min(eigenvalues) < 1e-3 + 1e-6) == active


def test_without_inequalities_it_is_cvxpys_too(rng: np.random.Generator) -> None:
    A, b, _, _ = drawn(rng, 2, 3, active=True)
    none = np.zeros((0, A.shape[1])), np.zeros(0)
    assert least_squares(A, b, 2, 1e-6, *none) == pytest.approx(by_cvxpy(A, b, 2, 1e-6, *none), abs=1e-6)


def test_inequalities_that_exclude_each_other_are_named(rng: np.random.Generator) -> None:
    A, b, _, _ = drawn(rng, 1, 1, active=False)
    G = np.vstack([np.eye(11)[10], -np.eye(11)[10]])
    with pytest.raises(InputError, match=r"no physical parameters fit \(status of the solver: PrimalInfeasible\)"):
        least_squares(A, b, 1, 1e-3, G, np.array([1.0, 1.0]))
