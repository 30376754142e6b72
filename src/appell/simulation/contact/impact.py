"""Impacts: the jump of the velocities when points strike walls simultaneously.

An impact adds M⁻¹Jᵀp to the velocities, with p the impulses at all contacts together (shafei2018 (47)). Two impact laws
determine p.

*Newton's*: every point separates with e times its approach speed, uₙ⁺ = −e·uₙ⁻, unless its impulse would be negative;
then it separates faster and the impulse is zero. Friction obeys Coulomb's law on the slip after the impact. With
friction, or with different e at several points, this law can gain energy (Kane's paradox), which the caller must check.

*Poisson's*: a compression phase brings every contact to rest; the restitution phase returns e times its normal impulse.
In both phases friction is bounded by μ times the normal impulse of the phase. In the first it obeys Coulomb's law; in
the second, where the normal impulses are known, it dissipates as much energy as possible: slip stopped by compression
may stick or reverse. With one e for all contacts no impact gains energy: the second phase ends with at most the energy
of e times the first phase's impulses, which is Moreau's law and dissipates ΔT = p·u/(1+e) − (1−e)/(2(1+e))·pᵀAp ≤ 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from appell.simulation.contact.contact_solver import complementarity, coulomb, dissipate
from appell.spatial.scalar import Array

IMPACT_LAWS = ("newton", "poisson")


class Strike(NamedTuple):
    """The velocities after an impact, the impulses (k, 3) along normals and tangents, and notes."""

    v: Array
    impulses: Array
    notes: tuple[str, ...]


class Metric:
    """The contact problem in the metric of the mass matrix: A = J M⁻¹ Jᵀ of contacts with rows J (3k, nv)."""

    def __init__(self, mass: Array, rows: Array) -> None:
        self.rows = rows.reshape(-1, mass.shape[0])
        self.carry = scipy.linalg.cho_solve(scipy.linalg.cho_factor(mass), self.rows.T)
        matrix = self.rows @ self.carry
        self.matrix = 0.5 * (matrix + matrix.T)

    def after(self, v: Array, impulses: Array) -> Array:
        """Return v + M⁻¹Jᵀp."""
        return np.asarray(v + self.carry @ impulses.ravel())


def strike(mass: Array, v: Array, rows: Array, restitution: Array, friction: Array, law: str) -> Strike:
    """Return the result of an impact at k contacts."""
    metric = Metric(mass, rows)
    u = metric.rows @ v
    solve = _newton if law == "newton" else _poisson
    impulses, notes = solve(metric.matrix, u, restitution, friction)
    return Strike(metric.after(v, impulses), impulses, (*notes, *_redundancy(metric.matrix, impulses)))


def _newton(A: Array, u: Array, restitution: Array, friction: Array) -> tuple[Array, tuple[str, ...]]:
    b = u.copy()
    b[0::3] += restitution * u[0::3]
    return _solved(A, b, friction)


def _poisson(A: Array, u: Array, restitution: Array, friction: Array) -> tuple[Array, tuple[str, ...]]:
    pressed, notes = _solved(A, u, friction)
    returned = np.zeros_like(pressed)
    returned[:, 0] = restitution * pressed[:, 0]
    if friction.any():
        middle = u + A @ (pressed + returned).ravel()
        tangents = [3 * i + j for i in range(len(friction)) for j in (1, 2)]
        returned[:, 1:] = dissipate(A[np.ix_(tangents, tangents)], middle[tangents], friction * returned[:, 0])
    return pressed + returned, notes


def _solved(A: Array, b: Array, friction: Array) -> tuple[Array, tuple[str, ...]]:
    """Return the impulses of a contact problem; without friction, of a linear complementarity problem."""
    if not friction.any():
        impulses = np.zeros((len(friction), 3))
        impulses[:, 0] = complementarity(A[0::3, 0::3], b[0::3])
        return impulses, ()
    solution = coulomb(A, b, friction, [None] * len(friction))
    coarse = (f"friction at {len(friction)} contacts: residual of the contact laws {solution.residual:.0e}",)
    return solution.forces, coarse if solution.residual > 1e-7 else ()


def _redundancy(A: Array, impulses: Array) -> tuple[str, ...]:
    pushing = 3 * np.flatnonzero(impulses[:, 0] > 0.0)
    if len(pushing) < 2:
        return ()
    rank = int(np.linalg.matrix_rank(A[np.ix_(pushing, pushing)], tol=1e-11 * float(np.trace(A)), hermitian=True))
    if rank == len(pushing):
        return ()
    return (f"{len(pushing)} contacts have {rank} independent directions: impulses are the minimum-norm solution",)
