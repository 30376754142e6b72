"""From a program to the text of LLVM modules: the loop NumPy calls, the short way for one sample, and the rows."""

from __future__ import annotations

from collections.abc import Iterator

from appell.kernels.llvm import emit, rolled_ir, scheduled
from appell.kernels.llvm.llvm_writer import Real, module_text
from appell.kernels.llvm.target import Target
from appell.kernels.llvm.ufunc_loop import HasPorts, ufunc_loop
from appell.kernels.rolled import Rolled
from appell.kernels.runtime import fast_call
from appell.trace.tape import Tape


def modules(program: Tape | Rolled, real: Real, target: Target) -> Iterator[str]:
    """Yield the texts of LLVM modules; the first defines `@loop`, and `@fast_call` where there is a short way."""
    lanes = target.lanes(real.size)
    rows: Iterator[str]
    if isinstance(program, Rolled):
        rows = iter([rolled_ir.rows(program, real, lanes, target)])
    elif scheduled.suits(program, target):
        rows = scheduled.rows(program, real, lanes, target)
    else:
        rows = iter([emit.rows(program, real, lanes, target)])
    failures = rolled_ir.UNALLOCATED if isinstance(program, Rolled) else ""
    short = fast_call.text(program, real, lanes, failures) if has_fast_call(program) else ""
    yield module_text([next(rows), ufunc_loop(program, real, lanes), short], real, lanes)
    yield from (module_text([text], real, lanes) for text in rows)


def has_fast_call(tape: HasPorts) -> bool:
    """Return whether a module of these ports defines `@fast_call`."""
    return fast_call.takes(tape.inputs, tape.outputs)
