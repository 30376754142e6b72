"""The dynamics of any spherical robot as a sum over its chains and bodies: abedloo2014 (20) and (21), written once.

All bodies turn about one point, so each is known by its inertia about that point and by its Jacobian J, from the
platform's angular velocity ω to its own, in its own axes. Chain i gives it in two factors, J = S A: the rates of the
chain's joints, ρ̇ = A ω, and the body's partial velocities S = ∂ω_body/∂ρ̇. The sums are in the quasi-velocity ω,

    M = Σᵢ Aᵀ (Σⱼ Sᵀ I S) A,                                                              abedloo2014 (20), (21)
    C = Σᵢ Aᵀ (Σⱼ Sᵀ (I Ṡ − (Iω)~ S)) A + Aᵀ (Σⱼ Sᵀ I S) Ȧ,                               with Ṁ − 2C skew
    N = Σᵢ Aᵀ Σⱼ Sᵀ (I ω̇ + ω × Iω − h × σ),                                               abedloo2014 (15)

with h the body's first moment and σ gravity in its axes. Euler angles come after, by v with ω = E v: EᵀM E, EᵀN.
The platform is a chain of its own, with A and S the identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Matrix, Scalar, Vector
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, madd, matmul, matvec, scale, sub, transpose

NULL: Matrix = (ZERO, ZERO, ZERO)


class Turning(NamedTuple):
    """One body: inertia about the centre, columns of S, gravity σ, Ṡ·ρ̇, and what abedloo2014 prints for Ṡ.

    All vectors are in the body's own axes; the last two are needed where velocities enter. The printed Ṡ is not the
    derivative of S, but has the same product with ρ̇ (:func:`coriolis_as_printed`).
    """

    inertia: Inertia
    columns: tuple[Vector, ...]
    gravity: Vector
    bias: Vector = ZERO
    printed: tuple[Vector, ...] = ()


class Chain(NamedTuple):
    """One chain: the rows of A, one a joint, and its bodies."""

    rows: tuple[Vector, ...]
    bodies: tuple[Turning, ...]


class JointMotions(NamedTuple):
    """Rates and accelerations of a chain's joints."""

    rates: tuple[Scalar, ...]
    accelerations: tuple[Scalar, ...]


def platform(inertia: Inertia, weight: Vector, omega: Vector = ZERO) -> Chain:
    """Return the platform as a chain: its joint rates are ω itself. abedloo2014 (48) prints J̇ = RᵀĖ: ω̃ for Ṡ."""
    return Chain(IDENTITY, (Turning(inertia, IDENTITY, weight, ZERO, tuple(cross(omega, unit) for unit in IDENTITY)),))


def combined(columns: Sequence[Vector], weights: Iterable[Scalar], start: Vector = ZERO) -> Vector:
    """Return start + Σ weight·column."""
    for column, weight in zip(columns, weights, strict=True):
        start = add(start, scale(weight, column))
    return start


def mass_matrix(chains: Sequence[Chain]) -> Matrix:
    """Return M, with ½ ωᵀMω the kinetic energy."""
    total = NULL
    for chain in chains:
        inertia = joint_inertia(chain)
        half = [combined(chain.rows, row) for row in inertia]  # rows of (Σ SᵀIS) A
        total = madd(total, gathered(chain.rows, half))
    return total


def joint_inertia(chain: Chain) -> list[list[Scalar]]:
    """Return Σⱼ SᵀIS, the joint-space inertia of a chain's own bodies."""
    n = len(chain.rows)
    total: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for body in chain.bodies:
        momenta = [matvec(body.inertia.tensor, column) for column in body.columns]
        for i in range(n):
            for j in range(i, n):
                total[i][j] = total[j][i] = total[i][j] + dot(body.columns[i], momenta[j])
    return total


def gathered(rows: Sequence[Vector], half: Sequence[Vector]) -> Matrix:
    """Return Aᵀ·half, of A's rows and as many rows of half."""
    columns = transpose_rows(rows)
    a, b, c = (combined(half, column) for column in columns)
    return (a, b, c)


def transpose_rows(rows: Sequence[Vector]) -> tuple[tuple[Scalar, ...], ...]:
    """Return the three columns of a matrix of as many rows as there are joints."""
    return tuple(tuple(row[k] for row in rows) for k in range(3))


def moment(chains: Sequence[Chain], motions: Sequence[JointMotions]) -> Vector:
    """Return N, the moment on the platform required by motion and gravity, in its axes."""
    total = ZERO
    for chain, motion in zip(chains, motions, strict=True):
        total = combined(chain.rows, joint_forces(chain, motion), total)
    return total


def joint_forces(chain: Chain, motion: JointMotions) -> list[Scalar]:
    """Return Σⱼ Sᵀ(I ω̇ + ω × Iω − h × σ): the joint moments required by the chain's own bodies."""
    forces: list[Scalar] = [0.0] * len(chain.rows)
    for body in chain.bodies:
        load = body_moment(body, motion)
        forces = [f + dot(column, load) for f, column in zip(forces, body.columns, strict=True)]
    return forces


def body_motion(body: Turning, motion: JointMotions) -> tuple[Vector, Vector]:
    """Return a body's ω = S ρ̇ and ω̇ = S ρ̈ + Ṡ ρ̇."""
    return combined(body.columns, motion.rates), combined(body.columns, motion.accelerations, body.bias)


def body_moment(body: Turning, motion: JointMotions) -> Vector:
    """Return I ω̇ + ω × Iω − h × σ of one body."""
    omega, alpha = body_motion(body, motion)
    tensor, first = body.inertia.tensor, body.inertia.first
    inertial = add(matvec(tensor, alpha), cross(omega, matvec(tensor, omega)))
    return sub(inertial, cross(first, body.gravity))


def gravity(chains: Sequence[Chain]) -> Vector:
    """Return the part of N that gravity makes."""
    total = ZERO
    for chain in chains:
        forces: list[Scalar] = [0.0] * len(chain.rows)
        for body in chain.bodies:
            load = cross(body.gravity, body.inertia.first)
            forces = [f + dot(column, load) for f, column in zip(forces, body.columns, strict=True)]
        total = combined(chain.rows, forces, total)
    return total


class ChainRates(NamedTuple):
    """Time derivatives of a chain's A, row by row, and of its bodies' S, column by column."""

    rows: tuple[Vector, ...]
    columns: tuple[tuple[Vector, ...], ...]


def coriolis(chains: Sequence[Chain], changes: Sequence[ChainRates], omega: Vector) -> Matrix:
    """Return C in the quasi-velocity ω, with C·ω the quadratic part of N and Ṁ − 2C skew."""
    total = NULL
    for chain, change in zip(chains, changes, strict=True):
        rates = [dot(row, omega) for row in chain.rows]
        n = range(len(chain.rows))
        inner: list[list[Scalar]] = [[0.0 for _ in n] for _ in n]
        for body, turning in zip(chain.bodies, change.columns, strict=True):
            tensor = body.inertia.tensor
            momentum = matvec(tensor, combined(body.columns, rates))
            for j in n:
                load = sub(matvec(tensor, turning[j]), cross(momentum, body.columns[j]))
                for i in n:
                    inner[i][j] = inner[i][j] + dot(body.columns[i], load)
        half = [combined(chain.rows, row) for row in inner]
        half = [combined(change.rows, row, h) for row, h in zip(joint_inertia(chain), half, strict=True)]
        total = madd(total, gathered(chain.rows, half))
    return total


def coriolis_as_printed(
    chains: Sequence[Chain], by_v: Sequence[ChainRates], rates: Sequence[Sequence[Scalar]]
) -> Matrix:
    """Return C of abedloo2014 (21), Jᵀ I J̇ + Jᵀ (J v)~ I J with the J̇ of (47): right C·v, but Ṁ − 2C is not skew.

    Here a chain's rows are A E, by the angles' rates v, and `by_v` holds their derivatives. In place of Ṡ, (47) has
    half the derivative of Ṡρ̇ by ρ̇.
    """
    total = NULL
    for chain, change, rate in zip(chains, by_v, rates, strict=True):
        for body in chain.bodies:
            tensor = body.inertia.tensor
            omega = combined(body.columns, rate)
            jacobian = _product(body.columns, chain.rows)
            changing = madd(_product(body.columns, change.rows), _product(body.printed, chain.rows))
            inner = madd(matmul(tensor, changing), _crossed(omega, matmul(tensor, jacobian)))
            total = madd(total, matmul(transpose(jacobian), inner))
    return total


def _product(columns: Sequence[Vector], rows: Sequence[Vector]) -> Matrix:
    """Return S·A of S's columns and A's rows."""
    by_body = transpose_rows(columns)  # rows of S
    a, b, c = (combined(rows, row) for row in by_body)
    return (a, b, c)


def _crossed(omega: Vector, matrix: Matrix) -> Matrix:
    """Return ω̃·matrix."""
    columns = [cross(omega, column) for column in transpose(matrix)]
    return transpose((columns[0], columns[1], columns[2]))
