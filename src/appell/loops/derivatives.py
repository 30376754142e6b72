"""Derivatives of the dynamics of closed robots, from those of their tree and of their closures.

With f the tree's forces less those of the actuators and λ the closures' multipliers, J_dᵀλ = f_d, the forces on the
independent velocities are Γᵀf = Γᵀ(f − Jᵀλ). ΓᵀJᵀ vanishes in every closed configuration, so λ needs no derivative:

    d(Γᵀf) = Γᵀ(df − dJᵀλ),   df = ∂f/∂q dq + ∂f/∂v dv_tree + M da_tree.                                        (1)

Along column k of Γ, v and a held, the rates of the dependent velocities and accelerations of the tree follow from
Jv_tree = 0 and Ja_tree + J̇v_tree = 0 in the same way. What is differentiated operation by operation is then only the
closures' rows; the tree's derivatives are those of :mod:`appell.recursion.derivatives`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from appell.loops.reduction import ClosedPosture, Loops
from appell.recursion import closure, derivatives, elimination, forward, gibbs, inertia_matrix
from appell.recursion.kinematics import Scalars
from appell.recursion.rates import coordinate_rates
from appell.robot.verbs.embedding import Matrix, dot
from appell.robot.verbs.programs import Actuated, Solved, bias_forces, driven, only
from appell.robot.verbs.quantities import units
from appell.spatial.scalar import Scalar
from appell.trace.derive import along, jacobian, substituted_rows
from appell.trace.expr import Expr

Columns = Sequence[Sequence[Scalar]]


class Residual(NamedTuple):
    """Columns of ∂(Γᵀf)/∂q along the independent velocities and of ∂(Γᵀf)/∂v, a held; M of the tree."""

    by_q: Columns
    by_v: Columns
    mass: Matrix


class Closing(NamedTuple):
    """What the closures' rows change by: J x and J a + J̇v by q (rows), the latter by v, and Jᵀλ by q (columns)."""

    speeds: Sequence[Matrix]
    rates_by_q: Matrix
    rates_by_v: Matrix
    loads: Matrix


def forward_dynamics_derivatives(robot: Loops, q: Scalars, v: Scalars, tau: Scalars) -> Any:
    """Return ∂a/∂q, ∂a/∂v and ∂a/∂τ: of r = Γᵀ(f − τ) = 0 follow ∂a/∂x = −M⁻¹ ∂r/∂x at fixed a, and M⁻¹Γ_aᵀ."""
    at = robot.posture(q)
    matrix = at.congruent(inertia_matrix.mass_matrix_composite(at.model, at.q))
    factors = forward.factorise(matrix, at.parents)
    right = [t - b for t, b in zip(at.pushed(tau), bias_forces(at, gibbs.inverse_dynamics, v), strict=True)]
    a = forward.solve_factorised(*factors, at.parents, tuple(right))

    def solved(columns: Columns, sign: float) -> Any:
        signed = (tuple(sign * x for x in column) for column in columns)
        found = [forward.solve_factorised(*factors, at.parents, column) for column in signed]
        return tuple(zip(*found, strict=True))

    moving = at.velocities(v)
    rest, _ = residual(at, moving, at.accelerations(v, moving, a), tau)
    by_tau = solved([at.pushed(unit) for unit in units(len(tau))], 1.0)
    results = solved(rest.by_q, -1.0), solved(rest.by_v, -1.0), by_tau
    return Solved(results, partial(forward.inverse_norm, matrix, factors, at.parents))


def inverse_dynamics_derivatives(robot: Loops, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return ∂τ/∂q, ∂τ/∂v and ∂τ/∂a.

    Actuator forces and passive accelerations change by what makes up for the change of Γᵀf; those of redundant
    actuators, τ = Γ_aμ, besides by dΓ_a μ.
    """
    at = robot.posture(q)
    moving = at.velocities(v)
    found = driven(at, gibbs.inverse_dynamics, v, moving, a)
    multipliers = at.multipliers(at.gathered(found.forces)) if robot.structure.is_redundant else None
    more = () if multipliers is None else (at.velocities(multipliers),)
    rest, (turned,) = residual(at, moving, found.accelerations, tuple(found.actuators), more)
    pushed = [[dot(row, column) for row in rest.mass] for column in at.columns(range(at.n))]
    shares = [at.gathered(push) for push in pushed]
    passive = shares[len(a) :]

    def actuated(column: Sequence[Scalar], own: Sequence[Scalar] = ()) -> Sequence[Scalar]:
        if not own:
            return at.actuated(column, passive).forces
        left = [x - y for x, y in zip(column, at.pushed(tuple(own)), strict=True)]
        return [x + y for x, y in zip(at.actuated(left, passive).forces, own, strict=True)]

    by_q = [actuated(column, own) for column, own in zip(rest.by_q, turned, strict=True)]
    by_v = [actuated(column) for column in rest.by_v]
    by_a = [actuated(column) for column in shares[: len(a)]]
    results = tuple(tuple(zip(*columns, strict=True)) for columns in (by_q, by_v, by_a))
    return Actuated(results, found.growth)


def residual(
    at: ClosedPosture, moving: Scalars, rates: Scalars, tau: Scalars, more: Sequence[Scalars] = ()
) -> tuple[Residual, Sequence[Columns]]:
    """Return the derivatives of Γᵀf, Eq. (1), and for a further Γμ the columns of its change at the actuators."""
    structure, frames = at.loops.structure, at.loops.frames
    loads = list(gibbs.inverse_dynamics(at.model, at.q, moving, rates))
    for k, push in zip(structure.actuated, tau, strict=True):
        loads[k] = loads[k] - push
    multipliers = elimination.solve_transposed(at.factors, {k: loads[k] for k in structure.dependent})
    tree = derivatives.derivatives(at.model, at.q, moving, rates)
    closing = _closing(at, moving, rates, multipliers, more)
    columns, dependent = at.columns(range(at.n)), structure.dependent

    def turned(rows: Matrix, column: Sequence[Scalar]) -> dict[int, Scalar]:
        """Return −J_d⁻¹X·column."""
        right: list[Scalar] = [0.0] * len(at.rows)
        for r, row in zip(structure.order.rows, rows, strict=True):
            right[r] = -dot(row, column)
        return elimination.solve(at.factors, right)

    def spread(change: dict[int, Scalar]) -> list[Scalar]:
        return [change.get(k, 0.0) for k in range(frames.nv)]

    def taken(rows: Matrix, change: dict[int, Scalar]) -> list[Scalar]:
        return [dot([row[k] for k in dependent], [change[k] for k in dependent]) for row in rows]

    def total(*terms: Sequence[Scalar]) -> list[Scalar]:
        return [sum(parts[1:], start=parts[0]) for parts in zip(*terms, strict=True)]

    bent = [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(tree.by_q, closing.loads, strict=True)]
    by_q, by_v = [], []
    for column in columns:
        speed = turned(closing.speeds[0], column)
        both = [[*x, *y] for x, y in zip(closing.rates_by_q, closing.rates_by_v, strict=True)]
        rate = turned(both, [*column, *spread(speed)])
        parts = [dot(row, column) for row in bent], taken(tree.by_v, speed), taken(tree.by_a, rate)
        by_q.append(total(*parts))
        rate = turned(closing.rates_by_v, column)
        by_v.append(total([dot(row, column) for row in tree.by_v], taken(tree.by_a, rate)))

    def gathered(found: Columns) -> Columns:
        return list(zip(*at.gathered_rows(list(zip(*found, strict=True))), strict=True))

    changes: list[Columns] = [
        [[spread(turned(rows, column))[k] for k in structure.actuated] for column in columns]
        for rows in closing.speeds[1:]
    ]
    return Residual(gathered(by_q), gathered(by_v), tree.by_a), changes or [[()] * at.n]


def _closing(
    at: ClosedPosture, moving: Scalars, rates: Scalars, multipliers: dict[int, Scalar], more: Sequence[Scalars]
) -> Closing:
    """Return the derivatives of the closures' rows by the tree's motions, of velocities and multipliers held.

    These are unknowns while their equations are differentiated: an operation that one of them shares with the rows
    would be taken for one that is held.
    """
    frames, order = at.loops.frames, at.loops.structure.order
    graph = next(x.graph for x in at.q if isinstance(x, Expr))
    speeds: list[Scalars] = [tuple(graph.unknown() for _ in moving) for _ in (moving, *more)]
    pulls, loads = tuple(graph.unknown() for _ in rates), {r: graph.unknown() for r in order.rows}

    def along_rows(x: Scalars) -> list[Scalar]:
        return [dot(list(at.rows[r].values()), [x[k] for k in at.rows[r]]) for r in order.rows]

    bodies = closure.motions(frames, at.chain, speeds[0])
    biases = [x for tie in at.ties for x in closure.bias_acceleration(at.chain, tie, bodies)]
    changes = [x + biases[r] for r, x in zip(order.rows, along_rows(pulls), strict=True)]
    reactions = [
        dot([at.rows[r].get(k, 0.0) for r in order.rows], [loads[r] for r in order.rows]) for k in range(frames.nv)
    ]
    units_of_tree = [list(zip(at.q, coordinate_rates(frames, at.q, unit), strict=True)) for unit in units(frames.nv)]
    found = [along(x, units_of_tree) for x in (*map(along_rows, speeds), changes, reactions)]
    found.append(jacobian(changes, speeds[0]))
    unknown = [*(x for part in speeds for x in part), *pulls, *loads.values()]
    values = [*moving, *(x for part in more for x in part), *rates, *(multipliers[r] for r in order.rows)]
    by_q = [substituted_rows(rows, unknown, values) for rows in found]
    return Closing(by_q[: len(speeds)], by_q[-3], by_q[-1], by_q[-2])


OF_CLOSED = {
    "inverse_dynamics_derivatives": only(inverse_dynamics_derivatives, "composite"),
    "forward_dynamics_derivatives": only(forward_dynamics_derivatives, "composite"),
}
"""The formulations that closed robots have besides."""
