"""C of long tapes: several functions in a row, since compilers take minutes for one of ten thousand lines.

Values that a later part reads are in one array on the stack; a slot is used again after the part that reads its value
last. The inputs are copied there first, so results are stored where they are made and arrays of a caller may overlap.
Sines and cosines of inputs are computed first, in a loop that compilers vectorise.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from heapq import heappop, heappush
from itertools import accumulate, pairwise

from appell.kernels.lowering.fusion import is_constant
from appell.kernels.lowering.order import Instruction, Kind, instructions
from appell.kernels.text.c99_values import Real, Values, input_names, inputs_read
from appell.trace.expr import Op
from appell.trace.tape import Port, Tape

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
        named = [angle for angle in x.what if angle in made] if x.kind is Kind.SINES else []
        found.append(x._replace(reads=(*x.reads, *named)))
        made.update(x.makes)
    return found


class Layout:
    """The parts of a tape, and the slots of its values in the work array: inputs, angles, sines, cosines, then others.

    Results at the places `kept` stay there to the end.
    """

    def __init__(self, tape: Tape, kept: Collection[int]) -> None:
        def is_early(x: Instruction) -> bool:
            return x.kind is Kind.SINES and all(j < tape.n_inputs for j in x.reads)

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
        self, tape: Tape, layout: Layout, name: str, stored: Mapping[str, str], real: Real, *, libm: bool
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
        found, start = {}, 0
        for port in tape.outputs:
            zeros = sum(is_constant(tape, i, 0.0) for i in tape.results[start : start + port.size])
            start += port.size
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
            for k in instruction.what if instruction.kind is Kind.OUTPUT else ():
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
