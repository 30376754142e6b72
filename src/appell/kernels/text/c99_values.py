"""C of values: how numbers and operations are spelled, and the lines that compute a tape."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from appell.errors import CompileError
from appell.kernels.lowering.order import Instruction, Kind, instructions
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


def input_names(tape: Tape) -> list[str]:
    """Return the names of the inputs in C."""
    return [f"{port.name}[{k}]" if port.shape else port.name for port in tape.inputs for k in range(port.size)]


def inputs_read(tape: Tape) -> list[tuple[Port, list[int]]]:
    """Return, for every input port, the positions of its numbers that are read."""
    read, found, start = {j for step in tape.steps for j in step.args} | set(tape.results), [], 0
    for port in tape.inputs:
        found.append((port, [i for i in range(start, start + port.size) if i in read]))
        start += port.size
    return found


def count_name(axis: str) -> str:
    """Return the name of the number of turns along an axis, where it is known at run time only."""
    return f"{axis}s"


class Values:
    """The values of a tape from the names of its inputs, and the lines that compute them."""

    def __init__(self, tape: Tape, names: Sequence[str], real: Real, *, libm: bool) -> None:
        self.tape, self.real, self.libm = tape, real, libm
        self.made = dict(enumerate(names))
        functions = {"sin": "sin", "cos": "cos", "sqrt": "sqrt" if libm else "square_root"}
        self.functions = {k: v + (real.suffix if libm else "") for k, v in functions.items()}
        self.functions |= {"zero": real.literal(0.0), "one": real.literal(1.0)}
        self.lines: list[str] = []

    def compute_all(self) -> None:
        """Add the lines of all values, in the order of the schedule."""
        for instruction in instructions(self.tape):
            self.compute(instruction)
        # inputs among the results are copied, for a result may be stored where they are
        for i in dict.fromkeys(i for i in self.tape.results if i < self.tape.n_inputs):
            self._define(i, self.made[i])

    def compute(self, instruction: Instruction) -> None:
        """Add the lines of sines or of one step; inputs have names, and results are stored by the caller."""
        kind, makes, _, what = instruction
        if kind is Kind.SINES:
            self._sines(what, makes)
        elif kind is Kind.STEP and self._step(makes[0]).op is not Op.CONST:
            self._define(makes[0], self.expression(makes[0]))

    def result(self, k: int, binds: int = SUM) -> str:
        """Return a result's name, or the number that it is."""
        return self.expression(self.tape.results[k], binds)

    def _step(self, i: int) -> Step:
        return self.tape.steps[i - self.tape.n_inputs]

    def _define(self, i: int, text: str) -> None:
        self.made[i] = f"x{i}"
        self.lines.append(f"const {self.real.name} x{i} = {text};")

    def _sines(self, angles: tuple[int, ...], makes: tuple[int, ...]) -> None:
        for angle in angles:
            twins = [i for i in makes if self._step(i).args[0] == angle]
            if self.libm:
                for i in twins:
                    self._define(i, self._form(self._step(i)))
                continue
            self.lines.append(f"{self.real.name} s{angle}, c{angle};")
            self.lines.append(f"sine_cosine({self.expression(angle)}, &s{angle}, &c{angle});")
            for i in twins:
                self.made[i] = f"{'s' if self._step(i).op is Op.SIN else 'c'}{angle}"

    def expression(self, i: int, binds: int = SUM) -> str:
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
        operands = (self.expression(j, binds) for j, binds in zip(step.args, form.operands, strict=True))
        return form.text.format(*operands, **self.functions)
