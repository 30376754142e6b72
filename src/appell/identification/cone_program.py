"""Least squares over pseudo-inertias, as the cone program that Clarabel solves.

    min  ‖Ax − b‖²   with   X_k ≽ ε·1 for the first ten unknowns, the next ten, …,   and   Gx ≥ h                    (1)

The ten unknowns of a matrix X (4, 4) are its upper triangle, off-diagonal entries times √2, so that ‖X‖ is their
length. Clarabel (P. Goulart and Y. Chen, 2024) solves min ½ uᵀPu with Bu + s = c and s in a product of cones. Here
u = (x, r) with the residuals r = Ax − b as unknowns: AᵀA in P would square the condition number of A.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from appell.errors import InputError
from appell.extras import extra
from appell.spatial.scalar import Array

PAIRS = [(i, j) for j in range(4) for i in range(j + 1)]
"""Rows and columns of the ten unknowns of a symmetric matrix: the order of Clarabel's cone."""
UNIT = np.array([1.0 if i == j else 0.0 for i, j in PAIRS])
"""The unit matrix as ten numbers."""


def symmetric(x: Array) -> Array:
    """Return the symmetric matrix (4, 4) of ten unknowns.

    >>> bool(np.isclose(np.linalg.norm(symmetric(np.arange(10.0))), np.linalg.norm(np.arange(10.0))))
    True
    """
    X = np.zeros((4, 4))
    for value, (i, j) in zip(x, PAIRS, strict=True):
        X[i, j] = X[j, i] = value if i == j else value / np.sqrt(2.0)
    return X


def least_squares(A: Array, b: Array, n_matrices: int, least: float, G: Array, h: Array) -> Array:
    """Return x that solves (1).

    Parameters
    ----------
    A, b
        The rows (m, n) and the right-hand side (m,) of the least squares.
    n_matrices
        The number of matrices; they take the first 10·n_matrices unknowns.
    least
        ε, the smallest eigenvalue that a matrix may have.
    G, h
        The linear inequalities Gx ≥ h, (p, n) and (p,).

    Raises
    ------
    InputError
        When Clarabel is missing, when no x meets the inequalities, or when the solver fails.
    """
    clarabel = load_solver()
    m, n = A.shape
    size = len(UNIT) * n_matrices
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    P = sparse.diags_array(np.repeat([0.0, 2.0], [n, m]), format="csc")
    B = np.vstack([np.hstack([A, -np.eye(m)]), -np.eye(size, n + m), np.hstack([-G, np.zeros((len(h), m))])])
    c = np.concatenate([b, np.tile(-least * UNIT, n_matrices), -h])
    cones = [clarabel.ZeroConeT(m), *[clarabel.PSDTriangleConeT(4)] * n_matrices, clarabel.NonnegativeConeT(len(h))]
    solution = clarabel.DefaultSolver(P, np.zeros(n + m), sparse.csc_array(B), c, cones, settings).solve()
    x = np.array(solution.x[:n])
    accepted = (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved)
    if solution.status not in accepted or not np.isfinite(x).all():
        raise InputError(
            f"identify: no physical parameters fit (status of the solver: {solution.status}); check the units of the "
            "log and the bounds of masses, or take method='ridge'"
        )
    return x


def load_solver() -> Any:
    """Return the package clarabel."""
    return extra("clarabel", "identify: physically possible fits need", "choose method='qr'")
