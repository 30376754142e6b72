"""Derivatives of the dynamics of any robot, along its independent velocities.

∂/∂q is taken along the independent velocities: column k is the change of a result while q moves by unit velocity k,
with v and a fixed. Inverse dynamics of any robot is differentiated operation by operation (:mod:`appell.trace.derive`);
that of a tree also by a recursion (:mod:`appell.recursion.derivatives`), with half the operations on a long chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from appell.recursion import derivatives, forward, gibbs, inertia_matrix
from appell.recursion.branches import Branches
from appell.recursion.kinematics import Scalars
from appell.robot.verbs.embedding import Embedding, Forces, Matrix, Posture, Tree
from appell.robot.verbs.programs import Actuated, Solved, bias_forces, generalised_forces, inverse_dynamics, only
from appell.robot.verbs.quantities import Program, units
from appell.spatial.scalar import Scalar
from appell.trace.derive import Direction, along, jacobian, substituted
from appell.trace.expr import Expr


def directions(at: Posture, q: Scalars) -> list[Direction]:
    """Return the rate of q along each independent velocity."""
    pairs = zip(units(at.n), at.columns(range(at.n)), strict=True)
    return [list(zip(q, at.rates(unit, column), strict=True)) for unit, column in pairs]


def inverse_dynamics_derivatives(dynamics: Program) -> Program:
    """Return the program of ∂τ/∂q, ∂τ/∂v and ∂τ/∂a; ∂/∂q along the independent velocities, with v and a fixed."""

    def program(robot: Embedding, q: Scalars, v: Scalars, a: Scalars) -> Any:
        tau, growth = Actuated.of(dynamics(robot, q, v, a))
        at = robot.at(q)
        return Actuated((along(tau, directions(at, q)), jacobian(tau, v), _by_acceleration(at, tau, a)), growth)

    return program


def _by_acceleration(at: Posture, tau: Forces, a: Scalars) -> Any:
    """Return ∂τ/∂a: M if every velocity is actuated, else by differentiation."""
    if len(a) < at.n or at.actuated((1.0,) * at.n, ()).forces != (1.0,) * at.n:
        return jacobian(tau, a)
    return at.congruent(inertia_matrix.mass_matrix_composite(at.model, at.q))


def forward_dynamics_derivatives(robot: Embedding, q: Scalars, v: Scalars, tau: Scalars) -> Any:
    """Return ∂a/∂q, ∂a/∂v and ∂a/∂τ.

    Forward dynamics needs no second differentiation: of r(q, v, a, τ) = M a + bias − Γ_aᵀτ = 0 follow
    ∂a/∂x = −M⁻¹ ∂r/∂x at fixed a, and ∂a/∂τ = M⁻¹Γ_aᵀ.
    """
    at = robot.at(q)
    by_state, unknown = _by_state(robot, q, v, tau)
    matrix = at.congruent(inertia_matrix.mass_matrix_composite(at.model, at.q))
    factors = forward.factorise(matrix, at.parents)
    right = [t - b for t, b in zip(at.pushed(tau), bias_forces(at, gibbs.inverse_dynamics, v), strict=True)]

    def solved(columns: Any) -> Any:
        found = [forward.solve_factorised(*factors, at.parents, tuple(column)) for column in columns]
        return tuple(zip(*found, strict=True))

    a = forward.solve_factorised(*factors, at.parents, tuple(right))
    by_q, by_v = ([substituted(row, unknown, a) for row in rows] for rows in by_state)
    by_tau = solved([at.pushed(unit) for unit in units(len(tau))])
    inverse_norm = partial(forward.inverse_norm, matrix, factors, at.parents)
    return Solved((solved(_opposite(by_q)), solved(_opposite(by_v)), by_tau), inverse_norm)


def _opposite(rows: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    return [[-x for x in column] for column in zip(*rows, strict=True)]


def _by_state(robot: Embedding, q: Scalars, v: Scalars, tau: Scalars) -> tuple[tuple[Any, Any], list[Expr]]:
    """Return ∂r/∂q and ∂r/∂v at fixed a, and the unknowns that represent a in them."""
    at, unknown = robot.at(q), [x.graph.unknown() for x in v if isinstance(x, Expr)]
    forces = generalised_forces(robot, q, v, tuple(unknown))
    rest = [f - t for f, t in zip(forces, at.pushed(tau), strict=True)]
    return (along(rest, directions(at, q)), jacobian(rest, v)), unknown


# Trees


def tree_inverse_derivatives(robot: Tree, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return ∂τ/∂q, ∂τ/∂v and ∂τ/∂a of a tree."""
    at = robot.at(q)
    by_q, by_v, by_a = derivatives.derivatives(at.model, at.q, at.velocities(v), at.velocities(a))
    return _reduced(at, by_q), _reduced(at, by_v), at.congruent(by_a)


def tree_forward_derivatives(robot: Tree, q: Scalars, v: Scalars, tau: Scalars) -> Any:
    """Return ∂a/∂q, ∂a/∂v and ∂a/∂τ = M⁻¹ of a tree."""
    at = robot.at(q)
    matrix = at.congruent(inertia_matrix.mass_matrix_composite(at.model, at.q))
    branches = Branches(matrix, at.parents)
    factors = branches.lower, branches.inverse
    right = [t - b for t, b in zip(tau, bias_forces(at, gibbs.inverse_dynamics, v), strict=True)]
    a = forward.solve_factorised(*factors, at.parents, tuple(right))
    rest, *free = derivatives.rigid_derivatives(at.model, at.q, at.velocities(v), at.velocities(a))

    pairs = zip(*(_opposite(_reduced(at, rows)) for rows in (rest.by_q, rest.by_v)), strict=True)
    solved = branches.solve_all([column for pair in pairs for column in pair])
    by_state = solved[0::2], solved[1::2]
    by_q, by_v = (
        [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(zip(*columns, strict=True), own, strict=True)]
        for columns, own in zip(by_state, (_reduced(at, own) for own in free), strict=True)
    )
    inverse_norm = partial(forward.inverse_norm, matrix, factors, at.parents)
    return Solved((by_q, by_v, branches.inverse_matrix()), inverse_norm)


def _reduced(at: Posture, rows: Matrix) -> Matrix:
    """Return ΓᵀXΓ."""
    return at.reduced_columns(at.gathered_rows(rows))


DERIVATIVES = {
    "inverse_dynamics_derivatives": only(inverse_dynamics_derivatives(inverse_dynamics(gibbs.inverse_dynamics))),
    "forward_dynamics_derivatives": only(forward_dynamics_derivatives),
}

OF_TREES = {
    "inverse_dynamics_derivatives": only(tree_inverse_derivatives, "composite"),
    "forward_dynamics_derivatives": only(tree_forward_derivatives, "composite"),
}
"""The additional formulations for trees, of derivatives of the dynamics."""
