"""Integrators: each advances a state y = (q, v) by steps that come with a polynomial in between.

Quaternions are integrated as four numbers by q̇ = ½ q ⊗ ω, which keeps their length, and are normalised after every
step: a projection onto the manifold, which leaves the order of a method as it is. The symplectic method moves on the
manifold itself (:mod:`appell.simulation.variational`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
import scipy

from appell.results.path import Segment, fit_matrix, hermite, points
from appell.robot.steps import RUNGE_KUTTA
from appell.spatial.scalar import Array

Field = Callable[[float, Array], Array]
"""ẏ of a time and a state."""
DEGREE = 7
"""Degree of the polynomial that SciPy's DOP853 gives with a step."""


class StepError(Exception):
    """A step became smaller than the spacing of numbers; the text says where."""


class Step(NamedTuple):
    """What a step gave: the polynomials of its parts, and the state at its end."""

    segments: list[Segment]
    y: Array


class Integrator(Protocol):
    """Something that advances states. `project` brings a state back to the manifold, in place."""

    def restart(self) -> None:
        """Forget what was remembered of the motion so far: the field or the state has jumped."""

    def advance(self, field: Field, t: float, y: Array, limit: float) -> Step:
        """Return one step from y at t, not beyond the limit."""

    def shoot(self, field: Field, t: float, y: Array, end: float) -> Step:
        """Return the motion from y at t to exactly `end`, no farther than one step."""


class Adaptive:
    """Dormand and Prince's method of order 8 with steps that keep an estimated error below rtol·|y| + atol."""

    def __init__(self, rtol: float, atol: float, project: Callable[[Array], None]) -> None:
        self._rtol, self._atol, self._project = rtol, atol, project
        self._solver: scipy.integrate.DOP853 | None = None
        self._size: float | None = None

    def restart(self) -> None:
        """Forget the last step but for its size."""
        self._solver = None

    def advance(self, field: Field, t: float, y: Array, limit: float) -> Step:
        """Return one accepted step."""
        solver = self._solver
        if solver is None or solver.t != t or solver.t_bound != limit:
            first = None if self._size is None else min(self._size, limit - t)
            solver = self._solver = self._started(field, t, y, limit, first)
        start = float(solver.t)
        segment = self._stepped(solver, start)
        # a step cut short by the limit says nothing about the size that would do
        self._size = float(solver.h_abs) if solver.t < limit else max(self._size or 0.0, limit - start)
        return Step([segment], np.array(solver.y))

    def shoot(self, field: Field, t: float, y: Array, end: float) -> Step:
        """Return the motion to `end` in one step, or in a few if one is not accurate enough."""
        solver = self._started(field, t, y, end, end - t)
        segments = []
        while solver.status == "running":
            segments.append(self._stepped(solver, float(solver.t)))
        return Step(segments, np.array(solver.y))

    def _started(self, field: Field, t: float, y: Array, limit: float, first: float | None) -> scipy.integrate.DOP853:
        with np.errstate(all="ignore"):
            solver = scipy.integrate.DOP853(field, t, y, limit, rtol=self._rtol, atol=self._atol, first_step=first)
        if not np.isfinite(solver.f).all():
            raise StepError(
                f"the accelerations at t = {t:.9g} s are not finite; a force is too large, or no mass moves"
            )
        if not np.isfinite(solver.h_abs):  # SciPy's guess overflowed, and it would look for a smaller step for ever
            solver.h_abs = 1e-9 * (limit - t)
        return solver

    def _stepped(self, solver: scipy.integrate.DOP853, start: float) -> Segment:
        with np.errstate(all="ignore"):
            message = solver.step()
        if solver.status == "failed":
            raise StepError(f"the step size fell below the spacing of numbers at t = {start:.9g} s: {message}")
        dense = solver.dense_output()
        self._project(solver.y)
        end = float(solver.t)
        times = 0.5 * ((end - start) * points(DEGREE + 1) + start + end)
        return Segment(start, end, fit_matrix(DEGREE + 1) @ dense(times).T)


class FixedStep:
    """A method that is a map of one step, on steps of one size; cubics in between."""

    def __init__(self, step: float, move: Callable[[Field, float, Array, float], Array]) -> None:
        self._step, self._move = step, move

    def restart(self) -> None:
        """Do nothing: every step stands for itself."""

    def advance(self, field: Field, t: float, y: Array, limit: float) -> Step:
        """Return a step of the method's size, or up to the limit if that is nearer (to a millionth of a step)."""
        end = limit if limit - t < (1.0 + 1e-6) * self._step else t + self._step
        return self.shoot(field, t, y, end)

    def shoot(self, field: Field, t: float, y: Array, end: float) -> Step:
        """Return a step of the size asked for."""
        if not end > t:
            raise StepError(f"the step size fell below the spacing of numbers at t = {t:.9g} s")
        after = self._move(field, t, y, end - t)
        return Step([hermite(t, end, (y, after), (field(t, y), field(end, after)))], after)


def runge_kutta(method: str, field: Field, t: float, y: Array, h: float) -> Array:
    """Return the state after a step h: with k the field at a stage, Δ ← Δ + share·h·k, y ← y₀ + ahead·h·k + total·Δ."""
    start, change, at = y, 0.0 * y, t
    for share, ahead, total in RUNGE_KUTTA[method]:
        k = field(at, y)
        change = change + share * h * k
        y, at = start + ahead * h * k + total * change, t + ahead * h
    return y


def rk4(project: Callable[[Array], None]) -> Callable[[Field, float, Array, float], Array]:
    """Return the classical Runge–Kutta step of order 4."""

    def move(field: Field, t: float, y: Array, h: float) -> Array:
        after = runge_kutta("rk4", field, t, y, h)
        project(after)
        return after

    return move
