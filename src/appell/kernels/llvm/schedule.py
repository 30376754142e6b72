"""The order of a long tape: parts of arithmetic, and between them the loops that store results.

A processor that runs a long program once per vector of samples fetches all its code again every time. A part fits the
innermost cache, and runs on a block of vectors before the next part starts. Cuts go where few values are alive.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from appell.kernels.llvm.line import MOST_KEPT, Entry, Keep, Line, Operation, Store, constant_results
from appell.kernels.llvm.llvm_writer import Real
from appell.kernels.llvm.registers import NEVER, Machine, Registers, Slots
from appell.trace.tape import Tape

LONGEST = 3000
"""Operations of a part: about what a processor's cache of decoded instructions holds."""
STRIDE = 32
"""Operations between places that are looked at for a cut."""


class Part(NamedTuple):
    """Arithmetic."""

    code: tuple[Machine, ...]


class StoredSlots(NamedTuple):
    """Results of an output port from one on, by their slots in the memory that parts share."""

    port: int
    start: int
    slots: tuple[int, ...]


Segment = Part | StoredSlots


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
    line = Line(tape, real, {} if constants is None else constants, places.kept)
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
    segments = tuple(one for one in found if not isinstance(one, Part) or one.code)
    numbers = {shared.of[x]: value for x, value in fixed.items()}
    return Schedule(segments, shared.count, writer.own.count, tuple(map(float.fromhex, line.constants)), numbers)


def _segment(writer: Registers, entries: list[Entry], start: int) -> Segment:
    """Return the instructions of operations, or the slots of results, which are the only entry then."""
    entry = entries[0]
    if isinstance(entry, Keep):
        return Part(tuple(writer.kept(entry)))
    if isinstance(entry, Operation):
        return Part(tuple(writer.part([x for x in entries if isinstance(x, Operation)], start)))
    return StoredSlots(entry.port, entry.start, writer.stored(entry))


def _cuts(entries: list[Entry], uses: dict[int, list[int]]) -> list[int]:
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
