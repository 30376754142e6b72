"""The kernel of a robot that cannot move: its inputs are empty and its results are constants."""

from __future__ import annotations

from typing import Any

import numpy as np

from appell.errors import CompileError
from appell.kernels.recipe import Recipe, delivered
from appell.kernels.rolled import Rolled


class ConstantKernel:
    """Called as a :class:`appell.kernels.kernel.Kernel` is; arrays of size zero carry the leading axes."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        made = recipe.make()
        if isinstance(made, Rolled):
            raise CompileError(f"'{recipe.name}': a program without inputs is not rolled")
        self._values = made.run(*(() for _ in recipe.inputs))

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """Return the constants once per sample."""
        given = [np.asarray(array, dtype=float) for array in arrays]
        for array, port in zip(given, self.recipe.inputs, strict=True):
            if array.shape[-len(port.shape) :] != port.shape:
                raise ValueError(f"{port.name} does not fit")
        leading = np.broadcast_shapes(*(array.shape[:-1] for array in given))
        results, start = [], 0
        for port in self.recipe.outputs:
            block = np.array(self._values[start : start + port.size]).reshape(port.shape)
            results.append(np.broadcast_to(block, leading + port.shape).copy())
            start += port.size
        return delivered(results, out)

    def direct(self, general: Any) -> Any:
        """Return the general callable: there is no shorter way."""
        return general
