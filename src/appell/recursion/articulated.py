"""Forward dynamics in O(n) by articulated bodies (Featherstone 1983).

Each body with all that hangs from it answers a force as if it were one body of a larger "articulated" inertia,

    f = I_A·a + p_A,

which the joint's freedom then reduces before it is added to the parent. Columns of a joint are eliminated one after the
other, which for a joint of several velocities is the block elimination without a matrix inverse. 6-vectors are pairs
(linear, angular); I_A is the 2×2 block matrix [[A, B], [Bᵀ, C]].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from appell.model.joints import Column
from appell.model.model import Model
from appell.recursion.forward import cholesky, probe, solve_cholesky, sum_of_squares
from appell.recursion.inertia_matrix import unit_momentum
from appell.recursion.joint_forces import joint_forces
from appell.recursion.kinematics import STILL, Link, Load, Scalars, Velocity, carried, motions, moved, posed
from appell.recursion.sweep import Body, Executor, PerBody, Tree, inward
from appell.spatial.inertia import NULL, Inertia
from appell.spatial.scalar import Matrix, Scalar, Vector, sqrt
from appell.spatial.vector import (
    ZERO,
    add,
    cross,
    dot,
    madd,
    matmul,
    matvec,
    matvec_t,
    msub,
    negate,
    outer,
    scale,
    skew,
    trace,
    transpose,
)


class Pair(NamedTuple):
    """A 6-vector: linear and angular part of an acceleration, or force and moment."""

    linear: Vector
    angular: Vector


class Articulated(NamedTuple):
    """The articulated inertia [[A, B], [Bᵀ, C]] and the bias force of a body with all that it carries."""

    linear: Matrix
    mixed: Matrix
    angular: Matrix
    bias: Pair

    def times(self, a: Pair) -> Pair:
        """Return I_A·a."""
        force = add(matvec(self.linear, a.linear), matvec(self.mixed, a.angular))
        return Pair(force, add(matvec_t(self.mixed, a.linear), matvec(self.angular, a.angular)))


class Pivot(NamedTuple):
    """What the outward pass needs of an eliminated column: U = I_A·S, 1/D = 1/(S·U), u = τ − S·p_A."""

    column: Column
    push: Pair
    inverse: Scalar
    rest: Scalar


AT_REST = Pair(ZERO, ZERO)
NOTHING = Articulated(NULL, NULL, NULL, AT_REST)


class Solved(NamedTuple):
    """Accelerations, and the pivots of every body."""

    accelerations: Scalars
    pivots: PerBody


def forward_dynamics(model: Tree, q: Scalars, v: Scalars, tau: Scalars) -> Scalars:
    """Return the accelerations under joint forces τ."""
    return solved(model, q, v, tau).accelerations


def solved(model: Tree, q: Scalars, v: Scalars, tau: Scalars) -> Solved:
    """Return the accelerations under joint forces τ, and the pivots of the articulated inertias."""
    tree, friction = posed(model, q), joint_forces(model, q, v, (0.0,) * model.nv)
    efforts = tuple(t - f for t, f in zip(tau, friction, strict=True))
    own = motions(tree, v)

    def out(body: Body, parent: tuple[Velocity, Pair]) -> tuple[tuple[Velocity, Pair], Articulated]:
        speed = moved(body.link, own[body], parent[0])
        return (speed, bias_acceleration(speed, own[body])), rigid(body.inertia, speed)

    def back(body: Body, state: tuple[Velocity, Pair], whole: Articulated) -> tuple[Articulated, list[Pivot]]:
        reduced, pivots = eliminated(whole, body, body.of(efforts), state[1])
        return moved_up(body.link, reduced), pivots

    found = tree.around((STILL, AT_REST), NOTHING, out, back)

    def step(body: Body, parent: tuple[Pair, Scalars]) -> tuple[Pair, Scalars]:
        return advanced(body, parent[0], found.states[body][1], found.kept[body])

    moving = tree.outward((Pair(negate(tree.gravity), ZERO), ()), step)
    return Solved(tree.vector(tree.each(lambda body: moving[body][1])), found.kept)


def response(tree: Executor, pivots: PerBody, efforts: Scalars) -> Scalars:
    """Return M⁻¹·efforts by the pivots of earlier forward dynamics."""

    def back(body: Body, _: None, load: Pair) -> tuple[Pair, list[Pivot]]:
        rests: list[Pivot] = []
        for pivot, effort in reversed(list(zip(pivots[body], body.of(efforts), strict=True))):
            rest = effort - dot(pivot.column.linear, load.linear) - dot(pivot.column.angular, load.angular)
            rests.insert(0, pivot._replace(rest=rest))
            share = rest * pivot.inverse
            load = _pair_add(load, Pair(scale(share, pivot.push.linear), scale(share, pivot.push.angular)))
        return Pair(*carried(body.link, Load(*load))), rests

    found = tree.around(None, AT_REST, lambda body, _: (None, AT_REST), back)

    def step(body: Body, parent: tuple[Pair, Scalars]) -> tuple[Pair, Scalars]:
        return advanced(body, parent[0], AT_REST, found.kept[body])

    moving = tree.outward((AT_REST, ()), step)
    return tree.vector(tree.each(lambda body: moving[body][1]))


def bound(model: Tree, q: Scalars, free: Solved, rows: Sequence[Scalars]) -> Scalars:
    """Return the accelerations with K·a = 0 for rows K, held by forces Kᵀλ: (K M⁻¹Kᵀ) λ = −K a₀,  a = a₀ + M⁻¹Kᵀλ."""
    tree = posed(model, q)
    answers = [response(tree, free.pivots, tree.known(row)) for row in rows]

    def multipliers(_: Model, start: Scalars, *columns: Scalars) -> Scalars:
        matrix = tuple(tuple(_product(row, column) for column in columns) for row in rows)
        return solve_cholesky(cholesky(matrix), tuple(-_product(row, start) for row in rows))

    forces = tree.named(multipliers, free.accelerations, *answers, like=(0.0,) * len(rows)) if rows else ()
    a = free.accelerations
    for force, answer in zip(forces, answers, strict=True):
        a = tuple(x + force * y for x, y in zip(a, answer, strict=True))
    return a


def _product(row: Scalars, x: Scalars) -> Scalar:
    return sum((c * y for c, y in zip(row, x, strict=False) if c), start=0.0)


class Extent(NamedTuple):
    """The mass of a body with all that it carries, and about how large its moment of inertia is at its joint."""

    mass: Scalar
    moment: Scalar

    def seen_by(self, column: Column, armature: Scalar) -> Scalar:
        """Return an estimate of M's diagonal entry for a column of the joint."""
        return dot(column.linear, column.linear) * self.mass + (
            dot(column.angular, column.angular) * self.moment + armature
        )


def extents(model: Model) -> list[Extent]:
    """Return the extent of every body, in whatever configuration: Σ m r², r² added up along the links.

    Of a model with the inertias of its file; the moments of a lean model are regrouped and have no meaning by
    themselves.
    """

    def gathered(i: int, below: list[tuple[int, Extent]]) -> Extent:
        mass, _, second = model.bodies[i].inertia
        moment = trace(second)
        for child, (load, spread) in below:
            p = model.bodies[child].joint.placement.position
            mass, moment = mass + load, moment + (spread + dot(p, p) * load)
        return Extent(mass, moment)

    return inward(model, gathered)


def inverse_norm(model: Tree, filed: Model, q: Scalars, pivots: PerBody) -> Scalar:
    """Return the squared relative rounding error of accelerations, as :func:`appell.recursion.forward.inverse_norm`.

    The diagonal of M is that of the extents, by the model with the inertias of the file.
    """
    size: list[Scalar] = []
    sides: list[float] = []
    for i, (extent, z) in enumerate(zip(extents(filed), probe(len(filed.bodies)), strict=True)):
        columns, own = filed.bodies[i].joint.columns, [filed.joint_parameters[k] for k in filed.velocities(i)]
        size += [sqrt(extent.seen_by(c, joint.armature)) for c, joint in zip(columns, own, strict=True)]
        sides += [z * y for y in probe(len(columns))]
    tree = posed(model, q)
    x = response(tree, pivots, tree.known(tuple(z * m for z, m in zip(sides, size, strict=True))))
    return tree.total(0.0, tree.each(lambda body: sum_of_squares(body.of(x)))) * sum_of_squares(size)


def eliminated(body: Articulated, of: Body, efforts: Scalars, bias: Pair) -> tuple[Articulated, list[Pivot]]:
    """Return the articulated inertia of a body at its parent, and the pivots of the joint's columns."""
    pivots: list[Pivot] = []
    for column, effort, own in reversed(list(zip(of.columns, efforts, of.parameters, strict=True))):
        body, pivot = _eliminate(body, column, effort, own.armature)
        pivots.insert(0, pivot)
    return body._replace(bias=_pair_add(body.bias, body.times(bias))), pivots


def advanced(body: Body, parent: Pair, bias: Pair, pivots: Sequence[Pivot]) -> tuple[Pair, Scalars]:
    """Return a body's acceleration and its joint's, from its parent's acceleration."""
    link = body.link
    linear = link.down(add(parent.linear, cross(parent.angular, link.position)))
    moving = _pair_add(Pair(linear, link.down(parent.angular)), bias)
    rates = []
    for column, push, inverse, rest in pivots:
        rate = (rest - dot(push.linear, moving.linear) - dot(push.angular, moving.angular)) * inverse
        rates.append(rate)
        moving = _pair_add(moving, Pair(scale(rate, column.linear), scale(rate, column.angular)))
    return moving, tuple(rates)


def bias_acceleration(speed: tuple[Vector, Vector], joint: tuple[Vector, Vector]) -> Pair:
    """Return V × (S v): the acceleration a body has although no joint accelerates."""
    (w, u), (wj, uj) = speed, joint
    return Pair(add(cross(w, uj), cross(u, wj)), cross(w, wj))


def rigid(inertia: Inertia, speed: Velocity) -> Articulated:
    """Return a rigid body before anything is joined to it; its bias is the gyroscopic force V ×* I V."""
    w, u = speed
    m, h, tensor = inertia.mass, inertia.first, inertia.tensor
    eye: Matrix = ((m, 0.0, 0.0), (0.0, m, 0.0), (0.0, 0.0, m))
    momentum = unit_momentum(inertia, speed)
    force = cross(w, momentum.force)
    moment = add(cross(w, momentum.moment), cross(u, momentum.force))
    return Articulated(eye, transpose(skew(h)), tensor, Pair(force, moment))


def _eliminate(body: Articulated, column: Column, tau: Scalar, armature: Scalar) -> tuple[Articulated, Pivot]:
    push = body.times(Pair(column.linear, column.angular))
    inverse = 1.0 / (dot(column.linear, push.linear) + dot(column.angular, push.angular) + armature)
    rest = tau - dot(column.linear, body.bias.linear) - dot(column.angular, body.bias.angular)
    scaled = Pair(scale(inverse, push.linear), scale(inverse, push.angular))
    share = rest * inverse
    reduced = Articulated(
        msub(body.linear, outer(scaled.linear, push.linear)),
        msub(body.mixed, outer(scaled.linear, push.angular)),
        msub(body.angular, outer(scaled.angular, push.angular)),
        _pair_add(body.bias, Pair(scale(share, push.linear), scale(share, push.angular))),
    )
    return reduced, Pivot(column, push, inverse, rest)


def moved_up(link: Link, body: Articulated) -> Articulated:
    """Return an articulated body of a child's frame in its parent's: X* I_A X for the rotation, then for the shift."""
    linear, angular = link.up_symmetric(body.linear), link.up_symmetric(body.angular)
    mixed = link.up_tensor(body.mixed)
    p = skew(link.position)
    shifted = msub(mixed, matmul(linear, p))  # B' = B − A p̃
    angular = madd(angular, msub(matmul(p, shifted), matmul(transpose(mixed), p)))  # C' = C + p̃ B' − Bᵀ p̃
    force = link.up(body.bias.linear)
    moment = add(link.up(body.bias.angular), cross(link.position, force))
    return Articulated(linear, shifted, _mirrored(angular), Pair(force, moment))


def _mirrored(m: Matrix) -> Matrix:
    """Return a matrix that is symmetric by its meaning with its lower half copied from the upper."""
    return (m[0], (m[0][1], m[1][1], m[1][2]), (m[0][2], m[1][2], m[2][2]))


def _pair_add(a: Pair, b: Pair) -> Pair:
    return Pair(add(a.linear, b.linear), add(a.angular, b.angular))
