"""Closed configurations from others: drifted ones brought back, motions followed, random ones found."""

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
"""The longest motion that is integrated in one piece."""
LONGEST = 100.0
"""The longest motion that is followed at all, in a thousand pieces."""
NEWTON = 12
"""Steps of Newton's after which a configuration that is not closed is not near one that is."""


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


def advanced(
    model: Model,
    tree_velocity: Callable[..., NDArray[Any]],
    project: Callable[..., Any],
    q: NDArray[Any],
    step: NDArray[Any],
) -> NDArray[Any]:
    """Return the closed configurations that independent motions lead to, each motion in pieces that are short."""
    pieces = max(1, int(np.ceil(np.abs(step).max(initial=0.0) / PIECE)))
    step = step / pieces
    for _ in range(pieces):
        # Runge and Kutta's mean of four of Γ(q)·dv; what is left of its error in the dependent ones is projected
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
    raise ModelError(f"robot '{model.name}': random configurations do not close; give the robot a wider home")
