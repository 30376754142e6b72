"""Recursions on arrays, without a compiler; derivatives of them and of anything else; how near numbers must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.model.model import Model
from appell.program.nodes import Program
from appell.program.run import run
from appell.recursion.rates import coordinate_rates
from appell.trace.tape import Tape, flatten, trace, verify

Array = NDArray[Any]


def evaluate(program: Callable[..., Any], model: Model, *arguments: Any) -> Array:
    """Run a recursion on arrays (…, n), real or complex; its scalars are arrays."""
    arrays = [np.asarray(argument) for argument in arguments]
    leading = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    nested = program(model, *(tuple(np.moveaxis(array, -1, 0)) for array in arrays))
    shape, level = [], nested
    while isinstance(level, tuple | list):
        shape.append(len(level))
        level = level[0] if level else 0.0
    leaves = [np.broadcast_to(x, leading) for x in flatten(nested)]
    return np.stack(leaves, axis=-1).reshape((*leading, *shape)) if leaves else np.zeros((*leading, *shape))


def differentiate(program: Callable[..., Any], model: Model, *arguments: Any, by: int) -> Array:
    """Return ∂result/∂argument of a recursion by complex step; the derivative's axis comes last.

    `by` says which argument. The first, q, is moved along the velocities: q̇ of a unit velocity is its direction, which
    for joints whose v is not q̇ is no unit vector. Exact to rounding: there is no difference of two values.
    """
    step = 1e-30
    n = model.nv if by == 0 else len(arguments[by])
    directions = evaluate(coordinate_rates, model, np.tile(arguments[0], (n, 1)), np.eye(n)) if by == 0 else np.eye(n)
    moved = [np.asarray(x) + 1j * step * directions if k == by else np.tile(x, (n, 1)) for k, x in enumerate(arguments)]
    return np.moveaxis(evaluate(program, model, *moved).imag / step, 0, -1)


WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
"""Of the central difference of eighth order, by steps away."""


def slope(path: Callable[[float], Any], step: float = 1e-3) -> Array:
    """Return the derivative of a function of one number at zero: the central difference of eighth order.

    At this step what it leaves out is below rounding, for functions that change over a tenth or more.
    """
    pairs = (np.asarray(path(k * step)) - np.asarray(path(-k * step)) for k in range(1, 5))
    return np.asarray(sum(weight * pair for weight, pair in zip(WEIGHTS, pairs, strict=True)) / step)


def agree(x: Any, y: Any, within: float = 1e-10, size: Any = 0.0) -> None:
    """Check that two arrays of one shape differ by less than `within` of the largest number of the second.

    Where that may be zero, `size` gives the size of what cancels in it.
    """
    x, y = np.asarray(x), np.asarray(y)
    assert x.shape == y.shape
    apart, largest = np.abs(x - y).max(initial=0.0), max(np.abs(y).max(initial=0.0), float(np.max(size)))
    assert apart <= within * largest, f"{apart:.3g} apart, {apart / largest if largest else np.inf:.3g} of the largest"


def written_out(program: Program) -> Tape:
    """Return a program of loops as one tape, its loops unrolled."""
    return verify(trace(program.name, lambda *x: tuple(run(program, *x)), program.inputs, program.outputs))
