"""A Coriolis matrix with Ṁ − 2C skew, from the moments of relative velocity.

A point x of the tree moves by uₖ(x) per unit of velocity vₖ, so that M_kj = ∫ uₖ·uⱼ dm. Then

    C_kj = ∫ uₖ · u̇ⱼ dm                                                                                    (1)

gives C v = ∫ uₖ·(ẍ at v̇ = 0) dm and, by the product rule, Ṁ = C + Cᵀ, for coordinates and quasi-velocities alike. In a
body's own frame uⱼ(x) = lⱼ + wⱼ × x is constant. With its angular velocity ω, and y the velocity of x relative to it,

    u̇ⱼ = ω × uⱼ + wⱼ × y                                                                                   (2)

so that (1) needs of all that body j carries, besides m, h and Σ, only the moments of relative velocity

    P = ∫ y dm,   Q = ∫ y xᵀ dm.                                                                            (3)

The body itself adds nothing to them; its parent sees y + σ_l + σ_w × x, with the velocity σ of the joint. On the way to
a joint k before joint j travel the load of u̇ⱼ, which gives C_kj, the momentum of uⱼ and ∫ ẋ × uⱼ dm, which give

    C_jk = (ω × wₖ)·∫ x × uⱼ dm + (ṡ × wₖ + ω × lₖ)·∫ uⱼ dm + wₖ·∫ ẋ × uⱼ dm                                (4)

with the velocity (ω, ṡ) of body k. C does not depend on the velocity of the root's origin, which is left out.
"""

from __future__ import annotations

from typing import NamedTuple

from appell.model.joints import Column
from appell.model.model import WORLD, Model
from appell.recursion.elimination import is_zero
from appell.recursion.inertia_matrix import Rows, moved_up, unit_momentum
from appell.recursion.kinematics import (
    JointMotion,
    Link,
    Load,
    Scalars,
    Velocity,
    carried,
    joint_motions,
    links,
    moved,
    power,
)
from appell.recursion.sweep import around, rootward
from appell.spatial.inertia import NULL, Inertia
from appell.spatial.scalar import Matrix, Scalar, Vector
from appell.spatial.vector import (
    ZERO,
    add,
    complement,
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
)


class Moments(NamedTuple):
    """A body with all that it carries: its inertia, and its moments of velocity relative to an observer, Eq. (3)."""

    inertia: Inertia
    first_rate: Vector = ZERO
    spread: Matrix = NULL


class Carried(NamedTuple):
    """What travels rootward from column j: the load of u̇ⱼ, the momentum of uⱼ, and ∫ ẋ × uⱼ dm."""

    rate: Load
    momentum: Load
    turning: Vector


def coriolis_matrix(model: Model, q: Scalars, v: Scalars) -> Rows:
    """Return C(q, v) of Eq. (1); joint friction is no part of it."""
    chain, own = links(model, q), joint_motions(model, v)
    rates: list[list[Column]] = [[] for _ in model.bodies]
    entries: dict[tuple[int, int], Scalar] = {}

    def out(i: int, parent: Velocity) -> Velocity:
        velocity = moved(chain[i], own[i], parent)
        if model.bodies[i].parent == WORLD:
            velocity = Velocity(velocity.angular, ZERO)
        rates[i] = [column_rate(velocity, column) for column in model.bodies[i].joint.columns]
        return velocity

    def back(i: int, velocity: Velocity, below: list[tuple[int, Moments]]) -> Moments:
        whole = Moments(chain[i].inertia)
        for child, moments in below:
            whole = joined(whole, lifted(chain[child], moments))
        for j, column in zip(model.velocities(i), model.bodies[i].joint.columns, strict=True):

            def step(at: int, load: Carried, j: int = j) -> Carried:
                seen = zip(model.velocities(at), model.bodies[at].joint.columns, rates[at], strict=True)
                for k, other, rate in seen:
                    entries[k, j] = power(other, load.rate)
                    if at != i:
                        entries[j, k] = power(rate, load.momentum) + dot(other.angular, load.turning)
                return carried_up(chain[at], load)

            rootward(model, i, excited(whole, velocity, column), step)
        return opened(whole, own[i])

    around(model, Velocity(ZERO, ZERO), out, back)
    n = range(model.nv)
    for i, along in enumerate(model.v_slices):
        places = model.velocities(i)
        for j in places:  # rotor inertia, which does not turn with the velocities of its joint
            unit = tuple(1.0 if k == j else 0.0 for k in places)
            turns = model.bodies[i].joint.type.transport(v[along], unit)
            for k, turn in zip(places, turns, strict=True):
                if not is_zero(turn):
                    entries[k, j] = entries[k, j] + model.joint_parameters[k].armature * turn
    return tuple(tuple(entries.get((k, j), 0.0) for j in n) for k in n)


def column_rate(velocity: Velocity, column: Column) -> Column:
    """Return the rate of a column that is constant in a moving body: ω × w and ṡ × w + ω × l."""
    omega, s = velocity
    return Column(cross(omega, column.angular), add(cross(s, column.angular), cross(omega, column.linear)))


def excited(moments: Moments, velocity: Velocity, column: Column) -> Carried:
    """Return what a column's own composite body sends rootward."""
    momentum = unit_momentum(moments.inertia, column)
    rate = rate_load(moments, velocity.angular, column, momentum.force)
    return Carried(rate, momentum, turning(moments, velocity, column, momentum.force))


def rate_load(moments: Moments, omega: Vector, column: Column, force: Vector) -> Load:
    """Return ∫ u̇ dm and ∫ x × u̇ dm by Eq. (2), where ∫ u dm is given: x × (ω × (w × x)) = −(w × x) x·ω."""
    inertia, first_rate, spread = moments
    w, u = column
    moment = sub(matvec(complement(spread), w), cross(w, matvec(inertia.second, omega)))
    moment = add(moment, cross(inertia.first, cross(omega, u)))
    return Load(add(cross(omega, force), cross(w, first_rate)), moment)


def turning(moments: Moments, velocity: Velocity, column: Column, force: Vector) -> Vector:
    """Return ∫ ẋ × u dm with ẋ = ṡ + ω × x + y, where ∫ u dm is given: (ω × x) × (w × x) = x x·(ω × w)."""
    inertia, first_rate, spread = moments
    (omega, s), (w, u) = velocity, column
    turned = add(cross(s, force), matvec(inertia.second, cross(omega, w)))
    return add(add(turned, matvec_t(complement(spread), w)), cross(add(cross(omega, inertia.first), first_rate), u))


def carried_up(link: Link, load: Carried) -> Carried:
    """Return what travels rootward in the parent's frame."""
    return Carried(carried(link, load.rate), carried(link, load.momentum), link.up(load.turning))


def opened(moments: Moments, speed: JointMotion) -> Moments:
    """Return the moments as the parent sees them, in the body's frame: y + σ_l + σ_w × x in place of y."""
    (m, h, second), first_rate, spread = moments
    gained = add(scale(m, speed.linear), cross(speed.angular, h))
    stirred = madd(matmul(skew(speed.angular), second), outer(speed.linear, h))
    return Moments(moments.inertia, add(first_rate, gained), madd(spread, stirred))


def lifted(link: Link, moments: Moments) -> Moments:
    """Return moments in the parent's frame: y' = R y,  x' = R x + p."""
    first_rate = link.up(moments.first_rate)
    spread = madd(link.up_tensor(moments.spread), outer(first_rate, link.position))
    return Moments(moved_up(link, moments.inertia), first_rate, spread)


def joined(a: Moments, b: Moments) -> Moments:
    """Return the moments of both, in one frame and seen by one observer."""
    return Moments(a.inertia.plus(b.inertia), add(a.first_rate, b.first_rate), madd(a.spread, b.spread))
