"""From the text of an LLVM module to code in memory, by way of the cache."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm

from appell.errors import CompileError
from appell.kernels.llvm.llvm_writer import Real
from appell.kernels.llvm.target import Target
from appell.kernels.runtime import cache, progress


def load(name: str, fingerprint: str, real: Real, target: Target, write: Callable[[], str]) -> Any:
    """Return the engine that holds a program's code and the addresses in it.

    If the cache has no code under the name and fingerprint, `write` makes the text of the module, which is compiled and
    kept.
    """
    entry = cache.digest(name, fingerprint, real.name, target.cpu, target.features)
    code = cache.load(entry)
    if code is None:
        with progress.compiling(name):
            with _uncollected():
                text = write()
            code = object_code(name, text, target)
        cache.save(entry, code)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target.machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


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
        parsed = llvm.parse_assembly(text)
        parsed.verify()
        return bytes(target.machine().emit_object(parsed))
    except RuntimeError as error:
        raise CompileError(f"LLVM could not compile '{name}' for '{target.cpu}': {error}") from error
