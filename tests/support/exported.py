"""Programs without a robot as exported functions, in C and in JAX."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.kernels.text.c99 import Function, Sheet, header_text, source_text
from appell.kernels.text.c99_values import REALS
from appell.kernels.text.jax import JAX
from appell.kernels.text.python_text import Dialect, python_text, run_text
from appell.program.nodes import Program
from tests.support.compilers import Compiler, built


def sheet(program: Program) -> Sheet:
    """Return a sheet of one function, "f"."""
    ports = (*program.inputs, *program.outputs)
    words = {port.name: f"the {port.name}" for port in ports}
    extents = {port.name: tuple(map(str, port.shape)) for port in ports}
    return Sheet("A test.", (), (), (Function("f", program, "a function", words, extents),))


def in_python(program: Program, dialect: Dialect = JAX) -> Any:
    """Return a program as a function of JAX's or CasADi's."""
    (function,) = run_text(python_text(sheet(program), dialect), ["f"], dialect)
    return function


def written(program: Program, folder: Path, *, libm: bool = True, real: str = "double") -> Path:
    """Return the C file of a program, a header beside it."""
    made = sheet(program)
    (folder / "f.h").write_text(header_text(made, "f", REALS[real], "f"))
    (folder / "f.c").write_text(source_text(made, "f", REALS[real], "f", libm=libm))
    return folder / "f.c"


def in_c(program: Program, compiler: Compiler, folder: Path, *, libm: bool = True, real: str = "double") -> Any:
    """Return a program as a compiled function of arrays, numbers (float) and counts (int)."""
    file = written(program, folder, libm=libm, real=real)
    function = built(compiler, file, *(["-lm"] if libm else ["-nostdlib"])).f
    number = ctypes.c_double if real == "double" else ctypes.c_float

    def called(*arguments: Any) -> None:
        kinds = {int: ctypes.c_int, float: number}
        function(*(kinds[type(x)](x) if type(x) in kinds else ctypes.c_void_p(x.ctypes.data) for x in arguments))

    return called


MAIN = """
#include "f.h"
#include <stdio.h>

{arrays}

int main(void)
{{
    f({arguments});
{prints}
    return 0;
}}
"""


def watched(program: Program, compiler: Compiler, folder: Path, *arguments: Any, libm: bool = True) -> NDArray[Any]:
    """Return all numbers that a program's C gives of arguments under sanitizers; the last are places of results."""
    file = written(program, folder, libm=libm)
    arrays, names, prints = [], [], []
    for k, x in enumerate(arguments):
        is_array = isinstance(x, np.ndarray)
        numbers = ", ".join(float(y).hex() for y in np.nan_to_num(np.ravel(x)))
        arrays += [f"static double a{k}[{x.size}] = {{{numbers}}};"] if is_array else []
        names.append(f"a{k}" if is_array else repr(x))
    for k in range(len(arguments) - len(program.outputs), len(arguments)):
        size = arguments[k].size
        prints.append(f'    for (int i = 0; i < {size}; i++) {{ printf("%a ", a{k}[i]); }}')
    main = folder / "main.c"
    main.write_text(MAIN.format(arrays="\n".join(arrays), arguments=", ".join(names), prints="\n".join(prints)))
    watch = (compiler.sanitizers, "-fno-sanitize-recover=all")
    compiler.build("-O1", *watch, file, main, "-o", folder / "program", "-lm")
    done = subprocess.run([folder / "program"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return np.array([float.fromhex(x) for x in done.stdout.split()])
