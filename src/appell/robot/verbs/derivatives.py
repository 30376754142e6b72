"""Derivatives of the dynamics of any robot, along its independent velocities.

∂/∂q is taken along the independent velocities: column k is the change of a result while q moves by unit velocity k,
with v and a fixed. Inverse dynamics of any robot is differentiated operation by operation (:mod:`appell.trace.derive`);
that of a tree also by a recursion (:mod:`appell.recursion.derivatives`), with half the operations on a long chain.

wᵀ∂τ/∂x is reverse mode on the program of τ, and its own derivatives are tangents of that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from appell.recursion import derivatives, energy, forward, gibbs, inertia_matrix, kinematics, momentum
from appell.recursion.branches import Branches
from appell.recursion.kinematics import Scalars
from appell.robot.verbs.embedding import Embedding, Forces, Matrix, Posture, Tree
from appell.robot.verbs.programs import (
    FORWARD,
    PROGRAMS,
    Actuated,
    Solved,
    bias_forces,
    each,
    generalised_forces,
    inverse_dynamics,
    only,
)
from appell.robot.verbs.quantities import Program, of_q, of_v, reduced_columns, units
from appell.spatial.scalar import Scalar
from appell.trace.derive import Direction, along, gradient, jacobian, substituted, substituted_rows
from appell.trace.expr import Expr
from appell.trace.tape import flatten


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


def by_motion(at: Posture, by_q: Sequence[Scalar]) -> list[Scalar]:
    """Return a gradient by the independent motions from one by the coordinates, x̄ᵀ∂q̇/∂v: q̇ is linear in v."""
    if not at.own:
        return [0.0] * at.n
    unit = tuple(at.own[0].graph.unknown() for _ in range(at.n))
    return gradient(at.rates(unit, at.velocities(unit)), by_q, unit)


# Vector–Jacobian products


def inverse_dynamics_vjp(dynamics: Program) -> Program:
    """Return the program of wᵀ∂τ/∂q, wᵀ∂τ/∂v and wᵀ∂τ/∂a, and of wᵀ∂τ/∂π where π are inputs."""

    def program(robot: Embedding, q: Scalars, v: Scalars, a: Scalars, w: Scalars, pi: Scalars = ()) -> Any:
        tau, growth = Actuated.of(dynamics(robot, q, v, a))
        shares = iter(gradient(tau, w, (*q, *v, *a, *pi)))
        by_q, by_v, by_a, by_pi = ([next(shares) for _ in part] for part in (q, v, a, pi))
        return Actuated((by_motion(robot.at(q), by_q), by_v, by_a, by_pi), growth)

    return program


def forward_dynamics_vjp(dynamics: Program, forces: Program = generalised_forces) -> Program:
    """Return the program of wᵀ∂a/∂q, wᵀ∂a/∂v and wᵀ∂a/∂τ, and of wᵀ∂a/∂π where π are inputs.

    Of r(q, v, a, τ) = M a + bias − Γ_aᵀτ = 0 follows wᵀda = −λᵀdr at fixed a, with Mλ = w.
    """

    def program(robot: Embedding, q: Scalars, v: Scalars, tau: Scalars, w: Scalars, pi: Scalars = ()) -> Any:
        a, inverse_norm = dynamics(robot, q, v, tau)
        answer, _ = dynamics(robot.weightless(), q, (0.0,) * len(v), (0.0,) * len(tau), w)
        at = robot.at(q)
        rates, multipliers = (tuple(x.graph.unknown() for x in w) for _ in range(2))
        rest = [t - f for f, t in zip(forces(robot, q, v, rates), at.pushed(tau), strict=True)]
        shares = iter(gradient(rest, multipliers, (*q, *v, *tau, *pi)))
        by_q, *others = ([next(shares) for _ in part] for part in (q, v, tau, pi))
        unknown, values = (*rates, *multipliers), (*a, *answer)
        parts = (by_motion(at, by_q), *others)
        return Solved(substituted_rows(parts, unknown, values), inverse_norm)

    return program


# Hessians


def inverse_dynamics_hessian(dynamics: Program) -> Program:
    """Return the program of ∂²(wᵀτ): the derivatives of wᵀ∂τ/∂(q, v, a) along q, v and a.

    Mixed second derivatives by q, v and a are symmetric; those by q are not where motions do not commute.
    """

    def program(robot: Embedding, q: Scalars, v: Scalars, a: Scalars, w: Scalars) -> Any:
        (by_q, by_v, by_a, _), growth = inverse_dynamics_vjp(dynamics)(robot, q, v, a, w)
        n = len(by_q)
        of_q_columns = along((*by_q, *by_v, *by_a), directions(robot.at(q), q))
        of_v_columns, of_a_columns = jacobian((*by_v, *by_a), v), jacobian(by_a, a)
        size = range(len(of_q_columns))
        parts = (of_q_columns, [()] * n + [*of_v_columns], [()] * (n + len(v)) + [*of_a_columns])
        lower = [[x for part in parts for x in part[i]] for i in size]  # and a square of q
        whole = [[lower[i][j] if j < n and i < n else lower[max(i, j)][min(i, j)] for j in size] for i in size]
        return Actuated(whole, growth)

    return program


def inverse_dynamics_hvp(dynamics: Program) -> Program:
    """Return the program of the Hessian of wᵀτ times (dq, dv, da): one tangent of the gradient."""

    def program(
        robot: Embedding, q: Scalars, v: Scalars, a: Scalars, w: Scalars, dq: Scalars, dv: Scalars, da: Scalars
    ) -> Any:
        (by_q, by_v, by_a, _), growth = inverse_dynamics_vjp(dynamics)(robot, q, v, a, w)
        at = robot.at(q)
        rates = at.rates(dq, at.velocities(dq))
        column = along((*by_q, *by_v, *by_a), [list(zip((*q, *v, *a), (*rates, *dv, *da), strict=True))])
        return Actuated(column, growth)

    return program


# Derivatives of quantities


def by_q(quantity: Program) -> Program:
    """Return the program of the derivatives of a quantity of q, and of a frame, along the independent motions."""

    def program(robot: Embedding, q: Scalars, *frame: str) -> Any:
        return along(list(flatten(quantity(robot, q, *frame))), directions(robot.at(q), q))

    return program


def momentum_derivatives(robot: Embedding, q: Scalars, v: Scalars) -> Any:
    """Return the derivatives of the momentum along q, and by v: the momentum matrix."""
    total = of_v(momentum.momentum)(robot, q, v)
    return along(total, directions(robot.at(q), q)), reduced_columns(momentum.momentum_matrix)(robot, q)


def kinetic_energy_derivatives(robot: Embedding, q: Scalars, v: Scalars) -> Any:
    """Return ∂T/∂q and ∂T/∂v = Mv."""
    shares = gradient([of_v(energy.kinetic_energy)(robot, q, v)], [1.0], (*q, *v))
    return by_motion(robot.at(q), shares[: len(q)]), shares[len(q) :]


def potential_energy_derivatives(robot: Embedding, q: Scalars) -> Any:
    """Return ∂V/∂q."""
    return by_motion(robot.at(q), gradient([of_q(energy.potential_energy)(robot, q)], [1.0], q))


OF_INVERSE: dict[str, Callable[[Program], Program]] = {
    "inverse_dynamics_vjp": inverse_dynamics_vjp,
    "inverse_dynamics_hessian": inverse_dynamics_hessian,
    "inverse_dynamics_hvp": inverse_dynamics_hvp,
}
"""The verbs that are made of inverse dynamics, in any of its formulations."""
GRADIENTS = {
    **{verb: each(make, PROGRAMS["inverse_dynamics"]) for verb, make in OF_INVERSE.items()},
    "forward_dynamics_vjp": each(forward_dynamics_vjp, FORWARD),
    "pose_derivatives": only(by_q(of_q(kinematics.pose))),
    "jacobian_derivatives": only(by_q(reduced_columns(kinematics.jacobian))),
    "momentum_derivatives": only(momentum_derivatives),
    "kinetic_energy_derivatives": only(kinetic_energy_derivatives),
    "potential_energy_derivatives": only(potential_energy_derivatives),
}
"""The formulations of each verb, for any kind of robot."""
