"""Inverse dynamics from the Gibbs function in vector form: valera2003 section 2, with its corrections.

The same gradient τ = ∂S/∂a as :mod:`appell.recursion.gibbs`, kept in vectors and mass centres. As printed, the
rotational term A (17) and the translational term B (25) recur apart. Both are turned by the same rotation and projected
on the same axis, so the recursion can be one, of μ = α − β: this is what the paper's 121n products need (table 2).
Here for trees; revolute and prismatic joints share (16) and (23) through their columns. The printed r_{O_{j−1},G} is
r_{O_j,G}.
"""

from __future__ import annotations

from typing import NamedTuple

from appell.model.model import Model
from appell.recursion.joint_forces import joint_forces
from appell.recursion.kinematics import Link, Load, Scalars, joint_motions, links, project
from appell.recursion.sweep import inward, outward
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Matrix, Scalar, Vector
from appell.spatial.vector import ZERO, add, cross, madd, matvec, negate, outer, scale


class CentreMotion(NamedTuple):
    """ω, ω̇ and the acceleration of the origin O and of the mass centre G, in the body's frame."""

    omega: Vector
    alpha: Vector
    origin: Vector
    centre: Vector


class Terms(NamedTuple):
    """φ + m r̈_G, α of (17) and −β of (25)."""

    force: Vector
    rotation: Vector
    translation: Vector


def central_moment(inertia: Inertia) -> tuple[Vector, Matrix]:
    """Return the mass centre and the second moment about it; a body without mass keeps its origin."""
    c = inertia.centre
    return c, madd(inertia.second, outer(scale(-1.0, inertia.first), c))


def central(inertia: Inertia) -> tuple[Vector, Matrix]:
    """Return the mass centre and the inertia tensor about it."""
    c, second = central_moment(inertia)
    return c, Inertia(0.0, ZERO, second).tensor


def swing(omega: Vector, alpha: Vector, arm: Vector) -> Vector:
    """Return ω × (ω × r) + ω̇ × r."""
    return add(cross(omega, cross(omega, arm)), cross(alpha, arm))


def motions(model: Model, chain: list[Link], v: Scalars, a: Scalars) -> list[CentreMotion]:
    """Return the motion of every body: valera2003 (9)–(12)."""
    speeds, rates = joint_motions(model, v), joint_motions(model, a)

    def step(i: int, parent: CentreMotion) -> CentreMotion:
        link = chain[i]
        carried = link.down(parent.omega)
        omega = add(carried, speeds[i].angular)  # (9)
        alpha = add(add(link.down(parent.alpha), rates[i].angular), cross(carried, speeds[i].angular))  # (10)
        base = add(parent.origin, swing(parent.omega, parent.alpha, link.position))
        slide = add(rates[i].linear, cross(add(carried, omega), speeds[i].linear))
        origin = add(link.down(base), slide)  # (11)
        arm = model.bodies[i].inertia.centre
        return CentreMotion(omega, alpha, origin, add(origin, swing(omega, alpha, arm)))  # (12)

    return outward(model, CentreMotion(ZERO, ZERO, negate(model.gravity), ZERO), step)


def rotational(inertia: Inertia, moving: CentreMotion) -> Vector:
    """Return a body's own share of (17), I ω̇ + ω × I ω about its mass centre."""
    _, tensor = central(inertia)
    return add(matvec(tensor, moving.alpha), cross(moving.omega, matvec(tensor, moving.omega)))


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Scalars:
    """Return τ = A + B, joint friction and rotor inertia included."""
    chain = links(model, q)
    moving = motions(model, chain, v, a)

    def step(i: int, below: list[tuple[int, Terms]]) -> Terms:
        inertia = model.bodies[i].inertia
        force = scale(inertia.mass, moving[i].centre)
        rotation = rotational(inertia, moving[i])  # (17)
        translation = cross(inertia.centre, force)  # (25)
        for child, terms in below:
            phi = chain[child].up(terms.force)  # (26)
            force = add(force, phi)
            rotation = add(rotation, chain[child].up(terms.rotation))
            translation = add(add(translation, cross(chain[child].position, phi)), chain[child].up(terms.translation))
        return Terms(force, rotation, translation)

    tau: list[Scalar] = []
    for i, terms in enumerate(inward(model, step)):
        tau.extend(project(model, i, add(terms.rotation, terms.translation), terms.force))  # (16), (23)
    return tuple(t + e for t, e in zip(tau, joint_forces(model, q, v, a), strict=True))


def merged(model: Model, chain: list[Link], moving: list[CentreMotion], rotations: list[Vector]) -> Scalars:
    """Return τ from one recursion of φ + m r̈_G and μ = α − β, (17) and (25) added; `rotations` are the bodies' α."""

    def step(i: int, below: list[tuple[int, Load]]) -> Load:
        inertia = model.bodies[i].inertia
        force = scale(inertia.mass, moving[i].centre)
        moment = add(rotations[i], cross(inertia.centre, force))
        for child, load in below:
            phi = chain[child].up(load.force)  # (26)
            force = add(force, phi)
            moment = add(add(moment, cross(chain[child].position, phi)), chain[child].up(load.moment))
        return Load(force, moment)

    loads = enumerate(inward(model, step))
    return tuple(tau for i, load in loads for tau in project(model, i, load.moment, load.force))


def inverse_dynamics_merged(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Scalars:
    """Return τ with A and B in one recursion, joint friction and rotor inertia included."""
    chain = links(model, q)
    moving = motions(model, chain, v, a)
    rotations = [rotational(body.inertia, own) for body, own in zip(model.bodies, moving, strict=True)]
    tau = merged(model, chain, moving, rotations)
    return tuple(t + e for t, e in zip(tau, joint_forces(model, q, v, a), strict=True))
