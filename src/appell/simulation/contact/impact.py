"""Impacts: what happens to the velocities when points strike walls, all at once and in no time.

An impact adds M⁻¹Jᵀp to the velocities, with p the impulses at all contacts together (shafei2018 (47)). Three laws say
what p is.

*Newton's*: every struck point leaves with e times the speed at which it came, uₙ⁺ = −e·uₙ⁻, unless that would take a
wall that pulls; then it leaves faster and its impulse is zero. Friction obeys Coulomb's law on the slip after the
impact. With friction, or with different e at several points, this law can gain energy (Kane's paradox), and the caller
must look.

*Poisson's*: a compression brings every contact to rest; the wall then gives back e times the normal impulse that took.
In both phases friction stays within μ times the normal impulse of the phase. In the first it obeys Coulomb's law, and
in the second, where the normal impulses are known, it takes as much energy as it can: slip that compression has stopped
may stick or turn round. With one e for all contacts no impact can gain energy: the second phase ends with no more than
it would with e times the first phase's impulses, which is Moreau's law and dissipates
ΔT = p·u/(1+e) − (1−e)/(2(1+e))·pᵀAp ≤ 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from appell.simulation.contact.contact_solver import complementarity, coulomb, dissipate
from appell.spatial.scalar import Array

LAWS = ("newton", "poisson")


class Strike(NamedTuple):
    """The velocities after an impact, the impulses (k, 3) along normals and tangents, and remarks."""

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
    """Return what an impact at k contacts does to v."""
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
    """Return the impulses of a contact problem, by the linear one where there is no friction."""
    if not friction.any():
        impulses = np.zeros((len(friction), 3))
        impulses[:, 0] = complementarity(A[0::3, 0::3], b[0::3])
        return impulses, ()
    solution = coulomb(A, b, friction, [None] * len(friction))
    coarse = (f"friction of {len(friction)} contacts solved to {solution.residual:.0e} only",)
    return solution.forces, coarse if solution.residual > 1e-7 else ()


def _redundancy(A: Array, impulses: Array) -> tuple[str, ...]:
    pushing = 3 * np.flatnonzero(impulses[:, 0] > 0.0)
    if len(pushing) < 2:
        return ()
    rank = int(np.linalg.matrix_rank(A[np.ix_(pushing, pushing)], tol=1e-11 * float(np.trace(A)), hermitian=True))
    if rank == len(pushing):
        return ()
    return (f"{len(pushing)} contacts share {rank} independent directions: of all impulses that fit, the smallest",)
