"""One step of an integrator as a program, and its derivatives in tangent coordinates.

Steps are those of :func:`appell.rollout`: the semi-implicit Euler method moves v first and q with the new v; a
Runge–Kutta method follows the field of q̇ and a. Quaternions are then normalised, and loops closed by one Newton step.
The derivatives take (δq, δv, δτ) at the start to (δq', δv') at the end, δq and δq' motions at q and at q'.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from appell.arguments import choice, real_array
from appell.recursion.kinematics import Scalars
from appell.robot.verbs import derivatives
from appell.robot.verbs.derivatives import DERIVATIVES, directions
from appell.robot.verbs.embedding import Embedding
from appell.robot.verbs.programs import FORWARD, Formulation, Solved, each, generalised_forces, only, rates
from appell.robot.verbs.quantities import Program
from appell.spatial.scalar import Array, Scalar
from appell.trace.derive import Direction, along, substituted, substituted_rows
from appell.trace.expr import Expr

RUNGE_KUTTA = {
    "midpoint": ((0.0, 0.5, 0.0), (1.0, 0.0, 1.0)),
    "rk4": ((1 / 6, 0.5, 0.0), (1 / 3, 0.5, 0.0), (1 / 3, 1.0, 0.0), (1 / 6, 0.0, 1.0)),
}
"""Methods whose stages each start from the one before; per stage share, ahead and total: with k the field at a stage,
Δ ← Δ + share·h·k, y ← y₀ + ahead·h·k + total·Δ."""


class State(NamedTuple):
    """A state of a robot."""

    q: Scalars
    v: Scalars


Field = Callable[[Scalars, Scalars], Scalars]
"""The accelerations of a state."""


def euler(robot: Embedding, start: State, dt: Scalar, field: Field) -> State:
    """Return the state after a step: v moves first, and q with the new v."""
    faster = _moved(start.v, dt, field(*start))
    return State(_moved(start.q, dt, rates(robot, start.q, faster)), faster)


def runge_kutta(method: str, robot: Embedding, start: State, dt: Scalar, field: Field) -> State:
    """Return the state after a step of a table of :data:`RUNGE_KUTTA`."""
    at, n = start, len(start.q)
    change: Scalars = (0.0,) * (n + len(start.v))
    for share, ahead, total in RUNGE_KUTTA[method]:
        k = (*rates(robot, at.q, at.v), *field(*at))
        change = _moved(change, share * dt, k)
        moved = _moved(_moved((*start.q, *start.v), ahead * dt, k), total, change)
        at = State(moved[:n], moved[n:])
    return at


METHODS: dict[str, Callable[[Embedding, State, Scalar, Field], State]] = {
    "step": euler,
    "step_rk4": partial(runge_kutta, "rk4"),
}
"""The methods by their verbs."""
VERBS_OF_METHODS = {"euler": "step", "rk4": "step_rk4"}
"""The verb of each method of :meth:`appell.Robot.step`."""


def step_verb(method: str) -> str:
    """Return the verb of a method, or raise an error that lists the known ones."""
    return VERBS_OF_METHODS[choice("step: no method", method, VERBS_OF_METHODS)]


def timed(dt: ArrayLike) -> Array:
    """Return time steps with a last axis of one number per sample."""
    return real_array("dt", dt)[..., None]


def _moved(x: Scalars, step: Scalar, rate: Sequence[Scalar]) -> Scalars:
    return tuple(a + step * b for a, b in zip(x, rate, strict=True))


def step(verb: str, dynamics: Program) -> Program:
    """Return the program of the next q and v."""

    def program(robot: Embedding, q: Scalars, v: Scalars, tau: Scalars, dt: Scalars) -> Solved:
        norms = []

        def field(q: Scalars, v: Scalars) -> Scalars:
            a, inverse_norm = dynamics(robot, q, v, tau)
            norms.append(inverse_norm)
            return tuple(a)

        after = METHODS[verb](robot, State(q, v), dt[0], field)
        return Solved((robot.finished(after.q), after.v), norms[0])

    return program


def step_derivatives(verb: str, dynamics: Program, by: Program, forces: Program = generalised_forces) -> Program:
    """Return the program of A and B; `by` gives the derivatives of the accelerations at the start.

    The accelerations of every stage are unknowns of the step that have rates of their own.
    """

    def program(robot: Embedding, q: Scalars, v: Scalars, tau: Scalars, dt: Scalars) -> Solved:
        blocks, inverse_norm = by(robot, q, v, tau)
        columns: list[Direction] = [*directions(robot.at(q), q), *([(x, 1.0)] for x in (*v, *tau))]
        unknown: list[Expr] = []
        values: list[Scalar] = []

        def field(*at: Scalars) -> Scalars:
            a = tuple(x.graph.unknown() for x in v)
            if unknown:
                changes = _later(robot, State(*at), tau, a, columns, dynamics, forces)
            else:
                changes = [[x for block in blocks for x in block[k]] for k in range(len(v))]
            values.extend(substituted(dynamics(robot, *at, tau)[0], unknown, values))
            unknown.extend(a)
            columns[:] = [[*old, *zip(a, new, strict=True)] for old, *new in zip(columns, *changes, strict=True)]
            return a

        after = METHODS[verb](robot, State(q, v), dt[0], field)
        end = tuple(robot.finished(after.q))
        motions = [robot.at(end).speeds(rate) for rate in zip(*along(end, columns), strict=True)]
        rows = substituted_rows([*zip(*motions, strict=True), *along(after.v, columns)], unknown, values)
        return Solved([[row[: 2 * len(v)] for row in rows], [row[2 * len(v) :] for row in rows]], inverse_norm)

    return program


def _later(
    robot: Embedding,
    at: State,
    tau: Scalars,
    a: Scalars,
    columns: Sequence[Direction],
    dynamics: Program,
    forces: Program,
) -> list[Any]:
    """Return the rates of the accelerations at a later stage, which may have left the manifold by a little.

    Of r(q, v, a, τ) = M a + bias − Γ_aᵀτ = 0 follows M·da = −dr at fixed a.
    """
    q, v = (tuple(x.graph.unknown() for x in part) for part in at)
    rest = [t - f for f, t in zip(forces(robot, q, v, a), robot.at(q).pushed(tau), strict=True)]
    motions = zip(*along((*at.q, *at.v), columns), strict=True)
    moving = [[*column, *zip((*q, *v), motion, strict=True)] for column, motion in zip(columns, motions, strict=True)]
    pushes = zip(*substituted_rows(along(rest, moving), (*q, *v), (*at.q, *at.v)), strict=True)
    bare, still, unforced = robot.weightless(), (0.0,) * len(v), (0.0,) * len(tau)
    return list(zip(*(dynamics(bare, at.q, still, unforced, push)[0] for push in pushes), strict=True))


def steps(dynamics: Mapping[str, Formulation]) -> dict[str, dict[str, Formulation]]:
    """Return the verbs of steps, per formulation of forward dynamics."""
    return {verb: each(partial(step, verb), dynamics) for verb in METHODS}


STEPS = {
    **steps(FORWARD),
    **{
        f"{verb}_derivatives": each(
            partial(step_derivatives, verb, FORWARD["composite"].program), DERIVATIVES["forward_dynamics_derivatives"]
        )
        for verb in METHODS
    },
}
"""The formulations of each verb, for any kind of robot."""

OF_TREES = {
    **derivatives.OF_TREES,
    **{
        f"{verb}_derivatives": only(
            step_derivatives(verb, FORWARD["composite"].program, derivatives.tree_forward_derivatives), "composite"
        )
        for verb in METHODS
    },
}
"""The additional formulations for trees, of derivatives of the dynamics and of steps."""
