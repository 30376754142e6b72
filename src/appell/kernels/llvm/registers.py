"""What lies in registers and what in memory while the operations of a long tape are carried out.

LLVM plans registers for code with branches; on a straight line of thousands of operations it moves values to memory and
back twice as often as need be, and takes seconds for it. A straight line has a simple best plan: when a register is
wanted, the value needed last is spilled (Belady 1966). An instruction of a processor can read one operand from memory,
so that a value that is not needed again soon is not loaded at all. Constants are values that lie in memory.

A part is some operations in succession. Values that cross from one part to another lie in memory that all parts share,
the others in the part's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from appell.kernels.llvm.line import FUSED, Keep, Operation, Store

FAR: Final = 12
"""Operations until its next use from which on a value in memory is read from there."""
NEVER: Final = 1 << 60
CHOICES = ("sign", "select", "pick", "flip")
"""Codes of several instructions, which write before they have read everything and need a register more."""
FUSED_CODES = frozenset(FUSED.values())
FOLDS = {"add": (1, 0), "mul": (1, 0), "sub": (1,), "div": (1,), "sqrt": (0,)}
FOLDS |= dict.fromkeys(FUSED_CODES, (1, 0, 2)) | {"next": (1,)}
"""The operands of an operation that can be read from memory, one at a time."""


class Place(NamedTuple):
    """A place in memory: "shared", "own" or "constant", and which of the numbers there."""

    memory: str
    slot: int


Operand = int | Place
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
        moves = [(self._place(x), Place("shared", slot)) for x, slot in pairs]
        moves = [(source, target) for source, target in moves if source != target]
        lost = {target for _, target in moves}.intersection(source for source, _ in moves)
        spare = {source: Place("shared", self.shared.place(~k)) for k, source in enumerate(sorted(lost))}
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
            place = Place("shared" if is_shared else "own", (self.shared if is_shared else self.own).place(x))
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

    def _place(self, x: int) -> Place:
        if x < 0:
            return Place("constant", ~x)
        slot = self.shared.of.get(x)
        return Place("own", self.own.of[x]) if slot is None else Place("shared", slot)
