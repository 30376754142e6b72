"""Derivatives of the dynamics: the recursion's own tangents, and the chain rule for its inverse.

Inverse dynamics is differentiated operation by operation (:mod:`appell.trace.derive`). Forward dynamics needs no second
differentiation: from τ = ID(q, v, a(q, v, τ)) follows ∂a/∂x = −M⁻¹ ∂ID/∂x at fixed a, and ∂a/∂τ = M⁻¹.
"""

from __future__ import annotations

from typing import Any

from appell.model.model import Joint, Model
from appell.recursion import forward, gibbs, inertia_matrix
from appell.recursion.coupling import expand_q, expand_v, reduce, reduce_matrix
from appell.recursion.kinematics import Scalars
from appell.trace.derive import Direction, along, jacobian
from appell.trace.tape import Port, trace

Blocks = tuple[Any, Any, Any]


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Blocks:
    """Return ∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M."""
    tau = gibbs.inverse_dynamics(model, q, v, a)
    return along(tau, motions(model, q)), jacobian(tau, v), inertia_matrix.mass_matrix_composite(model, q)


def forward_dynamics(model: Model, q: Scalars, v: Scalars, tau: Scalars) -> Blocks:
    """Return ∂a/∂q, ∂a/∂v and ∂a/∂τ = M⁻¹."""
    parents, tree, tree_q, tree_v = forward.velocity_parents(model), model.whole, expand_q(model, q), expand_v(model, v)
    matrix = reduce_matrix(model, inertia_matrix.mass_matrix_composite(tree, tree_q))
    lower, inverse = forward.factorise(matrix, parents)

    def solve(right: Scalars) -> Scalars:
        return forward.solve_factorised(lower, inverse, parents, right)

    bias = reduce(model, gibbs.bias(tree, tree_q, tree_v))
    a = solve(tuple(t - b for t, b in zip(tau, bias, strict=True)))
    by_q, by_v = (reduce_matrix(model, x) for x in _by_state(tree, tree_q, tree_v, expand_v(model, a)))
    n = range(model.independent.nv)
    inverted = [solve(tuple(float(i == j) for i in n)) for j in n]
    return _solved(solve, by_q), _solved(solve, by_v), _transposed(inverted)


def _by_state(model: Model, q: Scalars, v: Scalars, a: Scalars) -> tuple[Any, Any]:
    """Return ∂τ/∂q and ∂τ/∂v at fixed a, for a that itself depends on q and v.

    They are differentiated in a program of their own, where a is an input and no rule can look into it.
    """
    nq, nv = model.nq, model.nv
    inputs = Port("q", (nq,)), Port("v", (nv,)), Port("a", (nv,))
    outputs = Port("dtau_dq", (nv, nv)), Port("dtau_dv", (nv, nv))
    tape = trace("inverse_dynamics_derivatives", lambda *x: inverse_dynamics(model, *x)[:2], inputs, outputs)
    flat = tape.run(q, v, a)
    rows = [tuple(flat[nv * i : nv * (i + 1)]) for i in range(2 * nv)]
    return tuple(rows[:nv]), tuple(rows[nv:])


def motions(model: Model, q: Scalars) -> list[Direction]:
    """Return the rate of q along each velocity: derivatives by q are taken along v, as many as there are velocities."""
    directions: list[Direction] = []
    for body, where in zip(model.bodies, model.q_slices, strict=True):
        directions += _motions(body.joint, q[where])
    return directions


def _motions(joint: Joint, q: Scalars) -> list[Direction]:
    """Return the rates of a joint's coordinates along each of its velocities."""
    n = range(joint.type.nv)
    return [list(zip(q, joint.type.rates(q, tuple(float(i == k) for i in n)), strict=True)) for k in n]


def _solved(solve: Any, matrix: tuple[Scalars, ...]) -> Any:
    """Return −M⁻¹·matrix, column by column."""
    return _transposed([solve(tuple(-x for x in column)) for column in zip(*matrix, strict=True)])


def _transposed(columns: list[Scalars]) -> Any:
    return tuple(zip(*columns, strict=True))
