"""From a program to the text of LLVM modules: the loop NumPy calls, the short way for one sample, and the rows."""

from __future__ import annotations

from collections.abc import Iterator

from appell.kernels.llvm import fast_call, nodes_ir, scheduled
from appell.kernels.llvm.llvm_writer import Real, module_text
from appell.kernels.llvm.target import Target
from appell.kernels.llvm.ufunc_loop import ufunc_loop
from appell.program.nodes import Program


def modules(program: Program, real: Real, target: Target) -> Iterator[str]:
    """Yield the texts of LLVM modules; the first defines `@loop`, and `@fast_call` where there is a short way."""
    lanes = target.lanes(real.size)
    rows: Iterator[str]
    if scheduled.suits(program, target):
        rows = scheduled.rows(program, real, lanes, target)
    else:
        rows = iter([nodes_ir.rows(program, real, target)])
    failures = nodes_ir.UNALLOCATED if program.tables else ""
    short = fast_call.text(program, real, lanes, failures) if fast_call.has_fast_call(program) else ""
    yield module_text([next(rows), ufunc_loop(program, real, lanes), short], real, lanes)
    yield from (module_text([text], real, lanes) for text in rows)
