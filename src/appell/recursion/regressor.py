"""The regressor Y with τ = Y·π: the Gibbs function is linear in every body's ten parameters.

Per body i the load of :mod:`appell.recursion.gibbs` (2) is f = m s̈ + Ωh and t = h × s̈ + Iω̇ + ω × Iω; one column of Y
is that load for one parameter at 1 and the rest at 0. Instead of carrying ten loads per body to every ancestor, each
ancestor's partial motion is carried outward to the body, where it meets loads that are mostly zeros.
"""

from __future__ import annotations

from typing import NamedTuple

from appell.model.model import Model
from appell.model.parameters import PER_BODY, PER_SPRING, PER_VELOCITY, n_parameters
from appell.recursion.gibbs import Acceleration, accelerations
from appell.recursion.inertia_matrix import Rows
from appell.recursion.joint_forces import joint_stretches, stretch_rate, stretched
from appell.recursion.kinematics import Load, Scalars, links
from appell.recursion.rates import transport
from appell.recursion.sweep import outward
from appell.spatial.scalar import Matrix, Scalar, Vector, sign
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, matvec, transpose


class Partial(NamedTuple):
    """∂ω̇/∂aₖ and ∂s̈/∂aₖ of the body at hand for an ancestor's velocity k."""

    velocity: int
    angular: Vector
    linear: Vector


def regressor(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Rows:
    """Return Y, nv × n: ten columns per body, then those of joints and springs (:mod:`appell.model.parameters`)."""
    chain = links(model, q)

    def step(i: int, carried: list[Partial]) -> list[Partial]:
        link = chain[i]
        moved = [Partial(k, link.down(w), link.down(add(u, cross(w, link.position)))) for k, w, u in carried]
        own = enumerate(model.bodies[i].joint.columns, start=model.v_slices[i].start)
        return [*moved, *(Partial(k, column.angular, column.linear) for k, column in own)]

    rows: list[list[Scalar]] = [[0.0] * n_parameters(model) for _ in range(model.nv)]
    moving = accelerations(model, chain, v, a)
    nothing: list[Partial] = []
    for i, partials in enumerate(outward(model, nothing, step)):
        for j, load in enumerate(unit_loads(moving[i])):
            for part in partials:
                entry = dot(part.linear, load.force) + dot(part.angular, load.moment)
                rows[part.velocity][PER_BODY * i + j] = entry
    if model.has_joint_parameters:
        start, stretches, turns = PER_BODY * len(model.bodies), joint_stretches(model, q), transport(model, v, v)
        for k in range(model.nv):
            own = [a[k] + turns[k], v[k], sign(v[k]), stretches[k]]
            rows[k][start + PER_VELOCITY * k : start + PER_VELOCITY * (k + 1)] = own
    for j, stretch in enumerate(model.stretches):
        start = n_parameters(model) - PER_SPRING * (len(model.springs) - j)
        for _, k, c in stretch.terms:
            own = [c * stretched(stretch, q), c * stretch_rate(stretch, v)]
            rows[k][start : start + PER_SPRING] = [x + y for x, y in zip(rows[k][start:], own, strict=False)]
    return tuple(map(tuple, rows))


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
