"""From recorded steps to a program: which numbers are needed, and the fields of the items that hold them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from appell.model.model import WORLD
from appell.program.nodes import (
    Begin,
    Copy,
    Fields,
    Item,
    Items,
    Node,
    Program,
    Stage,
    Start,
    Sweep,
    Walk,
    renamed,
)
from appell.robot.long.recorder import ROOT, WHOLE, Cell, Pass, Read, Recorded, Recorder
from appell.trace.expr import Expr
from appell.trace.tape import Port, lay


def program(
    recorder: Recorder,
    name: str,
    results: Sequence[tuple[Port, Any]],
    outputs: tuple[Port, ...],
    outer: Sequence[str] = (),
) -> Program:
    """Return the program of some outputs, given as the recursions return them."""
    return _Layout(recorder, recorder.give(results, outer)).program(name, outputs)


class _Layout:
    """A recorder's passes on their way to a program: which cells are needed, and the fields that hold them."""

    def __init__(self, recorder: Recorder, gaps: Sequence[str]) -> None:
        self.recorder, self.gaps = recorder, gaps
        self._trim()
        self.passes = [made for made in recorder.passes if made.all or made.block]
        readers: dict[Cell, set[tuple[int, str]]] = defaultdict(set)
        for k, made in enumerate(self.passes):
            for recorded in made.all:
                for read in self._reads(recorded):
                    readers[read.cell].add((k, _where(read, recorded)))
        groups: dict[tuple[int, frozenset[tuple[int, str]]], list[Cell]] = defaultdict(list)
        for cell in sorted(readers):
            groups[cell.part, frozenset(readers[cell])].append(cell)
        self.groups = {f"field{k}": tuple(cells) for k, cells in enumerate(groups.values())}
        used = {x.index for made in self.passes for one in made.all for x in recorder.leaves_of(_results(one))}
        self.constants = [
            [k for k, x in enumerate(own) if isinstance(x, Expr) and x.index in used] for own in recorder.constants
        ]
        fields = {name: len(cells) for name, cells in self.groups.items()}
        base = {name: tuple(recorder.base.get(x, 0.0) for x in cells) for name, cells in self.groups.items()}
        self.items = Items(tuple(self._items()), fields, {name: x for name, x in base.items() if any(x)})

    def program(self, name: str, outputs: tuple[Port, ...]) -> Program:
        """Return the program, whose outputs with gaps are zero at first."""
        own = self.recorder
        zeroed = (Copy("", name) for name in self.gaps)
        passes = (made.block or (self._walk(made) if made.first else self._sweep(made)) for made in self.passes)
        nodes: tuple[Node, ...] = (*zeroed, Begin(self.items), *passes)
        if own.copied is not None:
            nodes = (*nodes, *renamed([own.copied], own.outputs))
        return Program(name, tuple(own.inputs), outputs, nodes, tuple(own.slots))

    def _reads(self, recorded: Recorded) -> Iterator[Read]:
        leaves = self.recorder.leaves_of(_results(recorded))
        found = (self.recorder.reads.get(x.index) for x in leaves)
        yield from (read for read in found if read is not None and read.where != "state")

    def _trim(self) -> None:
        """Drop what no output needs."""
        recorder, writers = self.recorder, defaultdict[Cell, list[Any]](list)
        for made in recorder.passes:
            for one in made.all:
                one.shares = [
                    x for x in one.shares if not x[0].memory.startswith("matrix ") or x[0].memory in recorder.outputs
                ]
                for cell, x in one.cells:
                    writers[cell].append(x)
        live, is_walk = set[Cell](), {id(m): any(x.shares for x in m.all) for m in recorder.passes}
        pending = [x for m in recorder.passes for one in m.all for _, own in one.shares for x in own]
        pending += [x for m in recorder.passes if is_walk[id(m)] for one in m.all for x in one.state]
        while pending:
            reads = (recorder.reads.get(x.index) for x in recorder.leaves_of(pending))
            new = {read.cell for read in reads if read is not None} - live
            live |= new
            pending = [x for cell in new for x in writers[cell]]
        for made in recorder.passes:
            for one in made.all:
                one.writes, one.adds, one.sums = (
                    {cell: x for cell, x in part.items() if cell in live} for part in (one.writes, one.adds, one.sums)
                )
            if not any(one.shares or one.writes or one.adds or one.sums for one in made.all):
                made.steps, made.first = {}, {}

    def _items(self) -> Iterator[Item]:
        own = self.recorder
        place = {WORLD: 0} | {i: k for k, i in enumerate(own.bodies, start=1)}
        rows = [(0, (0, 0, 0, 0, 0))]
        for i in own.bodies:
            q, v = own.model.q_slices[i].start, own.model.v_slices[i].start
            rows.append((place[own.model.bodies[i].parent], (q, v, i, *own.followed(i))))
        rows += [(place[frame.body], (0, 0, k, 0, 0)) for k, frame in enumerate(own.frames)]
        more: list[Any] = [(), *([x for part in own.extra for x in part[own.model.v_slices[i]]] for i in own.bodies)]
        more += [()] * len(own.frames)
        index = {key: c for c, key in enumerate(own.classes)}
        for (parent, numbers), key, constants, others in zip(rows, own.keys, own.numbers, more, strict=True):
            every = (*constants, *others)
            yield Item(index[key], parent, numbers, tuple(every[k] for k in self.constants[index[key]]))

    def _fields(self, made: Pass) -> Fields:
        read = {(_where(x, one), x.cell) for one in made.all for x in self._reads(one)}
        given = [{cell for one in made.all for cell in getattr(one, part)} for part in ("writes", "adds", "sums")]
        sides = [{cell for at, cell in read if at == where} for where in ("own", "parent", "root")]
        return Fields(
            *(tuple(x for x, cells in self.groups.items() if own.intersection(cells)) for own in (*sides, *given))
        )

    def _sweep(self, made: Pass) -> Sweep:
        fields = self._fields(made)
        return Sweep(self.items, made.inward, fields, self._stages(made, fields))

    def _stages(self, made: Pass, fields: Fields) -> tuple[Stage | None, ...]:
        """Return the steps of all classes."""
        steps = (made.steps.get(c) for c in range(len(self.recorder.classes)))
        return tuple(None if one is None else self._stage(made, one, fields, len(made.cells)) for one in steps)

    def _walk(self, made: Pass) -> Walk:
        """Return walks from every body, one per column of its joint if the pass has one per column."""
        own, fields = self.recorder, self._fields(made)
        begins = {x: k for k, x in enumerate(made.first)}
        starts = []
        for k, i in enumerate(own.bodies, start=1):
            numbers = own.model.velocities(i) if made.per_column else (i,)
            starts += [Start(k, begins[self.items.rows[k].kind, j], number) for j, number in enumerate(numbers)]
        first = tuple(self._stage(made, one, fields, 0) for one in made.first.values())
        return Walk(self.items, fields, len(made.cells), tuple(starts), first, self._stages(made, fields))

    def _stage(self, made: Pass, one: Recorded, fields: Fields, takes: int) -> Stage:
        """Return one step as a tape."""
        own, c = self.recorder, one.key
        used = {x.index for x in own.leaves_of(_results(one))}
        shares = [
            (own.place(memory, key), leaves)
            for (memory, key), leaves in own.of_shares.items()
            if key in (c, WHOLE) and used.intersection(x.index for x in leaves)
        ]
        given = [own.constants[c][k] for k in self.constants[c]]
        given += [x for _, leaves in shares for x in leaves]
        for where, names in zip(("own", "parent", "root"), fields[:3], strict=True):
            at = "root" if own.classes[c][0] == ROOT else where
            given += [own.leaf(Read(at, cell)) for name in names for cell in self.groups[name]]
        given += [own.leaf(Read("state", cell)) for cell in made.cells[:takes]]
        results = [
            x.get(cell, 0.0)
            for x, names in zip((one.writes, one.adds, one.sums), fields[3:], strict=True)
            for name in names
            for cell in self.groups[name]
        ]
        results += [*one.state, *(x for _, part in one.shares for x in part)]
        ports = [Port("x", (len(given),))], [Port("results", (len(results),))]
        tape = lay(own.classes[c][0], own.graph, results, *ports, given)
        to = tuple(share._replace(memory=own.outputs.get(share.memory, share.memory)) for share, _ in one.shares)
        return Stage(tape, tuple(share for share, _ in shares), to)


def _where(read: Read, recorded: Recorded) -> str:
    """Return whose cell a step reads: what is the root's for others is the world's own."""
    return "own" if recorded.key == 0 else read.where


def _results(one: Recorded) -> list[Any]:
    """Return all that a step gives."""
    return [*(x for _, x in one.cells), *one.state, *(x for _, part in one.shares for x in part)]
