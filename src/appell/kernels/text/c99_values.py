"""C of values: how numbers and operations are spelled, and the lines that compute a tape.

A long tape is several functions. Values that a later part reads are in one array on the stack; a slot is used again
after the part that reads its value last. The inputs are copied there first, so results are stored where they are made
and arrays of a caller may overlap. Sines and cosines of inputs are computed first, in a loop that compilers vectorise.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from heapq import heappop, heappush
from itertools import accumulate, pairwise
from typing import NamedTuple

from appell.errors import CompileError
from appell.kernels.lowering.analysis import Action, Instruction, instructions, is_constant
from appell.trace.expr import Op
from appell.trace.tape import Port, Step, Tape, spans

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
class CReal:
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


REALS = {"double": CReal("double", ""), "float": CReal("float", "f")}


def input_names(tape: Tape) -> list[str]:
    """Return the names of the inputs in C."""
    return [f"{port.name}[{k}]" if port.shape else port.name for port in tape.inputs for k in range(port.size)]


def inputs_read(tape: Tape) -> list[tuple[Port, list[int]]]:
    """Return, for every input port, the positions of its numbers that are read."""
    read = {j for step in tape.steps for j in step.args} | set(tape.results)
    return [(port, [i for i in own if i in read]) for port, own in spans(tape.inputs)]


def count_name(axis: str) -> str:
    """Return the name of the number of turns along an axis, where it is known at run time only."""
    return f"{axis}s"


class Values:
    """The values of a tape from the names of its inputs, and the lines that compute them."""

    def __init__(self, tape: Tape, names: Sequence[str], real: CReal, *, libm: bool) -> None:
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
        if kind is Action.SINES:
            self._sines(what, makes)
        elif kind is Action.STEP and self._step(makes[0]).op is not Op.CONST:
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


LONG = 3000
"""Steps of a tape from which on it is written in parts."""
PART = 1000
"""Instructions of a part, at most."""
ZEROS = 0.25
"""Share of zeros in an output port from which on it is set to zero as a whole."""
MACRO = """/* Parts of long functions, which compilers should not put together again: that takes minutes. */
#if defined(__GNUC__)
#define PART static __attribute__((noinline))
#elif defined(_MSC_VER)
#define PART static __declspec(noinline)
#else
#define PART static
#endif"""


def is_long(tape: Tape) -> bool:
    """Return whether a tape is written in parts."""
    return len(tape.steps) > LONG


def _with_angles(line: Iterable[Instruction]) -> list[Instruction]:
    """Return instructions of which sines also read the angles that have a name: native code adds their offsets anew."""
    made, found = set[int](), []
    for x in line:
        named = [angle for angle in x.what if angle in made] if x.kind is Action.SINES else []
        found.append(x._replace(reads=(*x.reads, *named)))
        made.update(x.makes)
    return found


class Layout:
    """The parts of a tape, and the slots of its values in the work array: inputs, angles, sines, cosines, then others.

    Results at the places `kept` stay there to the end.
    """

    def __init__(self, tape: Tape, kept: Collection[int]) -> None:
        def is_early(x: Instruction) -> bool:
            return x.kind is Action.SINES and all(j < tape.n_inputs for j in x.reads)

        line, n = _with_angles(instructions(tape)), tape.n_inputs
        early = [x for x in line if is_early(x)]
        self.line = [x for x in line if not is_early(x)]
        self.last = {x: p for p, instruction in enumerate(self.line) for x in instruction.reads}
        self.last |= dict.fromkeys((tape.results[k] for k in kept), len(self.line))
        self.bounds = self._cuts()
        self.angles = {angle: n + k for k, angle in enumerate(angle for x in early for angle in x.what)}
        self.slots = {i: i for i in range(n)}
        for i in (i for x in early for i in x.makes):
            step = tape.steps[i - n]
            self.slots[i] = self.angles[step.args[0]] + len(self.angles) * (1 + (step.op is Op.COS))
        self.given = dict(self.slots)
        self.size = n + 3 * len(self.angles)
        self._allot()

    def _cuts(self) -> list[int]:
        """Return the bounds of the parts: each cut where fewest values are alive, in the second half of a part."""
        change = [0] * (len(self.line) + 2)
        for p, instruction in enumerate(self.line):
            for x in instruction.makes:
                change[p + 1] += 1
                change[self.last.get(x, p) + 1] -= 1
        alive = list(accumulate(change))
        bounds = [0]
        while len(self.line) - bounds[-1] > PART:
            places = range(bounds[-1] + PART, bounds[-1] + PART // 2, -1)
            bounds.append(min(places, key=alive.__getitem__))
        return [*bounds, len(self.line)]

    def _allot(self) -> None:
        """Give a slot to every value that is read after its part; it is free after the part of the last read."""
        free = sorted({*range(self.size)} - {slot for x, slot in self.slots.items() if x in self.last})
        expiring: dict[int, list[int]] = {}
        for x in self.slots:
            self._expire(x, expiring)
        for part, (first, last) in enumerate(pairwise(self.bounds)):
            for x in (x for p in range(first, last) for x in self.line[p].makes):
                if self.last.get(x, 0) >= last:
                    self.slots[x] = heappop(free) if free else self.size
                    self.size = max(self.size, self.slots[x] + 1)
                    self._expire(x, expiring)
            for slot in expiring.pop(part, ()):
                heappush(free, slot)

    def _expire(self, x: int, expiring: dict[int, list[int]]) -> None:
        if x in self.last:
            expiring.setdefault(bisect_right(self.bounds, self.last[x]) - 1, []).append(self.slots[x])


class Parts:
    """The functions of the parts, and the lines that call them; `stored` are the C names of the results, by port."""

    def __init__(
        self, tape: Tape, layout: Layout, name: str, stored: Mapping[str, str], real: CReal, *, libm: bool
    ) -> None:
        self.layout, self.real = layout, real
        self.values = Values(tape, [], real, libm=libm)
        self.values.made = {i: f"work[{slot}]" for i, slot in layout.given.items()}
        self.places = [(stored.get(port.name), k) for port in tape.outputs for k in range(port.size)]
        self.filled = self._filled(tape, stored)
        self.lines = [f"{real.name} work[{layout.size}];"]
        names = input_names(tape)
        for port, read in inputs_read(tape):  # copied one by one: compilers make calls of memcpy of loops
            self.lines += [f"work[{i}] = {names[i]};" for i in read] or [f"(void){port.name};"]
        zero = real.literal(0.0)
        for result, port in self.filled.items():
            self.lines += [f"for (int k = 0; k < {port.size}; k++) {{", f"    {result}[k] = {zero};", "}"]
        self._sines()
        self.functions: list[str] = []
        for part, (first, last) in enumerate(pairwise(layout.bounds), start=1):
            self._part(f"part{part}_of_{name}", layout.line[first:last])
        self.lines += [f"(void){stored[port.name]};" for port in tape.outputs if port.name in stored and not port.size]

    def _filled(self, tape: Tape, stored: Mapping[str, str]) -> dict[str, Port]:
        """Return the results that are set to zero as a whole before any of their numbers is stored."""
        found = {}
        for port, own in spans(tape.outputs):
            zeros = sum(is_constant(tape, tape.results[i], 0.0) for i in own)
            if port.name in stored and zeros > ZEROS * port.size:
                found[stored[port.name]] = port
        return found

    def _sines(self) -> None:
        """Compute the sines and cosines of inputs."""
        angles = self.layout.angles
        self.lines += [f"work[{slot}] = {self.values.expression(angle)};" for angle, slot in angles.items()]
        if angles:
            rows = ", ".join(f"work + {min(angles.values()) + k * len(angles)}" for k in range(3))
            self.lines.append(f"sines_cosines({len(angles)}, {rows});")

    def _part(self, name: str, line: list[Instruction]) -> None:
        """Add the function of a part, and its call."""
        values, slots = self.values, self.layout.slots
        values.lines, arguments = [], dict[str, str]()
        for instruction in line:
            values.compute(instruction)
            values.lines += [f"work[{slots[x]}] = {values.made[x]};" for x in instruction.makes if x in slots]
            for k in instruction.what if instruction.kind is Action.OUTPUT else ():
                result, place = self.places[k]
                if result and not (result in self.filled and is_constant(values.tape, values.tape.results[k], 0.0)):
                    arguments[result] = f"{self.real.name} *{result}"
                    values.lines.append(f"{result}[{place}] = {values.result(k)};")
        for x in (x for instruction in line for x in instruction.makes if x in slots):
            values.made[x] = f"work[{slots[x]}]"
        if any("work[" in text for text in values.lines):
            arguments["work"] = f"{self.real.name} *restrict work"
        if arguments:  # none of a part of zeros in results that are filled with them
            declared = ", ".join(arguments.values())
            self.functions += [f"PART void {name}({declared})", "{", *(f"    {x}" for x in values.lines), "}", ""]
            self.lines.append(f"{name}({', '.join(arguments)});")
