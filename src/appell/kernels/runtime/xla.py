"""Kernels that XLA calls: a handler of its foreign-function interface, in LLVM, around the loop that NumPy calls.

XLA hands a handler one record, whose layout is a stable C interface (xla/ffi/api/c_api.h of jaxlib): the buffers of
arguments and results with their dimensions. The handler counts the samples, lays out addresses and strides as NumPy
does, and calls the loop. No compiler is needed, and the interpreter is not involved.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm

from appell.kernels.llvm.entries import modules
from appell.kernels.llvm.llvm_writer import DOUBLE, SINGLE, Real, from_file
from appell.kernels.llvm.target import host
from appell.kernels.runtime import native
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.trace.tape import Port

DATA = 24
"""Offset of the address of the data in a buffer [bytes]."""


class Handler:
    """A program as a function that XLA calls, in one precision; it must live as long as XLA may call it."""

    def __init__(self, spec: ProgramSpec, *, is_single: bool) -> None:
        real, target = (SINGLE if is_single else DOUBLE), host()

        def write() -> Iterator[str]:
            return modules(spec.program(), real, target)

        self._loop = native.load(spec.name, spec.fingerprint, real, target, write)
        text = handler_text(spec, real, int(self._loop.get_function_address("loop")))
        self._engine: Any = llvm.create_mcjit_compiler(llvm.parse_assembly(text), target.machine())
        self._engine.finalize_object()
        self.address = ctypes.c_void_p(int(self._engine.get_function_address("handler")))


def handler_text(spec: ProgramSpec, real: Real, loop: int) -> str:
    """Return the LLVM text of `@handler` around the loop at an address of this process."""
    ports = (*spec.inputs, *spec.outputs)
    numbers = [real.size * port.size for port in ports]
    numbers += [stride for port in ports for stride in _strides(port, real.size)]
    buffers: list[str] = []
    for k in range(len(ports)):
        side, at = ("%arguments", k) if k < len(spec.inputs) else ("%results", k - len(spec.inputs))
        buffers += [f"%buffer{k}_at = getelementptr i8, ptr {side}, i64 {8 * at}"]
        buffers += [f"%buffer{k} = load ptr, ptr %buffer{k}_at, align 8"]
        buffers += [f"%data{k}_at = getelementptr i8, ptr %buffer{k}, i64 {DATA}"]
        buffers += [f"%data{k} = load ptr, ptr %data{k}_at, align 8"]
        buffers += [f"%place{k} = getelementptr ptr, ptr %places, i64 {k}"]
        buffers += [f"store ptr %data{k}, ptr %place{k}, align 8"]
    steps = ", ".join(f"i64 {x}" for x in numbers)
    lines = "\n".join(buffers)
    return from_file("handler", loop=loop, ports=len(ports), buffers=lines, count=len(numbers), steps=steps)


def _strides(port: Port, size: int) -> list[int]:
    """Return the strides in bytes of a port's own axes, in C order."""
    strides = []
    for extent in reversed(port.shape):
        strides.append(size)
        size *= extent
    return strides[::-1]
