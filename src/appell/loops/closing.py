"""Closed configurations from others: projection, integration of motions, random ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.errors import ModelError
from appell.loops.assembly import Assembler
from appell.loops.structure import Structure, condition
from appell.model import manifold
from appell.model.model import Model

PIECE = 0.1
"""The longest motion of one integration step."""
LONGEST = 100.0
"""The longest supported motion, in a thousand steps."""
NEWTON = 12
"""Newton steps after which a configuration that is still open is not near a closed one."""


def brought_back(step: Callable[..., Any], q: NDArray[Any], size: float) -> tuple[NDArray[Any], float | None]:
    """Return configurations after as many steps as needed, and the largest remaining closure error, None if all close.

    The iteration ends when residuals are at rounding, or small and no longer decreasing.
    """
    last = worst = np.inf
    for _ in range(NEWTON):
        moved, rows = step(q)
        worst = float(np.abs(rows).max(initial=0.0))
        if worst <= 1e-14 * (1.0 + size) or (worst < 1e-11 and worst > 0.25 * last):
            return np.asarray(moved), None
        q, last = moved, worst
    return q, worst


def advanced(
    model: Model,
    tree_velocity: Callable[..., NDArray[Any]],
    project: Callable[..., Any],
    q: NDArray[Any],
    step: NDArray[Any],
) -> NDArray[Any]:
    """Return the closed configurations that independent motions lead to, each motion in short steps."""
    pieces = max(1, int(np.ceil(np.abs(step).max(initial=0.0) / PIECE)))
    step = step / pieces
    for _ in range(pieces):
        # Runge–Kutta mean of four Γ(q)·dv; its remaining error in the dependent coordinates is projected
        mean, at = np.zeros((*q.shape[:-1], model.nv)), q
        for weight, ahead in ((1.0, 0.5), (2.0, 0.5), (2.0, 1.0), (1.0, 0.0)):
            rate = tree_velocity(at, step)
            mean = mean + weight / 6.0 * rate
            at = manifold.integrate(model, q, ahead * rate)
        q = project(manifold.integrate(model, q, mean))
    return q


def random_closed(
    assembler: Assembler, structure: Structure, q: NDArray[Any], rng: np.random.Generator, wanted: int
) -> NDArray[Any]:
    """Return closed configurations about half a radian from q in all free motions, none near a singularity."""
    model, free = assembler.model, list(structure.independent)
    found: list[NDArray[Any]] = []
    for _ in range(50):
        n = max(8, 2 * (wanted - len(found)))
        steps = np.zeros((n, model.nv))
        steps[:, free] = 0.5 * rng.normal(size=(n, len(free)))
        starts = manifold.integrate(model, np.tile(q, (n, 1)), steps * assembler.column_scale)
        fit = assembler.close(starts)
        found += list(fit.q[assembler.is_closed(fit) & (condition(assembler, structure, fit.q) < 1e4)])
        if len(found) >= wanted:
            return np.array(found[:wanted])
    raise ModelError(f"robot '{model.name}': random configurations do not close; use a home farther from singularities")
