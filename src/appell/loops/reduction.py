"""Closed loops without multipliers: independent quasi-velocities u, v = Γ(q)·u, and the Gibbs function of the tree.

The closures' rows say J_d v_d = −J_i u, so that v = Γu and a = Γu̇ + γ with

    J_d γ_d = −J̇v,   γ_i = 0.                                                                              (1)

S is differentiated by u̇ instead of a. By the chain rule ∂S/∂u̇ = Γᵀ ∂S/∂a, and all that the tree's recursions give,

    τ = Γᵀ τ_tree,   M = Γᵀ M_tree Γ,   C = Γᵀ (C_tree Γ + M_tree Γ̇),   Y = Γᵀ Y_tree,                     (2)

needs neither multipliers nor forces in the joints that were cut. Γ itself is seldom written out: Γu is a solution with
the factors of J_d, and Γᵀf = f_i − J_iᵀ J_d⁻ᵀ f_d is one with their transposes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from appell.loops.structure import Structure
from appell.model.model import Model
from appell.recursion import closure, coriolis, elimination, forward, gibbs
from appell.recursion.elimination import Factors
from appell.recursion.inertia_matrix import mass_matrix_composite
from appell.recursion.kinematics import Link, Scalars, links
from appell.recursion.rates import coordinate_rates
from appell.spatial.scalar import Scalar
from appell.spatial.vector import ZERO
from appell.trace.derive import along

Rows = list[list[Scalar]]


class Watch(NamedTuple):
    """How much loops that are open count for roughness: (distance/size)² and angle², times a weight."""

    size: float = 1.0
    weight: float = 0.0


class Loops(NamedTuple):
    """A closed robot's three sides: frames for its closures, a model of its dynamics, and what was decided on them."""

    frames: Model
    dynamics: Model
    structure: Structure
    watch: Watch = Watch()


class Posture(NamedTuple):
    """What q alone determines: links, the closures' rows, and the factors of J_d."""

    loops: Loops
    q: Scalars
    chain: list[Link]
    ties: tuple[closure.Tie, ...]
    rows: list[closure.Row]
    factors: Factors


def posture(loops: Loops, q: Scalars) -> Posture:
    """Return a configuration with its loops factorised."""
    frames, structure = loops.frames, loops.structure
    chain = links(frames, q)
    ties = closure.ties(frames, structure.axes)
    rows = [row for tie in ties for row in closure.rows(frames, chain, tie)]
    needed = set(structure.order.rows)
    rows = [
        {k: x for k, x in row.items() if (i, k) not in structure.zeros} if i in needed else {}
        for i, row in enumerate(rows)
    ]
    return Posture(loops, q, chain, ties, rows, elimination.factorise(rows, structure.order))


def roughness(at: Posture) -> Scalar:
    """Return the mean of (usual pivot / pivot)²: about 1, and large where a pivot is small, or loops are open."""
    pivots, watch = at.loops.structure.pivots, at.loops.watch
    total: Scalar = 0.0
    for inverse, usual in zip(at.factors.inverse, pivots, strict=True):
        total = total + (usual * inverse) * (usual * inverse)
    total = total / len(pivots) if pivots else 1.0
    if watch.weight:
        for tie in at.ties:
            total = total + watch.weight * closure.openness(at.chain, tie, watch.size)
    return total


def regularity(loops: Loops, q: Scalars) -> Any:
    """Return the determinant of J_d in units of its usual pivots: about ±1, zero and changing sign at a singularity."""
    at = posture(loops, q)
    product: Scalar = 1.0
    for inverse, usual in zip(at.factors.inverse, loops.structure.pivots, strict=True):
        product = product * (usual * inverse)
    return 1.0 / product


# Γ


def _completed(at: Posture, u: Sequence[Scalar], drifts: Sequence[Scalar] | None = None) -> Scalars:
    """Return Γu, or Γu + γ where drifts are given."""
    independent = at.loops.structure.independent
    right: list[Scalar] = [0.0] * len(at.rows)
    for r in at.loops.structure.order.rows:
        total = drifts[r] if drifts is not None else 0.0
        for k, x in zip(independent, u, strict=True):
            if k in at.rows[r]:
                total = total + at.rows[r][k] * x
        right[r] = -total
    solved = elimination.solve(at.factors, right)
    own = dict(zip(independent, u, strict=True))
    return tuple(own[k] if k in own else solved[k] for k in range(at.loops.frames.nv))


def velocities(at: Posture, u: Scalars) -> Scalars:
    """Return v = Γu of the tree."""
    return _completed(at, u)


def drifts(at: Posture, v: Scalars) -> list[Scalar]:
    """Return J̇v of all closures' rows."""
    moving = closure.motions(at.loops.frames, at.chain, v)
    return [x for tie in at.ties for x in closure.drift(at.chain, tie, moving)]


def accelerations(at: Posture, v: Scalars, a: Sequence[Scalar]) -> Scalars:
    """Return Γa + γ of the tree, Eq. (1), for tree velocities v and independent accelerations a."""
    return _completed(at, a, drifts(at, v))


def gathered(at: Posture, forces: Sequence[Scalar]) -> list[Scalar]:
    """Return Γᵀf of forces on the tree's velocities."""
    structure = at.loops.structure
    multipliers = elimination.solve_transposed(at.factors, {k: forces[k] for k in structure.dependent})
    result = []
    for k in structure.independent:
        total = forces[k]
        for r, multiplier in multipliers.items():
            if k in at.rows[r]:
                total = total - at.rows[r][k] * multiplier
        result.append(total)
    return result


def motion_columns(at: Posture, which: Sequence[int] | None = None) -> list[Scalars]:
    """Return columns of Γ, by their places among the independent velocities; all where none are named."""
    n = len(at.loops.structure.independent)
    return [_completed(at, [float(j == k) for j in range(n)]) for k in (range(n) if which is None else which)]


def dot(x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
    """Return Σxy without the products that are zero by structure."""
    total: Scalar = 0.0
    for a, b in zip(x, y, strict=True):
        if not elimination.is_zero(a) and not elimination.is_zero(b):
            total = total + a * b
    return total


# Dynamics


def reduced_mass(at: Posture, columns: Sequence[Scalars]) -> Rows:
    """Return ΓᵀM_treeΓ."""
    tree = mass_matrix_composite(at.loops.dynamics, at.q)
    pushed = [[dot(row, column) for row in tree] for column in columns]
    n = range(len(columns))
    lower = [[dot(columns[i], pushed[j]) if j <= i else 0.0 for j in n] for i in n]
    return [[lower[max(i, j)][min(i, j)] for j in n] for i in n]


def _pushed(at: Posture, column: Scalars) -> Scalars:
    """Return M_tree·a for one column of accelerations: the tree's inverse dynamics without weight and at rest."""
    weightless = replace(at.loops.dynamics, gravity=ZERO)
    return gibbs.inverse_dynamics(weightless, at.q, (0.0,) * weightless.nv, column)


class Driven(NamedTuple):
    """A motion with its forces: accelerations and forces of the tree, and the actuators' share."""

    accelerations: Scalars
    forces: Scalars
    torques: list[Scalar]


def driven(at: Posture, v: Scalars, a: Scalars) -> Driven:
    """Return the motion whose first independent accelerations are given, and on whose passive modes no force acts.

    With τ₀ for passive accelerations at zero, τ = τ₀ + M a_p, and of τ = Γ_aᵀτ_a + (0 on passive modes) follow both.
    """
    structure, dynamics = at.loops.structure, at.loops.dynamics
    n, passive = len(structure.independent), range(len(structure.actuated), len(structure.independent))
    drift = drifts(at, v)
    start = _completed(at, (*a, *(0.0 for _ in passive)), drift)
    forces = gibbs.inverse_dynamics(dynamics, at.q, v, start)
    total = gathered(at, forces)
    if structure.is_plain and not passive:
        return Driven(start, forces, total)
    columns = motion_columns(at, passive)
    pushed = [_pushed(at, column) for column in columns]
    shares = [gathered(at, push) for push in pushed]  # columns of M
    if structure.is_plain:
        block = tuple(tuple(share[k] for share in shares) for k in passive)
        parents = list(range(-1, len(passive) - 1))
        free = forward.solve(block, parents, tuple(-total[k] for k in passive))
        torques = [total[k] + dot([share[k] for share in shares], free) for k in range(len(structure.actuated))]
    else:
        motors = _motor_rows(at)
        matrix = [dict(enumerate((*motors[k], *(-s[k] for s in shares)))) for k in range(n)]
        solved = elimination.solve(elimination.factorise(matrix, structure.driving), total)
        torques = [solved[k] for k in range(len(structure.actuated))]
        free = tuple(solved[k] for k in passive)
    total_rates = tuple(x + dot([c[k] for c in columns], free) for k, x in enumerate(start))
    loads = tuple(f + dot([p[k] for p in pushed], free) for k, f in enumerate(forces))
    return Driven(total_rates, loads, torques)


def _motor_rows(at: Posture) -> Rows:
    """Return Γ_aᵀ: per independent velocity, how fast it moves each actuator."""
    columns = motion_columns(at)
    return [[column[k] for k in at.loops.structure.actuated] for column in columns]


def inverse_dynamics(loops: Loops, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return the actuator forces for given accelerations, the passive modes following by themselves."""
    at = posture(loops, q)
    return driven(at, velocities(at, v), a).torques, roughness(at)


def constraint_forces(loops: Loops, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return, per closure, the force and moment that it puts on its second frame's body, in the first frame's axes."""
    at = posture(loops, q)
    motion = driven(at, velocities(at, v), a)
    structure = loops.structure
    loads = list(motion.forces)
    for k, torque in zip(structure.actuated, motion.torques, strict=True):
        loads[k] = loads[k] - torque
    multipliers = elimination.solve_transposed(at.factors, {k: loads[k] for k in structure.dependent})
    result, start = [], 0
    for tie in at.ties:
        count = len(tie.closure.rows)
        own = [multipliers.get(r, 0.0) for r in range(start, start + count)]
        result.append(closure.wrench(tie, own, at.chain))
        start += count
    return result, roughness(at)


def bias(loops: Loops, q: Scalars, v: Scalars) -> Any:
    """Return Γᵀ(bias + M γ): the forces on the independent velocities at zero independent acceleration."""
    at = posture(loops, q)
    return _bias(at, velocities(at, v)), roughness(at)


def _bias(at: Posture, v: Scalars) -> list[Scalar]:
    still = accelerations(at, v, (0.0,) * len(at.loops.structure.independent))
    return gathered(at, gibbs.inverse_dynamics(at.loops.dynamics, at.q, v, still))


def gravity(loops: Loops, q: Scalars) -> Any:
    """Return Γᵀ G."""
    at = posture(loops, q)
    return gathered(at, gibbs.gravity(loops.dynamics, q)), roughness(at)


def mass_matrix(loops: Loops, q: Scalars) -> Any:
    """Return ΓᵀMΓ."""
    at = posture(loops, q)
    return reduced_mass(at, motion_columns(at)), roughness(at)


def forward_dynamics(loops: Loops, q: Scalars, v: Scalars, tau: Scalars) -> Any:
    """Return the independent accelerations under actuator forces."""
    at = posture(loops, q)
    return moved(at, velocities(at, v), tau), roughness(at)


def moved(at: Posture, v: Scalars, tau: Scalars) -> Scalars:
    """Return the independent accelerations for tree velocities v and actuator forces."""
    structure = at.loops.structure
    columns = motion_columns(at)
    push = [dot([column[k] for k in structure.actuated], tau) for column in columns]
    right = tuple(t - b for t, b in zip(push, _bias(at, v), strict=True))
    matrix = tuple(tuple(row) for row in reduced_mass(at, columns))
    return forward.solve(matrix, list(range(-1, len(columns) - 1)), right)


def motion(loops: Loops, q: Scalars, v: Scalars, tau: Scalars) -> Any:
    """Return q̇ of the tree and the independent accelerations: the field that an integrator follows."""
    at = posture(loops, q)
    whole = velocities(at, v)
    return coordinate_rates(loops.frames, q, whole), moved(at, whole, tau), roughness(at)


def coriolis_matrix(loops: Loops, q: Scalars, v: Scalars) -> Any:
    """Return Γᵀ(CΓ + MΓ̇), Eq. (2), with Γ̇ from J_d Γ̇_d = −J̇Γ."""
    at = posture(loops, q)
    whole = velocities(at, v)
    columns = motion_columns(at)
    rates = coordinate_rates(loops.frames, q, whole)
    direction = list(zip(q, rates, strict=True))
    order = loops.structure.order
    places = [(r, k) for r in order.rows for k in at.rows[r]]
    changes = dict(zip(places, (x for (x,) in along([at.rows[r][k] for r, k in places], [direction])), strict=True))
    turned = []
    for column in columns:
        right: list[Scalar] = [0.0] * len(at.rows)
        for r in order.rows:
            right[r] = -dot([changes[r, k] for k in at.rows[r]], [column[k] for k in at.rows[r]])
        solved = elimination.solve(at.factors, right)
        turned.append([solved.get(k, 0.0) for k in range(loops.frames.nv)])
    stir = coriolis.coriolis_matrix(loops.dynamics, q, whole)
    tree = mass_matrix_composite(loops.dynamics, q)
    pushed = [
        [dot(c, column) + dot(m, turn) for c, m in zip(stir, tree, strict=True)]
        for column, turn in zip(columns, turned, strict=True)
    ]
    return [[dot(column, push) for push in pushed] for column in columns], roughness(at)


# The tree


def expand(loops: Loops, q: Scalars, v: Scalars) -> Any:
    """Return the velocities of every joint of the tree."""
    at = posture(loops, q)
    return velocities(at, v), roughness(at)


def expand_acceleration(loops: Loops, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return the accelerations of every joint of the tree, for all independent accelerations."""
    at = posture(loops, q)
    return accelerations(at, velocities(at, v), a), roughness(at)
