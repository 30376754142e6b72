"""The inertia matrix M = ∂²S/∂a², twice: by the Hessian of the Gibbs function and by composite bodies.

Both gather the moments of everything beyond a joint into one composite body. They differ in which way they then go:
mata2002 carries the partial accelerations of earlier joints outward to the composite body; Walker and Orin carry the
composite body's force inward to the earlier joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from appell.model.joints import Column
from appell.model.model import Model
from appell.recursion.kinematics import Link, Load, Scalars, Velocity, carried, links, posed, projected
from appell.recursion.sweep import Around, Body, Entries, Executor, Rows, Tree, outward
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Matrix, Scalar, Vector
from appell.spatial.vector import ZERO, add, cross, dot, matvec, scale


def composite_bodies(tree: Executor) -> Around:
    """Return, in each body's frame, the inertia of the body with all that it carries (mata2002 4.2, steps 1, 4, 5)."""
    return tree.inward(Inertia(), lambda body: body.inertia, lambda body, whole: moved_up(body.link, whole))


def moved_up(link: Link, inertia: Inertia) -> Inertia:
    """Return an inertia given in a body's frame in the parent's frame; symmetric entries are computed once."""
    m, p = inertia.mass, link.position
    first = link.up(inertia.first)
    s = link.up_symmetric(inertia.second)
    # Σ' = RΣRᵀ + h pᵀ + p hᵀ + m p pᵀ, grouped so that m p is off line where p is constant
    g = add(first, scale(0.5 * m, p))
    xx, yy, zz = (s[k][k] + 2.0 * (g[k] * p[k]) for k in range(3))
    xy = s[0][1] + (g[0] * p[1] + g[1] * p[0])
    xz = s[0][2] + (g[0] * p[2] + g[2] * p[0])
    yz = s[1][2] + (g[1] * p[2] + g[2] * p[1])
    return Inertia(m, add(first, scale(m, p)), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))


class Composite(NamedTuple):
    """Mass, first moment and inertia tensor of a body with all that it carries, about its origin."""

    mass: Scalar
    first: Vector
    tensor: Matrix


def unit_momentum(inertia: Inertia | Composite, motion: Column | Velocity) -> Load:
    """Return ∂φ/∂aₖ and ∂χ/∂aₖ of the joint's own composite body: f = m l + w × h,  n = I w + h × l.

    Of a body's velocity they are its momentum, and the angular momentum about its origin.
    """
    h = inertia.first
    force = add(scale(inertia.mass, motion.linear), cross(motion.angular, h))
    moment = add(matvec(inertia.tensor, motion.angular), cross(h, motion.linear))
    return Load(force, moment)


class Partial(NamedTuple):
    """Partial acceleration of an earlier joint as seen from a later body: ∂ω̇/∂aₖ, ∂s̈/∂aₖ less ∂ω̇/∂aₖ × arm, arm."""

    velocity: int
    angular: Vector
    linear: Vector
    arm: Vector


def mass_matrix_gibbs(model: Model, q: Scalars) -> Rows:
    """Return M as the Hessian of the Gibbs function, mata2002 (22) and section 4.2.

    The moments of composite bodies are about their origins; section 4.2 as written is in
    :mod:`appell.recursion.mass_centres`.
    """
    return hessian(model, links(model, q), composite_bodies(posed(model, q)).totals)


def hessian(model: Model, chain: list[Link], whole: Sequence[Inertia | Composite]) -> Rows:
    """Return M from composite bodies: Dⱼₖ = wₖ·(χⱼ + sₖⱼ × φⱼ) + lₖ·φⱼ, mata2002 4.2, steps 2, 3, 6 and 7.

    sₖⱼ is the arm from joint k's origin to body j's.
    """

    def step(i: int, carried: list[Partial]) -> list[Partial]:
        link = chain[i]
        seen = [
            Partial(k, link.down(angular), link.down(linear), add(link.down(arm), link.arm))
            for k, angular, linear, arm in carried
        ]
        columns = zip(model.velocities(i), model.bodies[i].joint.columns, strict=True)
        return [*seen, *(Partial(k, column.angular, column.linear, ZERO) for k, column in columns)]

    nothing: list[Partial] = []
    partials = outward(model, nothing, step)
    entries: dict[tuple[int, int], Scalar] = {}
    for i, body in enumerate(model.bodies):
        for j, column in zip(model.velocities(i), body.joint.columns, strict=True):
            force, moment = unit_momentum(whole[i], column)
            for part in partials[i]:
                if part.velocity <= j:
                    turned = add(moment, cross(part.arm, force))
                    entries[j, part.velocity] = dot(part.angular, turned) + dot(part.linear, force)
    return symmetric(model, entries)


def mass_matrix_composite(model: Tree, q: Scalars) -> Rows:
    """Return M by composite bodies (Walker and Orin 1982): the unit force of each joint, carried to its ancestors."""

    def back(body: Body, _: None, whole: Inertia) -> tuple[Inertia, Scalars]:
        return moved_up(body.link, whole), ()

    def first(body: Body, _: None, whole: Inertia, k: int) -> tuple[Load, Entries]:
        force = unit_momentum(whole, body.columns[k])
        entries = [*projected(body.columns, force)]
        entries[k] = entries[k] + body.parameters[k].armature
        return carried(body.link, force), [(entries, entries)]

    def climb(body: Body, _: None, force: Load) -> tuple[Load, Entries]:
        entries = projected(body.columns, force)
        return carried(body.link, force), [(entries, entries)]

    tree = posed(model, q)
    return tree.around(None, Inertia(), lambda body, _: (None, body.inertia), back, first, climb).matrices[0]


def symmetric(model: Model, entries: dict[tuple[int, int], Scalar]) -> Rows:
    """Return M of the entries in its lower half, rotor inertias added."""
    for k, own in enumerate(model.joint_parameters):
        entries[k, k] = entries[k, k] + own.armature
    n = range(model.nv)
    return tuple(tuple(entries.get((max(j, k), min(j, k)), 0.0) for k in n) for j in n)
