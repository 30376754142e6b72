"""The choice of columns and pivots of matrices given at a few samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from appell.errors import ModelError
from appell.loops.rank import NOTHING
from appell.recursion.elimination import Order
from appell.spatial.scalar import Array

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
