"""Derivatives of inverse dynamics by recursion, for any tree and any joint (after Singh, Russell and Wensing 2022).

A joint's unit motion u(x) = l + w × x carries all that lies beyond it as one rigid body. A small motion along column j
therefore changes nothing beyond the joint but what it sees of its parent, whose velocity (ω, ṡ) and acceleration (Ω, s̈)
at the joint turn against it. A unit of velocity j adds the motion itself. With Ω = ω̇~ + ω̃² of the parent, the changes
of velocity and of acceleration that bodies beyond joint j see are

    by q:  ψ' = (ω × w, ṡ × w + ω × l),   ψ'' = (Ωw, Ωl + s̈ × w + 2ṡ × (ω × w))                            (1)
    by v:  (w, l),   ψ' + σ' with σ' as ψ' of the body's own velocity                                       (2)

Joint i beyond joint j feels a change of velocity δ, of angular part δw, and one of acceleration ε by its own column,

    δw·2∫ ẋ × uᵢ dm + ε·(∫ x × uᵢ dm, ∫ uᵢ dm).                                                            (3)

Joint k before joint j feels how the load of all that j carries changes. To an observer with ω, Ω and s̈ who sees points
move by y and accelerate by ÿ, this load is, with P and Q of :mod:`appell.recursion.coriolis`,

    φ = m s̈ + Ωh + 2ω × P + ∫ ÿ dm,   χ = h × s̈ + axial(ΩΣ) + 2(tr Q·1 − Q)ω + ∫ x × ÿ dm.                 (4)

For the parent, all these moments turn with the joint as one rigid body: (4) of their changes is the change by q. The
change by v is the load of 2u̇ⱼ; where a joint has several columns, less the momentum of their motion against each other.
Where it has one, the body itself is an observer as good as the parent, and sees its own mass at rest. What the parent
sees is then (4) with the motion of the joint.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

from appell.model.joints import Column
from appell.model.model import WORLD, Model
from appell.recursion import coriolis
from appell.recursion.coriolis import Moments, column_rate, rate_load, turning
from appell.recursion.elimination import is_zero
from appell.recursion.gibbs import Acceleration, acceleration_tensor, inertial_load
from appell.recursion.inertia_matrix import unit_momentum
from appell.recursion.kinematics import JointMotion, Link, Load, Scalars, Velocity, carried, joint_motions, links, power
from appell.recursion.rates import transport
from appell.recursion.sweep import Rows, around, rootward
from appell.spatial.inertia import NULL, Inertia
from appell.spatial.scalar import Scalar, Vector
from appell.spatial.vector import (
    ZERO,
    add,
    complement,
    cross,
    dot,
    madd,
    matmul,
    matvec,
    msub,
    negate,
    outer,
    scale,
    skew,
    sub,
    transpose,
)

STILL = Column(ZERO, ZERO)


class Observer(NamedTuple):
    """The motion of an observer, as velocity and acceleration of the body's origin, in the body's frame."""

    velocity: Velocity
    acceleration: Acceleration


class BodyMotion(NamedTuple):
    """The motion of a body, and of an observer for whom the columns of its joint and their velocities turn as one.

    That is its parent or, for a single column, the body itself.
    """

    own: Observer
    joint: Observer


class Subtree(NamedTuple):
    """A body with all that it carries, seen by an observer: moments of twice the velocity, load of the acceleration."""

    moments: Moments
    load: Load = Load(ZERO, ZERO)


class Changes(NamedTuple):
    """What a unit along a column changes beyond its joint: by q velocity and acceleration, by v acceleration."""

    velocity: Column
    acceleration: Column
    by_v: Column


class Derivatives(NamedTuple):
    """∂τ/∂q along unit velocities, ∂τ/∂v and ∂τ/∂a = M."""

    by_q: Rows
    by_v: Rows
    by_a: Rows


class Carried(NamedTuple):
    """What travels rootward from column j: loads by acceleration, by q and by v, and what meets changes of velocity."""

    by_a: Load
    by_q: Load
    by_v: Load
    turning: Vector


def derivatives(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Derivatives:
    """Return the derivatives of inverse dynamics, joint friction and rotor inertia included."""
    return swept(model, q, v, a, lambda i, changes: changes)


def rigid_derivatives(model: Model, q: Scalars, v: Scalars, a: Scalars) -> tuple[Derivatives, Rows, Rows]:
    """Return derivatives, those by q and v less M·A and M·B, and A and B: accelerations of bodies that move freely.

    What a column of a free body changes of accelerations, the body's own accelerations can undo for all that it
    carries. Forward dynamics has −A and −B from that, and less to solve for.
    """
    by_q, by_v = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(2))

    def rest(i: int, changes: list[Changes]) -> list[Changes]:
        columns, own = model.bodies[i].joint.columns, model.joint_parameters[model.v_slices[i]]
        if model.bodies[i].parent != WORLD or len(columns) < 6 or not all(is_zero(x.armature) for x in own):
            return changes
        for k, change in zip(model.velocities(i), changes, strict=True):
            for j, column in zip(model.velocities(i), columns, strict=True):
                by_q[j][k], by_v[j][k] = product_of(column, change.acceleration), product_of(column, change.by_v)
        return [Changes(STILL, STILL, STILL) for _ in columns]

    found = swept(model, q, v, a, rest)
    return found, tuple(map(tuple, by_q)), tuple(map(tuple, by_v))


def swept(
    model: Model, q: Scalars, v: Scalars, a: Scalars, considered: Callable[[int, list[Changes]], list[Changes]]
) -> Derivatives:
    """Return the derivatives of every column's force by every column, zero unless one lies beyond the other.

    `considered` are those changes of a body's columns that count.
    """
    chain, speeds, rates = links(model, q), joint_motions(model, v), joint_motions(model, a)
    changes: list[list[Changes]] = [[] for _ in model.bodies]
    by_q, by_v, by_a = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(3))

    def out(i: int, parent: BodyMotion) -> BodyMotion:
        columns = model.bodies[i].joint.columns
        before, own = moved(chain[i], speeds[i], rates[i], parent.own)
        motion = BodyMotion(own, own if len(columns) == 1 else before)
        changes[i] = considered(i, [changed(motion, column) for column in columns])
        return motion

    def back(i: int, motion: BodyMotion, below: list[tuple[int, Subtree]]) -> Subtree:
        whole = Subtree(Moments(chain[i].inertia))
        for child, subtree in below:
            whole = joined(whole, lifted(chain[child], subtree))
        seen = opened(whole, speeds[i], rates[i])
        columns = model.bodies[i].joint.columns
        for j, column in zip(model.velocities(i), columns, strict=True):

            def step(at: int, x: Carried, j: int = j) -> Carried:
                others = zip(model.velocities(at), model.bodies[at].joint.columns, changes[at], strict=True)
                for k, other, change in others:
                    by_a[k][j] = by_a[j][k] = power(other, x.by_a)
                    by_q[j][k] = dot(change.velocity.angular, x.turning) + power(change.acceleration, x.by_a)
                    by_v[j][k] = dot(other.angular, x.turning) + power(change.by_v, x.by_a)
                    if at != i:
                        by_q[k][j], by_v[k][j] = power(other, x.by_q), power(other, x.by_v)
                return carried_up(chain[at], x)

            rootward(model, i, excited(motion, whole, whole if len(columns) == 1 else seen, speeds[i], column), step)
        return seen

    still = Observer(Velocity(ZERO, ZERO), Acceleration(ZERO, ZERO, NULL, negate(model.gravity)))
    around(model, BodyMotion(still, still), out, back)
    for k, (own, stretch) in enumerate(zip(model.joint_parameters, model.joint_stretches, strict=True)):
        by_a[k][k], by_v[k][k] = by_a[k][k] + own.armature, by_v[k][k] + own.damping
        by_q[k][k] = by_q[k][k] if stretch is None else by_q[k][k] + own.stiffness
    for j in range(model.nv):
        unit = tuple(1.0 if k == j else 0.0 for k in range(model.nv))
        turns = zip(model.joint_parameters, transport(model, unit, v), transport(model, v, unit), strict=True)
        for k, (own, *parts) in enumerate(turns):
            for turn in (x for x in parts if not is_zero(x)):
                by_v[k][j] = by_v[k][j] + own.armature * turn
    for spring, (terms, _) in zip(model.springs, model.stretches, strict=True):
        for (_, i, c), (_, j, d) in product(terms, terms):
            by_q[i][j], by_v[i][j] = by_q[i][j] + c * d * spring.stiffness, by_v[i][j] + c * d * spring.damping
    return Derivatives(tuple(map(tuple, by_q)), tuple(map(tuple, by_v)), tuple(map(tuple, by_a)))


def product_of(a: Column, b: Column) -> Scalar:
    """Return the scalar product of two columns."""
    return dot(a.angular, b.angular) + dot(a.linear, b.linear)


def moved(link: Link, speed: JointMotion, rate: JointMotion, parent: Observer) -> tuple[Observer, Observer]:
    """Return the motion of a body's parent in the body's frame, and the body's own."""
    (omega, velocity), (_, alpha, tensor, origin) = parent
    omega_p, alpha_p = link.down(omega), link.down(alpha)
    slid = link.down(add(velocity, cross(omega, link.position)))
    pulled = link.down(add(origin, matvec(tensor, link.position)))
    own = Velocity(add(omega_p, speed.angular), add(slid, speed.linear))
    turn = add(add(alpha_p, rate.angular), cross(omega_p, speed.angular))
    slide = add(add(pulled, rate.linear), cross(add(omega_p, own.angular), speed.linear))
    return (
        Observer(Velocity(omega_p, slid), accelerated(omega_p, alpha_p, pulled)),
        Observer(own, accelerated(own.angular, turn, slide)),
    )


def accelerated(omega: Vector, alpha: Vector, origin: Vector) -> Acceleration:
    """Return an acceleration with its tensor."""
    return Acceleration(omega, alpha, acceleration_tensor(omega, alpha), origin)


def changed(motion: BodyMotion, column: Column) -> Changes:
    """Return what a unit along a column changes, Eqs. (1) and (2)."""
    w, u = column
    velocity, acceleration = motion.joint
    tensor, origin = acceleration.tensor, acceleration.origin
    by_q, own = column_rate(velocity, column), column_rate(motion.own.velocity, column)
    linear = add(add(matvec(tensor, u), cross(origin, w)), cross(scale(2.0, velocity.linear), by_q.angular))
    by_v = Column(add(by_q.angular, own.angular), add(by_q.linear, own.linear))
    return Changes(by_q, Column(matvec(tensor, w), linear), by_v)


# Composite bodies


def seen_load(subtree: Subtree, motion: Acceleration) -> Load:
    """Return the load of all that an observer sees, with the observer's own motion, Eq. (4)."""
    (inertia, first_rate, spread), load = subtree
    omega = motion.omega
    turned = Load(cross(omega, first_rate), matvec(complement(spread), omega))
    return _sum(_sum(inertial_load(inertia, motion), turned), load)


def opened(whole: Subtree, speed: JointMotion, rate: JointMotion) -> Subtree:
    """Return a body with all that it carries as its parent sees it, in the body's frame."""
    sliding = add(rate.linear, cross(speed.angular, speed.linear))
    load = seen_load(whole, accelerated(speed.angular, rate.angular, sliding))
    return Subtree(coriolis.opened(whole.moments, JointMotion(*map(_twice, speed))), load)


def lifted(link: Link, subtree: Subtree) -> Subtree:
    """Return what a child carries in its parent's frame."""
    return Subtree(coriolis.lifted(link, subtree.moments), carried(link, subtree.load))


def joined(a: Subtree, b: Subtree) -> Subtree:
    """Return both as one."""
    return Subtree(coriolis.joined(a.moments, b.moments), _sum(a.load, b.load))


# Columns


def excited(motion: BodyMotion, whole: Subtree, seen: Subtree, speed: JointMotion, column: Column) -> Carried:
    """Return what a column's own composite body sends rootward; `seen` is what the joint's observer sees of it."""
    inertia = whole.moments.inertia
    momentum, own = unit_momentum(inertia, column), Velocity(*map(_twice, motion.own.velocity))
    by_q = seen_load(turned(seen, column, momentum.force), motion.joint.acceleration)
    by_v = rate_load(whole.moments, own.angular, column, momentum.force)
    moving = unit_momentum(inertia, column_rate(Velocity(*speed), column))  # zero for a single column
    by_v = Load(sub(by_v.force, moving.force), sub(by_v.moment, moving.moment))
    return Carried(momentum, by_q, by_v, turning(whole.moments, own, column, momentum.force))


def carried_up(link: Link, x: Carried) -> Carried:
    """Return what travels rootward in the parent's frame."""
    return Carried(carried(link, x.by_a), carried(link, x.by_q), carried(link, x.by_v), link.up(x.turning))


def turned(subtree: Subtree, column: Column, force: Vector) -> Subtree:
    """Return the change of a subtree that moves along a column as one rigid body, where ∫ u dm is given."""
    (inertia, first_rate, spread), load = subtree
    w, u = column
    moved_second = madd(matmul(skew(w), inertia.second), outer(u, inertia.first))
    turned_spread = msub(matmul(skew(w), spread), matmul(spread, skew(w)))
    return Subtree(
        Moments(
            Inertia(0.0, force, madd(moved_second, transpose(moved_second))),
            cross(w, first_rate),
            madd(turned_spread, outer(first_rate, u)),
        ),
        Load(cross(w, load.force), add(cross(w, load.moment), cross(u, load.force))),
    )


def _twice(a: Vector) -> Vector:
    return scale(2.0, a)


def _sum(a: Load, b: Load) -> Load:
    return Load(add(a.force, b.force), add(a.moment, b.moment))
