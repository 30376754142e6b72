"""Python text of programs, for packages that trace Python themselves: what the targets CasADi and JAX share.

A :class:`Dialect` is a package with the lines of a function. A value has a line of its own, in the order of the tape;
the text depends on the program alone, so the same robot gives the same bytes. What is returned in memory is made by
running the very text that would be written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from appell.extras import extra
from appell.kernels.text.c99 import Function, Sheet
from appell.kernels.text.c99_values import count_name
from appell.syntax import python_docstring
from appell.trace.expr import Op
from appell.trace.tape import Tape

ARITHMETIC = {Op.ADD: "{0} + {1}", Op.SUB: "{0} - {1}", Op.MUL: "{0} * {1}", Op.DIV: "{0} / {1}", Op.NEG: "-{0}"}
"""What is the same in every package: its arrays have Python's operators."""


@dataclass(frozen=True)
class Dialect:
    """How a package is written: its name, its remarks, and the lines of a function."""

    package: str
    remarks: tuple[str, ...]
    preamble: str
    """Imports, and what every function uses."""
    function: Callable[[Function, list[str]], list[str]]
    """Lines of a function, given its docstring."""


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
    docstring = [function.text[:1].upper() + function.text[1:] + ".", ""]
    for name, port, is_result in function.arguments():
        extents = (*(count_name(axis) for axis in port.axes), *map(str, port.shape))
        words = f"({', '.join(extents) or 'one number'}) {function.words[port.name]}"
        docstring.append(f"{name:<10} {'out' if is_result else 'in '}  {words}")
    return dialect.function(function, [python_docstring(line) for line in docstring])


def written_out(tape: Tape, names: Sequence[str], expressions: dict[Op, str]) -> tuple[list[str], list[str]]:
    """Return a line per value of a tape whose inputs have some names, and the text of every result."""
    lines, names = list[str](), list(names)
    for i, step in enumerate(tape.steps, tape.n_inputs):
        if step.op is Op.CONST:
            names.append(repr(step.value))
        else:
            lines.append(f"x{i} = {expressions[step.op].format(*(names[j] for j in step.args))}")
            names.append(f"x{i}")
    return lines, [names[i] for i in tape.results]


def documentation(lines: Sequence[str], indent: str) -> list[str]:
    """Return a docstring's lines."""
    first, *rest = lines
    return [f'{indent}"""{first}', *(f"{indent}{line}" for line in rest), f'{indent}"""']
