"""The order of a long tape: parts of arithmetic, and between them the loops that store results.

A processor that runs a long program once per vector of samples fetches all its code again every time. A part fits the
innermost cache, and runs on a block of vectors before the next part starts. Cuts go where few values are alive.

The tape is first listed as operations, each of which a processor does in one instruction, or two: a sum, a product, or
both at once. Minus signs cost nothing; they choose between the four instructions of x·y ± c. Sines and cosines are
spelled out, some of them in succession, so that a processor works on all of these while it waits for one. Results are
stored by loops over tables, in entries of their own: at the end or, where they are too many to be kept, in pieces as
they come.

Then registers are assigned. LLVM plans them for code with branches; on a straight line of thousands of operations it
moves values to memory and back twice as often as need be, and takes seconds for it. A straight line has a simple best
plan: when a register is wanted, the value needed last is spilled (Belady 1966). An instruction can read one operand
from memory, so that a value that is not needed again soon is not loaded at all. Constants are values that lie in
memory. Values that cross from one part to another lie in memory that all parts share, the others in the part's own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Final, NamedTuple

from appell.errors import CompileError
from appell.kernels.llvm.llvm_writer import Real
from appell.kernels.lowering.analysis import TRIGONOMETRIC, Fusion, is_constant, offset, ordered
from appell.kernels.lowering.sines import TABLES
from appell.trace.expr import Op
from appell.trace.tape import Tape, spans

MOST_KEPT = 4096
"""Results that are kept until the end."""
PIECE = 1024
"""Results of a piece, where there are more."""
ABREAST = 4
"""Sines computed in succession: enough to hide their latency, few enough for a processor's view of what comes."""
PLAIN = {Op.DIV: "div", Op.SQRT: "sqrt"}
"""Codes of operations that have no variants by sign."""
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


ListingEntry = Operation | Store | Keep


class Listing:
    """The entries of a tape in order, and the constants that operations read.

    `constants` has the place of every constant, by its hexadecimal digits; several lines may share it. `kept` are the
    slots of results that stay in memory, by output port.
    """

    def __init__(self, tape: Tape, real: Real, constants: dict[str, int], kept: Mapping[int, Sequence[int]]) -> None:
        self.tape, self.real, self.fusion, self._n = tape, real, Fusion(tape), tape.n_inputs
        self.entries: list[ListingEntry] = []
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
        """Return the operand of an operation that has no variants by sign."""
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
        """Append sine and cosine of an angle and a constant more, as :mod:`appell.kernels.llvm.emit` has them.

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
        tape = self.tape
        is_kept = len(set(tape.results)) <= MOST_KEPT
        pieces: list[tuple[int, Store]] = []
        kept = dict[int, int]()
        made = {} if is_kept else {x.made: p for p, x in enumerate(self.entries, start=1) if isinstance(x, Operation)}
        for k, (port, own) in enumerate(spans(tape.outputs)):
            results = tape.results[own.start : own.stop]
            if k in self.kept:
                kept |= zip(self.kept[k], map(self._result, results), strict=True)
                continue
            for a, b in pairwise([*range(0, port.size, max(port.size, 1) if is_kept else PIECE), port.size]):
                values = results[a:b]
                reads = tuple(i for i in dict.fromkeys(values) if not is_constant(tape, i))
                place = max((made.get(i, 0) for i in reads), default=0)
                pieces.append((len(self.entries) if is_kept else place, Store(k, a, values, reads)))
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


FAR: Final = 12
"""Operations until its next use from which on a value in memory is read from there."""
NEVER: Final = 1 << 60
CHOICES = ("sign", "select", "pick", "flip")
"""Codes of several instructions, which write before they have read everything and need a register more."""
FUSED_CODES = frozenset(FUSED.values())
FOLDS = {"add": (1, 0), "mul": (1, 0), "sub": (1,), "div": (1,), "sqrt": (0,)}
FOLDS |= dict.fromkeys(FUSED_CODES, (1, 0, 2)) | {"next": (1,)}
"""The operands of an operation that can be read from memory, one at a time."""


class MemorySlot(NamedTuple):
    """A place in memory: "shared", "own" or "constant", and which of the numbers there."""

    memory: str
    slot: int


Operand = int | MemorySlot
"""A register or a place."""


class Machine(NamedTuple):
    """An instruction: its code and operands, the one that is written first.

    Besides the codes of operations there are "load", "store" and "copy". Fused ones end as those of x86: with d the
    operand that is written and a, b the others, 231 is a·b + d, 213 a·d + b and 132 d·b + a. :data:`CHOICES` have a
    register more, to write over, behind the first.
    """

    code: str
    operands: tuple[Operand, ...]


class Slots:
    """Places in a memory, used again once their value is not needed any more."""

    def __init__(self, count: int = 0) -> None:
        self.count, self.of = count, dict[int, int]()
        self._reserved: dict[int, int] = {}
        self._taken: dict[int, set[int]] = {}
        """Which values lie in a reserved slot: one, or inputs that are the same number."""
        self._free: list[int] = []

    def reserve(self, value: int, slot: int = -1) -> None:
        """Set a slot apart for a value: one of several for which it may be, or one next to that of the value before."""
        if value not in self._reserved:
            self._reserved[value] = self.count if slot < 0 else slot
            self.count += slot < 0

    def place(self, value: int) -> int:
        """Give a value a slot: the one that is set apart for it, unless another value lies there."""
        slot = self._reserved.get(value, -1)
        if slot >= 0 and not self._taken.get(slot):
            self.hold(value, slot)
            return slot
        if not self._free:
            self._free.append(self.count)
            self.count += 1
        slot = self.of[value] = self._free.pop()
        return slot

    def hold(self, value: int, slot: int) -> None:
        """Note that a value lies in a slot that is not shared otherwise."""
        self.of[value] = slot
        self._taken.setdefault(slot, set()).add(value)

    def release(self, value: int) -> None:
        """Take a value's slot back."""
        slot = self.of.pop(value, -1)
        if slot >= 0 and value in self._taken.get(slot, ()):
            self._taken[slot].remove(value)
        elif slot >= 0:
            self._free.append(slot)


class Registers:
    """Writes the instructions of parts.

    `uses` are the places of each value's uses in the line, the next one last.
    """

    def __init__(self, count: int, uses: dict[int, list[int]], crossing: set[int], shared: Slots) -> None:
        self.uses, self.crossing, self.shared, self.own = uses, crossing, shared, Slots()
        self._next = {x: places[-1] if places else NEVER for x, places in uses.items()}
        self._free = list(range(count))
        self._held: dict[int, int] = {}
        self._code: list[Machine] = []
        self._end = 0

    def part(self, operations: list[Operation], start: int) -> list[Machine]:
        """Return the instructions of operations from a place of the line on; afterwards no value is in a register."""
        self._code, self._end = [], start + len(operations)
        for p, operation in enumerate(operations, start=start):
            self._carry_out(p, operation)
        for x in list(self._held):  # constants; all else was dropped after its last use here
            self._drop(x)
        return self._code

    def stored(self, results: Store) -> tuple[int, ...]:
        """Return the slots of results, which are free from then on unless a later part needs them."""
        slots = tuple(self.shared.of[x] for x in results.values)
        self._pass(results.reads)
        for x in results.reads:
            if self._next[x] == NEVER:
                self._forget(x)
        return slots

    def kept(self, results: Keep) -> list[Machine]:
        """Return the instructions that move results to the slots where they must lie, from elsewhere in memory."""
        pairs = zip(results.values, results.slots, strict=True)
        moves = [(self._place(x), MemorySlot("shared", slot)) for x, slot in pairs]
        moves = [(source, target) for source, target in moves if source != target]
        lost = {target for _, target in moves}.intersection(source for source, _ in moves)
        spare = {source: MemorySlot("shared", self.shared.place(~k)) for k, source in enumerate(sorted(lost))}
        moves = [*spare.items(), *((spare.get(source, source), target) for source, target in moves)]
        self._pass(results.reads)
        return [x for pair in moves for x in (Machine("load", (0, pair[0])), Machine("store", (pair[1], 0)))]

    def _pass(self, reads: Iterable[int]) -> None:
        """Go past uses of some values."""
        for x in reads:
            places = self.uses[x]
            places.pop()
            self._next[x] = places[-1] if places else NEVER

    def _carry_out(self, p: int, operation: Operation) -> None:
        code, made, reads = operation
        held, next_use = self._held, self._next
        self._pass(set(reads))
        missing = [x for x in reads if x not in held]
        folded = None
        if missing:
            folds = FOLDS.get(code, ())
            far = [x for k in folds if (x := reads[k]) in missing and next_use[x] - p > FAR and reads.count(x) == 1]
            folded = max(far, key=next_use.__getitem__) if far else None
            for x in missing:
                if x != folded and x not in held:
                    held[x] = self._register(reads)
                    self._code.append(Machine("load", (held[x], self._place(x))))
        held[made] = (self._fused if code in FUSED_CODES else self._other)(code, reads, folded)
        self._settle(made)

    def _other(self, code: str, reads: tuple[int, ...], folded: int | None) -> int:
        """Append an instruction that writes to any register; return that."""
        if folded is not None and folded == reads[0] and len(reads) == 2:
            reads = reads[1], reads[0]
        sources = [self._place(x) if x == folded else self._held[x] for x in reads]
        if code in CHOICES:
            written, spare = self._register(reads), self._register(reads)
            self._code.append(Machine(code, (written, spare, *sources)))
            self._free.append(spare)
        else:
            self._free_registers(reads)  # the instruction may write to that of an operand
            written = self._register(reads)
            self._code.append(Machine(code, (written, *sources)))
        self._settle(*reads)
        return written

    def _fused(self, code: str, reads: tuple[int, ...], folded: int | None) -> int:
        """Append x·y ± c, which overwrites one of them, or a copy of it; return the register."""
        x, y, c = reads if folded != reads[0] else (reads[1], reads[0], reads[2])  # x is in a register
        held = self._held

        def is_last(z: int) -> bool:
            return self._next[z] == NEVER and z != folded and reads.count(z) == 1

        if folded == c:
            if is_last(y):
                x, y = y, x
            if is_last(x):
                return self._overwritten(x, f"{code}213", (held[y], self._place(c)), reads)
        else:
            source = self._place(y) if y == folded else held[y]
            if is_last(c):
                return self._overwritten(c, f"{code}231", (held[x], source), reads)
            if is_last(y):
                x, y, source = y, x, held[x]
            if is_last(x):
                return self._overwritten(x, f"{code}132", (held[c], source), reads)
        written = self._register(reads)
        if c == folded:
            self._code.append(Machine("load", (written, self._place(c))))
            source = held[y]
        else:
            self._code.append(Machine("copy", (written, held[c])))
        self._code.append(Machine(f"{code}231", (written, held[x], source)))
        self._settle(*reads)
        return written

    def _overwritten(self, value: int, code: str, others: tuple[Operand, ...], reads: tuple[int, ...]) -> int:
        """Append an instruction that overwrites a value's register; return that."""
        register = self._held.pop(value)
        self._code.append(Machine(code, (register, *others)))
        self._settle(*reads)
        return register

    def _settle(self, *values: int) -> None:
        """Drop values from registers that this part does not need any more, and from memory those that no part does."""
        self._free_registers(values)
        for x in values:
            if self._next[x] == NEVER and x >= 0:
                self._forget(x)

    def _free_registers(self, values: tuple[int, ...]) -> None:
        """Drop values from registers that this part does not need any more."""
        for x in values:
            if self._next[x] >= self._end and x in self._held:
                self._drop(x)

    def _drop(self, x: int) -> None:
        """Free a value's register; the value goes to memory if it is not there and is needed again."""
        register = self._held.pop(x)
        if x >= 0 and self._next[x] != NEVER and x not in self.shared.of and x not in self.own.of:
            is_shared = x in self.crossing
            place = MemorySlot("shared" if is_shared else "own", (self.shared if is_shared else self.own).place(x))
            self._code.append(Machine("store", (place, register)))
        self._free.append(register)

    def _forget(self, x: int) -> None:
        self.shared.release(x)
        self.own.release(x)

    def _register(self, keep: tuple[int, ...]) -> int:
        """Return a free register, of the value needed last if there is none."""
        if not self._free:
            self._drop(max([x for x in self._held if x not in keep], key=self._next.__getitem__))
        return self._free.pop()

    def _place(self, x: int) -> MemorySlot:
        if x < 0:
            return MemorySlot("constant", ~x)
        slot = self.shared.of.get(x)
        return MemorySlot("own", self.own.of[x]) if slot is None else MemorySlot("shared", slot)


LONGEST = 3000
"""Operations of a part: about what a processor's cache of decoded instructions holds."""
STRIDE = 32
"""Operations between places that are considered for a cut."""


class CodePart(NamedTuple):
    """Arithmetic."""

    code: tuple[Machine, ...]


class StoredSlots(NamedTuple):
    """Results of an output port from one on, by their slots in the memory that parts share."""

    port: int
    start: int
    slots: tuple[int, ...]


Segment = CodePart | StoredSlots


class Places(NamedTuple):
    """Where inputs lie in the memory that parts share, and results that stay there, by output port; what is free."""

    inputs: tuple[int, ...]
    kept: dict[int, tuple[int, ...]]
    free: int


class Schedule(NamedTuple):
    """What is done in succession, and how many slots that takes in the memory that parts share and in a part's own.

    `fixed` are slots with constants among the results.
    """

    segments: tuple[Segment, ...]
    shared: int
    own: int
    constants: tuple[float, ...]
    fixed: dict[int, float]


def schedule(
    tape: Tape, real: Real, registers: int, places: Places | None = None, constants: dict[str, int] | None = None
) -> Schedule:
    """Return what to do when, with at most so many values in registers at a time.

    By default inputs lie in the first slots. `constants` are those of schedules before, and grow.
    """
    n = tape.n_inputs
    places = Places(tuple(range(n)), {}, n) if places is None else places
    line = Listing(tape, real, {} if constants is None else constants, places.kept)
    entries = line.entries
    uses: dict[int, list[int]] = {}
    for p in reversed(range(len(entries))):
        entry = entries[p]
        for x in set(entry.reads):
            uses.setdefault(x, []).append(p)
        if isinstance(entry, Operation):
            uses.setdefault(entry.made, [])
    bounds = _cuts(entries, uses)
    crossing = set[int]()
    for first, last in pairwise(bounds):
        made = (x.made for x in entries[first:last] if isinstance(x, Operation))
        crossing.update(x for x in made if uses[x] and uses[x][0] >= last)
    shared = Slots(places.free)
    stored = [x for entry in entries if isinstance(entry, Store) for x in entry.values]
    fixed = {x: value for x, value in constant_results(tape) if x in set(stored)}
    kept = dict[int, int]()
    for entry in entries:
        if isinstance(entry, Keep):
            kept |= {x: slot for x, slot in zip(entry.values, entry.slots, strict=True) if x >= n}
    for x, slot in enumerate(places.inputs):
        if uses.get(x):
            shared.hold(x, slot)
    for x, slot in kept.items():
        shared.reserve(x, slot)
    for x in (*fixed, *(stored if len(set(stored)) <= MOST_KEPT else ())):
        shared.reserve(x)
    for x in fixed:
        shared.place(x)
    writer = Registers(registers, uses, crossing, shared)
    found = [_segment(writer, entries[first:last], first) for first, last in pairwise(bounds)]
    segments = tuple(one for one in found if not isinstance(one, CodePart) or one.code)
    numbers = {shared.of[x]: value for x, value in fixed.items()}
    return Schedule(segments, shared.count, writer.own.count, tuple(map(float.fromhex, line.constants)), numbers)


def _segment(writer: Registers, entries: list[ListingEntry], start: int) -> Segment:
    """Return the instructions of operations, or the slots of results, which are the only entry then."""
    entry = entries[0]
    if isinstance(entry, Keep):
        return CodePart(tuple(writer.kept(entry)))
    if isinstance(entry, Operation):
        return CodePart(tuple(writer.part([x for x in entries if isinstance(x, Operation)], start)))
    return StoredSlots(entry.port, entry.start, writer.stored(entry))


def _cuts(entries: list[ListingEntry], uses: dict[int, list[int]]) -> list[int]:
    """Return the bounds of segments: around what is stored, and between operations where fewest values cross."""
    change = [0] * (len(entries) + 2)
    stores = []
    for p, entry in enumerate(entries):
        if isinstance(entry, Operation):
            change[p + 1] += 1
            change[(uses[entry.made] or [p])[0] + 1] -= 1
        else:
            stores.append(p)
    alive = [change[0]]
    for difference in change[1:-1]:
        alive.append(alive[-1] + difference)
    bounds = [0]
    for p in stores:
        bounds += [*_best_cuts(alive, bounds[-1], p), p + 1]
    return [*dict.fromkeys([*bounds, *_best_cuts(alive, bounds[-1], len(entries))])]


def _best_cuts(alive: list[int], start: int, stop: int) -> list[int]:
    """Return the cuts between two places that leave no part too long, and the second of them."""
    blocks = (range(p, min(p + STRIDE, stop)) for p in range(start + 1, stop, STRIDE))
    places = [start, *(min(block, key=alive.__getitem__) for block in blocks), stop]
    cost, before = [0] + [NEVER] * (len(places) - 1), [0] * len(places)
    for b in range(1, len(places)):
        for a in reversed(range(b)):
            if places[b] - places[a] > LONGEST and a < b - 1:
                break
            total = cost[a] + alive[places[b]] + STRIDE
            if total < cost[b]:
                cost[b], before[b] = total, a
    cuts, b = [], len(places) - 1
    while b:
        cuts.append(places[b])
        b = before[b]
    return cuts[::-1]
