"""From the texts of LLVM modules to code in memory, by way of the cache."""

from __future__ import annotations

import contextlib
import gc
import os
import struct
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from ctypes import string_at
from itertools import chain, islice
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding import ffi

from appell.errors import CompileError
from appell.kernels.llvm.llvm_writer import Real
from appell.kernels.llvm.target import Target, host
from appell.kernels.runtime import cache, progress

LENGTH = struct.Struct("<Q")


def processor() -> str:
    """Return LLVM's name of this machine's processor."""
    return host().cpu


def load(name: str, fingerprint: str, real: Real, target: Target, write: Callable[[], Iterable[str]]) -> Any:
    """Return the engine that holds a program's code and the addresses in it.

    If the cache has no code under the name and fingerprint, `write` makes the texts of modules, which are compiled and
    kept.
    """
    entry = cache.digest(name, fingerprint, real.name, target.cpu, target.features)
    code = cache.load(entry)
    if code is None:
        with progress.compiling(name):
            code = _joined(_compiled(name, write, target))
        cache.save(entry, code)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target.machine())
    for part in _split(code):
        engine.add_object_file(llvm.ObjectFileRef.from_data(part))
    engine.finalize_object()
    return engine


def _compiled(name: str, write: Callable[[], Iterable[str]], target: Target) -> list[bytes]:
    """Return the code of modules; several are compiled on all cores, while further texts are made."""
    with _uncollected():
        texts = iter(write())
        some = list(islice(texts, 2))
        if len(some) == 1:
            return [object_code(name, some[0], target)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            started = [pool.submit(object_code, name, text, target) for text in chain(some, texts)]
    return [task.result() for task in started]


def _joined(parts: list[bytes]) -> bytes:
    """Return object files as one, each after its length."""
    return b"".join(LENGTH.pack(len(part)) + part for part in parts)


def _split(code: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(code):
        (size,) = LENGTH.unpack_from(code, start)
        start += LENGTH.size + size
        yield code[start - size : start]


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector from visiting the many objects of a program while it is made: a third of that time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def object_code(name: str, text: str, target: Target) -> bytes:
    """Return the native code of a module as an object file."""
    try:
        parsed = llvm.parse_assembly(text, llvm.create_context())
        parsed.verify()
        return _emitted(target.machine(), parsed)
    except RuntimeError as error:
        raise CompileError(f"LLVM could not compile '{name}' for '{target.cpu}': {error}") from error


def _emitted(machine: Any, parsed: Any) -> bytes:
    """Return what ``machine.emit_object(parsed)`` does, while other threads do the same.

    llvmlite has one lock for all calls. LLVM needs none here: the module has a context, and this thread a machine, of
    its own.
    """
    emit = ffi.lib.LLVMPY_TargetMachineEmitToMemory
    with ffi.OutputString() as message:
        memory = getattr(emit, "_cfn", emit)(machine, parsed, 1, message)
        if not memory:
            raise RuntimeError(str(message))
    try:
        return string_at(ffi.lib.LLVMPY_GetBufferStart(memory), ffi.lib.LLVMPY_GetBufferSize(memory))
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(memory)
