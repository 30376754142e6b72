"""A coupled robot's program: its tree's, between expanded inputs and reduced results.

The tree is traced first, on inputs of its own, and its tape then run on the expanded ones. So no recursion knows of
followers, and derivatives are taken by every joint of the tree before the chain rule gathers them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from appell.model.model import Model
from appell.recursion.coupling import expand_q, expand_v, reduce, reduce_columns, reduce_rows
from appell.recursion.kinematics import Scalars
from appell.trace.tape import Port, Tape

_EXPAND = {"q": expand_q, "v": expand_v, "a": expand_v}


def reduced(model: Model, tree: Tape, outputs: Sequence[Port], *arguments: Scalars) -> list[Any]:
    """Return the results of a coupled model in its own `outputs`: those of its tree, Gᵀ on every axis of velocities.

    An axis of velocities is one that is shorter in the robot's outputs than in the tree's; no other is.
    """
    pairs = zip(tree.inputs, arguments, strict=True)
    flat = tree.run(*(_EXPAND[port.name](model, x) if port.name in _EXPAND else x for port, x in pairs))
    results, start = [], 0
    for port, own in zip(tree.outputs, outputs, strict=True):
        values, start = flat[start : start + port.size], start + port.size
        results.append(_gathered(model, values, port.shape, own.shape))
    return results


def _gathered(model: Model, values: list[Any], shape: tuple[int, ...], own: tuple[int, ...]) -> Any:
    if shape == own:
        return values
    if len(shape) == 1:
        return reduce(model, values)
    rows = [values[k : k + shape[1]] for k in range(0, len(values), shape[1])]
    shorter = [whole > part for whole, part in zip(shape, own, strict=True)]
    if shorter[1]:
        rows = [list(row) for row in reduce_columns(model, rows)]
    return reduce_rows(model, rows) if shorter[0] else rows
