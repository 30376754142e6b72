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
from appell.recursion.inertia_matrix import moved_up, unit_momentum
from appell.recursion.kinematics import (
    STILL,
    JointMotion,
    Link,
    Load,
    Scalars,
    Velocity,
    carried,
    motions,
    moved,
    posed,
    power,
    projected,
)
from appell.recursion.sweep import Body, Entries, Rows, Tree
from appell.spatial.inertia import NULL, Inertia
from appell.spatial.scalar import Matrix, Vector
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


def coriolis_matrix(model: Tree, q: Scalars, v: Scalars) -> Rows:
    """Return C(q, v) of Eq. (1); joint friction is no part of it."""
    tree = posed(model, q)
    own = motions(tree, v)

    def out(body: Body, parent: Velocity) -> tuple[Velocity, Moments]:
        velocity = moved(body.link, own[body], parent)
        return Velocity(velocity.angular, ZERO) if body.is_root else velocity, Moments(body.inertia)

    def back(body: Body, _: Velocity, whole: Moments) -> tuple[Moments, Scalars]:
        return lifted(body.link, opened(whole, own[body])), ()

    def first(body: Body, velocity: Velocity, whole: Moments, j: int) -> tuple[Carried, Entries]:
        load = excited(whole, velocity, body.columns[j])
        # rotor inertia, which does not turn with the velocities of its joint
        unit = tuple(1.0 if k == j else 0.0 for k in range(len(body.columns)))
        turns = body.joint.type.transport(body.of(v), unit)
        rows = zip(projected(body.columns, load.rate), body.parameters, turns, strict=True)
        return carried_up(body.link, load), [([x + joint.armature * turn for x, joint, turn in rows], ())]

    def climb(body: Body, velocity: Velocity, load: Carried) -> tuple[Carried, Entries]:
        rates = [column_rate(velocity, column) for column in body.columns]
        turned = [dot(column.angular, load.turning) for column in body.columns]
        in_row = [power(rate, load.momentum) + turn for rate, turn in zip(rates, turned, strict=True)]
        return carried_up(body.link, load), [(projected(body.columns, load.rate), in_row)]

    found = tree.around(STILL, Moments(Inertia()), out, back, first, climb)
    return found.matrices[0]


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
    excited_spread = madd(matmul(skew(speed.angular), second), outer(speed.linear, h))
    return Moments(moments.inertia, add(first_rate, gained), madd(spread, excited_spread))


def lifted(link: Link, moments: Moments) -> Moments:
    """Return moments in the parent's frame: y' = R y,  x' = R x + p."""
    first_rate = link.up(moments.first_rate)
    spread = madd(link.up_tensor(moments.spread), outer(first_rate, link.position))
    return Moments(moved_up(link, moments.inertia), first_rate, spread)


def joined(a: Moments, b: Moments) -> Moments:
    """Return the moments of both, in one frame and seen by one observer."""
    return Moments(a.inertia.plus(b.inertia), add(a.first_rate, b.first_rate), madd(a.spread, b.spread))
