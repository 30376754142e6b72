"""The kernel of a program without inputs, as of a robot that cannot move, or without results: these are constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from appell.kernels.runtime.program_spec import ProgramSpec, write_out
from appell.program.run import run


class ConstantKernel:
    """Called as a :class:`appell.kernels.runtime.kernel.Kernel` is; its arguments carry the leading axes."""

    def __init__(self, spec: ProgramSpec) -> None:
        self.spec = spec
        self._values: list[Any] = []
        if any(port.size for port in spec.outputs):
            self._values = run(spec.program(), *(() for _ in spec.inputs))

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """Return the constants once per sample."""
        return self.evaluate(arrays, out)

    def evaluate(self, arrays: Sequence[Any], out: Any) -> Any:
        """Return the constants once per sample, for arguments in a sequence."""
        given = [np.asarray(array) for array in arrays]
        kind = np.float32 if all(array.dtype == np.float32 for array in given) else np.float64
        for array, port in zip(given, self.spec.inputs, strict=True):
            if array.dtype.kind not in "fiub" or array.shape[-len(port.shape) :] != port.shape:
                raise ValueError(f"{port.name} does not fit")
        leading = np.broadcast_shapes(*(array.shape[:-1] for array in given))
        results, start = [], 0
        for port in self.spec.outputs:
            block = np.array(self._values[start : start + port.size], dtype=kind).reshape(port.shape)
            results.append(np.broadcast_to(block, leading + port.shape).copy())
            start += port.size
        return write_out(results, out)

    def fast_call(self, general: Any) -> Any:
        """Return the general callable: there is no shorter way."""
        return general
