"""The regressor Y with τ = Y·π: the Gibbs function is linear in every body's ten parameters.

Per body i the load of :mod:`appell.recursion.gibbs` (2) is f = m s̈ + Ωh and t = h × s̈ + Iω̇ + ω × Iω; one column of Y
is that load for one parameter at 1 and the rest at 0. Instead of carrying ten loads per body to every ancestor, each
ancestor's partial motion is carried outward to the body, where it meets loads that are mostly zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from appell.model.joints import Column
from appell.model.model import Model
from appell.model.parameters import PER_BODY, PER_SPRING, PER_VELOCITY, n_parameters
from appell.recursion.gibbs import Acceleration, acceleration_tensor, accelerations
from appell.recursion.joint_forces import stretch_rate, stretched, stretches
from appell.recursion.kinematics import Load, Scalars, carried, links, posed, power
from appell.recursion.sweep import Body, Entries, Executor, Rows, Tree, outward
from appell.spatial.scalar import Matrix, Scalar, Vector, sign
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, matvec, transpose


class Partial(NamedTuple):
    """∂ω̇/∂aₖ and ∂s̈/∂aₖ of the body at hand for an ancestor's velocity k."""

    velocity: int
    angular: Vector
    linear: Vector


def regressor(model: Tree, q: Scalars, v: Scalars, a: Scalars) -> Rows:
    """Return Y, nv × n: ten columns per body, then those of joints and springs (:mod:`appell.model.parameters`)."""
    if isinstance(model, Executor):
        return regressor_of_loads(model, q, v, a)
    chain = links(model, q)

    def step(i: int, carried: list[Partial]) -> list[Partial]:
        link = chain[i]
        moved = [Partial(k, link.down(w), link.down(add(u, cross(w, link.position)))) for k, w, u in carried]
        own = enumerate(model.bodies[i].joint.columns, start=model.v_slices[i].start)
        return [*moved, *(Partial(k, column.angular, column.linear) for k, column in own)]

    rows: list[list[Scalar]] = [[0.0] * n_parameters(model) for _ in range(model.nv)]
    tree = posed(model, q)
    moving = accelerations(tree, v, a)
    nothing: list[Partial] = []
    for i, partials in enumerate(outward(model, nothing, step)):
        for j, load in enumerate(unit_loads(moving[i])):
            for part in partials:
                entry = dot(part.linear, load.force) + dot(part.angular, load.moment)
                rows[part.velocity][PER_BODY * i + j] = entry
    if model.has_joint_parameters:
        start, own = PER_BODY * len(model.bodies), tree.vector(tree.each(partial(joint_columns, q=q, v=v, a=a)))
        for k, entries in enumerate(own):
            rows[k][start + PER_VELOCITY * k : start + PER_VELOCITY * (k + 1)] = entries
    for k, start, entries in spring_columns(model, q, v):
        rows[k][start : start + PER_SPRING] = [x + y for x, y in zip(rows[k][start:], entries, strict=False)]
    return tuple(map(tuple, rows))


def regressor_of_loads(tree: Executor, q: Scalars, v: Scalars, a: Scalars) -> Rows:
    """Return Y by the ten loads of every body, carried to its ancestors: steps of one size, however many these are."""
    moving = accelerations(tree, v, a)

    def first(body: Body) -> tuple[list[Load], Entries]:
        # the parameters are about the axes of the file
        turn, link = body.from_file, body.link
        omega, alpha, _, origin = moving[body]
        omega, alpha, origin = (matvec(turn, part) for part in (omega, alpha, origin))
        loads = unit_loads(Acceleration(omega, alpha, acceleration_tensor(omega, alpha), origin))
        columns = tuple(Column(*(matvec(turn, part) for part in column)) for column in body.columns)
        if turn != IDENTITY:
            link = link._replace(rotations=(*link.rotations, transpose(turn)))
        return [carried(link, load) for load in loads], [([[power(c, x) for x in loads] for c in columns], ())]

    def climb(body: Body, loads: list[Load]) -> tuple[list[Load], Entries]:
        entries = [[power(column, load) for load in loads] for column in body.columns]
        return [carried(body.link, load) for load in loads], [(entries, ())]

    own = partial(joint_columns, q=q, v=v, a=a)
    return tree.parametric(first, climb, own, spring_columns, q, v)


def joint_columns(body: Body, q: Scalars, v: Scalars, a: Scalars) -> Sequence[Scalars]:
    """Return the entries of Y of every velocity's own rotor inertia, damping, friction and stiffness."""
    speeds = body.of(v)
    turns = body.joint.type.transport(speeds, speeds)
    rows = zip(body.of(a), turns, speeds, stretches(body, q), strict=True)
    return [(rate + turn, speed, sign(speed), stretch) for rate, turn, speed, stretch in rows]


def spring_columns(model: Model, q: Scalars, v: Scalars) -> list[tuple[int, int, Scalars]]:
    """Return the row, the first column and the entries of Y for every joint of every spring between joints."""
    found = []
    for j, stretch in enumerate(model.stretches):
        start = n_parameters(model) - PER_SPRING * (len(model.springs) - j)
        own = stretched(stretch, q), stretch_rate(stretch, v)
        found += [(k, start, (c * own[0], c * own[1])) for _, k, c in stretch.terms]
    return found


def unit_loads(motion: Acceleration) -> list[Load]:
    """Return the load of each of the ten parameters at 1, in their order."""
    loads = [Load(motion.origin, ZERO)]
    columns = transpose(motion.tensor)
    loads += [Load(columns[k], cross(IDENTITY[k], motion.origin)) for k in range(3)]
    for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)):
        unit = _unit_tensor(i, j)
        moment = add(matvec(unit, motion.alpha), cross(motion.omega, matvec(unit, motion.omega)))
        loads.append(Load(ZERO, moment))
    return loads


def _unit_tensor(i: int, j: int) -> Matrix:
    rows = [[0.0] * 3 for _ in range(3)]
    rows[i][j] = rows[j][i] = 1.0
    return tuple(map(tuple, rows))  # type: ignore[return-value]  # three rows of three
