"""Friction cones of contact forces, and the torques of least squares whose contact forces lie in them.

A force f on a frame with normal n lies in its cone where |f − (n·f)n| ≤ μ n·f. Forces of redundant actuators are
τ = τ₀ + Nz with N the null space of Γ_aᵀ, and contact forces are affine in τ: f = f₀ + Fz. The z of least τᵀWτ with all
f in their cones is a second-order cone program of as many unknowns as actuators are redundant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from appell.extras import extra
from appell.spatial.scalar import Array

RANK = 1e-10
"""Singular values of Γ_a below this, beside the largest, are zeros."""


class StanceTorques(NamedTuple):
    """Torques of a stance (..., nu), their contact forces (..., closures, 6), and whether all lie in their cones (...).

    Where no torques have that, they are those of least squares.
    """

    tau: Array
    forces: Array
    is_feasible: Array


def margin(forces: Array, mu: Array, normals: Array) -> Array:
    """Return μ n·f − |f − (n·f)n| of forces (..., 3) [N]: not negative within the cone."""
    along = (normals * forces).sum(axis=-1)
    across = np.linalg.norm(forces - along[..., None] * normals, axis=-1)
    return np.asarray(mu * along - across)


def within_cones(
    tau: Array, motors: Array, weights: Array, forces: Callable[[int, Array], Array], mu: Array, normals: Array
) -> tuple[Array, Array]:
    """Return the torques (n, nu) of least squares whose contact forces are in their cones, and where there are any.

    `motors` (n, nv, nu) are Γ_aᵀ, `mu` (n, k) and `normals` (n, k, 3) those of the cones. `forces` gives their forces
    (…, k, 3) of a sample under torques (…, nu).
    """
    clarabel = extra("clarabel", "torques within friction cones need")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    result, is_feasible = tau.copy(), np.zeros(len(tau), dtype=bool)
    for i, matrix in enumerate(motors):
        _, values, rows = np.linalg.svd(matrix)
        free = rows[int((values > RANK * values[0]).sum()) :]
        start, *others = forces(i, np.concatenate([tau[i][None], tau[i] + free]))
        onto = np.array([_parts(*cone) for cone in zip(mu[i], normals[i], strict=True)])
        parts = np.einsum("kij,kj->ki", onto, start).reshape(-1)
        slopes = np.array([np.einsum("kij,kj->ki", onto, f - start).reshape(-1) for f in others])
        z, is_feasible[i] = _least(clarabel, settings, tau[i], free, weights[i], parts, slopes)
        result[i] += z @ free
    return result, is_feasible


def _parts(mu: float, normal: Array) -> Array:
    """Return the matrix from a force to μ times its part along the normal and two parts across it."""
    across = np.linalg.svd(normal[None])[2][1:]
    return np.vstack([mu * normal, across])


def _least(
    clarabel: Any, settings: Any, tau: Array, free: Array, weights: Array, start: Array, slopes: Array
) -> tuple[Array, bool]:
    """Return z of least (τ + Nz)ᵀW(τ + Nz) with each three of start + z·slopes in a cone; zeros if there is none."""
    if not len(free):
        parts = start.reshape(-1, 3)
        return np.zeros(0), bool((parts[:, 0] >= np.linalg.norm(parts[:, 1:], axis=1)).all())
    square = sparse.csc_matrix(np.triu((free * weights) @ free.T))
    cones = [clarabel.SecondOrderConeT(3)] * (len(start) // 3)
    # clarabel's form: minimise ½ zᵀPz + cᵀz with b − Az in the cones
    solver = clarabel.DefaultSolver(
        square, free @ (weights * tau), sparse.csc_matrix(-slopes.T), start, cones, settings
    )
    found = solver.solve()
    if found.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        return np.zeros(len(free)), False
    return np.array(found.x), True
