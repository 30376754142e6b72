"""Derivatives of inverse dynamics by recursion, for any tree and any joint (Singh, Russell and Wensing 2022).

A joint's unit motion u(x) = l + w × x carries all that lies beyond it as one rigid body. A small motion along column j
therefore changes nothing beyond the joint but what it sees of its parent, whose velocity (ω, ṡ) and acceleration (Ω, s̈)
at the joint turn against it. A unit of velocity j adds the motion itself. With Ω = ω̇~ + ω̃² of the parent, the changes
of velocity and of acceleration that bodies beyond joint j see are

    by q:  ψ' = (ω × w, ṡ × w + ω × l),   ψ'' = (Ωw, Ωl + s̈ × w + 2ṡ × (ω × w))                            (1)
    by v:  (w, l),   ψ' + σ' with σ' as ψ' of the body's own velocity                                       (2)

A rigid change of velocity δ, of angular part δw, and one of acceleration ε put on a body, or on all that it carries,

    2Bδ + Iε,   2Bδ = (2 δw × P, İδw + δw × K)                                                              (3)

with momentum P, angular momentum K and the rate İ of the inertia tensor, absolute ones: they add up over bodies, and İ
moves between frames as the tensor of an inertia with no mass and P for its first moment. Joint i beyond joint j feels
(3) by its own column, wᵢ and lᵢ. Joint k before joint j feels (3) of all that j carries, whose weight turns besides.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

from appell.model.joints import Column
from appell.model.model import WORLD, Model
from appell.recursion.elimination import is_zero
from appell.recursion.gibbs import Acceleration, acceleration_tensor, inertial_load
from appell.recursion.inertia_matrix import Rows, moved_up, unit_momentum
from appell.recursion.kinematics import JointMotion, Link, Load, Scalars, Velocity, carried, joint_motions, links
from appell.recursion.sweep import around, rootward
from appell.spatial.inertia import NULL, Inertia
from appell.spatial.scalar import Scalar, Vector
from appell.spatial.vector import ZERO, add, cross, dot, matvec, negate, scale

STILL = Column(ZERO, ZERO)


class SubtreeMotion(NamedTuple):
    """A body's velocity and acceleration, and those of its parent at the body's origin, all in the body's frame."""

    velocity: Velocity
    acceleration: Acceleration
    parent: Velocity
    pulled: Acceleration


class Subtree(NamedTuple):
    """A body with all that it carries: inertia, its rate, momentum, and the load that accelerates it."""

    inertia: Inertia
    rate: Inertia
    momentum: Load
    load: Load


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
                by_q[j][k], by_v[j][k] = power(column, change.acceleration), power(column, change.by_v)
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

    def out(i: int, parent: SubtreeMotion) -> SubtreeMotion:
        motion = moved(chain[i], speeds[i], rates[i], parent)
        changes[i] = considered(i, [changed(motion, column) for column in model.bodies[i].joint.columns])
        return motion

    def back(i: int, motion: SubtreeMotion, below: list[tuple[int, Subtree]]) -> Subtree:
        whole = own_subtree(chain[i].inertia, motion)
        for child, subtree in below:
            whole = joined(chain[child], whole, subtree)
        columns = zip(model.bodies[i].joint.columns, changes[i], strict=True)
        for j, (column, change) in enumerate(columns, model.v_slices[i].start):

            def step(at: int, x: Carried, j: int = j) -> Carried:
                seen = zip(model.bodies[at].joint.columns, changes[at], strict=True)
                for k, (other, seen_by) in enumerate(seen, model.v_slices[at].start):
                    by_a[k][j] = by_a[j][k] = power(other, x.by_a)
                    by_q[j][k] = dot(seen_by.velocity.angular, x.turning) + power(seen_by.acceleration, x.by_a)
                    by_v[j][k] = dot(other.angular, x.turning) + power(seen_by.by_v, x.by_a)
                    if at != i:
                        by_q[k][j], by_v[k][j] = power(other, x.by_q), power(other, x.by_v)
                link = chain[at]
                loads = carried(link, x.by_a), carried(link, x.by_q), carried(link, x.by_v)
                return Carried(*loads, link.up(x.turning))

            rootward(model, i, excited(whole, column, change), step)
        return whole

    still, pull = Velocity(ZERO, ZERO), Acceleration(ZERO, ZERO, NULL, negate(model.gravity))
    around(model, SubtreeMotion(still, pull, still, pull), out, back)
    for k, (own, stretch) in enumerate(zip(model.joint_parameters, model.joint_stretches, strict=True)):
        by_a[k][k], by_v[k][k] = by_a[k][k] + own.armature, by_v[k][k] + own.damping
        by_q[k][k] = by_q[k][k] if stretch is None else by_q[k][k] + own.stiffness
    for spring, (terms, _) in zip(model.springs, model.stretches, strict=True):
        for (_, i, c), (_, j, d) in product(terms, terms):
            by_q[i][j], by_v[i][j] = by_q[i][j] + c * d * spring.stiffness, by_v[i][j] + c * d * spring.damping
    return Derivatives(tuple(map(tuple, by_q)), tuple(map(tuple, by_v)), tuple(map(tuple, by_a)))


def power(column: Column, load: Load | Column) -> Scalar:
    """Return w·n + l·f; of two columns, their scalar product."""
    force, moment = load if isinstance(load, Load) else reversed(load)
    return dot(column.angular, moment) + dot(column.linear, force)


def moved(link: Link, speed: JointMotion, rate: JointMotion, parent: SubtreeMotion) -> SubtreeMotion:
    """Return a body's motion from its parent's and its joint's."""
    (omega, velocity), (_, alpha, tensor, origin) = parent.velocity, parent.acceleration
    omega_p, alpha_p = link.down(omega), link.down(alpha)
    seen = Velocity(omega_p, link.down(add(velocity, cross(omega, link.position))))
    pulled = link.down(add(origin, matvec(tensor, link.position)))
    own = Velocity(add(omega_p, speed.angular), add(seen.linear, speed.linear))
    turn = add(add(alpha_p, rate.angular), cross(omega_p, speed.angular))
    slide = add(add(pulled, rate.linear), cross(add(omega_p, own.angular), speed.linear))
    return SubtreeMotion(
        own,
        Acceleration(own.angular, turn, acceleration_tensor(own.angular, turn), slide),
        seen,
        Acceleration(omega_p, alpha_p, acceleration_tensor(omega_p, alpha_p), pulled),
    )


def own_subtree(inertia: Inertia, motion: SubtreeMotion) -> Subtree:
    """Return what one body puts into its subtree; Σ̇ = ∫ ẋxᵀ + xẋᵀ dm with ẋ = ṡ + ω × x."""
    omega, velocity = motion.velocity
    momentum, h, s = unit_momentum(inertia, motion.velocity), inertia.first, inertia.second
    columns = [add(cross(omega, s[k]), scale(h[k], velocity)) for k in range(3)]  # of ∫ ẋxᵀ dm, Σ being symmetric
    xx, yy, zz = (2.0 * columns[k][k] for k in range(3))
    xy, xz, yz = (columns[k][j] + columns[j][k] for j, k in ((0, 1), (0, 2), (1, 2)))
    rate = Inertia(0.0, momentum.force, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
    return Subtree(inertia, rate, momentum, inertial_load(inertia, motion.acceleration))


def joined(link: Link, whole: Subtree, child: Subtree) -> Subtree:
    """Return a body's subtree with that of a child."""
    return Subtree(
        whole.inertia.plus(moved_up(link, child.inertia)),
        whole.rate.plus(moved_up(link, child.rate)),
        _sum(whole.momentum, carried(link, child.momentum)),
        _sum(whole.load, carried(link, child.load)),
    )


def changed(motion: SubtreeMotion, column: Column) -> Changes:
    """Return what a unit along a column changes, Eqs. (1) and (2)."""
    w, u = column
    tensor, origin = motion.pulled.tensor, motion.pulled.origin
    by_q = _turned(motion.parent, column)
    linear = add(add(matvec(tensor, u), cross(origin, w)), scale(2.0, cross(motion.parent.linear, by_q.angular)))
    own = _turned(motion.velocity, column)
    by_v = Column(add(by_q.angular, own.angular), add(by_q.linear, own.linear))
    return Changes(by_q, Column(matvec(tensor, w), linear), by_v)


def _turned(velocity: Velocity, column: Column) -> Column:
    """Return (ω × w, ṡ × w + ω × l)."""
    omega, s = velocity
    return Column(cross(omega, column.angular), add(cross(s, column.angular), cross(omega, column.linear)))


def excited(whole: Subtree, column: Column, change: Changes) -> Carried:
    """Return what a column's own composite body sends rootward, Eq. (3)."""
    w, u = column
    (p, spin), (force, moment) = whole.momentum, whole.load
    turned = Load(cross(w, force), add(cross(w, moment), cross(u, force)))
    by_q = _sum(stirred(whole, change.velocity.angular), unit_momentum(whole.inertia, change.acceleration))
    by_v = _sum(stirred(whole, w), unit_momentum(whole.inertia, change.by_v))
    turning = add(add(matvec(whole.rate.tensor, w), cross(spin, w)), scale(2.0, cross(p, u)))
    return Carried(unit_momentum(whole.inertia, column), _sum(by_q, turned), by_v, turning)


def stirred(whole: Subtree, w: Vector) -> Load:
    """Return 2B of a change of angular velocity, Eq. (3)."""
    p, spin = whole.momentum
    return Load(scale(2.0, cross(w, p)), add(matvec(whole.rate.tensor, w), cross(w, spin)))


def _sum(a: Load, b: Load) -> Load:
    return Load(add(a.force, b.force), add(a.moment, b.moment))
