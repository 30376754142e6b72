"""C99 of tapes: the programs that are compiled natively, as text for a compiler of one's own.

A target is a table from operation to text (:data:`EXPRESSIONS`). The order of the values is that of the native code
(:mod:`appell.kernels.plan`), in which few are alive at a time; products stand in the sums that they are for. All
results are stored last, so arrays of a caller may overlap. The text depends on the program alone: the same robot gives
the same bytes.
"""

from __future__ import annotations

import re
import struct
import textwrap
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from appell.errors import CompileError
from appell.kernels.c99_math import sine_cosine_text, square_root_text
from appell.kernels.plan import TRIGONOMETRIC, Kind, instructions
from appell.trace.expr import Op
from appell.trace.tape import Port, Step, Tape

SUM, PRODUCT, ATOM = 1, 2, 3
"""How tightly C binds what an operation is written as."""


class Form(NamedTuple):
    """How an operation is written: its text, how tightly it binds, and how tightly each operand must."""

    text: str
    binds: int
    operands: tuple[int, ...]


EXPRESSIONS = {
    Op.ADD: Form("{0} + {1}", SUM, (SUM, PRODUCT)),
    Op.SUB: Form("{0} - {1}", SUM, (SUM, PRODUCT)),
    Op.MUL: Form("{0} * {1}", PRODUCT, (PRODUCT, ATOM)),
    Op.DIV: Form("{0} / {1}", PRODUCT, (PRODUCT, ATOM)),
    Op.NEG: Form("-{0}", SUM, (PRODUCT,)),
    Op.SQRT: Form("{sqrt}({0})", ATOM, (SUM,)),
    Op.SIN: Form("{sin}({0})", ATOM, (SUM,)),
    Op.COS: Form("{cos}({0})", ATOM, (SUM,)),
    # zero and not-a-number stay what they are
    Op.SIGN: Form("({0} > {zero} ? {one} : ({0} < {zero} ? -{one} : {0}))", ATOM, (ATOM,)),
    Op.SELECT: Form("({0} > {zero} ? {1} : {2})", ATOM, (SUM, SUM, SUM)),
}
"""What each operation is in C; constants and inputs are atoms of their own."""


@dataclass(frozen=True)
class Real:
    """A floating type of C: its name, the suffix of its numbers, and that of the functions of math.h."""

    name: str
    suffix: str

    def literal(self, value: float) -> str:
        """Return a number's exact spelling: decimal where that is short and exact, else hexadecimal with a comment.

        >>> REALS["double"].literal(0.5), REALS["double"].literal(9.81)
        ('0.5', '0x1.39eb851eb851fp+3 /* 9.81 */')
        >>> REALS["float"].literal(0.1)
        '0x1.99999ap-4f /* 0.1 */'
        """
        rounded = self.rounded(value)
        if len(text := f"{Decimal(rounded):f}") <= 10:
            return (text if "." in text else f"{text}.0") + self.suffix
        digits, power = rounded.hex().split("p")
        return f"{digits.rstrip('0') if '.' in digits else digits}p{power}{self.suffix} /* {value:.9g} */"

    def rounded(self, value: float) -> float:
        """Return a number as the type holds it."""
        if self.name == "double":
            return value
        try:
            return float(struct.unpack("<f", struct.pack("<f", value))[0])
        except OverflowError:
            raise CompileError(f"the constant {value:g} is too large for float; export with real='double'") from None


REALS = {"double": Real("double", ""), "float": Real("float", "f")}


@dataclass(frozen=True)
class Guard:
    """A result that says whether the others are to be trusted: the test that it fails, and the code that it gives."""

    port: str
    passes: str
    """What is true of a good value ``{x}``; numbers stand as ``{0}``, ``{1}``."""
    numbers: tuple[float, ...]
    code: str
    meaning: str
    is_delivered: bool = False


@dataclass(frozen=True)
class Function:
    """A function to be: its name, its tape, what it does, its arguments in words with their extents, its guards."""

    name: str
    tape: Tape
    text: str
    words: dict[str, str]
    extents: dict[str, tuple[str, ...]]
    guards: tuple[Guard, ...] = ()

    def arguments(self) -> list[tuple[str, Port, bool]]:
        """Return each argument's name, port, and whether it is a result; a result named as an input is ``…_out``."""
        hidden = {guard.port for guard in self.guards if not guard.is_delivered}
        inputs = [(port.name, port, False) for port in self.tape.inputs]
        taken = {name for name, _, _ in inputs}
        results = [port for port in self.tape.outputs if port.name not in hidden]
        return inputs + [(f"{p.name}_out" if p.name in taken else p.name, p, True) for p in results]


@dataclass(frozen=True)
class Sheet:
    """What goes into one pair of files: a title, remarks, macros with their meanings, functions."""

    title: str
    remarks: tuple[str, ...]
    macros: tuple[tuple[str, int, str], ...]
    functions: tuple[Function, ...]


WIDTH = 110
"""The longest declaration that stands on one line."""
CODES = {"NOT_UNIT": 1, "ROUGH": 2, "OUT_OF_REACH": 4}
"""What a function returns when a guard fails, added up."""


def header_text(sheet: Sheet, stem: str, real: Real, prefix: str) -> str:
    """Return the header: macros of sizes, and every function with its documentation."""
    guard = f"{identifier(stem).upper()}_H"
    lines = [*_comment([sheet.title, "", *sheet.remarks]), f"#ifndef {guard}", f"#define {guard}", ""]
    codes = dict.fromkeys(g.code for function in sheet.functions for g in function.guards)
    macros = [*sheet.macros, *((f"{prefix}_{code}".upper(), CODES[code], "returned: see below") for code in codes)]
    lines += [f"#define {name} {value} /* {plain(meaning)} */" for name, value, meaning in macros]
    lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for function in sheet.functions:
        lines += [*_comment(_documentation(function, prefix)), f"{_signature(function, real)};", ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join(lines) + "\n"


def source_text(sheet: Sheet, stem: str, real: Real, prefix: str, *, libm: bool) -> str:
    """Return the source file: the functions, after their own sine, cosine and root if math.h is not to be used."""
    used = {step.op for function in sheet.functions for step in function.tape.steps}
    lines = [*_comment([sheet.title, "", f"{stem}.h says how to call it."]), f'#include "{stem}.h"', ""]
    if libm and used & {*TRIGONOMETRIC, Op.SQRT}:
        lines += ["#include <math.h>", ""]
    has_sines, has_roots = not libm and bool(used & set(TRIGONOMETRIC)), not libm and Op.SQRT in used
    if has_sines or has_roots:
        lines += ["#include <stdint.h>", ""]
    if has_sines:
        lines += [sine_cosine_text(real.name, real.literal, REALS["double"].literal), ""]
    if has_roots:
        lines += [square_root_text(real.name), ""]
    for function in sheet.functions:
        lines += [_signature(function, real), "{", *_Body(function, real, prefix, libm=libm).lines, "}", ""]
    return "\n".join(lines[:-1]) + "\n"


def identifier(text: str) -> str:
    """Return a name that C can use: letters, digits and underscores, no digit first.

    >>> identifier("agile-wrist"), identifier("7dof arm"), identifier("é")
    ('agile_wrist', 'r7dof_arm', 'r')
    """
    name = re.sub(r"[^0-9A-Za-z]+", "_", text).strip("_")
    return name if name and not name[0].isdigit() else f"r{name}"


def plain(text: str) -> str:
    """Return text that may stand in a comment of C, whatever names of joints are in it.

    >>> plain("joint */ one"), plain("Gelenk ä")
    ('joint * / one', 'Gelenk &#228;')
    """
    ascii_only = "".join(c if c.isprintable() else " " for c in text).encode("ascii", "xmlcharrefreplace").decode()
    return ascii_only.replace("\\", "/").replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")


def _comment(lines: list[str]) -> list[str]:
    first, *rest = [plain(line) for line in lines]
    return [f"/* {first}", *(f" * {line}".rstrip() for line in rest), " */"]


def _signature(function: Function, real: Real) -> str:
    arguments = []
    for name, port, is_result in function.arguments():
        kind = real.name if is_result else f"const {real.name}"
        extent = " * ".join(function.extents[port.name]) or "1"
        if not port.shape and not is_result:  # a single number comes by value
            arguments.append(f"{kind} {name}")
        else:
            arguments.append(f"{kind} {name}[{extent}]" if port.size else f"{kind} *{name}")
    start = f"{'int' if function.guards else 'void'} {function.name}("
    line = f"{start}{', '.join(arguments)})"
    return line if len(line) <= WIDTH else start + ",".join(f"\n    {argument}" for argument in arguments) + ")"


def _documentation(function: Function, prefix: str) -> list[str]:
    rows = []
    for name, port, is_result in function.arguments():
        order = "; row by row" if len(port.shape) > 1 else ""
        rows.append(f"  {name:<10} {'out' if is_result else 'in '}  {function.words[port.name]}{order}")
    if function.guards:
        rows += ["", "Returns 0, or the sum of"]
        rows += [f"  {f'{prefix}_{guard.code}'.upper()}: {guard.meaning}" for guard in function.guards]
    return [*textwrap.wrap(f"{function.name}: {function.text}", WIDTH, subsequent_indent="  "), "", *rows]


class _Body:
    """The lines of one function: values in the order of the plan, then the results."""

    def __init__(self, function: Function, real: Real, prefix: str, *, libm: bool) -> None:
        self.tape, self.real, self.libm = function.tape, real, libm
        self.made: dict[int, str] = {}
        for port in self.tape.inputs:
            for k in range(port.size):
                self.made[len(self.made)] = f"{port.name}[{k}]" if port.shape else port.name
        names = {"sin": "sin", "cos": "cos", "sqrt": "sqrt" if libm else "square_root"}
        self.functions = {k: v + (real.suffix if libm else "") for k, v in names.items()}
        self.functions |= {"zero": real.literal(0.0), "one": real.literal(1.0)}
        read = {j for step in self.tape.steps for j in step.args} | set(self.tape.results)
        self.lines, start = [], 0
        for port in self.tape.inputs:
            if not read & set(range(start, start + port.size)):
                self.lines.append(f"    (void){port.name};")
            start += port.size
        for kind, makes, _, what in instructions(self.tape):
            if kind is Kind.SINES:
                self._sines(what, makes)
            elif kind is Kind.STEP and self._step(makes[0]).op is not Op.CONST:
                self._define(makes[0], self._expression(makes[0], SUM))
        self._results(function, prefix)

    def _step(self, i: int) -> Step:
        return self.tape.steps[i - self.tape.n_inputs]

    def _define(self, i: int, text: str) -> None:
        self.made[i] = f"x{i}"
        self.lines.append(f"    const {self.real.name} x{i} = {text};")

    def _sines(self, angles: tuple[int, ...], makes: tuple[int, ...]) -> None:
        for angle in angles:
            twins = [i for i in makes if self._step(i).args[0] == angle]
            if self.libm:
                for i in twins:
                    self._define(i, self._form(self._step(i)))
                continue
            self.lines.append(f"    {self.real.name} s{angle}, c{angle};")
            self.lines.append(f"    sine_cosine({self._expression(angle, SUM)}, &s{angle}, &c{angle});")
            for i in twins:
                self.made[i] = f"{'s' if self._step(i).op is Op.SIN else 'c'}{angle}"

    def _expression(self, i: int, binds: int) -> str:
        """Return a value's name, or what it is if it has none, in brackets if it binds less than it must."""
        if i in self.made:
            return self.made[i]
        step = self._step(i)
        if step.op is Op.CONST:
            text = self.real.literal(step.value)
            return f"({text})" if step.value < 0.0 and binds > SUM else text
        text = self._form(step)
        return f"({text})" if EXPRESSIONS[step.op].binds < binds else text

    def _form(self, step: Step) -> str:
        form = EXPRESSIONS[step.op]
        operands = (self._expression(j, binds) for j, binds in zip(step.args, form.operands, strict=True))
        return form.text.format(*operands, **self.functions)

    def _results(self, function: Function, prefix: str) -> None:
        """Store the results: inputs among them are copied first, for arrays may overlap."""
        for i in dict.fromkeys(i for i in self.tape.results if i < self.tape.n_inputs):
            self._define(i, self.made[i])
        names = {port.name: name for name, port, is_result in function.arguments() if is_result}
        guards = {guard.port: guard for guard in function.guards}
        tests, start = [], 0
        for port in self.tape.outputs:
            values = self.tape.results[start : start + port.size]
            start += port.size
            if port.name in names:
                stored = (f"    {names[port.name]}[{k}] = {self._expression(i, SUM)};" for k, i in enumerate(values))
                self.lines += stored
            if port.name in guards:
                guard = guards[port.name]
                numbers = [self.real.literal(number) for number in guard.numbers]
                passed = " && ".join(guard.passes.format(*numbers, x=self._expression(i, ATOM)) for i in values)
                if passed:
                    tests.append(f"(({passed}) ? 0 : {prefix.upper()}_{guard.code})")
        if function.guards:
            self.lines.append(f"    return {' + '.join(tests) or '0'};")
