"""From the texts of LLVM modules to code in memory, by way of the cache."""

from __future__ import annotations

import contextlib
import gc
import os
import struct
import sys
import threading
import time
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
from appell.kernels.runtime import cache

VARIABLE = "APPELL_PROGRESS"
"""The environment variable that switches the line off: "off" or "0"."""
AFTER, EVERY = 1.0, 0.5
"""Seconds until the line appears, and between its updates."""
_one_line = threading.Lock()
_silences: list[None] = []


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Show no line inside, as progress bars ask for that have the terminal to themselves.

    Examples
    --------
    >>> with silent(), compiling("inverse_dynamics"):
    ...     pass
    """
    _silences.append(None)
    try:
        yield
    finally:
        _silences.pop()


def switch_off() -> None:
    """Show no line in this process any more."""
    _silences.append(None)


@contextlib.contextmanager
def compiling(name: str) -> Iterator[None]:
    """Show what is compiled, and for how long, while the block runs longer than a second.

    Nothing is shown where stderr is no terminal, inside :func:`silent`, where ``APPELL_PROGRESS`` is "off", or while
    another thread shows its own line.

    Parameters
    ----------
    name
        The name of the program.

    Examples
    --------
    >>> with compiling("inverse_dynamics"):
    ...     pass
    """
    stream = sys.stderr
    if not _is_shown(stream) or not _one_line.acquire(blocking=False):
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(name, stream, done), daemon=True)
    try:
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
    finally:
        _one_line.release()


def _is_shown(stream: Any) -> bool:
    if _silences or os.environ.get(VARIABLE, "").lower() in ("off", "0"):
        return False
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # no stream, or one that is closed
        return False


def _show(name: str, stream: Any, done: threading.Event) -> None:
    start, width = time.monotonic(), 0
    with contextlib.suppress(OSError, ValueError):  # of a terminal that is gone
        while not done.wait(EVERY if width else AFTER):
            line = f"appell: compiling {name} ... {time.monotonic() - start:.0f} s"
            width = max(width, len(line))
            stream.write(f"\r{line}")
            stream.flush()
        if width:
            stream.write(f"\r{' ' * width}\r")
            stream.flush()


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
        with compiling(name):
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
