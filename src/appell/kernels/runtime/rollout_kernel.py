"""Rollouts compiled and called: many rows at once, shared among threads, without the interpreter's lock."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.kernels.llvm.llvm_writer import DOUBLE, SINGLE, Real
from appell.kernels.llvm.rollout_ir import RolloutIR, module
from appell.kernels.llvm.target import Target, host
from appell.kernels.runtime import native
from appell.kernels.runtime.memory import empty
from appell.kernels.runtime.threads import available, in_threads
from appell.once import once
from appell.spatial.scalar import Array
from appell.trace.verify import verify

_SPLIT = 1 << 12
"""Rows times steps below which starting threads costs more than it saves."""
_BLOCK, _ROWS, _LANES = 1 << 25, 64, 8
"""Rows times steps of one native call, times the square of the numbers of a state and its drives: some ten
milliseconds, since Ctrl-C acts between calls; the rows of a call are a multiple of the second number; and how many
rows cost as much as one."""
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

    def __call__(
        self, states: Sequence[Array], fixed: Sequence[Array], drives: Sequence[Array], weights: Array, kept: range
    ) -> tuple[list[Array], Array]:
        """Return the states at the steps in `kept`, and per row for how many steps its state stayed finite.

        `states` and `fixed` are (rows, n), `drives` (rows, steps, n): all of one type, their last axis side by side;
        other strides are free, and zero where a row or a step is shared. `kept` starts at 0 and ends at the last step.
        """
        rows, kind = states[0].shape[0], states[0].dtype
        results: list[Array] = [empty((rows, len(kept), state.shape[1]), kind) for state in states]
        lasted = np.zeros(rows, np.int64)
        function = self._function(SINGLE if kind == np.float32 else DOUBLE)
        weights = np.ascontiguousarray(weights, kind)
        work = _BLOCK // sum(stream.shape[-1] for stream in (*states, *drives)) ** 2
        height = max(work // kept[-1] // _ROWS, 1) * _ROWS
        length = max(work // min(height, max(rows, _LANES)), 1)

        both = functools.partial(zip, results, strict=True)

        def call(rows: slice, first: int, last: int, now: list[Array]) -> list[Array]:
            """Run the steps from first to last of some rows; return the states after them."""
            is_whole = not (first % kept.step or last % kept.step)
            at = slice(first // kept.step, last // kept.step + 1)
            places = [x[rows, at] if is_whole else np.empty((len(y), 2, y.shape[1]), kind) for x, y in both(now)]
            inputs = (*now, *(x[rows] for x in fixed), *(x[rows, first:last] for x in drives))
            table = np.array([x for stream in (*inputs, *places) for x in _entry(stream)], np.int64)
            count = np.empty(len(now[0]), np.int64)
            every = kept.step if is_whole else last - first
            function(table.ctypes.data, weights.ctypes.data, len(count), last - first, every, count.ctypes.data)
            lasted[rows] += count
            if last % kept.step == 0 and not is_whole:
                for result, place in both(places):
                    result[rows, last // kept.step] = place[:, -1]
            return [place[:, -1].copy() for place in places]

        def block(start: int, stop: int) -> Iterator[None]:
            for a in range(start, stop, height):
                rows = slice(a, min(a + height, stop))
                now = [state[rows] for state in states]
                for first, last in _pieces(kept, length):
                    now = call(rows, first, last, now)
                    yield

        for result, state in both(states):
            result[:, 0] = state
        if rows:
            in_threads(block, rows, min(available(), rows) if rows * kept[-1] >= _SPLIT else 1)
        return results, lasted

    def _function(self, real: Real) -> Any:
        engine = once(self, real, lambda: self._engine(real))
        return _FUNCTION(engine.get_function_address("rollout"))

    def _engine(self, real: Real) -> Any:
        spec, target = self.spec, self._target
        return native.load(spec.name, spec.fingerprint, real, target, lambda: self._text(real))

    def _text(self, real: Real) -> tuple[str]:
        rollout = self.spec.make()
        for part in rollout.parts:
            verify(part.tape)
        return (module(rollout, real, self._target),)


def _pieces(kept: range, length: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last step of each native call: whole intervals between kept states, or parts of one."""
    width = max(length - length % kept.step, kept.step)
    for first in range(0, kept[-1], width):
        last = min(first + width, kept[-1])
        part = width if length >= kept.step else length
        yield from ((a, min(a + part, last)) for a in range(first, last, part))


def _entry(stream: Array) -> tuple[int, int, int]:
    """Return the address of the first row, and the strides from row to row and from step to step, in bytes."""
    return stream.ctypes.data, stream.strides[0], stream.strides[1] if stream.ndim == 3 else 0
