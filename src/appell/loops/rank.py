"""The rank of matrices given at a few samples, and the choice of their columns and pivots.

The numbers of a file have six to ten digits. Axes that are parallel by design are parallel to 1e-6 or 1e-8 in the file,
and singular values that are zero in the mechanism are of that size. Those below `FLOOR` count as zero, those above
`FALLEN` as nonzero, and between them the widest gap decides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from appell.errors import ModelError
from appell.recursion.elimination import Order
from appell.robot.kind import Rank
from appell.spatial.scalar import Array

FALLEN = 1e-5
"""Relative size below which singular values may be zero up to the rounding of the file."""
FLOOR = 1e-7
"""Relative size below which singular values are zero: files are not more accurate."""
NOTHING = 1e-12
"""An entry below this in all samples is zero on closed loops."""
STILL = 1e-6
"""A velocity with less than this component in all motions of closed loops is locked by the loops."""


def rank_of(values: Array, columns: int) -> int:
    """Return the number of nonzero singular values: those before the widest gap, if the next is small.

    >>> rank_of(np.array([2.0, 0.5, 2e-4, 3e-16]), 6)
    3
    >>> rank_of(np.array([2.0, 0.5, 3e-8, 3e-16]), 6)
    2
    """
    values = np.asarray(values)
    if not len(values) or values[0] <= NOTHING:
        return 0
    ratios = np.maximum(values / values[0], FLOOR)
    places = [r for r in range(1, len(ratios)) if ratios[r] < FALLEN]
    return max(places, key=lambda r: ratios[r - 1] / ratios[r]) if places else min(len(ratios), columns)


def rank(scaled: Array) -> Rank:
    """Return the rank of scaled Jacobians: the highest of all samples, since singular configurations have less."""
    values = np.linalg.svd(scaled, compute_uv=False)
    best = max(rank_of(row, scaled.shape[-1]) for row in values)
    at = [row / row[0] for row in values if rank_of(row, scaled.shape[-1]) == best] if best else []
    kept = min((float(row[best - 1]) for row in at), default=0.0)
    dropped = max((float(row[best]) if best < len(row) else 0.0 for row in at), default=0.0)
    return Rank(best, kept, dropped)


def loops_along(rows: Array, labels: Sequence[tuple[str, str]]) -> list[str]:
    """Return the closures that contribute to a combination of rows.

    >>> loops_along(np.array([0.8, 0.6, 0.01]), [("knee", "x"), ("ankle", "x"), ("hip", "x")])
    ['knee', 'ankle']
    """
    shares: dict[str, float] = {}
    for (name, _), x in zip(labels, rows, strict=True):
        shares[name] = shares.get(name, 0.0) + float(x) ** 2
    return [name for name, share in shares.items() if share >= 0.1 * max(shares.values())]


def held_still(scaled: Array, count: int) -> list[int]:
    """Return the velocities that are zero in every motion that closures of rank `count` allow, in all samples."""
    motions = np.linalg.svd(scaled)[2][:, count:]
    return [int(k) for k in np.flatnonzero(np.abs(motions).max(axis=(0, 1), initial=0.0) < STILL)]


GOOD = 0.05
"""The smallest pivot relative to its column's largest entry."""


def choose_dependent(scaled: Array, count: int, last: Sequence[int]) -> list[int]:
    """Return `count` columns that determine the others, best conditioned first.

    Those in `last` are used only if the others do not suffice, the last ones first. If the columns have a lower rank in
    most samples, fewer are returned.
    """
    rest = scaled.copy()
    chosen: list[int] = []
    reference = np.linalg.norm(rest, axis=1).max()
    open_columns = [k for k in range(rest.shape[-1]) if k not in last]
    is_rest = True
    while len(chosen) < count:
        norms = np.linalg.norm(rest, axis=1)  # (samples, columns)
        scores = np.exp(np.log(np.maximum(norms, 1e-300)).mean(axis=0))
        best = max(open_columns, key=lambda k: scores[k], default=None)
        if best is None or scores[best] < 1e-7 * reference:
            if not is_rest:
                return chosen
            open_columns, is_rest = [k for k in reversed(last) if k not in chosen], False
            continue
        if not is_rest:
            best = next(k for k in open_columns if scores[k] >= 0.1 * scores[best])
        chosen.append(best)
        open_columns.remove(best)
        unit = rest[:, :, best] / norms[:, best, None]
        rest -= unit[:, :, None] * np.einsum("sr,src->sc", unit, rest)[:, None, :]
    return chosen


def choose_order(scaled: Array, columns: Sequence[int], count: int) -> tuple[Order, Array]:
    """Return an order of `count` pivots among all rows and some columns, and the pivots in every sample.

    Among the entries that are good pivots in all samples, the one with the least fill-in is used (Markowitz 1957).
    """
    work = scaled.copy()
    rows_left, columns_left = list(range(work.shape[1])), list(columns)
    scale = np.abs(work).max(initial=0.0)
    rows: list[int] = []
    picked: list[int] = []
    pivots = []
    for _ in range(count):
        block = np.abs(work[:, rows_left][:, :, columns_left])
        pattern = (block > NOTHING * scale).any(axis=0)
        tallest = np.maximum(block.max(axis=1, keepdims=True), 1e-300)
        quality = (block / tallest).min(axis=0) * (block.min(axis=0) > 1e-7 * scale)
        if not quality.any() and not block[0].any():
            raise ModelError(
                f"the loops constrain {count} velocities near the home configuration and {len(rows)} in it: it is "
                "singular; use another home, and check the closures' frames and radii"
            )
        if not quality.any():  # no entry is nonzero in all samples; use the best of the first
            quality = block[0] / block[0].max()
        fill = np.outer(pattern.sum(axis=1) - 1, pattern.sum(axis=0) - 1)
        good = quality >= min(GOOD, float(quality.max()))
        i, j = min(zip(*np.nonzero(good), strict=True), key=lambda at: (fill[at], -quality[at]))
        row, column = rows_left.pop(int(i)), columns_left.pop(int(j))
        rows.append(row)
        picked.append(column)
        pivot = work[:, row, column].copy()
        pivots.append(pivot)
        ratio = work[:, :, column] / np.where(pivot == 0.0, np.inf, pivot)[:, None]
        ratio[:, row] = 0.0
        ratio[:, rows] = 0.0
        work -= ratio[:, :, None] * work[:, row, None, :]
    return Order(tuple(rows), tuple(picked)), np.array(pivots).reshape(count, len(work)).T
