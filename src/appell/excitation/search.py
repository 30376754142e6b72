"""The search for an exciting motion: random motions within limits, and from the best of them the way downhill.

Limits are kept by augmented Lagrangians: f + Σ (max(0, λ + ρg)² − λ²)/2ρ is minimised over the free numbers of the
series, multipliers λ grow where a limit is still exceeded, and so on. What is exceeded in the end, less than the margin
that the bounds were narrowed by, is taken off by making the motion smaller about its centre.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from appell.errors import AppellError
from appell.excitation.bounds import Bounds, Margin
from appell.excitation.information import Information
from appell.excitation.series import Series
from appell.identification.actuated_path import ActuatedPath
from appell.identification.basis import Array
from appell.robot.base import State

MARGIN = 0.01
"""Part of every range that the search leaves free, for what happens between its samples."""
ROUNDS, ITERATIONS = 6, 60
"""Of multipliers, and of steps downhill in each."""
FLAT = 2e-5
"""A step downhill that brings less than this ends a round."""
STIFFNESS = 10.0
"""ρ of the first round; each round doubles it."""
LOST = 1e3
"""The objective where a robot cannot be carried along: its loops do not close."""
SMALLEST = 0.05
"""How small a motion is made to fit before it counts as one that does not."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A motion's series, what it is to tell, what it must keep, and the times at which both are looked at."""

    path: ActuatedPath
    information: Information
    bounds: Bounds
    series: Series
    samples: int

    def denser(self, times: int, bounds: Bounds) -> Problem:
        """Return the same on a grid of more samples, with other bounds."""
        return replace(self, samples=times * self.samples, bounds=bounds)

    @cached_property
    def t(self) -> Array:
        """Return the times [s]: a period, whose end is its beginning."""
        return np.arange(float(self.samples)) * (self.series.duration / self.samples)

    @cached_property
    def _matrices(self) -> tuple[Array, Array, Array]:
        return self.series.at(self.t)

    def coordinates(self, x: Array) -> tuple[Array, Array, Array]:
        """Return coordinates, velocities and accelerations (times, nv) of free numbers (n, nv)."""
        q, v, a = (matrix @ x for matrix in self._matrices)
        return q, v, a

    def state(self, x: Array) -> State:
        """Return the robot's states."""
        return self.path.state(*self.coordinates(x))

    def excess(self, x: Array) -> list[tuple[str, Array]]:
        """Return the inequalities at every time."""
        return self.bounds.excess(self.path, self.state(x), self.coordinates(x)[0])

    def worst(self, x: Array) -> float:
        """Return the largest excess over a limit; negative if all are kept, infinite where loops do not close."""
        try:
            return max(float(g.max()) for _, g in self.excess(x))
        except AppellError:
            return np.inf

    def margins(self, x: Array) -> tuple[Margin, ...]:
        """Return how near the motion comes to its limits, the tightest first."""
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
            float(np.vdot(new, new) - np.vdot(old, old)) for (_, new), old in zip(pulls, multipliers, strict=True)
        )
        limits = self.bounds.slope(self.path, state, pulls)
        gradient = np.zeros_like(x)
        for matrix, one, other in zip(self._matrices, slope, limits, strict=True):
            gradient += matrix.T @ (one + other)
        return value + squares / (2.0 * rho), gradient


def random_motion(problem: Problem, rng: np.random.Generator) -> Array:
    """Return free numbers of a random motion that fills its joints' limits of position, velocity and acceleration."""
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


def fitted(problem: Problem, x: Array) -> Array | None:
    """Return the motion made smaller about its centre until it keeps all limits; None if it never does."""
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
class Descent:
    """Where a start led: the free numbers, those after every step, and how often the robot was looked at."""

    x: Array
    path: tuple[Array, ...]
    evaluations: int


def descend(problem: Problem, start: Array) -> Descent:
    """Return what the augmented Lagrangian's way downhill leads to from a start."""
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
    return Descent(x, tuple(path), evaluations)
