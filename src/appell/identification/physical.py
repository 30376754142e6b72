"""Fits of physically consistent parameters.

Mass, first moment and second moment of a body form its pseudo-inertia, which is positive definite if and only if a
distribution of positive mass exists for them (P. Wensing, S. Kim and J. Slotine, 2018):

    J = [ Σ  h ]  ≻ 0,   Σ = ½ tr(I)·1 − I,                                                             (1)
        [ hᵀ m ]

a linear matrix inequality in the ten parameters. With J₀ = LLᵀ of the nominal model and J = L·X·Lᵀ, X = 1 is the
nominal body in any frame and unit, and ‖X − 1‖² is the distance of a body from it (T. Lee and F. Park, 2018). The fit
solves

    min  Σⱼ ‖Rⱼθ − zⱼ‖²/(cσⱼ²) + Σ_b ‖X_b − 1‖²/s²   with   X_b ≽ ε·1                                           (2)

with nonnegative rotor inertias and load friction, and dissipative friction. c is the number of samples per independent
observation, so that (2) weighs log and prior as Bayes' rule does.

This is a cone program,

    min  ‖Ax − b‖²   with   X_k ≽ ε·1 for the first ten unknowns, the next ten, …,   and   Gx ≥ h                    (3)

The ten unknowns of a matrix X (4, 4) are its upper triangle, off-diagonal entries times √2, so that ‖X‖ is their
length. Clarabel (P. Goulart and Y. Chen, 2024) solves min ½ uᵀPu with Bu + s = c and s in a product of cones. Here
u = (x, r) with the residuals r = Ax − b as unknowns: AᵀA in P would square the condition number of A.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from appell.errors import InputError
from appell.extras import extra
from appell.identification.friction import LENGTHS, Sliding
from appell.identification.problem import Problem, Triangle
from appell.identification.solve import stacked
from appell.messages import alternatives
from appell.model.parameters import PER_BODY
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Array

LEAST = 1e-3
"""ε: lower bound of the pseudo-inertia relative to the nominal one."""
SMALL = 0.01
"""Minimum thickness [m] of a nominal body."""
SPEEDS = 12
"""Number of speeds at which friction must dissipate."""


class Prior(NamedTuple):
    """Standard deviation of bodies relative to the nominal model, and bounds of masses by link name [kg]."""

    spread: float = 1.0
    masses: Mapping[str, tuple[float, float]] = MappingProxyType({})


def pseudo_inertia(pi: Array) -> Array:
    """Return J of ten parameters, Eq. (1).

    >>> pseudo_inertia(np.array([2.0, 0, 0, 1.0, 1.0, 0, 1.0, 0, 0, 0.5])).diagonal()
    array([0.25, 0.25, 0.75, 2.  ])
    """
    inertia = Inertia.from_parameters(tuple(float(x) for x in pi))
    return np.block(
        [[np.array(inertia.second), np.array(inertia.first)[:, None]], [np.array(inertia.first)[None], inertia.mass]]
    )


def from_pseudo(J: Array) -> Array:
    """Return the ten parameters of a pseudo-inertia."""
    second = tuple(tuple(float(x) for x in row[:3]) for row in J[:3])
    inertia = Inertia(float(J[3, 3]), tuple(float(x) for x in J[:3, 3]), second)  # type: ignore[arg-type]
    return np.array(inertia.parameters)


def is_possible(pi: Array) -> bool:
    """Return whether ten parameters are physically consistent."""
    return bool(np.linalg.eigvalsh(pseudo_inertia(pi))[0] > 0.0)


def physical(problem: Problem, triangles: list[Triangle], sigma: Array, fastest: Array, prior: Prior) -> Array:
    """Return the solution θ of (2), for residuals of standard deviation √c·σ and largest motor speeds `fastest`.

    Raises
    ------
    InputError
        When Clarabel is missing, or a bound of masses has an unknown link or an empty range.
    """
    load_solver()
    R, z = _whitened(problem, triangles, sigma)
    bodies = _bodies(problem)
    free = len(problem.names) - PER_BODY * len(bodies)
    T = _map(bodies, free, R)
    start = np.concatenate([np.tile(UNIT, len(bodies)), np.zeros(free)])
    # rows of the prior; friction and rotors get a weak one that makes them unique
    weights = np.repeat([1.0 / prior.spread, 1e-6], [PER_BODY * len(bodies), free])
    rows, right = np.vstack([R @ T, np.diag(weights)]), np.concatenate([z, weights * start])
    T, rows = _apart(T, rows, PER_BODY * len(bodies))
    G, h = _inequalities(problem, bodies, T, prior, fastest)
    return T @ least_squares(rows, right, len(bodies), LEAST, G, h)


def semidefinite(W: Array, z: Array) -> Array:
    """Return the least-squares solution of Wx = z whose first ten unknowns are physically consistent.

    Without a nominal body, the scale of mass is that of the unconstrained solution, and of length a decimetre.
    """
    plain: Array = np.linalg.lstsq(W, z, rcond=None)[0]
    if is_possible(plain[:PER_BODY]):
        return plain
    mass = max(float(np.abs(plain[0])), 1e-3)
    T = np.eye(len(plain))
    T[:PER_BODY, :PER_BODY] = _to_parameters(np.sqrt(mass) * np.diag([0.1, 0.1, 0.1, 1.0]))
    Q, S = np.linalg.qr(W @ T)
    return T @ least_squares(S, Q.T @ z, 1, 1e-6, np.zeros((0, len(plain))), np.zeros(0))


def _to_parameters(L: Array) -> Array:
    """Return the map (10, 10) from X, ten numbers, to the parameters of J = L·X·Lᵀ."""
    return np.column_stack([from_pseudo(L @ symmetric(unit) @ L.T) for unit in np.eye(PER_BODY)])


def _bodies(problem: Problem) -> list[Array]:
    """Return per body the map from X to its parameters, of a nominal body with a minimum mass and thickness."""
    nominal = problem.nominal
    count = len(problem.robot.link_names)
    floor = 1e-3 * max(float(nominal[: PER_BODY * count : PER_BODY].sum()), 1e-3)
    result = []
    for k in range(count):
        pi = nominal[PER_BODY * k : PER_BODY * (k + 1)].copy()
        pi[0] = max(pi[0], floor)
        J = pseudo_inertia(pi)
        values, vectors = np.linalg.eigh(J[:3, :3] - np.outer(J[:3, 3], J[:3, 3]) / J[3, 3])
        about = (vectors * np.maximum(values, pi[0] * SMALL**2)) @ vectors.T
        J[:3, :3] = about + np.outer(J[:3, 3], J[:3, 3]) / J[3, 3]
        result.append(_to_parameters(np.linalg.cholesky(J)))
    return result


def _whitened(problem: Problem, triangles: list[Triangle], sigma: Array) -> tuple[Array, Array]:
    R, z = stacked(problem, triangles, sigma)
    top = np.asarray(np.linalg.qr(np.column_stack([R, z]), mode="r"))
    p = len(problem.names)
    return top[:p, :p], top[:p, p]


def _map(bodies: list[Array], free: int, R: Array) -> Array:
    """Return T with θ = T·x: bodies by their maps, other unknowns by their column norms, so that x is of order one."""
    n = PER_BODY * len(bodies)
    T = np.zeros((n + free, n + free))
    for k, body in enumerate(bodies):
        s = slice(PER_BODY * k, PER_BODY * (k + 1))
        T[s, s] = body
    lengths = np.linalg.norm(R[:, n:], axis=0)
    T[n:, n:] = np.diag(1.0 / np.where(lengths > 0.0, lengths, 1.0))
    return T


def _apart(T: Array, rows: Array, n: int) -> tuple[Array, Array]:
    """Return T and the rows in other unknowns behind the first n, whose columns are orthonormal.

    Friction terms are nearly collinear, which would limit the accuracy of the solver.
    """
    Q, S = np.linalg.qr(rows[:, n:])
    changed = T.copy()
    changed[:, n:] = np.linalg.solve(S.T, T[:, n:].T).T
    return changed, np.column_stack([rows[:, :n], Q])


def _inequalities(problem: Problem, bodies: list[Array], T: Array, prior: Prior, fastest: Array) -> tuple[Array, Array]:
    """Return G, h with G·x ≥ h: nonnegative rotors and load friction, dissipative friction, bounds of masses."""
    p = len(problem.names)
    rows, right = [], []
    first = PER_BODY * len(bodies)
    for k in range(first, problem.n_rigid):
        rows.append(np.eye(p)[k])
        right.append(0.0)
    for j, speed in enumerate(fastest if problem.terms else ()):
        start = problem.n_rigid + j * len(problem.terms)
        for values in _braking(problem, float(speed)):
            row = np.zeros(p)
            row[start : start + len(values)] = values
            rows.append(row)
            right.append(0.0)
    for link, (lower, upper) in prior.masses.items():
        if link not in problem.robot.link_names:
            raise InputError(f"masses: unknown link '{link}'; {alternatives(link, problem.robot.link_names, 40)}")
        if not 0.0 <= lower < upper:
            raise InputError(f"masses: link '{link}': expected 0 ≤ lower < upper [kg], got {lower!r}, {upper!r}")
        place = PER_BODY * problem.robot.link_names.index(link)
        for sign, bound in ((1.0, lower), (-1.0, upper)):
            if np.isfinite(bound):
                rows.append(sign * np.eye(p)[place])
                right.append(sign * bound)
    G = np.array(rows).reshape(-1, p) @ T
    sizes = np.linalg.norm(G, axis=1)
    alive = sizes > 0.0
    return G[alive] / sizes[alive, None], np.array(right)[alive] / sizes[alive]


def _braking(problem: Problem, fastest: float) -> list[Array]:
    """Return rows of friction coefficients that must be nonnegative.

    Forward friction without load at some speeds; its growth from half the largest speed of the log to three times that
    speed, for extrapolation; and load friction.
    """

    def columns(speeds: Array, load: float) -> Array:
        one = np.ones_like(speeds)
        slid = Sliding(speeds, load * one, [one] * len(LENGTHS))
        return np.array([term.column(slid) if term.dissipates else 0.0 * one for term in problem.terms]).T

    slow = columns(np.geomspace(1e-3, 1.0, SPEEDS) * fastest, 0.0)
    fast = np.diff(columns(np.linspace(0.5, 3.0, SPEEDS) * fastest, 0.0), axis=0)
    pressed = columns(np.ones(1), 1.0) - columns(np.ones(1), 0.0)
    return [*slow, *fast, *pressed]


# The cone program

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
    """Return x that solves (3).

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
