"""Gaussian elimination in a fixed order, on scalars of any type.

The pivots are chosen once, numerically (:mod:`appell.loops.structure`). The elimination is then a straight-line
program, in which structural zeros cost nothing. A matrix here is a list of rows, each with its nonzero entries by
column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from appell.spatial.scalar import Scalar

SparseRows = Sequence[Mapping[int, Scalar]]


class Order(NamedTuple):
    """The place of every pivot: step k eliminates column ``columns[k]`` by row ``rows[k]``."""

    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()


class Factors(NamedTuple):
    """A = LU in the order of the pivots: entries below the unit diagonal, above the diagonal, and 1/diagonal."""

    order: Order
    lower: list[dict[int, Scalar]]
    upper: list[dict[int, Scalar]]
    inverse: list[Scalar]


def is_zero(x: Scalar) -> bool:
    """Return whether a scalar is zero by structure: a plain number, and zero."""
    return isinstance(x, float | int) and x == 0.0


def factorise(matrix: SparseRows, order: Order) -> Factors:
    """Return the factors of the rows and columns that the order names.

    >>> solve(factorise([{0: 2.0, 1: 1.0}, {1: 4.0}], Order((0, 1), (0, 1))), [4.0, 8.0])
    {1: 2.0, 0: 1.0}
    """
    place = {column: k for k, column in enumerate(order.columns)}
    upper = [{place[c]: x for c, x in matrix[r].items() if c in place and not is_zero(x)} for r in order.rows]
    lower: list[dict[int, Scalar]] = [{} for _ in upper]
    inverse: list[Scalar] = []
    for k, pivot_row in enumerate(upper):
        inverse.append(1.0 / pivot_row.pop(k))
        for i in range(k + 1, len(upper)):
            entry = upper[i].pop(k, 0.0)
            if is_zero(entry):
                continue
            ratio = lower[i][k] = entry * inverse[k]
            for j, x in pivot_row.items():
                upper[i][j] = upper[i].get(j, 0.0) - ratio * x
    return Factors(order, lower, upper, inverse)


def solve(factors: Factors, right: Sequence[Scalar]) -> dict[int, Scalar]:
    """Return x with A·x = right, by column; `right` has an entry per row of the whole matrix."""
    order, lower, upper, inverse = factors
    y: list[Scalar] = []
    for k, row in enumerate(order.rows):
        value = right[row]
        for j, ratio in lower[k].items():
            value = value - ratio * y[j]
        y.append(value)
    x: list[Scalar] = [0.0] * len(y)
    for k in reversed(range(len(y))):
        value = y[k]
        for j, entry in upper[k].items():
            value = value - entry * x[j]
        x[k] = value * inverse[k]
    return {order.columns[k]: x[k] for k in reversed(range(len(x)))}


def solve_transposed(factors: Factors, right: Mapping[int, Scalar]) -> dict[int, Scalar]:
    """Return y with Aᵀ·y = right, by row; `right` has an entry per column of the order."""
    order, lower, upper, inverse = factors
    z: list[Scalar] = [right[column] for column in order.columns]
    for k in range(len(z)):
        z[k] = z[k] * inverse[k]
        for j, entry in upper[k].items():
            z[j] = z[j] - entry * z[k]
    for k in reversed(range(len(z))):
        for j, ratio in lower[k].items():
            z[j] = z[j] - ratio * z[k]
    return {order.rows[k]: z[k] for k in range(len(z))}
