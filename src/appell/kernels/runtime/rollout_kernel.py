"""Rollouts compiled and called: many rows at once, shared among threads, without the interpreter's lock."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.kernels.llvm.llvm_writer import DOUBLE, SINGLE, Real
from appell.kernels.llvm.rollout_ir import RolloutIR, module
from appell.kernels.llvm.target import Target, host
from appell.kernels.runtime import native
from appell.kernels.runtime.threads import in_blocks, pool
from appell.spatial.scalar import Array
from appell.trace.verify import verify

_SPLIT = 1 << 12
"""Rows times steps below which starting threads costs more than it saves."""
_FUNCTION = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
)


@dataclass(frozen=True)
class RolloutSpec:
    """A rollout to be: its name, the text that determines it, and how to make it."""

    name: str
    fingerprint: str
    make: Callable[[], RolloutIR]


class RolloutKernel:
    """A compiled rollout; each precision is compiled, or read from the cache, when it is first asked for."""

    def __init__(self, spec: RolloutSpec, target: Target | None = None) -> None:
        self.spec, self._target = spec, target or host()
        self._functions: dict[str, Any] = {}
        self._engines: list[Any] = []

    def __call__(
        self, states: Sequence[Array], fixed: Sequence[Array], drives: Sequence[Array], weights: Array, kept: range
    ) -> tuple[list[Array], Array]:
        """Return the states at the steps in `kept`, and per row for how many steps its state stayed finite.

        `states` and `fixed` are (rows, n), `drives` (rows, steps, n): all of one type, their last axis side by side;
        other strides are free, and zero where a row or a step is shared. `kept` starts at 0 and ends at the last step.
        """
        rows, kind = states[0].shape[0], states[0].dtype
        results = [np.empty((rows, len(kept), state.shape[1]), kind) for state in states]
        lasted = np.empty(rows, np.int64)
        streams = [*states, *fixed, *drives, *results]
        function = self._function(SINGLE if kind == np.float32 else DOUBLE)
        weights = np.ascontiguousarray(weights, kind)

        def block(start: int, stop: int) -> None:
            table = np.array([x for stream in streams for x in _entry(stream, start)], np.int64)
            count = lasted[start:stop]
            function(table.ctypes.data, weights.ctypes.data, stop - start, kept[-1], kept.step, count.ctypes.data)

        if rows:
            in_blocks(block, rows, min(pool.count, rows) if rows * kept[-1] >= _SPLIT else 1)
        return results, lasted

    def _function(self, real: Real) -> Any:
        if real.name not in self._functions:
            spec, target = self.spec, self._target
            engine = native.load(spec.name, spec.fingerprint, real, target, lambda: self._text(real))
            self._engines.append(engine)
            self._functions[real.name] = _FUNCTION(engine.get_function_address("rollout"))
        return self._functions[real.name]

    def _text(self, real: Real) -> str:
        rollout = self.spec.make()
        for part in rollout.parts:
            verify(part.tape)
        return module(rollout, real, self._target)


def _entry(stream: Array, start: int) -> tuple[int, int, int]:
    """Return the address of a row, and the strides from row to row and from step to step, in bytes."""
    row, step = stream.strides[0], stream.strides[1] if stream.ndim == 3 else 0
    return stream.ctypes.data + start * row, row, step
