"""Solving M·a = τ − bias by a factorisation that keeps the tree's zeros; Cholesky's for other matrices.

The matrix of a tree is zero wherever two joints stand on different branches. M = LᵀDL (Featherstone 2008, section 6.5)
keeps every such zero in L, because it eliminates from the tips inward. It takes n divisions and no root: the 56 and 36
products that mata2002's table 3 has for "Cholesky" and for solving. M = LLᵀ takes n roots and n divisions more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from appell.model.model import WORLD, Model
from appell.recursion.kinematics import Scalars
from appell.recursion.sweep import Rows
from appell.spatial.scalar import Scalar, sqrt


def velocity_parents(model: Model) -> list[int]:
    """Return, per velocity, the velocity before it on the way to the base, −1 at the base."""
    parents = []
    for i, body in enumerate(model.bodies):
        before = -1 if body.parent == WORLD else model.v_slices[body.parent].stop - 1
        for k in range(model.v_slices[i].start, model.v_slices[i].stop):
            parents.append(before)
            before = k
    return parents


def factorise(matrix: Rows, parents: Sequence[int]) -> tuple[list[dict[int, Scalar]], list[Scalar]]:
    """Return L (rows of entries left of the unit diagonal) and 1/D with M = LᵀDL."""
    rows, inverse = eliminated(matrix, parents)
    return divided(rows, inverse), inverse


def eliminated(
    matrix: Rows, parents: Sequence[int], free: Sequence[Scalar] = ()
) -> tuple[list[dict[int, Scalar]], list[Scalar]]:
    """Return the rows of DL and 1/D; 0 for velocities that are not `free` (0, else 1), which others do not follow."""
    n = len(parents)
    work = [dict(enumerate(row[: k + 1])) for k, row in enumerate(matrix)]
    inverse: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        inverse[k] = (free[k] if free else 1.0) / work[k][k]
        i = parents[k]
        while i >= 0:
            ratio = work[k][i] * inverse[k]
            j = i
            while j >= 0:
                work[i][j] = work[i][j] - ratio * work[k][j]
                j = parents[j]
            i = parents[i]
    return work, inverse


def divided(rows: Sequence[dict[int, Scalar]], inverse: Sequence[Scalar]) -> list[dict[int, Scalar]]:
    """Return the rows of L from those of DL."""
    return [
        {i: x * d if i != k else x for i, x in row.items()}
        for k, (row, d) in enumerate(zip(rows, inverse, strict=True))
    ]


def probe(n: int) -> list[float]:
    """Return numbers of about ±1 that no plain motion is orthogonal to, such as two joints turning against each other.

    >>> [round(x, 2) for x in probe(3)]
    [1.3, -0.76, 0.72]
    """
    return [(1.0 + 0.3 * math.cos(2.4 * k * k + 0.1 * k)) * (-1.0 if (k * k + k) % 3 else 1.0) for k in range(n)]


def inverse_norm(matrix: Rows, factors: tuple[list[dict[int, Scalar]], list[Scalar]], parents: list[int]) -> Scalar:
    """Return |M⁻¹ D^½ z|² tr M for a probe z, D the diagonal of M: how much of rounding accelerations have, squared.

    Rounding of the forces is a small part of (D^½)_k |D^½ a|, whatever the units, and |D^½ a|² is tr M at most for
    accelerations of about 1.
    """
    size = [sqrt(row[k]) for k, row in enumerate(matrix)]
    x = solve_factorised(*factors, parents, tuple(z * m for z, m in zip(probe(len(size)), size, strict=True)))
    return sum_of_squares(x) * sum_of_squares(size)


def sum_of_squares(values: Iterable[Scalar]) -> Scalar:
    """Return the sum of the squares of some numbers."""
    total: Scalar = 0.0
    for x in values:
        total = total + x * x
    return total


def solve(matrix: Rows, parents: list[int], right: Scalars) -> Scalars:
    """Return x with M·x = right: Lᵀy = right, z = y / D, L x = z."""
    return solve_factorised(*factorise(matrix, parents), parents, right)


def solve_factorised(
    lower: list[dict[int, Scalar]], inverse: list[Scalar], parents: Sequence[int], right: Scalars
) -> Scalars:
    """Return x with LᵀDL·x = right."""
    scaled = [x * d for x, d in zip(carried_inward(lower, parents, right), inverse, strict=True)]
    return tuple(carried_outward(lower, parents, scaled))


def carried_inward(lower: list[dict[int, Scalar]], parents: Sequence[int], right: Sequence[Scalar]) -> list[Scalar]:
    """Return x with Lᵀx = right."""
    x = list(right)
    for k in reversed(range(len(x))):
        i = parents[k]
        while i >= 0:
            x[i] = x[i] - lower[k][i] * x[k]
            i = parents[i]
    return x


def carried_outward(lower: list[dict[int, Scalar]], parents: Sequence[int], right: Sequence[Scalar]) -> list[Scalar]:
    """Return x with L x = right."""
    x = list(right)
    for k in range(len(x)):
        i = parents[k]
        while i >= 0:
            x[k] = x[k] - lower[k][i] * x[i]
            i = parents[i]
    return x


def cholesky(matrix: Rows) -> list[list[Scalar]]:
    """Return the rows of L, diagonal included, with M = LLᵀ."""
    lower: list[list[Scalar]] = []
    for i, entries in enumerate(matrix):
        row: list[Scalar] = []
        for j in range(i):
            row.append((entries[j] - _dot(row, lower[j][:j])) / lower[j][j])
        lower.append([*row, sqrt(entries[i] - _dot(row, row))])
    return lower


def solve_cholesky(lower: list[list[Scalar]], right: Scalars) -> Scalars:
    """Return x with LLᵀ·x = right: L y = right, Lᵀx = y."""
    y: list[Scalar] = []
    for row, value in zip(lower, right, strict=True):
        y.append((value - _dot(row[:-1], y)) / row[-1])
    x = list(y)
    for i in reversed(range(len(y))):
        later = range(i + 1, len(y))
        x[i] = (y[i] - _dot([lower[k][i] for k in later], [x[k] for k in later])) / lower[i][i]
    return tuple(x)


def _dot(a: Iterable[Scalar], b: Iterable[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), start=0.0)
