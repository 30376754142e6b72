"""From a program to the text of an LLVM module: the loop NumPy calls, the short way for one sample, and the rows."""

from __future__ import annotations

from appell.kernels.llvm import emit, rolled_ir, scheduled
from appell.kernels.llvm.llvm_writer import DOUBLE, Real, module_text
from appell.kernels.llvm.target import Target
from appell.kernels.llvm.ufunc_loop import HasPorts, ufunc_loop
from appell.kernels.rolled import Rolled
from appell.kernels.runtime import fast_call
from appell.trace.tape import Tape


def module(program: Tape | Rolled, real: Real, target: Target) -> str:
    """Return the text of an LLVM module that defines `@loop`, and `@fast_call` where there is a short way."""
    lanes = target.lanes(real.size)
    parts = [
        rolled_ir.rows(program, real, lanes, target)
        if isinstance(program, Rolled)
        else (scheduled if scheduled.suits(program) else emit).rows(program, real, lanes, target),
        ufunc_loop(program, real, lanes),
        fast_call.text(program, lanes) if has_fast_call(program, real) else "",
    ]
    return module_text(parts, real, lanes)


def has_fast_call(tape: HasPorts, real: Real) -> bool:
    """Return whether a module of these ports and type defines `@fast_call`."""
    return real is DOUBLE and fast_call.takes(tape.inputs, tape.outputs)
