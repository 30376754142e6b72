"""C compilers for exported code."""

from __future__ import annotations

import ctypes
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion", "-Wshadow", "-Wdouble-promotion")


class Compiler(NamedTuple):
    """A C compiler: how it is called, and what it can watch while a program runs."""

    name: str
    command: tuple[str, ...]
    sanitizers: str

    def build(self, *arguments: object) -> None:
        """Compile, every warning an error."""
        command = [*self.command, *WARNINGS, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def compilers() -> list[Compiler]:
    """Return gcc where it is, and clang: the machine's, or the one that the wheel of Zig brings."""
    both = "-fsanitize=address,undefined"
    found = [Compiler(name, (name,), both) for name in ("gcc", "clang") if shutil.which(name)]
    if all(one.name != "clang" for one in found) and importlib.util.find_spec("ziglang"):
        zig = (sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined")  # which Zig adds unasked
        found.append(Compiler("clang", zig, "-fsanitize=undefined"))
    return found


def built(compiler: Compiler, file: Path, *flags: str) -> ctypes.CDLL:
    """Return a shared library of a C file that may use nothing but what is in it, or in libm with -lm."""
    library = file.with_suffix(f".{compiler.name}.so")
    compiler.build("-O1", "-fPIC", "-shared", "-Wl,--no-undefined", file, "-o", library, *flags)
    return ctypes.CDLL(str(library))


def called(
    function: Any, inputs: Sequence[ArrayLike], sizes: Sequence[int], dtype: type = np.float64
) -> tuple[list[NDArray[Any]], list[int]]:
    """Return the results of a C function on each sample, and the codes that it returned."""
    kind = ctypes.POINTER(ctypes.c_double if dtype is np.float64 else ctypes.c_float)
    given: list[NDArray[Any]] = [np.ascontiguousarray(x, dtype=dtype) for x in inputs]
    results: list[NDArray[Any]] = [np.empty((len(given[0]), size), dtype=dtype) for size in sizes]
    codes = []
    for k in range(len(given[0])):
        codes.append(function(*(x[k].ctypes.data_as(kind) for x in (*given, *results))))
    return results, codes


def exported_function(library: ctypes.CDLL, file: Path) -> Any:
    """Return the function that the header of a C file declares first."""
    name = re.search(r"(\w+)\(\s*const", file.with_suffix(".h").read_text())
    assert name is not None
    return getattr(library, name[1])


def relative(found: NDArray[Any], expected: NDArray[Any]) -> float:
    """Return the greatest difference, relative to the greatest entry."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())
