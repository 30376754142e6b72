"""The rank of closures: the nonzero singular values of their Jacobian, and the loops of a direction.

The numbers of a file have six to ten digits. Axes that are parallel by design are parallel to 1e-6 or 1e-8 in the file,
and singular values that are zero in the mechanism are of that size. Those below `FLOOR` count as zero, those above
`FALLEN` as nonzero, and between them the widest gap decides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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
