"""Kernels: a program compiled to native code and called with arrays.

If the cache holds code under a spec's text, neither tracing nor compiling takes place.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from appell.kernels.llvm.llvm_writer import DOUBLE, SINGLE, Real
from appell.kernels.llvm.module import has_fast_call, module
from appell.kernels.llvm.target import Target, host
from appell.kernels.llvm.ufunc_loop import gathers
from appell.kernels.rolled import Rolled
from appell.kernels.runtime import fast_call, native
from appell.kernels.runtime.gufunc import LOOP, Gufunc
from appell.kernels.runtime.program_spec import ProgramSpec, write_out
from appell.kernels.runtime.threads import pool, share
from appell.trace.tape import Tape
from appell.trace.verify import verify

SPLIT = 1 << 24
"""Operations times samples below which starting threads costs more than it saves."""
BLOCK = 1 << 26
"""Operations times samples of one native call, milliseconds to tens of them: Ctrl-C acts between calls."""


class Kernel:
    """A compiled program. Call it with arrays whose last axes are the ports' shapes; leading axes broadcast.

    Double precision is compiled at once, single precision when it is first asked for.
    """

    def __init__(self, spec: ProgramSpec, target: Target | None = None) -> None:
        self.spec, self._target = spec, target or host()
        self._tape: Tape | Rolled | None = None
        self._engines: list[Any] = []
        self._failure: BaseException | None = None
        self._fast_calls: list[fast_call.FastCall] = []
        self._core = [len(port.shape) for port in spec.inputs]
        self._copies = not gathers(spec, SINGLE.size, self._target.lanes(SINGLE.size))
        self._lazy = LOOP(self._compile_single)
        loops = {SINGLE.code: ctypes.cast(self._lazy, ctypes.c_void_p).value or 0, DOUBLE.code: self._compile(DOUBLE)}
        self._gufunc = Gufunc(spec.name, f"Native code of {spec.name}.", spec.inputs, spec.outputs, loops)
        self.call = self._gufunc.call  # for those who keep the kernel: the code behind it goes when the kernel does

    @property
    def tape(self) -> Tape | Rolled:
        """Return the verified program, made on first use."""
        if self._tape is None:
            made = self.spec.make()
            self._tape = made.verified() if isinstance(made, Rolled) else verify(made)
        return self._tape

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """Evaluate the program on every sample; NumPy's own errors on arguments that do not fit."""
        result = self._evaluated(arrays, out)
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        return result

    def _evaluated(self, arrays: tuple[Any, ...], out: Any) -> Any:
        if self._copies:
            arrays = tuple(np.ascontiguousarray(array) for array in arrays)
        if out is not None:
            return self._into(arrays, out)
        if any(getattr(array, "size", 0) > SPLIT >> 10 for array in arrays):
            return self._shared(arrays)
        return self.call(*arrays)

    def _into(self, arrays: tuple[Any, ...], out: Any) -> Any:
        # NumPy lets a result lie exactly on its input; the last vector would read rows again that are written by then
        arrays = tuple(np.array(x) if any(overlap(x, place) for place in _several(out)) else x for x in arrays)
        if not self._copies:
            return self.call(*arrays, out=out)
        return write_out(list(_several(self.call(*arrays))), out)

    def _shared(self, arrays: tuple[Any, ...]) -> Any:
        """Evaluate a large batch in blocks on the threads; anything unusual goes to NumPy as it is."""
        given = [np.asarray(array) for array in arrays]
        leading = [array.shape[: array.ndim - own] for array, own in zip(given, self._core, strict=True)]
        shape = np.broadcast_shapes(*leading)
        samples = int(np.prod(shape, dtype=int))
        single = all(array.dtype == np.float32 for array in given)
        plain = single or all(array.dtype == np.float64 for array in given)
        if not plain or not shape or shape[0] < pool.count or samples * self._size < SPLIT:
            return self.call(*given)
        kind = np.float32 if single else np.float64
        outputs = tuple(np.empty(shape + port.shape, kind) for port in self.spec.outputs)
        share(self.call, given, self._core, outputs, max(BLOCK * shape[0] // (samples * self._size), 1))
        return write_out(list(outputs), None)

    @property
    def _size(self) -> int:
        """Return a rough number of operations per sample, without making the tape."""
        return 16 * sum(port.size for port in (*self.spec.inputs, *self.spec.outputs))

    def _compile(self, real: Real) -> int:
        """Return the address of the loop for a scalar type, from the cache or freshly compiled."""
        spec, target = self.spec, self._target
        engine = native.load(spec.name, spec.fingerprint, real, target, lambda: module(self.tape, real, target))
        self._engines.append(engine)
        return int(engine.get_function_address("loop"))

    def fast_call(self, general: Any) -> Any:
        """Return a callable that takes one float64 sample the short way and passes all else to `general`.

        `general` is what a call means; the short way only spares it. The callable keeps it, and through it this kernel.
        """
        if not (fast_call.available() and has_fast_call(self.spec, DOUBLE)):
            return general
        engine = self._engines[0]
        places = (int(engine.get_function_address("fast_call")), int(engine.get_global_value_address("context")))
        made = fast_call.FastCall(self.spec.name, *places, general)
        self._fast_calls.append(made)
        return made.call

    def _compile_single(self, *arguments: int) -> None:
        """Stand in for the single-precision loop on its first call: compile it, take its place, run it.

        NumPy calls this through ctypes, which drops exceptions: what fails, or Ctrl-C, is raised after the call.
        """
        try:
            address = self._compile(SINGLE)
            self._gufunc.replace(0, address)
            LOOP(address)(*arguments)
        except BaseException as failure:
            self._failure = failure


def _several(x: Any) -> Sequence[Any]:
    return x if isinstance(x, tuple) else (x,)


def overlap(x: Any, place: Any) -> bool:
    """Return whether two arrays may share memory."""
    return isinstance(x, np.ndarray) and isinstance(place, np.ndarray) and np.may_share_memory(x, place)
