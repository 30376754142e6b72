"""Programs of loops: too long to be written out, they pass over items that share a few kinds of step.

A :class:`Rolled` program keeps some fields per item (for a robot, per body) in a scratch memory. It passes over its
items in two ways. A :class:`Sweep` visits them outward (first to last) or inward (last to first); a :class:`Walk`
begins at one item after the other and climbs from parent to parent with a small state. At each item a step, the tape of
the item's class, reads the item's constants, its share of the inputs and some fields, and writes fields and results.
Item 0 is the root: it has no parent, its fields begin with given numbers for every sample, and walks end before it.

Code is as long as the tapes of the classes, whatever the number of items; constants are data. Here are the program and
its plain meaning; :mod:`appell.kernels.llvm.rolled_ir` makes native code of it, :mod:`appell.kernels.text.c99_rolled`
C.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from appell.trace.tape import Port, Step, Tape
from appell.trace.verify import verify


class Share(NamedTuple):
    """Numbers of a port, side by side, that a step reads or writes.

    The first stands at `offset + stride·n + start·s`, with n one of the item's numbers (that of index `number`;
    none where it is negative) and s the number of the walk's start.
    """

    port: int
    size: int
    number: int = -1
    stride: int = 1
    offset: int = 0
    start: int = 0


class Stage(NamedTuple):
    """One step: its tape, and where its shares of the inputs and of the results stand.

    The tape reads constants, inputs, fields (own, parent's, root's), state; it gives fields (written, added to the
    parent's, added to the root's), state, results; all as one list in this order.
    """

    tape: Tape
    inputs: tuple[Share, ...] = ()
    outputs: tuple[Share, ...] = ()


class Fields(NamedTuple):
    """Which fields the steps of a pass read and write."""

    own: tuple[str, ...] = ()
    parent: tuple[str, ...] = ()
    root: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    """Added to the parent's."""
    sums: tuple[str, ...] = ()
    """Added to the root's."""


class Sweep(NamedTuple):
    """A visit of every item whose class has a step; `stages` are by class."""

    inward: bool
    fields: Fields
    stages: tuple[Stage | None, ...]


class Start(NamedTuple):
    """Where a walk begins: the item, which of the first steps it takes there, and the number that its results need."""

    item: int
    stage: int
    number: int


class Walk(NamedTuple):
    """Walks to the root: a first step at each start makes the state, then a step per ancestor changes it."""

    fields: Fields
    state: int
    starts: tuple[Start, ...]
    first: tuple[Stage, ...]
    stages: tuple[Stage | None, ...]


class Item(NamedTuple):
    """One item: its class, its parent, the numbers that locate its shares, its constants."""

    kind: int
    parent: int
    numbers: tuple[int, ...]
    constants: tuple[float, ...]


class Slot(NamedTuple):
    """One number that a step reads or writes: `where` it is, and which one it is there.

    `where` is "constant", "own", "parent", "root", "state", or "port" for a number of the share.
    """

    where: str
    at: int
    share: Share | None = None


@dataclass(frozen=True)
class Rolled:
    """A program of passes over items."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    fields: dict[str, int]
    """Sizes of the fields of every item."""
    base: dict[str, tuple[float, ...]]
    """What fields of the root begin with, where that is not zero."""
    passes: tuple[Sweep | Walk, ...]
    items: tuple[Item, ...]
    zeroed: tuple[int, ...] = ()
    """Outputs that no step writes all of: the rest of their numbers are zero."""

    def verified(self) -> Rolled:
        """Return the program after its steps' tapes are verified."""
        for stage in self.stages:
            verify(stage.tape)
        return self

    @property
    def stages(self) -> Iterator[Stage]:
        """Yield every step of every pass."""
        for one in self.passes:
            first = one.first if isinstance(one, Walk) else ()
            yield from (stage for stage in (*first, *one.stages) if stage is not None)

    @property
    def steps(self) -> Iterator[Step]:
        """Yield every operation of every step."""
        return chain.from_iterable(stage.tape.steps for stage in self.stages)

    @cached_property
    def width(self) -> int:
        """Return the scratch numbers per item."""
        return sum(self.fields.values())

    @cached_property
    def places(self) -> dict[str, int]:
        """Return where each field stands in an item's scratch."""
        names = list(self.fields)
        return {name: sum(self.fields[other] for other in names[:k]) for k, name in enumerate(names)}

    @property
    def root(self) -> list[float]:
        """Return what the root's scratch begins with."""
        return [x for name, size in self.fields.items() for x in self.base.get(name, (0.0,) * size)]

    @cached_property
    def state(self) -> int:
        """Return the size of the largest state."""
        return max((one.state for one in self.passes if isinstance(one, Walk)), default=0)

    def span(self, sweep: Sweep) -> range:
        """Return the items that a sweep visits, in its order; among them may be some without a step."""
        places = [k for k, item in enumerate(self.items) if sweep.stages[item.kind] is not None]
        return range(places[-1], places[0] - 1, -1) if sweep.inward else range(places[0], places[-1] + 1)

    def sources(self, fields: Fields, stage: Stage, state: int = 0) -> list[Slot]:
        """Return what each input of a step's tape is."""
        read = [*self._of("own", fields.own), *self._of("parent", fields.parent), *self._of("root", fields.root)]
        read += [*_numbers(stage.inputs), *(Slot("state", k) for k in range(state))]
        constants = stage.tape.n_inputs - len(read)
        ports = [*(Slot("constant", k) for k in range(constants)), *_numbers(stage.inputs)]
        return ports + [slot for slot in read if slot.where != "port"]

    def sinks(self, fields: Fields, stage: Stage, state: int = 0) -> list[Slot]:
        """Return where each result of a step's tape goes; to slots of the parent and of the root it is added."""
        written = [*self._of("own", fields.writes), *self._of("parent", fields.adds), *self._of("root", fields.sums)]
        return [*written, *(Slot("state", k) for k in range(state)), *_numbers(stage.outputs)]

    def _of(self, where: str, names: Iterable[str]) -> Iterator[Slot]:
        for name in names:
            yield from (Slot(where, self.places[name] + k) for k in range(self.fields[name]))

    def run(self, *arguments: Any) -> list[Any]:
        """Evaluate the program step by step on numbers of any type, as :meth:`appell.trace.tape.Tape.run` does."""
        run = _Run(self, [list(argument) for argument in arguments])
        for one in self.passes:
            if isinstance(one, Sweep):
                for j in self.span(one):
                    run.step(one.fields, one.stages[self.items[j].kind], j)
                continue
            for start in one.starts:
                run.step(one.fields, one.first[start.stage], start.item, start, gives=one.state)
                j = self.items[start.item].parent
                while j:
                    run.step(one.fields, one.stages[self.items[j].kind], j, start, one.state, one.state)
                    j = self.items[j].parent
        return [x for port in run.results for x in port]


Program = Tape | Rolled
"""A program to be compiled or exported."""


def _numbers(shares: Iterable[Share]) -> Iterator[Slot]:
    for share in shares:
        yield from (Slot("port", k, share) for k in range(share.size))


class _Run:
    """The memory of a program that is evaluated step by step."""

    def __init__(self, program: Rolled, inputs: list[list[Any]]) -> None:
        self.program, self.inputs = program, inputs
        self.scratch: list[list[Any]] = [[0.0] * program.width for _ in program.items]
        self.scratch[0] = list(program.root)
        self.state: list[Any] = [0.0] * program.state
        self.results: list[list[Any]] = [[0.0] * port.size for port in program.outputs]

    def step(
        self, fields: Fields, stage: Stage | None, j: int, start: Start | None = None, takes: int = 0, gives: int = 0
    ) -> None:
        """Run a step at an item, if there is one."""
        if stage is None:
            return
        item = self.program.items[j]
        memory: dict[str, Any] = {"own": self.scratch[j], "parent": self.scratch[item.parent]}
        memory |= {"root": self.scratch[0], "state": self.state, "constant": item.constants}

        def place(slot: Slot, ports: list[list[Any]]) -> tuple[list[Any], int]:
            if slot.share is None:
                return memory[slot.where], slot.at
            port, _, number, stride, offset, by_start = slot.share
            at = offset + (stride * item.numbers[number] if number >= 0 else 0)
            return ports[port], at + (by_start * start.number if start else 0) + slot.at

        sources = (place(slot, self.inputs) for slot in self.program.sources(fields, stage, takes))
        found = stage.tape.run([array[k] for array, k in sources])
        for slot, x in zip(self.program.sinks(fields, stage, gives), found, strict=True):
            array, k = place(slot, self.results)
            array[k] = array[k] + x if slot.where in ("parent", "root") else x
