"""Solving M·a = τ − bias by a factorisation that keeps the tree's zeros.

The matrix of a tree is zero wherever two joints stand on different branches. M = LᵀDL (Featherstone 2008, section 6.5)
keeps every such zero in L, because it eliminates from the tips inward.
"""

from __future__ import annotations

from collections.abc import Iterable

from appell.model.model import WORLD, Model
from appell.recursion.inertia_matrix import Rows
from appell.recursion.kinematics import Scalars
from appell.spatial.scalar import Scalar


def velocity_parents(model: Model) -> list[int]:
    """Return, per velocity, the velocity before it on the way to the base, −1 at the base."""
    parents = []
    for i, body in enumerate(model.bodies):
        before = -1 if body.parent == WORLD else model.v_slices[body.parent].stop - 1
        for k in range(model.v_slices[i].start, model.v_slices[i].stop):
            parents.append(before)
            before = k
    return parents


def factorise(matrix: Rows, parents: list[int]) -> tuple[list[dict[int, Scalar]], list[Scalar]]:
    """Return L (rows of entries left of the unit diagonal) and 1/D with M = LᵀDL."""
    n = len(parents)
    work = [dict(enumerate(row[: k + 1])) for k, row in enumerate(matrix)]
    inverse: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        inverse[k] = 1.0 / work[k][k]
        i = parents[k]
        while i >= 0:
            ratio = work[k][i] * inverse[k]
            j = i
            while j >= 0:
                work[i][j] = work[i][j] - ratio * work[k][j]
                j = parents[j]
            work[k][i] = ratio
            i = parents[i]
    return work, inverse


def pivot_growth(matrix: Rows, inverse: list[Scalar]) -> Scalar:
    """Return the mean of (M_kk / D_k)²: 1 where joints do not interact, large where a pivot is all but cancelled.

    The root of it times the rounding of a number is about the relative error of what is solved for.
    """
    return mean_square(row[k] * inverse[k] for k, row in enumerate(matrix))


def mean_square(ratios: Iterable[Scalar]) -> Scalar:
    """Return the mean of the squares of some numbers; 1 of none."""
    total: Scalar = 0.0
    count = 0
    for ratio in ratios:
        total, count = total + ratio * ratio, count + 1
    return total * (1.0 / count) if count else 1.0


def solve(matrix: Rows, parents: list[int], right: Scalars) -> Scalars:
    """Return x with M·x = right: Lᵀy = right, z = y / D, L x = z."""
    return solve_factorised(*factorise(matrix, parents), parents, right)


def solve_factorised(
    lower: list[dict[int, Scalar]], inverse: list[Scalar], parents: list[int], right: Scalars
) -> Scalars:
    """Return x with LᵀDL·x = right."""
    x = list(right)
    for k in reversed(range(len(x))):
        i = parents[k]
        while i >= 0:
            x[i] = x[i] - lower[k][i] * x[k]
            i = parents[i]
    x = [value * d for value, d in zip(x, inverse, strict=True)]
    for k in range(len(x)):
        i = parents[k]
        while i >= 0:
            x[k] = x[k] - lower[k][i] * x[i]
            i = parents[i]
    return tuple(x)
