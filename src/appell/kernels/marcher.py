"""Marches compiled and called: many rows at once, shared among threads, without the interpreter's lock."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numpy.typing import NDArray

from appell.errors import CompileError
from appell.kernels import cache
from appell.kernels.march import March, module
from appell.kernels.target import Target, host
from appell.kernels.threads import pool
from appell.kernels.writer import DOUBLE, SINGLE, Real
from appell.trace.verify import verify

Array = NDArray[Any]
_SPLIT = 1 << 12
"""Rows times steps below which starting threads costs more than it saves."""
_FUNCTION = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p
)


@dataclass(frozen=True)
class Route:
    """A march to be: its name, the text that determines it, and how to make it."""

    name: str
    fingerprint: str
    make: Callable[[], March]


class Marcher:
    """A compiled march; each precision is compiled, or read from the cache, when it is first asked for."""

    def __init__(self, route: Route, target: Target | None = None) -> None:
        self.route, self._target = route, target or host()
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

        parts = min(pool.count, rows) if rows * kept[-1] >= _SPLIT else 1
        bounds = [rows * k // parts for k in range(parts + 1)]
        jobs = [pool.executor().submit(block, a, b) for a, b in itertools.pairwise(bounds[1:])]
        if rows:
            block(bounds[0], bounds[1])
        for job in jobs:
            job.result()
        return results, lasted

    def _function(self, real: Real) -> Any:
        if real.name not in self._functions:
            target = self._target
            name = cache.digest(self.route.name, self.route.fingerprint, real.name, target.cpu, target.features)
            code = cache.load(name)
            if code is None:
                code = object_code(self.route.make(), real, target)
                cache.save(name, code)
            engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target.machine())
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
            self._engines.append(engine)
            self._functions[real.name] = _FUNCTION(engine.get_function_address("march"))
        return self._functions[real.name]


def _entry(stream: Array, start: int) -> tuple[int, int, int]:
    """Return the address of a row, and the strides from row to row and from step to step, in bytes."""
    row, step = stream.strides[0], stream.strides[1] if stream.ndim == 3 else 0
    return stream.ctypes.data + start * row, row, step


def object_code(march: March, real: Real, target: Target) -> bytes:
    """Return the native code of a march as an object file."""
    for part in march.parts:
        verify(part.tape)
    try:
        parsed = llvm.parse_assembly(module(march, real, target))
        parsed.verify()
        return bytes(target.machine().emit_object(parsed))
    except RuntimeError as error:
        raise CompileError(f"LLVM could not compile '{march.name}' for '{target.cpu}': {error}") from error
