"""CasADi of tapes: a module that builds a ``casadi.Function`` of each program, in scalar symbols (SX)."""

from __future__ import annotations

from appell.errors import InputError
from appell.kernels.text.c99 import Function
from appell.kernels.text.python_text import ARITHMETIC, Dialect, written_out
from appell.trace.expr import Op
from appell.trace.tape import spans

EXPRESSIONS = ARITHMETIC | {
    Op.SQRT: "casadi.sqrt({0})",
    Op.SIN: "casadi.sin({0})",
    Op.COS: "casadi.cos({0})",
    Op.SIGN: "casadi.sign({0})",
    Op.SELECT: "casadi.if_else({0} > 0, {1}, {2})",
}
"""What each operation is in CasADi."""

PREAMBLE = '''
import casadi


def _inputs(**sizes):
    """Return symbols, and their entries as lists."""
    symbols = [casadi.SX.sym(name, size) for name, size in sizes.items()]
    return symbols, *([symbol[k] for k in range(symbol.numel())] for symbol in symbols)


def _result(values, rows, columns):
    """Return a matrix of values that stand row by row."""
    return casadi.reshape(casadi.SX(casadi.vertcat(*values)), columns, rows).T
'''
REMARKS = (
    "",
    "Each name is a casadi.Function of columns; matrices are rows by columns. It is called with numbers (DM) and with",
    "symbols (SX, MX); casadi.jacobian, map, generate and solvers take it. Nothing is looked at: q is trusted to be a",
    "configuration, its quaternions of unit length. The derivative of sign is zero.",
)


def _lines(function: Function, words: list[str]) -> list[str]:
    tape = function.program.tape
    if tape is None:
        raise InputError(f"export: '{function.name}' has loops, CasADi takes straight-line programs; use 'jax' or 'c'")
    names = [f"{port.name}[{k}]" for port in tape.inputs for k in range(port.size)]
    lines, values = written_out(tape, names, EXPRESSIONS)
    results = [(name, port) for name, port, is_result in function.arguments() if is_result]
    sizes = ", ".join(f"{port.name}={port.size}" for port in tape.inputs)
    made = []
    for port, own in spans(port for _, port in results):
        rows, columns = (port.shape if len(port.shape) == 2 else (port.size, 1)) if port.shape else (1, 1)
        made.append(f"_result([{', '.join(values[i] for i in own)}], {rows}, {columns})")
    body = [
        f"symbols, {', '.join(port.name for port in tape.inputs)} = _inputs({sizes})",
        *lines,
        f"results = [{', '.join(made)}]",
        f"names = {[port.name for port in tape.inputs]!r}, {[name for name, _ in results]!r}",
        f'return casadi.Function("{function.name}", symbols, results, *names)',
    ]
    return [
        f"def _{function.name}():",
        *(f"    {line}" for line in body),
        "",
        "",
        f"{function.name} = _{function.name}()",
        f'"""{words[0]}',
        *words[1:],
        '"""',
    ]


CASADI = Dialect("casadi", REMARKS, PREAMBLE, _lines)
"""The target."""
