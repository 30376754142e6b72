"""The search for an exciting trajectory: random motions within limits, and descent from the best of them.

q = c + Σₖ aₖ sin kωt + bₖ cos kωt has v(0) = ω Σ k aₖ and a(0) = −ω² Σ k² bₖ. Both are linear in the coefficients, so
they are solved once: a = Z_s y and b = Z_c z, with Z the null spaces of (1, 2, …, h) and (1, 4, …, h²), leave 2h − 1
free parameters per joint, and every choice of them starts at rest.

Limits are enforced by an augmented Lagrangian: f + Σ (max(0, λ + ρg)² − λ²)/2ρ is minimised over the free parameters of
the series, and the multipliers λ grow where a limit is still exceeded. The remaining excess, less than the reserve of
the bounds, is removed by scaling the motion about its centre.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from appell.errors import AppellError
from appell.excitation.bounds import ActuatedPath, ExcitationBounds, Limited, Margin
from appell.excitation.information import Information
from appell.planning.trajectory.curves import Fourier
from appell.robot.properties.base_columns import State
from appell.spatial.scalar import Array


@dataclass(frozen=True)
class Series:
    """The rest-to-rest series of some harmonics and a duration, which is the period of the first [s].

    >>> Series(3, 10.0).n
    5
    """

    harmonics: int
    duration: float

    @property
    def n(self) -> int:
        """Return the number of free parameters per joint: its centre, then h − 1 of sines and h − 1 of cosines."""
        return 2 * self.harmonics - 1

    @cached_property
    def _free(self) -> tuple[Array, Array]:
        """Return Z_s and Z_c, each (h, h − 1)."""
        k = np.arange(1.0, self.harmonics + 1.0)
        return scipy.linalg.null_space(k[None]), scipy.linalg.null_space(k[None] ** 2)

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """Return the matrices (times, n) from free parameters to q, v and a.

        >>> q, v, a = Series(2, 1.0).at(np.zeros(1))
        >>> bool(abs(v).max() < 1e-12 and abs(a).max() < 1e-12)
        True
        """
        omega = 2.0 * math.pi / self.duration * np.arange(1, self.harmonics + 1)
        s, c = np.sin(omega * t[:, None]), np.cos(omega * t[:, None])
        sines, cosines = self._free
        one, nothing = np.ones((len(t), 1)), np.zeros((len(t), 1))
        return (
            np.hstack([one, s @ sines, c @ cosines]),
            np.hstack([nothing, (omega * c) @ sines, -(omega * s) @ cosines]),
            np.hstack([nothing, -(omega**2 * s) @ sines, -(omega**2 * c) @ cosines]),
        )

    def trajectory(self, x: Array) -> Fourier:
        """Return the trajectory of free parameters (n, joints)."""
        sines, cosines = self._free
        h = self.harmonics
        return Fourier(x[0], sines @ x[1:h], cosines @ x[h:], 1.0 / self.duration, self.duration)


MARGIN = 0.01
"""Fraction of every range reserved for the motion between samples."""
ROUNDS, ITERATIONS = 6, 60
"""Number of multiplier updates, and of descent steps for each."""
FLAT = 2e-5
"""Smallest improvement of a descent step."""
STIFFNESS = 10.0
"""Initial ρ, doubled with each multiplier update."""
LOST = 1e3
"""The objective where the loops do not close."""
SMALLEST = 0.05
"""Smallest scale of a motion to fit its limits."""


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """The series, the objective, the constraints, and the sampling of a search."""

    path: ActuatedPath
    information: Information
    bounds: ExcitationBounds
    series: Series
    samples: int

    def denser(self, times: int, bounds: ExcitationBounds) -> SearchProblem:
        """Return the problem with denser sampling and other bounds."""
        return replace(self, samples=times * self.samples, bounds=bounds)

    @cached_property
    def t(self) -> Array:
        """Return the times of one period [s]."""
        return np.arange(float(self.samples)) * (self.series.duration / self.samples)

    @cached_property
    def _matrices(self) -> tuple[Array, Array, Array]:
        return self.series.at(self.t)

    def coordinates(self, x: Array) -> tuple[Array, Array, Array]:
        """Return coordinates, velocities and accelerations (times, nv) of free parameters (n, nv)."""
        q, v, a = (matrix @ x for matrix in self._matrices)
        return q, v, a

    def state(self, x: Array) -> State:
        """Return the robot's states."""
        return self.path.state(*self.coordinates(x))

    def excess(self, x: Array) -> list[tuple[Limited, Array]]:
        """Return the inequalities at every time."""
        return self.bounds.excess(self.path, self.state(x), self.coordinates(x)[0])

    def worst(self, x: Array) -> float:
        """Return the largest excess over a limit; negative if feasible, infinite where loops do not close."""
        try:
            return max(float(g.max()) for _, g in self.excess(x))
        except AppellError:
            return np.inf

    def margins(self, x: Array) -> tuple[Margin, ...]:
        """Return the margins to the limits, tightest first."""
        return self.bounds.margins(self.path, self.state(x), self.coordinates(x)[0], self.t)

    def condition(self, x: Array) -> float:
        """Return the condition number of the motion."""
        return self.information.condition(self.state(x))

    def lagrangian(self, x: Array, multipliers: list[Array], rho: float) -> tuple[float, Array]:
        """Return f + Σ (max(0, λ + ρg)² − λ²)/2ρ and its gradient (n, nv)."""
        state, q = self.state(x), self.coordinates(x)[0]
        value, slope = self.information.slope(state)
        excess = self.bounds.excess(self.path, state, q)
        pulls = [(kind, np.maximum(0.0, old + rho * g)) for (kind, g), old in zip(excess, multipliers, strict=True)]
        squares = sum(
            float(np.vdot(new, new)) - float(np.vdot(old, old))
            for (_, new), old in zip(pulls, multipliers, strict=True)
        )
        limits = self.bounds.slope(self.path, state, pulls)
        gradient = np.zeros_like(x)
        for matrix, one, other in zip(self._matrices, slope, limits, strict=True):
            gradient += matrix.T @ (one + other)
        return value + squares / (2.0 * rho), gradient


def random_motion(problem: SearchProblem, rng: np.random.Generator) -> Array:
    """Return free parameters of a random motion scaled to the limits of position, velocity and acceleration."""
    bounds, n = problem.bounds, len(problem.path.names)
    x = rng.normal(size=(problem.series.n, n))
    x[0] = 0.0
    q, v, a = problem.coordinates(x)
    span = 0.5 * (q.max(axis=0) - q.min(axis=0))
    fill = np.minimum(bounds.reach / span, bounds.velocity / np.abs(v).max(axis=0))
    fill = np.minimum(fill, bounds.acceleration / np.abs(a).max(axis=0))
    x *= fill
    room = bounds.reach - fill * span
    x[0] = bounds.middle - 0.5 * fill * (q.max(axis=0) + q.min(axis=0)) + room * rng.uniform(-1.0, 1.0, n)
    return x


def fitted(problem: SearchProblem, x: Array) -> Array | None:
    """Return the motion scaled about its centre to satisfy all limits; None if impossible."""
    if problem.worst(x) <= 0.0:
        return x
    centre = np.zeros_like(x)
    centre[0] = problem.coordinates(x)[0].mean(axis=0)

    def scaled(size: float) -> Array:
        return centre + size * (x - centre)

    if problem.worst(scaled(SMALLEST)) > 0.0:
        return None
    low, high = SMALLEST, 1.0
    for _ in range(20):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if problem.worst(scaled(middle)) <= 0.0 else (low, middle)
    return scaled(low)


@dataclass(frozen=True, eq=False)
class DescentResult:
    """The result of a descent: the free parameters, those after every step, and the number of evaluations."""

    x: Array
    path: tuple[Array, ...]
    evaluations: int


def descend(problem: SearchProblem, start: Array) -> DescentResult:
    """Return the result of the augmented Lagrangian descent from a start."""
    shape, path, evaluations = start.shape, [start], 0

    def evaluate(flat: Array, multipliers: list[Array], rho: float) -> tuple[float, Array]:
        nonlocal evaluations
        evaluations += 1
        try:
            value, gradient = problem.lagrangian(flat.reshape(shape), multipliers, rho)
        except AppellError:
            return LOST, np.zeros(flat.shape)
        return value, gradient.ravel()

    x, rho, last = start, STIFFNESS, np.inf
    multipliers = [np.zeros_like(g) for _, g in problem.excess(x)]
    for _ in range(ROUNDS):
        found = scipy.optimize.minimize(
            evaluate,
            x.ravel(),
            args=(multipliers, rho),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": ITERATIONS, "maxcor": 20, "ftol": FLAT},
            callback=lambda flat: path.append(flat.reshape(shape).copy()),
        )
        x = found.x.reshape(shape)
        excess = problem.excess(x)
        worst = max(float(g.max()) for _, g in excess)
        multipliers = [np.maximum(0.0, old + rho * g) for (_, g), old in zip(excess, multipliers, strict=True)]
        if worst <= 0.5 * MARGIN and last - found.fun < 1e-3:
            break
        rho, last = 2.0 * rho, float(found.fun)
    return DescentResult(x, tuple(path), evaluations)
