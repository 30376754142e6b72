"""What programs mean: an interpreter on numbers of any type, the slow reference of all targets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from appell.errors import TraceError
from appell.program import nodes as ir
from appell.trace.tape import Port, flatten


def run(program: ir.Program, *arguments: Any) -> list[Any]:
    """Evaluate a program step by step; return the flat list of results.

    Each argument is a flat sequence of the scalars of one input; of a stream, a nested one with a level per axis.

    >>> from appell.program.nodes import Block, Copy, Loop, Program
    >>> from appell.trace.tape import Port, trace
    >>> x, rate = Port("x", (1,)), Port("rate", (1,), ("step",))
    >>> growth = trace("growth", lambda x, rate: (x[0] * rate[0],), [x, Port("rate", (1,))], [x])
    >>> body = (Block(growth, ("y", "rate"), ("y",)),)
    >>> nodes = (Copy("x", "y"), Loop("step", body), Copy("y", "end"))
    >>> program = Program("power", (x, rate), (Port("end", (1,)),), nodes, (Port("y", (1,)),))
    >>> run(program, [1.0], [[2.0], [3.0]])
    [6.0]
    """
    if len(arguments) != len(program.inputs):
        raise TraceError(f"program '{program.name}': expected {len(program.inputs)} arguments, got {len(arguments)}")
    return _Run(program, arguments).results()


class _Run:
    """The memories of a program that is evaluated."""

    def __init__(self, program: ir.Program, arguments: Iterable[Any]) -> None:
        self.program, self.turn = program, dict[str, int]()
        self.turns = dict(program.turns)
        given = list(zip(program.inputs, arguments, strict=True))
        for port, argument in given:
            self._measure(port, argument)
        self.sources: dict[str, list[Any]] = {port.name: list(flatten(_listed(x, port.axes))) for port, x in given}
        for name, numbers in self.sources.items():
            expected = self._length(program.sources[name])
            if len(numbers) != expected:
                raise TraceError(
                    f"program '{program.name}': input '{name}': expected {expected} scalars, got {len(numbers)}"
                )
        self.targets: dict[str, list[Any]] = {port.name: [0.0] * self._length(port) for port in program.outputs}
        slots: dict[str, list[Any]] = {port.name: [0.0] * self._length(port) for port in program.slots}
        self.sources |= slots
        self.targets |= slots
        self.fields = {items: [[0.0] * items.width for _ in items.rows] for items in program.tables}
        self.state: list[Any] = []
        self._all(program.nodes)

    def _measure(self, port: Port, argument: Any) -> None:
        """Take the lengths of a stream for the turns of its loops."""
        for axis in port.axes:
            known = self.turns.get(axis) or len(argument)
            if known != len(argument):
                raise TraceError(
                    f"program '{self.program.name}': input '{port.name}': {len(argument)} entries along '{axis}', "
                    f"expected {known}"
                )
            self.turns[axis] = known
            argument = argument[0] if known else ()

    def _length(self, port: Port) -> int:
        return math.prod(self.turns[axis] for axis in port.axes) * port.size

    def results(self) -> list[Any]:
        """Return the numbers of all outputs."""
        return [x for port in self.program.outputs for x in self.targets[port.name]]

    def _start(self, port: Port) -> int:
        """Return where the present entry of a memory begins."""
        at = 0
        for axis in port.axes:
            at = at * self.turns[axis] + self.turn[axis]
        return at * port.size

    def _read(self, source: str | ir.Entry) -> list[Any]:
        if isinstance(source, ir.Entry):
            place = source.items.places[source.field]
            return self.fields[source.items][source.item][place : place + source.items.fields[source.field]]
        port = self.program.sources.get(source)
        if port is None:
            return list(self._rows[source][self.turn[source]])
        start = self._start(port)
        return self.sources[source][start : start + port.size]

    def _write(self, target: str, values: list[Any]) -> None:
        start = self._start(self.program.targets[target])
        self.targets[target][start : start + len(values)] = values

    @property
    def _rows(self) -> dict[str, tuple[tuple[float, ...], ...]]:
        return {node.axis: node.rows for node in self.program.all_nodes if isinstance(node, ir.Loop) and node.rows}

    def _all(self, nodes: Iterable[ir.Node]) -> None:
        for node in nodes:
            match node:
                case ir.Block(tape, reads, writes):
                    found = iter(tape.run(*(self._read(source) for source in reads)))
                    values = [[next(found) for _ in range(port.size)] for port in tape.outputs]
                    for target, own in zip(writes, values, strict=True):
                        self._write(target, own)
                case ir.Copy(source, target):
                    size = self.program.targets[target].size
                    self._write(target, self._read(source) if source else [0.0] * size)
                case ir.Loop(axis, body, _, _, is_backward):
                    turns = range(self.turns[axis])
                    for self.turn[axis] in reversed(turns) if is_backward else turns:
                        self._all(body)
                case ir.Begin(items):
                    self.fields[items][0][:] = items.root
                case ir.Sweep():
                    for j in node.span:
                        self._step(node.items, node.fields, node.stages[node.items.rows[j].kind], j)
                case ir.Walk():
                    self._walk(node)

    def _walk(self, walk: ir.Walk) -> None:
        items, fields, state = walk.items, walk.fields, walk.state
        for start in walk.starts:
            self._step(items, fields, walk.first[start.stage], start.item, start, gives=state)
            j = items.rows[start.item].parent
            while j:
                self._step(items, fields, walk.stages[items.rows[j].kind], j, start, state, state)
                j = items.rows[j].parent

    def _step(
        self,
        items: ir.Items,
        fields: ir.Fields,
        stage: ir.Stage | None,
        j: int,
        start: ir.Start | None = None,
        takes: int = 0,
        gives: int = 0,
    ) -> None:
        """Run a step at an item, if there is one."""
        if stage is None:
            return
        item, scratch = items.rows[j], self.fields[items]
        own: dict[str, Any] = {"own": scratch[j], "parent": scratch[item.parent], "root": scratch[0]}
        own |= {"state": self.state, "constant": item.constants}

        def place(slot: ir.Slot, ports: dict[str, Port], arrays: dict[str, list[Any]]) -> tuple[list[Any], int]:
            if slot.share is None:
                return own[slot.where], slot.at
            memory, _, number, stride, offset, by_start = slot.share
            at = self._start(ports[memory]) + offset + (stride * item.numbers[number] if number >= 0 else 0)
            return arrays[memory], at + (by_start * start.number if start else 0) + slot.at

        sources = items.sources(fields, stage, takes)
        places = (place(slot, self.program.sources, self.sources) for slot in sources)
        found = stage.tape.run([array[k] for array, k in places])
        if len(self.state) < gives:
            self.state += [0.0] * (gives - len(self.state))
        for slot, x in zip(items.sinks(fields, stage, gives), found, strict=True):
            array, k = place(slot, self.program.targets, self.targets)
            array[k] = array[k] + x if slot.where in ("parent", "root") else x


def _listed(x: Any, axes: Sequence[str]) -> list[Any]:
    """Return an argument with a level per axis as lists, down to its scalars, which may be arrays."""
    return [_listed(y, axes[1:]) for y in x] if axes else list(x)
