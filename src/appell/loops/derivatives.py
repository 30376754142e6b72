"""Derivatives of closed robots' dynamics: along the motions that the loops allow.

∂/∂q is taken along the independent motions: column k says how a result changes while q moves by Γ's column k, v and a
held. Inverse dynamics is differentiated operation by operation, through the factors of the loops and the passive modes.
Forward dynamics follows from r(q, v, a, τ) = M a + bias − Γ_aᵀτ = 0, as ∂a/∂x = −M⁻¹ ∂r/∂x at fixed a.
"""

from __future__ import annotations

from typing import Any

from appell.loops.reduction import (
    Loops,
    Posture,
    accelerations,
    driven,
    gathered,
    motion_columns,
    moved,
    posture,
    reduced_mass,
    roughness,
    velocities,
)
from appell.recursion import forward, gibbs
from appell.recursion.kinematics import Scalars
from appell.recursion.rates import coordinate_rates
from appell.spatial.scalar import Scalar
from appell.trace.derive import Direction, along, jacobian
from appell.trace.tape import Port, trace


def _directions(at: Posture) -> list[Direction]:
    """Return the rate of q along each independent motion."""
    columns = motion_columns(at)
    return [list(zip(at.q, coordinate_rates(at.loops.frames, at.q, column), strict=True)) for column in columns]


def inverse_dynamics(loops: Loops, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return ∂τ/∂q, ∂τ/∂v and ∂τ/∂a of the actuators."""
    at = posture(loops, q)
    tau = driven(at, velocities(at, v), a).torques
    return along(tau, _directions(at)), jacobian(tau, v), jacobian(tau, a), roughness(at)


def forward_dynamics(loops: Loops, q: Scalars, v: Scalars, tau: Scalars) -> Any:
    """Return ∂a/∂q, ∂a/∂v and ∂a/∂τ of the independent velocities."""
    at = posture(loops, q)
    columns = motion_columns(at)
    n = len(columns)
    parents = list(range(-1, n - 1))
    a = moved(at, velocities(at, v), tau)
    factors = forward.factorise(tuple(tuple(row) for row in reduced_mass(at, columns)), parents)
    by_q, by_v = _by_state(loops, q, v, a, tau)
    pushes = [[columns[i][k] for i in range(n)] for k in loops.structure.actuated]

    def solved(right: list[list[Scalar]]) -> Any:
        found = [forward.solve_factorised(*factors, parents, tuple(column)) for column in right]
        return tuple(zip(*found, strict=True))

    return solved(_opposite(by_q)), solved(_opposite(by_v)), solved(pushes), roughness(at)


def _opposite(rows: list[Scalars]) -> list[list[Scalar]]:
    return [[-x for x in column] for column in zip(*rows, strict=True)]


def _by_state(loops: Loops, q: Scalars, v: Scalars, a: Scalars, tau: Scalars) -> tuple[list[Scalars], list[Scalars]]:
    """Return ∂r/∂q and ∂r/∂v at fixed a, in a program of their own, where a is an input and no rule looks into it."""
    n, m = len(v), len(tau)

    def program(q: Scalars, v: Scalars, a: Scalars, tau: Scalars) -> Any:
        at = posture(loops, q)
        whole = velocities(at, v)
        forces = list(gibbs.inverse_dynamics(loops.dynamics, q, whole, accelerations(at, whole, a)))
        for k, push in zip(loops.structure.actuated, tau, strict=True):
            forces[k] = forces[k] - push
        rest = gathered(at, forces)
        return along(rest, _directions(at)), jacobian(rest, v)

    inputs = [Port("q", (len(q),)), Port("v", (n,)), Port("a", (n,)), Port("tau", (m,))]
    tape = trace("residual_derivatives", program, inputs, [Port("by_q", (n, n)), Port("by_v", (n, n))])
    flat = tape.run(q, v, a, tau)
    rows = [tuple(flat[n * i : n * (i + 1)]) for i in range(2 * n)]
    return rows[:n], rows[n:]
