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
from appell.kernels.llvm.llvm_writer import DOUBLE, SINGLE, Real, function
from appell.kernels.llvm.target import host
from appell.kernels.runtime import native
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.trace.tape import Port

# Offsets of fields in bytes: of the call frame, …
EXTENSION, API, ARGUMENTS, RESULTS = 8, 16, 72, 112
# … of an extension and the metadata that it asks for, …
EXTENSION_TYPE, METADATA, VERSION, TRAITS = 8, 24, 24, 32
# … of the interface, and of a buffer.
API_VERSION, DATA, RANK, DIMENSIONS = 32, 24, 32, 40
ASKS_METADATA = 1
"""The type of the extension by which XLA asks for the version of a handler."""


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
    steps = ", ".join(f"i64 {x}" for x in numbers)
    lines = [
        *_field("extension", "ptr", "%frame", EXTENSION),
        "%is_call = icmp eq ptr %extension, null",
        "br i1 %is_call, label %run, label %asked",
        "asked:",
        *_field("type", "i32", "%extension", EXTENSION_TYPE),
        f"%asks = icmp eq i32 %type, {ASKS_METADATA}",
        "br i1 %asks, label %answer, label %run",
        "answer:",  # that it was written for the version that asks: the fields above are those of all so far
        *_field("metadata", "ptr", "%extension", METADATA),
        *_field("api", "ptr", "%frame", API),
        *_field("version", "i64", "%api", API_VERSION),
        f"%version_to = getelementptr i8, ptr %metadata, i64 {VERSION}",
        "store i64 %version, ptr %version_to, align 4",
        f"%traits = getelementptr i8, ptr %metadata, i64 {TRAITS}",
        "store i32 0, ptr %traits, align 4",
        "ret ptr null",
        "run:",
        *_field("arguments", "ptr", "%frame", ARGUMENTS),
        *_field("results", "ptr", "%frame", RESULTS),
        f"%places = alloca [{len(ports)} x ptr], align 8",
        "%count = alloca i64, align 8",
    ]
    for k in range(len(ports)):
        side, at = ("%arguments", k) if k < len(spec.inputs) else ("%results", k - len(spec.inputs))
        lines += [
            *_field(f"buffer{k}", "ptr", side, 8 * at),
            *_field(f"data{k}", "ptr", f"%buffer{k}", DATA),
            f"%place{k} = getelementptr ptr, ptr %places, i64 {k}",
            f"store ptr %data{k}, ptr %place{k}, align 8",
        ]
    lines += [
        *_field("rank", "i64", "%buffer0", RANK),
        *_field("dimensions", "ptr", "%buffer0", DIMENSIONS),
        "%leading = sub i64 %rank, 1",
        "br label %next",
        "next:",
        "%i = phi i64 [ 0, %run ], [ %i_next, %multiply ]",
        "%n = phi i64 [ 1, %run ], [ %n_next, %multiply ]",
        "%more = icmp slt i64 %i, %leading",
        "br i1 %more, label %multiply, label %call",
        "multiply:",
        "%dimension_at = getelementptr i64, ptr %dimensions, i64 %i",
        "%dimension = load i64, ptr %dimension_at, align 8",
        "%n_next = mul i64 %n, %dimension",
        "%i_next = add i64 %i, 1",
        "br label %next",
        "call:",
        "store i64 %n, ptr %count, align 8",
        f"call void inttoptr (i64 {loop} to ptr)(ptr %places, ptr %count, ptr @steps, ptr null)",
        "ret ptr null",
    ]
    table = f"@steps = internal constant [{len(numbers)} x i64] [{steps}]\n"
    return table + function("ptr @handler(ptr %frame)", lines)


def _field(name: str, kind: str, record: str, offset: int) -> list[str]:
    """Return the lines that load a field of a record."""
    at = f"%{name}_at = getelementptr i8, ptr {record}, i64 {offset}"
    return [at, f"%{name} = load {kind}, ptr %{name}_at, align {4 if kind == 'i32' or name == 'version' else 8}"]


def _strides(port: Port, size: int) -> list[int]:
    """Return the strides in bytes of a port's own axes, in C order."""
    strides = []
    for extent in reversed(port.shape):
        strides.append(size)
        size *= extent
    return strides[::-1]
