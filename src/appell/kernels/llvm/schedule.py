"""The order of a long tape: what is computed when, and what lies in registers or in memory meanwhile.

LLVM plans registers for code with branches; on a straight line of thousands of steps it moves values to memory and back
twice as often as need be. A straight line has a simple best schedule: when a register is wanted, the value needed last
is spilled (Belady 1966). So the schedule is made here, and LLVM is handed its loads and stores.

The schedule also cuts the line into parts. A processor that runs a long program once per vector of samples fetches all
its code again every time, and waits for it. A part fits the innermost cache, and runs on a block of vectors before the
next part starts. Cuts go where few values are alive.
"""

from __future__ import annotations

import copy
import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from appell.kernels.llvm.fusion import TRIGONOMETRIC, Fusion, plain_sums
from appell.trace.tape import Port, Tape

LOCKSTEP = 4
"""Sines computed side by side: enough to hide their latency, few enough for the registers."""
LONGEST = 1600
"""Weight of a part, about its instructions: half of what a processor's cache of decoded instructions holds."""
LARGE = 8
"""Numbers of an output port, in vectors, from which on it is stored by a loop at the end."""
MOST_KEPT = 4096
"""Values that are kept for that loop."""
FAR = 60
"""Instructions until its next use from which on a value read from memory is not kept in a register."""
STRIDE = 16
"""Instructions between places that are looked at for a cut."""
NEVER = 1 << 60


class Kind(enum.Enum):
    """What an instruction of the schedule does; the value is the weight of each thing it does it to."""

    INPUT = 4.0
    SINES = 33.0
    STEP = 1.5
    OUTPUT = 4.1


class Instruction(NamedTuple):
    """Some values made from others: inputs loaded, sines, one step of the tape with what is fused into it, or outputs.

    `what` are the inputs to load, the angles, the step, or the places of the results to store.
    """

    kind: Kind
    makes: tuple[int, ...]
    reads: tuple[int, ...]
    what: tuple[int, ...]


class Move(NamedTuple):
    """A value's way between a register and its slot: in the memory that parts share, or in the part's own.

    `is_settled`: the part does not write to the slot.
    """

    value: int
    slot: int
    is_shared: bool
    is_load: bool
    is_settled: bool = False


class Schedule(NamedTuple):
    """What each part does, and how many slots that takes in the memory that parts share and in a part's own.

    `kept` are the slots of the shared memory in which results are left, per output port; none where they are stored.
    """

    parts: tuple[tuple[Instruction | Move, ...], ...]
    shared: int
    own: int
    kept: tuple[tuple[int, ...], ...]


def schedule(tape: Tape, registers: int, lanes: int, fusion: Fusion | None = None) -> Schedule:
    """Return what to do when, part by part, with at most so many values in registers at a time."""
    kept = _kept(tape, lanes)
    line = instructions(tape, lanes, kept, fusion)
    bounds = _cuts(line)
    uses: dict[int, list[int]] = {}
    for p in reversed(range(len(line))):
        for x in line[p].reads:
            uses.setdefault(x, []).append(p)
    crossing: set[int] = {x for values in kept for x in values}
    for x in crossing:
        uses.setdefault(x, []).insert(0, len(line))
    for first, last in pairwise(bounds):
        crossing |= {x for p in range(first, last) for x in line[p].makes if x in uses and uses[x][0] >= last}
    allotment = _Allotment(line, uses, crossing, registers)
    allotment.shared.reserve(x for values in kept for x in values)
    parts = tuple(allotment.part(first, last) for first, last in pairwise(bounds))
    places = allotment.shared.of
    return Schedule(
        parts, allotment.shared.count, allotment.own.count, tuple(tuple(places[x] for x in v) for v in kept)
    )


def _kept(tape: Tape, lanes: int) -> list[tuple[int, ...]]:
    """Return the results of every output port that are left in memory: of large ports, unless they are too many."""
    kept, start = [], 0
    for port in tape.outputs:
        kept.append(tape.results[start : start + port.size] if port.size >= LARGE * lanes else ())
        start += port.size
    return kept if len({x for values in kept for x in values}) <= MOST_KEPT else [() for _ in kept]


def instructions(
    tape: Tape, lanes: int = 1, kept: Sequence[Sequence[int]] = (), fusion: Fusion | None = None
) -> list[Instruction]:
    """Return the tape in the order of its steps, but inputs, sines and what comes of sines alone where first needed.

    Results are stored by as many as there are lanes, but for those of ports that are `kept`.
    """
    n, fusion, plain = tape.n_inputs, copy.copy(fusion or Fusion(tape)), plain_sums(tape)
    fusion.inside = bytearray(fusion.inside)
    late = list(plain)
    for i, step in enumerate(tape.steps, start=n):
        late[i] = plain[i] or step.op in TRIGONOMETRIC or all(late[j] and j >= n for j in step.args)
    wanted = (i for i in range(n, len(late)) if not late[i] and not fusion.inside[i])
    left = {i for values in kept for i in values}
    for i in left:
        fusion.inside[i] = 0
    results = (i for i in tape.results if not fusion.inside[i])
    sequence = _needed(fusion.sources, (*wanted, *results))
    stored = [group for group, port in _groups(tape.outputs, lanes) if not (kept and kept[port])]
    return _Line(tape, fusion, plain, sequence, stored).instructions


def _needed(sources: Sequence[tuple[int, ...]], roots: Iterable[int]) -> list[int]:
    """Return some values in order, each after those that it is made from and that no earlier one needed."""
    sequence, seen = list[int](), bytearray(len(sources))
    for root in roots:
        pending = [root]
        while pending:
            i = pending.pop()
            if i < 0:
                sequence.append(~i)
            elif not seen[i]:
                seen[i] = 1
                pending.append(~i)
                pending.extend(reversed(sources[i]))
    return sequence


def _groups(ports: Sequence[Port], width: int) -> list[tuple[range, int]]:
    """Return the scalars that are read or written together: so many neighbours of a port, else pairs; and the port."""
    result: list[tuple[range, int]] = []
    start = 0
    for k, port in enumerate(ports):
        whole = port.size - port.size % width
        bounds = [*range(0, whole, width), *range(whole, port.size, 2), port.size]
        result += [(range(start + a, start + b), k) for a, b in pairwise(bounds)]
        start += port.size
    return result


@dataclass
class _Store:
    """Results that are stored when the last of their values is made, and how many values are still missing."""

    groups: list[range] = field(default_factory=list)
    missing: int = 0


class _Line:
    """Puts values together that are made together: inputs in pairs, sines in lockstep, results stored as neighbours."""

    def __init__(
        self, tape: Tape, fusion: Fusion, plain: Sequence[bool], sequence: list[int], stored: Sequence[range]
    ) -> None:
        self.tape, self.fusion, self.plain = tape, fusion, plain
        self.instructions: list[Instruction] = []
        n = tape.n_inputs
        self.beside = {i: pair for pair, _ in _groups(tape.inputs, 2) for i in pair}
        self.read = {i for i in sequence if i < n}
        self.twins: dict[int, list[int]] = {}
        for i in sequence:
            if i >= n and tape.steps[i - n].op in TRIGONOMETRIC:
                self.twins.setdefault(tape.steps[i - n].args[0], []).append(i)
        self.waiting = dict.fromkeys(self.twins)
        self.made: set[int] = set()
        self.stored: dict[int, list[_Store]] = {}
        before = _Store()
        for group in stored:
            values = {tape.results[k] for k in group if not fusion.inside[tape.results[k]]}
            if not values and before.groups:  # constants go with what lies before them
                before.groups.append(group)
                continue
            before = _Store([group], len(values))
            for i in values:
                self.stored.setdefault(i, []).append(before)
            if not values:  # stored at once, so that nothing can be added to it
                self._store(before)
                before = _Store()
        for i in sequence:
            self._make(i)

    def _make(self, i: int) -> None:
        if i in self.made:
            return
        n, sources = self.tape.n_inputs, self.fusion.sources
        if i < n:
            pair = tuple(j for j in self.beside[i] if j in self.read)
            self._append(Kind.INPUT, pair, (), pair)
        elif self.tape.steps[i - n].op in TRIGONOMETRIC:
            group = self._group(self.tape.steps[i - n].args[0])
            makes = tuple(j for angle in group for j in self.twins[angle])
            reads = tuple(dict.fromkeys(j for twin in makes for j in sources[twin]))
            for j in reads:
                self._make(j)
            self._append(Kind.SINES, makes, reads, group)
        else:
            for j in sources[i]:  # made before, but for sums on the way to an angle that is taken early
                self._make(j)
            self._append(Kind.STEP, (i,), sources[i], (i,))

    def _group(self, angle: int) -> tuple[int, ...]:
        """Return an angle and those that are needed next, if they can be known by now."""
        following = (a for a in self.waiting if self.plain[a] and a != angle)
        group = (angle, *(a for a, _ in zip(following, range(LOCKSTEP - 1), strict=False)))
        group = group if self.plain[angle] else (angle,)
        for a in group:
            del self.waiting[a]
        return group

    def _append(self, kind: Kind, makes: tuple[int, ...], reads: tuple[int, ...], what: tuple[int, ...]) -> None:
        self.instructions.append(Instruction(kind, makes, reads, what))
        self.made.update(makes)
        for store in (store for i in makes for store in self.stored.get(i, ())):
            store.missing -= 1
            if not store.missing:
                self._store(store)

    def _store(self, store: _Store) -> None:
        for group in store.groups:
            values = dict.fromkeys(self.tape.results[k] for k in group)
            reads = tuple(i for i in values if not self.fusion.inside[i])
            self.instructions.append(Instruction(Kind.OUTPUT, (), reads, tuple(group)))


def _cuts(line: list[Instruction]) -> list[int]:
    """Return the bounds of the parts: the cuts of fewest crossing values that leave no part too long."""
    last: dict[int, int] = {}
    for p, instruction in enumerate(line):
        for x in instruction.reads:
            last[x] = p
    change, weight = [0] * (len(line) + 2), [0.0]
    for p, (kind, makes, _, what) in enumerate(line):
        for x in makes:
            change[p + 1] += 1
            change[last.get(x, p) + 1] -= 1
        weight.append(weight[-1] + kind.value * len(what))
    alive = [change[0]]
    for difference in change[1:-1]:
        alive.append(alive[-1] + difference)
    blocks = (range(p, min(p + STRIDE, len(line))) for p in range(1, len(line), STRIDE))
    places = [0, *(min(block, key=alive.__getitem__) for block in blocks), len(line)]
    cost, before = [0] + [NEVER] * (len(places) - 1), [0] * len(places)
    for b in range(1, len(places)):
        for a in reversed(range(b)):
            if weight[places[b]] - weight[places[a]] > LONGEST and a < b - 1:
                break
            total = cost[a] + alive[places[b]] + STRIDE
            if total < cost[b]:
                cost[b], before[b] = total, a
    bounds, b = [len(line)], len(places) - 1
    while b:
        b = before[b]
        bounds.append(places[b])
    return bounds[::-1]


class _Slots:
    """Places in a memory, used again once their value is not needed any more; `late` ones not before the next part."""

    def __init__(self, *, late: bool) -> None:
        self.count, self.of = 0, dict[int, int]()
        self._reserved: dict[int, int] = {}
        self._free: list[int] = []
        self._released: list[int] = [] if late else self._free

    def next_part(self) -> None:
        """Let the slots be used again that were released late."""
        if self._released is not self._free:
            self._free += self._released
            self._released.clear()

    def reserve(self, values: Iterable[int]) -> None:
        """Set slots side by side apart for some values, in their order."""
        self._reserved = {x: k for k, x in enumerate(dict.fromkeys(values), start=self.count)}
        self.count += len(self._reserved)

    def place(self, value: int) -> int:
        """Give a value a slot."""
        if value in self._reserved:
            self.of[value] = self._reserved[value]
            return self.of[value]
        if not self._free:
            self._free.append(self.count)
            self.count += 1
        self.of[value] = self._free.pop()
        return self.of[value]

    def release(self, value: int) -> None:
        """Take a value's slot back, if it has one."""
        if value in self.of:
            self._released.append(self.of.pop(value))


class _Allotment:
    """Belady's choice of what lies in registers. `uses` are the places of each value's uses, the next one last."""

    def __init__(self, line: list[Instruction], uses: dict[int, list[int]], crossing: set[int], registers: int) -> None:
        self.line, self.uses, self.crossing, self.registers = line, uses, crossing, registers
        self.shared, self.own = _Slots(late=True), _Slots(late=False)
        self.written: set[int] = set()
        self.held: dict[int, None] = {}
        self.moves: list[Instruction | Move] = []

    def part(self, first: int, last: int) -> tuple[Instruction | Move, ...]:
        """Return what one part does; afterwards no value is in a register."""
        self.held, self.moves, self.written = {}, [], set()
        self.shared.next_part()
        for p in range(first, last):
            kind, makes, reads, _ = self.line[p]
            for x in reads:
                self.uses[x].pop()
            folds = kind is Kind.STEP  # an operand from memory costs an arithmetic instruction nothing
            for x in reads:
                if x not in self.held:
                    self.moves.append(self._load(x))
                    if folds and self._next(x) - p > FAR:
                        folds = False
                    else:
                        self._make_room(1, reads)
                        self.held[x] = None
            if kind is Kind.SINES:
                self._make_room(self.registers, ())
            elif kind is Kind.OUTPUT:
                self._make_room(len(reads), reads)
            for x in reads:
                if not self.uses[x]:
                    self.held.pop(x, None)
                    self.shared.release(x)
                    self.own.release(x)
            if kind is Kind.STEP:
                self._make_room(1, reads)
            self.moves.append(self.line[p])
            self.held.update((x, None) for x in makes if x in self.uses)
            self._make_room(0, ())
        for x in self.held:
            self._spill(x)
        return tuple(self.moves)

    def _next(self, x: int) -> int:
        return self.uses[x][-1] if self.uses[x] else NEVER

    def _load(self, x: int) -> Move:
        is_shared = x in self.shared.of
        slot = (self.shared if is_shared else self.own).of[x]
        return Move(x, slot, is_shared, is_load=True, is_settled=is_shared and slot not in self.written)

    def _spill(self, x: int) -> None:
        if self.uses[x] and x not in self.shared.of and x not in self.own.of:
            is_shared = x in self.crossing
            slot = (self.shared if is_shared else self.own).place(x)
            self.moves.append(Move(x, slot, is_shared, is_load=False))
            if is_shared:
                self.written.add(slot)

    def _make_room(self, count: int, keep: tuple[int, ...]) -> None:
        while len(self.held) > self.registers - count:
            candidates = [x for x in self.held if x not in keep]
            if not candidates:
                return
            last = max(candidates, key=self._next)
            del self.held[last]
            self._spill(last)
