"""A long tape as a line of operations, in the order in which they are carried out.

An operation is what a processor does in one instruction, or two: a sum, a product, or both at once. Minus signs cost
nothing; they choose between the four instructions of x·y ± c. Sines and cosines are spelled out, some of them in
succession, so that a processor works on all of these while it waits for one. Results are stored by loops over tables,
in entries of their own: at the end or, where they are too many to be kept, in pieces as they come.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from appell.errors import CompileError
from appell.kernels.llvm.llvm_writer import Real
from appell.kernels.lowering.fusion import TRIGONOMETRIC, Fusion, is_constant, offset
from appell.kernels.lowering.order import ordered
from appell.kernels.lowering.sines import TABLES
from appell.trace.expr import Op
from appell.trace.tape import Tape

MOST_KEPT = 4096
"""Results that are kept until the end."""
PIECE = 1024
"""Results of a piece, where there are more."""
ABREAST = 4
"""Sines computed in succession: enough to hide their latency, few enough for a processor's view of what comes."""
PLAIN = {Op.DIV: "div", Op.SQRT: "sqrt"}
"""Codes of operations that know no signs."""
FUSED = {(1, 1): "fmadd", (1, -1): "fmsub", (-1, 1): "fnmadd", (-1, -1): "fnmsub"}
"""x·y + c, x·y − c, c − x·y, −x·y − c, by the signs of product and summand."""


class Operation(NamedTuple):
    """An instruction's code, the value that it makes and those it reads; ~k is constant k.

    Codes are those of arithmetic ("add", "sub", "mul", "div", "sqrt", those of :data:`FUSED`); "sign" of a number;
    "select" of two by a third; and, with the quadrant of an angle in the lowest bits of a number, "pick" of two by
    whether it is odd, "flip" of a sign by its second bit, and "next" for the quadrant that follows. Those that are not
    arithmetic read the constants behind their operands that they compare with.
    """

    code: str
    made: int
    reads: tuple[int, ...]


class Store(NamedTuple):
    """Results that are stored: of which output port, from which on, their values, and those that are no constants."""

    port: int
    start: int
    values: tuple[int, ...]
    reads: tuple[int, ...]


class Keep(NamedTuple):
    """Results that stay in memory: their values, ~k for constant k, the slots where they must lie, and the former."""

    values: tuple[int, ...]
    slots: tuple[int, ...]
    reads: tuple[int, ...]


Entry = Operation | Store | Keep


class Line:
    """The entries of a tape in order, and the constants that operations read.

    `constants` has the place of every constant, by its hexadecimal digits; several lines may share it. `kept` are the
    slots of results that stay in memory, by output port.
    """

    def __init__(self, tape: Tape, real: Real, constants: dict[str, int], kept: Mapping[int, Sequence[int]]) -> None:
        self.tape, self.real, self.fusion, self._n = tape, real, Fusion(tape), tape.n_inputs
        self.entries: list[Entry] = []
        self.constants, self.kept = constants, kept
        self._fresh = self._n + len(tape.steps)
        self._made = bytearray(b"\1") * self._n + bytearray(len(tape.steps))
        self._waiting: dict[int, list[int]] = {}
        self._operands = self._signed()
        sequence = ordered(tape, self.fusion)
        for i in sequence:
            if i >= self._n and tape.steps[i - self._n].op in TRIGONOMETRIC:
                self._waiting.setdefault(tape.steps[i - self._n].args[0], []).append(i)
        for i in sequence:
            if not self._made[i]:
                if tape.steps[i - self._n].op in TRIGONOMETRIC:
                    self._turn()
                else:
                    self._compute(i)
                self._made[i] = 1
        self._store()

    # Arithmetic

    def _compute(self, i: int) -> None:
        """Append the operation of a step."""
        op, args, value = self.tape.steps[i - self._n]
        if op in (Op.ADD, Op.SUB):
            self._sum(i, args[0], args[1], -1 if op is Op.SUB else 1)
        elif op is Op.MUL:
            (s, x), (t, y) = self._operands[args[0]], self._operands[args[1]]
            if s * t > 0:
                self._append("mul", i, x, y)
            else:
                self._append("fnmadd", i, x, y, self._constant(-0.0))
        elif op in PLAIN:
            self._append(PLAIN[op], i, *map(self._plain, args))
        elif op is Op.NEG:
            self._append("mul", i, self._plain(args[0]), self._constant(-1.0))
        elif op is Op.CONST:
            self._append("mul", i, self._constant(value), self._constant(1.0))
        elif op is Op.SIGN:
            self._append("sign", i, self._plain(args[0]), *map(self._constant, (-0.0, 1.0, 0.0)))
        elif op is Op.SELECT:
            self._append("select", i, *map(self._plain, args), self._constant(0.0))
        else:
            raise CompileError(f"tape '{self.tape.name}': native code knows no operation {op.name}")

    def _sum(self, i: int, a: int, b: int, sign: int) -> None:
        """Append a ± b; where one of them is a product that nobody else reads, as one operation with it."""
        tape, n, inside = self.tape, self._n, self.fusion.inside
        (s, x), (t, y) = self._operands[a], self._operands[b]
        t *= sign
        for p, product, r, other in ((s, x, t, y), (t, y, s, x)):
            if product >= n and inside[product] and tape.steps[product - n].op is Op.MUL:
                first, second = tape.steps[product - n].args
                (s1, x), (s2, y) = self._operands[first], self._operands[second]
                self._append(FUSED[p * s1 * s2, r], i, x, y, other)
                return
        if s < 0 and t < 0:
            self._append("fmsub", i, x, self._constant(-1.0), y)
        elif s < 0:
            self._append("sub", i, y, x)
        else:
            self._append("add" if t > 0 else "sub", i, x, y)

    def _append(self, code: str, made: int, *reads: int) -> None:
        self.entries.append(Operation(code, made, reads))

    def _new(self, code: str, *reads: int) -> int:
        """Append an operation that no step is; return its value."""
        self._fresh += 1
        self._append(code, self._fresh, *reads)
        return self._fresh

    def _signed(self) -> list[tuple[int, int]]:
        """Return, per value of the tape, its sign and the value or constant behind its minus signs."""
        inside, result = self.fusion.inside, [(1, i) for i in range(self._n)]
        for i, (op, args, value) in enumerate(self.tape.steps, start=self._n):
            if op is Op.NEG and inside[i]:
                sign, x = result[args[0]]
                result.append((-sign, x))
            else:
                result.append((1, self._constant(value) if op is Op.CONST else i))
        return result

    def _plain(self, i: int) -> int:
        """Return what an operation reads that knows no signs."""
        sign, x = self._operands[i]
        return x if sign > 0 else self._new("mul", x, self._constant(-1.0))

    def _constant(self, value: float) -> int:
        return ~self.constants.setdefault(float(value).hex(), len(self.constants))

    # Sines

    def _turn(self) -> None:
        """Append the sines and cosines of the angles needed next."""
        known = (a for a in self._waiting if self._made[offset(self.tape, a)[0]])
        for angle in list(islice(known, ABREAST)):
            twins = {self.tape.steps[i - self._n].op: i for i in self._waiting.pop(angle)}
            self._sines(*offset(self.tape, angle), twins)
            for i in twins.values():
                self._made[i] = 1

    def _sines(self, angle: int, more: float, twins: dict[Op, int]) -> None:
        """Append sine and cosine of an angle and a constant more, as :mod:`appell.kernels.llvm.trigonometry` has them.

        An odd quadrant has the sine for the cosine; bit 1 of the quadrant is the sign of the sine, that of the next
        quadrant the sign of the cosine. The integer 1 has the bits of the smallest number above zero.
        """
        tables, number, new = TABLES[self.real.name], self._constant, self._new
        one, minus, turns = number(math.ldexp(1.0, -1074 if self.real.size == 8 else -149)), number(-0.0), 2.0 / math.pi
        if more:
            quadrant = new("add", new("fmadd", angle, number(turns), number(more * turns)), number(tables.magic))
        else:
            quadrant = new("fmadd", angle, number(turns), number(tables.magic))
        count, r = new("sub", quadrant, number(tables.magic)), angle
        for k, part in enumerate(tables.fused):
            r = new("fnmadd", count, number(part), r)
            r = new("add", r, number(more)) if more and not k else r
        z = new("mul", r, r)
        sine = new("fmadd", new("mul", r, z), self._polynomial(tables.sine, z), r)
        rest = new("fmadd", z, number(-0.5), number(1.0))
        cosine = new("fmadd", new("mul", z, z), self._polynomial(tables.cosine, z), rest)
        if Op.SIN in twins:
            self._append("flip", twins[Op.SIN], new("pick", quadrant, sine, cosine, one), quadrant, minus)
        if Op.COS in twins:
            following = new("next", quadrant, one)
            self._append("flip", twins[Op.COS], new("pick", quadrant, cosine, sine, one), following, minus)

    def _polynomial(self, coefficients: Sequence[float], z: int) -> int:
        value = self._constant(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            value = self._new("fmadd", value, z, self._constant(c))
        return value

    # Results

    def _store(self) -> None:
        """Add the results: at the end or, where they are many, each piece after the last of its values."""
        tape, start = self.tape, 0
        is_kept = len(set(tape.results)) <= MOST_KEPT
        pieces: list[tuple[int, Store]] = []
        kept = dict[int, int]()
        made = {} if is_kept else {x.made: p for p, x in enumerate(self.entries, start=1) if isinstance(x, Operation)}
        for k, port in enumerate(tape.outputs):
            if k in self.kept:
                kept |= zip(self.kept[k], map(self._result, tape.results[start : start + port.size]), strict=True)
                start += port.size
                continue
            for a, b in pairwise([*range(0, port.size, max(port.size, 1) if is_kept else PIECE), port.size]):
                values = tape.results[start + a : start + b]
                reads = tuple(i for i in dict.fromkeys(values) if not is_constant(tape, i))
                place = max((made.get(i, 0) for i in reads), default=0)
                pieces.append((len(self.entries) if is_kept else place, Store(k, a, values, reads)))
            start += port.size
        for place, piece in sorted(pieces, key=lambda x: x[0], reverse=True):
            self.entries.insert(place, piece)
        if kept:
            reads = tuple(i for i in dict.fromkeys(kept.values()) if i >= 0)
            self.entries.append(Keep(tuple(kept.values()), tuple(kept), reads))

    def _result(self, i: int) -> int:
        """Return a result, ~k if it is constant k."""
        return self._constant(self.tape.steps[i - self._n].value) if is_constant(self.tape, i) else i


def constant_results(tape: Tape) -> Iterator[tuple[int, float]]:
    """Yield the results that are constants, each once, with their numbers."""
    for i in dict.fromkeys(tape.results):
        if is_constant(tape, i):
            yield i, tape.steps[i - tape.n_inputs].value
