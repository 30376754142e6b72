"""Gibbs–Appell for trees in mixed form, shafei2018: 4×4 transforms for places, 3×3 rotations for turning.

A tree is taken apart into branches: one chain from the base to each tip. A body that lies on several branches has its
mass on the first and none on the others, so the forces and inertia matrices of the branches add up to the tree's.

A body's place is one 4×4 matrix T, and the acceleration of its point r is T̈ (r, 1). Its Gibbs function splits into that
of its mass, put at the mass centre, and that of its turning about there:

    S = ½ Tr(T̈ B₁ T̈ᵀ) + ½ ω̇·B₂ω̇ + ω̇·(ω × B₂ω)                                            (14)
    B₁ = ∫ (r, 1)(r, 1)ᵀ dm = [h cᵀ, h; hᵀ, m]                                                 (15)
    B₂ = the inertia tensor about the mass centre                                              (16)

and τₖ = ∂S/∂aₖ + ∂V/∂qₖ follows from ∂T̈ᵢ/∂aₖ = ∂Tᵢ/∂qₖ. The paper's joints turn about x₃ and its base slides along
x₁ and x₂. Here a joint has any columns (w, l), in its body's frame, and all is one rule: with the 4×4 matrix
ξ = [w̃, l; 0, 0] of a column, ∂A/∂qₖ = Aξₖ is its U₁ (7), Aξₖ² its U₂ (8), and U₃ (11) is a ξ without w.

Put right on the way: ∂A/∂q in (7) and (8), r̈ in (13), ∂S/∂q̈ in (23), q̈ₖ in (29), T̃ in (33), the transposes of
(13)–(15), (17), (18), (36)–(40), (I), (II) and of steps 6 and 7, the 3×3 block of A in step 2, the loop over j in
step 4, U₁ⱼ in step 7. One term is new: ω̇·(ω × B₂ω), among the "irrelevant terms" of (14), vanishes in the paper's
plane only. The factors ½ of (15) and 2 of (17) cancel and are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from appell.model.joints import Column
from appell.model.model import Model
from appell.recursion.inertia_matrix import symmetric
from appell.recursion.joint_forces import joint_forces
from appell.recursion.kinematics import JointMotion, Scalars, joint_motions
from appell.recursion.sweep import outward, rootward
from appell.recursion.vector_form import central
from appell.spatial.inertia import NULL, Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Matrix, Scalar, Vector
from appell.spatial.vector import ZERO, add, cross, dot, madd, matmul, matvec, matvec_t, outer, skew, transpose

Rows = tuple[tuple[Scalar, ...], ...]
EMPTY: Rows = ((0.0,) * 4,) * 4
UNIT: Rows = ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))


def square(corner: Matrix, right: Vector, below: Vector, last: Scalar) -> Rows:
    """Return the 4×4 matrix [corner, right; below, last]."""
    return (*((*row, x) for row, x in zip(corner, right, strict=True)), (*below, last))


def product(a: Rows, b: Rows) -> Rows:
    """Return a·b of two matrices of any size."""
    columns = tuple(zip(*b, strict=True))
    return tuple(tuple(_dot(row, column) for column in columns) for row in a)


def product_t(a: Rows, b: Rows) -> Rows:
    """Return a·bᵀ of two matrices of any size."""
    return tuple(tuple(_dot(row, other) for other in b) for row in a)


def plus(a: Rows, b: Rows) -> Rows:
    """Return a + b."""
    return tuple(tuple(x + y for x, y in zip(row, other, strict=True)) for row, other in zip(a, b, strict=True))


def contraction(a: Rows, b: Rows) -> Scalar:
    """Return Tr(a·bᵀ), the sum of the products of equal places."""
    return _dot([x for row in a for x in row], [y for row in b for y in row])


def _dot(a: tuple[Scalar, ...] | list[Scalar], b: tuple[Scalar, ...] | list[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0.0)


class Branch(NamedTuple):
    """A chain of bodies from the base to a tip, and those of them that have their mass on this branch."""

    tip: int
    own: frozenset[int]


def branches(model: Model) -> list[Branch]:
    """Return the branches of a tree, one per tip, each body's mass on the first that it lies on (section 2)."""
    inner = {body.parent for body in model.bodies}
    taken: set[int] = set()
    result = []
    for tip in range(len(model.bodies)):
        if tip not in inner:
            own = frozenset(model.ancestors(tip)) - taken
            taken |= own
            result.append(Branch(tip, own))
    return result


def transforms(model: Model, q: Scalars) -> list[Pose]:
    """Return EA of every body: its frame in its parent's, (4) and (5) with any constant placement for E."""
    joints = zip((body.joint for body in model.bodies), model.q_slices, strict=True)
    return [joint.placement.then(joint.pose(q[where])) for joint, where in joints]


def matrix(pose: Pose) -> Rows:
    """Return a pose as a 4×4 matrix, Eq. (1)."""
    return square(pose.rotation, pose.position, ZERO, 1.0)


def moments(inertia: Inertia) -> tuple[Rows, Matrix]:
    """Return B₁ (15) and B₂ (16)."""
    centre, tensor = central(inertia)
    return square(outer(inertia.first, centre), inertia.first, inertia.first, inertia.mass), tensor


Moments = Callable[[Inertia], tuple[Rows, Matrix]]
"""How a body's inertia is split into what 4×4 transforms move and what 3×3 rotations turn: B₁ and B₂."""


def twist(motion: Column | JointMotion) -> Rows:
    """Return ξ = [w̃, l; 0, 0]."""
    return square(skew(motion.angular), motion.linear, ZERO, 0.0)


class TransformMotion(NamedTuple):
    """T, Ṫ and T̈ of a body in world axes, and ω, ω̇ in its own."""

    place: Rows
    speed: Rows
    rate: Rows
    omega: Vector
    alpha: Vector


def motions(model: Model, steps: list[Pose], v: Scalars, a: Scalars) -> list[TransformMotion]:
    """Return the motion of every body, appendix steps 1 to 3; with a = 0 that is T̈ᵥ and ω̇ᵥ of (27) and (28)."""
    speeds, rates = joint_motions(model, v), joint_motions(model, a)

    def step(i: int, parent: TransformMotion) -> TransformMotion:
        up, xi = matrix(steps[i]), twist(speeds[i])
        place = product(parent.place, up)  # (3)
        carried = product(parent.speed, up)
        own = product(place, xi)  # ΣT̂U₁q̇
        speed = plus(carried, own)  # (7), (11)
        # T̈ = T̈ₚEA + 2ṪₚEȦ + T̂(ΣU₂q̇² + ΣU₁q̈), (8), (12), (29) and (30) as a recursion
        turned = plus(product(plus(plus(carried, carried), own), xi), product(place, twist(rates[i])))
        rate = plus(product(parent.rate, up), turned)
        before = matvec_t(steps[i].rotation, parent.omega)
        omega = add(before, speeds[i].angular)
        alpha = add(add(matvec_t(steps[i].rotation, parent.alpha), rates[i].angular), cross(before, speeds[i].angular))
        return TransformMotion(place, speed, rate, omega, alpha)  # ω̇: (31), (32)

    return outward(model, TransformMotion(UNIT, EMPTY, EMPTY, ZERO, ZERO), step)


def partials(model: Model, i: int, place: Rows) -> list[tuple[int, Vector, Rows]]:
    """Return k, w and T̂U₁ = Tξ of every velocity k of a body: ∂ω̇/∂aₖ and ∂T̈/∂aₖ of (33)–(35)."""
    columns = zip(model.velocities(i), model.bodies[i].joint.columns, strict=True)
    return [(k, column.angular, product(place, twist(column))) for k, column in columns]


class Load(NamedTuple):
    """Q (4×4, kept transposed), χ (3) and p (4×1) of a branch beyond a body, step 4."""

    translation: Rows
    rotation: Vector
    weight: Rows


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars, split: Moments = moments) -> Scalars:
    """Return τ = ∂S/∂a + ∂V/∂q summed over the branches, (23) and (24), joint friction and rotor inertia included."""
    steps = transforms(model, q)
    moving = motions(model, steps, v, a)
    tau = list(joint_forces(model, q, v, a))
    gravity: Rows = ((*model.gravity, 0.0),)
    for branch in branches(model):

        def step(i: int, load: Load, branch: Branch = branch) -> Load:
            qt, chi, p = load
            place, _, rate, omega, alpha = moving[i]
            if i in branch.own:
                b1, b2 = split(model.bodies[i].inertia)
                qt = plus(product(rate, b1), qt)  # Qⱼ = B₁T̈ᵀ + EA Qⱼ₊₁
                chi = add(add(matvec(b2, alpha), cross(omega, matvec(b2, omega))), chi)  # χⱼ = t + R χⱼ₊₁
                p = plus(tuple((row[3],) for row in b1), p)  # (20): pⱼ = c + EA pⱼ₊₁
            for k, w, by in partials(model, i, place):
                pull = product(gravity, product(by, p))[0][0]
                tau[k] = tau[k] + (contraction(by, qt) + dot(w, chi) - pull)  # (17), (18), (21), (22)
            up = matrix(steps[i])
            return Load(product_t(qt, up), matvec(steps[i].rotation, chi), product(up, p))

        rootward(model, branch.tip, Load(EMPTY, ZERO, ((0.0,),) * 4), step)
    return tuple(tau)


def bias(model: Model, q: Scalars, v: Scalars) -> Scalars:
    """Return the forces without acceleration: the right-hand side (41), (42) with the other sign, less τ."""
    return inverse_dynamics(model, q, v, (0.0,) * model.nv)


class Coupling(NamedTuple):
    """ʲF̃ₖ (4×4) and ʲΠₖ (3×3): what a branch beyond body k resists with, as body j sees it, (36)–(40)."""

    translation: Rows
    rotation: Matrix


def mass_matrix(model: Model, q: Scalars, split: Moments = moments) -> Rows:
    """Return M summed over the branches, (I) and (II), rotor inertia included; appendix steps 6 and 7."""
    steps, still = transforms(model, q), (0.0,) * model.nv
    known = [partials(model, i, m.place) for i, m in enumerate(motions(model, steps, still, still))]
    entries: dict[tuple[int, int], Scalar] = {}

    def raised(j: int, coupling: Coupling) -> Coupling:
        return Coupling(product(matrix(steps[j]), coupling.translation), matmul(steps[j].rotation, coupling.rotation))

    for branch in branches(model):

        def row(k: int, beyond: Coupling, branch: Branch = branch) -> Coupling:
            if k in branch.own:
                b1, b2 = split(model.bodies[k].inertia)
                beyond = Coupling(plus(b1, beyond.translation), madd(b2, beyond.rotation))  # ᵏF̃ₖ, ᵏΠₖ

            def entry(j: int, seen: Coupling) -> Coupling:
                for n, turning, by in known[k]:
                    for m, w, along in known[j]:
                        if m <= n:
                            moved = contraction(product(along, seen.translation), by)
                            turned = dot(w, matvec(seen.rotation, turning))
                            entries[n, m] = entries.get((n, m), 0.0) + (moved + turned)
                return raised(j, seen)  # ʲF̃ₖ = EA ʲ⁺¹F̃ₖ, ʲΠₖ = R ʲ⁺¹Πₖ

            rootward(model, k, beyond, entry)
            half = raised(k, beyond)
            up = matrix(steps[k])
            return Coupling(product_t(half.translation, up), matmul(half.rotation, transpose(steps[k].rotation)))

        rootward(model, branch.tip, Coupling(EMPTY, NULL), row)
    return symmetric(model, entries)
