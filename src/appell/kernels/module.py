"""From a program to the text of an LLVM module: the loop NumPy calls, the short way for one sample, and the rows."""

from __future__ import annotations

from appell.kernels import direct, emit, planned, rolled
from appell.kernels.loop import HasPorts, loop
from appell.kernels.rolled import Rolled
from appell.kernels.target import Target
from appell.kernels.writer import DOUBLE, Real
from appell.trace.tape import Tape


def module(program: Tape | Rolled, real: Real, target: Target) -> str:
    """Return the text of an LLVM module that defines `@loop`, and `@direct` where there is a short way."""
    lanes = target.lanes(real.size)
    root = f"@llvm.sqrt.v{lanes}f{8 * real.size}"
    vector = f"<{lanes} x {real.name}>"
    parts = [
        rolled.rows(program, real, lanes, target)
        if isinstance(program, Rolled)
        else (planned if len(program.steps) > planned.LONG else emit).rows(program, real, lanes, target),
        loop(program, real.name, real.size, lanes),
        direct.text(program, lanes) if has_direct(program, real) else "",
        f"declare {vector} @llvm.sqrt({vector})",
        '!0 = !{!"branch_weights", i32 1, i32 1000000}',
        "!1 = !{}",
    ]
    return "\n".join(parts).replace("@llvm.sqrt(", f"{root}(")


def has_direct(tape: HasPorts, real: Real) -> bool:
    """Return whether a module of these ports and type defines `@direct`."""
    return real is DOUBLE and direct.takes(tape.inputs, tape.outputs)
