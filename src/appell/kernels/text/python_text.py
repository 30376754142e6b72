"""Python text of tapes, for packages that trace Python themselves: what the targets CasADi and JAX share.

A :class:`Dialect` is a table from operation to text with the lines around it. A value has a line of its own, in the
order of the tape; the text depends on the program alone, so the same robot gives the same bytes. What is returned in
memory is made by running the very text that would be written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from appell.kernels.text.c99 import Function, Sheet
from appell.read.extras import extra
from appell.syntax import python_docstring
from appell.trace.expr import Op
from appell.trace.tape import Tape

ARITHMETIC = {
    Op.ADD: "{0} + {1}",
    Op.SUB: "{0} - {1}",
    Op.MUL: "{0} * {1}",
    Op.DIV: "{0} / {1}",
    Op.NEG: "-{0}",
}
"""What is the same in every package: its arrays have Python's operators."""


@dataclass(frozen=True)
class Dialect:
    """How a package is written: its name, its operations, its remarks, and the lines around a program's values."""

    package: str
    expressions: dict[Op, str]
    remarks: tuple[str, ...]
    preamble: str
    """Imports, and what every function uses."""
    function: Callable[[Function, list[str], list[str]], list[str]]
    """Lines of a function, given its docstring, its values line by line, and its results by name."""


def python_text(sheet: Sheet, dialect: Dialect) -> str:
    """Return the module of a sheet's functions."""
    lines = ['"""', *(python_docstring(line) for line in (sheet.title, "", *sheet.remarks, *dialect.remarks)), '"""']
    lines[:2] = [lines[0] + lines[1]]
    lines += ["", dialect.preamble.strip("\n")]
    for function in sheet.functions:
        lines += ["", "", *_function(function, dialect)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def run_text(text: str, names: Sequence[str], dialect: Dialect) -> tuple[Any, ...]:
    """Return what a module's text defines under the names, in this process."""
    extra(dialect.package, "export: a function in memory needs the package", "give a path to write to")
    namespace: dict[str, Any] = {"__name__": f"appell_{dialect.package}"}
    exec(compile(text, f"<appell for {dialect.package}>", "exec"), namespace)
    return tuple(namespace[name] for name in names)


def _function(function: Function, dialect: Dialect) -> list[str]:
    tape, words = function.tape, function.words
    names = [f"{port.name}[{k}]" for port in tape.inputs for k in range(port.size)]
    lines = []
    for i, step in enumerate(tape.steps, tape.n_inputs):
        if step.op is Op.CONST:
            names.append(repr(step.value))
        else:
            lines.append(f"x{i} = {dialect.expressions[step.op].format(*(names[j] for j in step.args))}")
            names.append(f"x{i}")
    docstring = [function.text[:1].upper() + function.text[1:] + ".", ""]
    for name, port, is_result in function.arguments():
        shape = ", ".join(map(str, port.shape)) or "one number"
        docstring.append(f"{name:<10} {'out' if is_result else 'in '}  ({shape}) {words[port.name]}")
    return dialect.function(function, [python_docstring(line) for line in docstring], [*lines, *_results(tape, names)])


def _results(tape: Tape, names: list[str]) -> list[str]:
    """Return a line per result: its numbers as a list, row by row."""
    lines, start = [], 0
    for k, port in enumerate(tape.outputs):
        values = (names[i] for i in tape.results[start : start + port.size])
        lines.append(f"r{k} = [{', '.join(values)}]")
        start += port.size
    return lines


def documentation(lines: Sequence[str], indent: str) -> list[str]:
    """Return a docstring's lines."""
    first, *rest = lines
    return [f'{indent}"""{first}', *(f"{indent}{line}" for line in rest), f'{indent}"""']
