"""Programs run as they are, on NumPy arrays instead of scalars: nothing to compile, for what is too long to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from appell.kernels.recipe import Recipe, delivered
from appell.trace.tape import flatten


class InterpretedKernel:
    """Called as a :class:`appell.kernels.kernel.Kernel` is; one NumPy operation per operation of the program."""

    def __init__(self, recipe: Recipe, program: Callable[..., Any]) -> None:
        self.recipe, self._program = recipe, program

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """Evaluate the program on all samples together."""
        given = [np.asarray(array) for array in arrays]
        single = all(array.dtype == np.float32 for array in given)
        for array, port in zip(given, self.recipe.inputs, strict=True):
            if array.ndim < len(port.shape) or array.shape[-1:] != port.shape or array.dtype.kind not in "fiub":
                raise ValueError(f"{port.name} does not fit")
        leading = np.broadcast_shapes(*(array.shape[:-1] for array in given))
        columns = [tuple(np.moveaxis(array.astype(float), -1, 0)) for array in given]
        flat = [np.broadcast_to(np.asarray(x, dtype=float), leading) for x in flatten(self._program(*columns))]
        results, start = [], 0
        for port in self.recipe.outputs:
            block = np.stack(flat[start : start + port.size], axis=-1).reshape(leading + port.shape)
            results.append(block.astype(np.float32) if single else block)
            start += port.size
        return delivered(results, out)

    def direct(self, general: Any) -> Any:
        """Return the general callable: there is no shorter way."""
        return general
