"""Kernels: a program compiled to native code and called with arrays.

If the cache holds code under a spec's text, neither tracing nor compiling takes place.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from appell.errors import AllocationError
from appell.kernels.llvm.entries import LARGE, gathers, has_fast_call, modules
from appell.kernels.llvm.llvm_writer import DOUBLE, SINGLE, Real
from appell.kernels.llvm.nodes_ir import UNALLOCATED
from appell.kernels.llvm.target import Target, host
from appell.kernels.runtime import callables, native
from appell.kernels.runtime.callables import Gufunc
from appell.kernels.runtime.memory import apart, empty
from appell.kernels.runtime.program_spec import ProgramSpec, write_out
from appell.kernels.runtime.threads import WORTH, share, workers
from appell.once import once, once_property
from appell.program.nodes import Program
from appell.program.run import run
from appell.trace.tape import spans

BLOCK = 1 << 26
"""Operations times samples of one native call, milliseconds to tens of them: Ctrl-C acts between calls."""
MANY = 1 << 22
"""Operations times samples, about a hundred microseconds, from which on threads are considered."""
TRIES = 3
"""Calls with one and with several threads before the better number is chosen."""
_DOUBLE = np.dtype(float)
PACE = 3e-11
"""Seconds per operation of :attr:`Kernel._size`, until a kernel's own speed is measured."""


class Kernel:
    """A compiled program. Call it with arrays whose last axes are the ports' shapes; leading axes broadcast.

    Double precision is compiled at once, single precision before the first call in which no array is wider. Any thread
    may call it. Code is released with the kernel, which every call holds. The entries of streams must lie side by side.
    """

    def __init__(self, spec: ProgramSpec, target: Target | None = None) -> None:
        self.spec, self._target = spec, target or host()
        self._core = [len(port.shape) for port in spec.inputs]
        least, numbers = min(port.size for port in spec.inputs if port.size), sum(port.size for port in spec.outputs)
        has_streams = any(port.axes for port in (*spec.inputs, *spec.outputs))  # whose callers split batches themselves
        many = max(least * min(LARGE // (SINGLE.size * numbers), MANY // self._size), 1)
        self._many = math.inf if has_streams else many
        self._pace: dict[Any, float] = {}  # seconds per sample, by type
        self._times: dict[tuple[int, int], list[float]] = {}  # seconds per sample, by size of the batch and threads
        self._copies = not has_streams and not gathers(spec, SINGLE.size, self._target.lanes(SINGLE.size))
        self._double, self._has_single = self._gufunc(DOUBLE), False
        self.call = self._double.call

    @once_property
    def program(self) -> Program:
        """Return the verified program."""
        return self.spec.program()

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """Evaluate the program on every sample; NumPy's own errors on arguments that do not fit."""
        if out is not None:
            # NumPy lets a result lie exactly on its input; the last vector would read rows again that are written then
            arrays = tuple(x if apart((x,), _several(out)) else np.array(x) for x in arrays)
        return self.evaluate(arrays, out)

    def evaluate(self, arrays: Sequence[Any], out: Any) -> Any:
        """Evaluate the program on arrays that are apart from `out`."""
        if not self._has_single and getattr(arrays[0], "dtype", None) is not _DOUBLE:
            arrays = [np.asarray(x) for x in arrays]
            if all(np.can_cast(x.dtype, np.float32) for x in arrays):
                self.call = self._both.call
                self._has_single = True
        if not self._counters:
            return self._staged(arrays, out) if self._copies else self._evaluated(arrays, out)
        before = self._unallocated()
        result = self._staged(arrays, out) if self._copies else self._evaluated(arrays, out)
        if self._unallocated() != before:  # in any thread: a call beside one that failed may raise too
            raise AllocationError(
                f"{self.spec.name}: out of memory for the fields of the bodies; free memory, or use fewer threads"
            )
        return result

    def _unallocated(self) -> int:
        """Return how often programs of loops have got no memory, and returned without results."""
        return sum(counter.value for counter in self._counters)

    @once_property
    def _both(self) -> Gufunc:
        """Return the loops of both precisions, of which NumPy takes the first that is wide enough."""
        return self._gufunc(SINGLE, DOUBLE)

    def _gufunc(self, *reals: Real) -> Gufunc:
        spec = self.spec
        loops = {real.code: int(self._engine(real).get_function_address("loop")) for real in reals}
        found = (self._engine(real).get_global_value_address(UNALLOCATED) for real in reals)
        limits = {real.code: self._engine(real).get_global_value_address("limit") for real in reals}
        self._limits = {code: ctypes.c_int64.from_address(address) for code, address in limits.items() if address}
        self._counters = [ctypes.c_int64.from_address(address) for address in found if address]
        return Gufunc(spec.name, f"Native code of {spec.name}.", spec.inputs, spec.outputs, loops)

    def _staged(self, arrays: Sequence[Any], out: Any) -> Any:
        """Evaluate a program that needs rows side by side; other places of `out` are written afterwards."""
        given = [np.ascontiguousarray(array) for array in arrays]
        if out is None:
            return self._evaluated(given, None)
        kind = np.result_type(*given)
        places = [x if _is_dense(x, kind) else None for x in _several(out)]
        return write_out(list(_several(self._evaluated(given, tuple(places)))), out)

    def _evaluated(self, arrays: Sequence[Any], out: Any) -> Any:
        for array in arrays:
            if getattr(array, "size", 0) >= self._many:
                return self._batch(arrays, out)
        return self.call(*arrays) if out is None else self.call(*arrays, out=out)

    def _batch(self, arrays: Sequence[Any], out: Any) -> Any:
        """Evaluate a large batch in blocks, on as many threads as make it faster; unusual arguments go to NumPy."""
        given = [np.asarray(array) for array in arrays]
        axes = {x.shape[: x.ndim - own] for x, own in zip(given, self._core, strict=True)}
        shape = axes.pop() if len(axes) == 1 else np.broadcast_shapes(*axes)
        kind, ports = given[0].dtype, self.spec.outputs
        places = (None,) * len(ports) if out is None else _several(out)
        is_plain = (
            kind in (np.float32, np.float64) and all(x.dtype == kind for x in given) and len(places) == len(ports)
        )
        if (
            not is_plain
            or not shape
            or not all(_takes(x, shape + p.shape, kind) for x, p in zip(places, ports, strict=True))
        ):
            return self.call(*given) if out is None else self.call(*given, out=out)
        results = [empty(shape + p.shape, kind) if x is None else x for x, p in zip(places, ports, strict=True)]
        samples = math.prod(shape)
        work = samples * self._pace.get(kind, self._size * PACE)
        parts, height = self._parts(samples, min(workers(work), shape[0])), BLOCK * shape[0] // (samples * self._size)
        start = time.perf_counter()
        if parts == 1 and height >= shape[0]:
            self.call(*given, out=tuple(results))
        else:
            share(self.call, given, self._core, results, max(height, 1), parts)
        seconds = (time.perf_counter() - start) / samples
        self._pace[kind] = pace = min(self._pace.get(kind, math.inf), parts * seconds)
        if kind.char in self._limits:  # from which on the short way leaves batches to this one
            self._limits[kind.char].value = int(2 * WORTH / pace)
        tried = self._times.setdefault((samples.bit_length(), parts), [])
        if len(tried) < TRIES:
            tried.append(seconds)
        return tuple(results) if len(results) > 1 else results[0]

    def _parts(self, samples: int, most: int) -> int:
        """Return how many threads share a batch: one or the most, whichever took less time for batches of this size.

        Two cores may be one with two names, or busy: then one thread is faster. Both are tried a few times first.
        """
        if most == 1:
            return 1
        times = {parts: self._times.get((samples.bit_length(), parts), []) for parts in (most, 1)}
        for parts, found in times.items():
            if len(found) < TRIES:
                return parts
        return min(times, key=lambda parts: min(times[parts]))

    @property
    def _size(self) -> int:
        """Return a rough number of operations per sample, without making the tape."""
        return 16 * sum(port.size for port in (*self.spec.inputs, *self.spec.outputs))

    def _engine(self, real: Real) -> Any:
        """Return the code for a scalar type, from the cache or freshly compiled."""
        spec, target = self.spec, self._target
        write = lambda: modules(self.program, real, target)  # noqa: E731
        return once(self, real, lambda: native.load(spec.name, spec.fingerprint, real, target, write))

    def fast_call(self, general: Any) -> Any:
        """Return a callable that takes plain arrays the short way and passes all else to `general`.

        `general` is what a call means; the short way only spares it. The callable keeps it, and through it this kernel.
        Single precision has a short way once it is compiled.
        """
        if not (callables.available() and has_fast_call(self.spec)):
            return general

        short = general

        def other(*arguments: Any) -> Any:
            nonlocal short
            if short is general and self._has_single:
                short = self._builtin(SINGLE, general)
            return short(*arguments)

        return self._builtin(DOUBLE, other)

    def _builtin(self, real: Real, general: Any) -> Any:
        engine = self._engine(real)
        places = (int(engine.get_function_address("fast_call")), int(engine.get_global_value_address("context")))
        return callables.builtin(self.spec.name, real, places, self.spec.outputs, general)


def _several(x: Any) -> Sequence[Any]:
    return x if isinstance(x, tuple) else (x,)


def _is_dense(place: Any, kind: Any) -> bool:
    """Return whether a place can be written row by row as it is."""
    return isinstance(place, np.ndarray) and place.dtype == kind and bool(place.flags.carray)


def _takes(place: Any, shape: tuple[int, ...], kind: Any) -> bool:
    """Return whether results of a shape and type can be written to a place as it is; None is one to be made."""
    return place is None or (isinstance(place, np.ndarray) and place.shape == shape and place.dtype == kind)


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
        results = []
        for port, own in spans(self.spec.outputs):
            block = np.array(self._values[own.start : own.stop], dtype=kind).reshape(port.shape)
            results.append(np.broadcast_to(block, leading + port.shape).copy())
        return write_out(results, out)

    def fast_call(self, general: Any) -> Any:
        """Return the general callable: there is no shorter way."""
        return general
