"""A Coriolis matrix with Ṁ − 2C skew, from the moments of velocity.

A point x of the tree moves by uₖ(x) per unit of velocity vₖ, so that M_kj = ∫ uₖ·uⱼ dm. Then

    C_kj = ∫ uₖ · u̇ⱼ dm                                                                                    (1)

gives C v = ∫ uₖ·(ẍ at v̇ = 0) dm and, by the product rule, Ṁ = C + Cᵀ, for coordinates and quasi-velocities alike. With
uⱼ(x) = lⱼ + wⱼ × x about the origin of body j, and y the velocity of x relative to that origin, (1) needs of all that
body j carries, besides m, h and Σ, only the moments of velocity

    P = ∫ y dm,   Q = ∫ y xᵀ dm.                                                                            (2)
"""

from __future__ import annotations

from typing import NamedTuple

from appell.model.joints import Column
from appell.model.model import Model
from appell.recursion.inertia_matrix import Rows, moved_up, unit_momentum
from appell.recursion.kinematics import Link, Load, Scalars, carried, joint_motions, links, velocities
from appell.recursion.sweep import inward, rootward
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Matrix, Scalar, Vector
from appell.spatial.vector import (
    add,
    cross,
    dot,
    madd,
    matmul,
    matvec,
    matvec_t,
    outer,
    scale,
    skew,
    sub,
    trace,
)


class Subtree(NamedTuple):
    """A body with all that it carries: its inertia and its moments of relative velocity, Eq. (2)."""

    inertia: Inertia
    first_rate: Vector
    spread: Matrix


class Carried(NamedTuple):
    """What travels rootward from joint j: ∫ u̇ⱼ dm, ∫ x × u̇ⱼ dm, ∫ uⱼ dm, ∫ x × uⱼ dm and ∫ y × uⱼ dm."""

    force: Vector
    moment: Vector
    momentum: Vector
    spin: Vector
    stir: Vector


def coriolis_matrix(model: Model, q: Scalars, v: Scalars) -> Rows:
    """Return C(q, v) of Eq. (1); joint friction is no part of it."""
    chain = links(model, q)
    omega = [velocity.angular for velocity in velocities(model, chain, v)]
    own = joint_motions(model, v)

    def origin_velocity(i: int) -> Vector:
        """Velocity of body i's origin relative to its parent's origin, in the parent's frame: ω_p × p + R Σl v."""
        parent = model.bodies[i].parent
        slide = chain[i].up(own[i].linear)
        return add(cross(omega[parent], chain[i].position), slide) if parent >= 0 else slide

    def gather(i: int, below: list[tuple[int, Subtree]]) -> Subtree:
        inertia = chain[i].inertia
        total = Subtree(inertia, cross(omega[i], inertia.first), matmul(skew(omega[i]), inertia.second))
        for child, subtree in below:
            total = _joined(total, lifted(chain[child], subtree, origin_velocity(child)))
        return total

    wholes = inward(model, gather)
    entries: dict[tuple[int, int], Scalar] = {}
    for i, body in enumerate(model.bodies):
        for j, column in zip(model.velocities(i), body.joint.columns, strict=True):

            def step(ancestor: int, load: Carried, i: int = i, j: int = j) -> Carried:
                for k, other in enumerate(model.bodies[ancestor].joint.columns, start=model.v_slices[ancestor].start):
                    entries[k, j] = dot(other.angular, load.moment) + dot(other.linear, load.force)
                    if ancestor != i:
                        turning, sliding = cross(omega[ancestor], other.angular), cross(omega[ancestor], other.linear)
                        seen = dot(turning, load.spin) + dot(sliding, load.momentum)
                        entries[j, k] = seen + dot(other.angular, load.stir)
                return carried_up(chain[ancestor], load, origin_velocity(ancestor))

            rootward(model, i, excited(wholes[i], omega[i], column), step)
    n = range(model.nv)
    return tuple(tuple(entries.get((k, j), 0.0) for j in n) for k in n)


def excited(subtree: Subtree, omega: Vector, column: Column) -> Carried:
    """Return what joint j's own composite body sends rootward."""
    inertia, first_rate, spread = subtree
    w, u = column
    turning, sliding = cross(omega, w), cross(omega, u)  # ẇ and l̇
    around = scale(trace(spread), w)
    # u̇ = l̇ + ẇ × x + w × y, integrated with 1 and with x ×
    force = add(add(cross(turning, inertia.first), cross(w, first_rate)), scale(inertia.mass, sliding))
    moment = add(matvec(inertia.tensor, turning), cross(inertia.first, sliding))
    moment = add(moment, sub(around, matvec(spread, w)))
    momentum = unit_momentum(inertia, column)
    stir = add(cross(first_rate, u), sub(around, matvec_t(spread, w)))
    return Carried(force, moment, momentum.force, momentum.moment, stir)


def carried_up(link: Link, load: Carried, velocity: Vector) -> Carried:
    """Return what travels rootward in the parent's frame, for the velocity of the body's origin in its parent."""
    momentum, spin = carried(link, Load(load.momentum, load.spin))
    stir = add(link.up(load.stir), cross(velocity, momentum))
    return Carried(*carried(link, Load(load.force, load.moment)), momentum, spin, stir)


def lifted(link: Link, subtree: Subtree, velocity: Vector) -> Subtree:
    """Return a child's composite in its parent's frame: y' = R y + d,  x' = R x + p."""
    m, p = subtree.inertia.mass, link.position
    inertia = moved_up(link, subtree.inertia)
    first_rate, first = link.up(subtree.first_rate), link.up(subtree.inertia.first)
    turned = link.up_tensor(subtree.spread)
    shifted = madd(outer(first_rate, p), outer(velocity, add(first, scale(m, p))))
    return Subtree(inertia, add(first_rate, scale(m, velocity)), madd(turned, shifted))


def _joined(a: Subtree, b: Subtree) -> Subtree:
    return Subtree(a.inertia.plus(b.inertia), add(a.first_rate, b.first_rate), madd(a.spread, b.spread))
