"""Bringing configurations that have drifted back to closed loops, natively."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.loops.reduction import Loops
from appell.model.joints import QUATERNION
from appell.recursion import closure, elimination
from appell.recursion.kinematics import Scalars, links
from appell.recursion.rates import coordinate_rates
from appell.spatial.scalar import sqrt

NEWTON = 12
"""Steps of Newton's after which a configuration that is not closed is not near one that is."""


def closing_step(loops: Loops, q: Scalars) -> Any:
    """Return q after one step of Newton's towards closed loops, and the residuals that it starts from.

    The independent coordinates stay. So a state that is brought back this way is the one that they determine.
    """
    frames, order = loops.frames, loops.structure.closing
    chain = links(frames, q)
    ties = closure.ties(frames)
    rows = [row for tie in ties for row in closure.rows(frames, chain, tie)]
    rows = [{k: x for k, x in row.items() if (i, k) not in loops.structure.zeros} for i, row in enumerate(rows)]
    open_by = [x for tie in ties for x in closure.residual(chain, tie)]
    solved = elimination.solve(elimination.factorise(rows, order), [-x for x in open_by])
    rates = coordinate_rates(frames, q, tuple(solved.get(k, 0.0) for k in range(frames.nv)))
    closer = [x + rate for x, rate in zip(q, rates, strict=True)]
    for body, at in zip(frames.bodies, frames.q_slices, strict=True):
        if body.joint.kind in QUATERNION:
            places = range(at.start, at.stop)[QUATERNION[body.joint.kind]]
            length = sqrt(sum((closer[k] * closer[k] for k in places), start=0.0))
            for k in places:
                closer[k] = closer[k] / length
    return closer, [open_by[r] for r in order.rows]


def brought_back(step: Callable[..., Any], q: NDArray[Any], size: float) -> tuple[NDArray[Any], float | None]:
    """Return configurations after as many steps as they need, and how far one stays open, None if none does.

    Done is when residuals are rounding, or no longer shrink though they are small.
    """
    last = worst = np.inf
    for _ in range(NEWTON):
        moved, rows = step(q)
        worst = float(np.abs(rows).max(initial=0.0))
        if worst <= 1e-14 * (1.0 + size) or (worst < 1e-11 and worst > 0.25 * last):
            return np.asarray(moved), None
        q, last = moved, worst
    return q, worst
