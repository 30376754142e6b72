"""Integrators: each advances a state y = (q, v) by steps with dense output, a polynomial per step.

Quaternions are integrated as four numbers by q̇ = ½ q ⊗ ω and normalised after every step; this projection onto the
manifold preserves the order of a method. The symplectic method steps on the manifold itself
(:mod:`appell.simulation.variational`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy

from appell.errors import AppellError
from appell.results.path import Segment, fit_matrix, hermite, points
from appell.robot.verbs.steps import RUNGE_KUTTA
from appell.spatial.scalar import Array

Field = Callable[[float, Array], Array]
"""A vector field: ẏ from the time and the state."""
DEGREE = 7
"""Degree of the dense output of SciPy's DOP853; that of its Radau is 3."""


class StepError(Exception):
    """A step could not be taken: the step size underflowed, or values are not finite."""


class Step(NamedTuple):
    """The result of a step: the polynomials of its parts, and the state at its end."""

    segments: list[Segment]
    y: Array


class Integrator(Protocol):
    """An integration method; `is_implicit` if stiffness does not limit its steps."""

    is_implicit: bool

    def restart(self) -> None:
        """Discard the history of the solution, after a jump of the vector field or the state."""

    def advance(self, field: Field, t: float, y: Array, limit: float) -> Step:
        """Return one step from y at t, ending at or before the limit."""

    def shoot(self, field: Field, t: float, y: Array, end: float) -> Step:
        """Return the solution from y at t to exactly `end`, at most one step ahead."""


class Adaptive:
    """Methods with step sizes that keep the estimated error below rtol·|y| + atol.

    Dormand and Prince's of order 8, and for stiff systems the implicit one of Radau of order 5.
    """

    def __init__(self, rtol: float, atol: float, project: Callable[[Array], None], *, is_implicit: bool) -> None:
        self._rtol, self._atol, self._project, self.is_implicit = rtol, atol, project, is_implicit
        self._solver: Any = None
        self._size: float | None = None

    def restart(self) -> None:
        """Discard the last step except its size."""
        self._solver = None

    def advance(self, field: Field, t: float, y: Array, limit: float) -> Step:
        """Return one accepted step."""
        solver = self._solver
        if solver is None or solver.t != t or solver.t_bound != limit:
            first = None if self._size is None else min(self._size, limit - t)
            solver = self._solver = self._started(field, t, y, limit, first)
        start = float(solver.t)
        segment = self._stepped(solver, start)
        # a step shortened by the limit is no estimate of the admissible step size
        self._size = float(solver.h_abs) if solver.t < limit else max(self._size or 0.0, limit - start)
        return Step([segment], np.array(solver.y))

    def shoot(self, field: Field, t: float, y: Array, end: float) -> Step:
        """Return the solution up to `end` in one step, or in several if one is not accurate enough."""
        solver = self._started(field, t, y, end, end - t)
        segments = []
        while solver.status == "running":
            segments.append(self._stepped(solver, float(solver.t)))
        return Step(segments, np.array(solver.y))

    def _started(self, field: Field, t: float, y: Array, limit: float, first: float | None) -> Any:
        method = scipy.integrate.Radau if self.is_implicit else scipy.integrate.DOP853
        with np.errstate(all="ignore"):
            solver = method(field, t, y, limit, rtol=self._rtol, atol=self._atol, first_step=first)
        if not np.isfinite(solver.f).all():
            raise StepError(
                f"the accelerations at t = {t:.9g} s are not finite; a torque is too large, or the mass matrix is "
                "singular"
            )
        if not np.isfinite(solver.h_abs):  # SciPy's initial step overflowed, and its step size search would not end
            solver.h_abs = 1e-9 * (limit - t)
        return solver

    def _stepped(self, solver: Any, start: float) -> Segment:
        try:
            with np.errstate(all="ignore"):
                message = solver.step()
        except AppellError:
            raise
        except ValueError as error:  # SciPy's, of a Jacobian that is not finite
            raise StepError(f"the derivatives of the accelerations at t = {start:.9g} s are not finite") from error
        if solver.status == "failed":
            raise StepError(f"step size underflow at t = {start:.9g} s: {message}")
        dense = solver.dense_output()
        self._project(solver.y)
        end = float(solver.t)
        times = 0.5 * ((end - start) * points(DEGREE + 1) + start + end)
        return Segment(start, end, fit_matrix(DEGREE + 1) @ dense(times).T)


class FixedStep:
    """A one-step method with a fixed step size and cubic dense output."""

    is_implicit = False

    def __init__(self, step: float, move: Callable[[Field, float, Array, float], Array]) -> None:
        self._step, self._move = step, move

    def restart(self) -> None:
        """Do nothing: a one-step method has no history."""

    def advance(self, field: Field, t: float, y: Array, limit: float) -> Step:
        """Return a step of the fixed size, or a shorter one up to the limit (to within a millionth of a step)."""
        end = limit if limit - t < (1.0 + 1e-6) * self._step else t + self._step
        return self.shoot(field, t, y, end)

    def shoot(self, field: Field, t: float, y: Array, end: float) -> Step:
        """Return one step to `end`."""
        if not end > t:
            raise StepError(f"step size underflow at t = {t:.9g} s")
        after = self._move(field, t, y, end - t)
        return Step([hermite(t, end, (y, after), (field(t, y), field(end, after)))], after)


def runge_kutta(method: str, field: Field, t: float, y: Array, h: float) -> Array:
    """Return the state after a step h: per stage k = f(t, y), Δ ← Δ + share·h·k, y ← y₀ + ahead·h·k + total·Δ."""
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
