"""Verification: every program is checked before it is counted, compiled or exported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from appell.errors import TraceError
from appell.program.nodes import Begin, Block, Copy, Entry, Items, Loop, Node, Program, Slot, Sweep, Walk, tapes
from appell.trace.verify import verify as verify_tape


def verify(program: Program) -> Program:
    """Return the program if it is well formed; raise a :class:`TraceError` that names the node if it is not.

    In a well-formed program every tape is well formed; nodes name memories of the sizes that they expect, write no
    input and read no output; memories with axes are used inside the loops of these axes; a loop known at run time has a
    stream; steps find their fields, constants and shares.
    """
    _Verification(program).nodes(program.nodes, {})
    return program


class _Verification:
    def __init__(self, program: Program) -> None:
        self.program = program
        for side in (program.inputs, program.outputs):
            names = [port.name for port in (*side, *program.slots)]
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                self._fail(f"two memories are named '{twice}'")

    def _fail(self, text: str) -> NoReturn:
        raise TraceError(f"program '{self.program.name}': {text}")

    def nodes(self, nodes: Iterable[Node], rows: dict[str, int]) -> None:
        """Check nodes inside loops, whose rows have some sizes."""
        for node in nodes:
            for tape in tapes(node):
                verify_tape(tape)
            match node:
                case Block():
                    self._block(node, rows)
                case Copy(source, target):
                    size = self._size(target, rows, "output")
                    if source and self._size(source, rows, "input") != size:
                        self._fail(f"'{source}' and '{target}' differ in size")
                case Loop(axis, body):
                    self._loop(node, rows)
                    self.nodes(body, rows | {axis: len(node.rows[0]) if node.rows else 0})
                case Begin(items):
                    self._items(items)
                case Sweep() | Walk():
                    self._pass(node, rows)

    def _size(self, name: str, rows: dict[str, int], use: str) -> int:
        """Return the size of a memory that is read ("input") or written ("output") here."""
        if use == "input" and rows.get(name):
            return rows[name]
        own, other = self.program.sources, self.program.targets
        if use == "output":
            own, other = other, own
        if name not in own and name in other:
            self._fail(f"the input '{name}' is written" if use == "output" else f"the output '{name}' is read")
        if name not in own:
            self._fail(f"no memory '{name}'")
        port = own[name]
        for axis in port.axes:
            if axis not in rows:
                self._fail(f"'{name}' has the axis '{axis}' and is used outside its loop")
        return port.size

    def _block(self, node: Block, rows: dict[str, int]) -> None:
        for ports, names, use in ((node.tape.inputs, node.reads, "input"), (node.tape.outputs, node.writes, "output")):
            if len(ports) != len(names):
                self._fail(f"block '{node.tape.name}' has {len(ports)} {use}s and names {len(names)} memories")
            for port, name in zip(ports, names, strict=True):
                size = name.items.fields[name.field] if isinstance(name, Entry) else self._size(name, rows, use)
                if size != port.size:
                    self._fail(f"block '{node.tape.name}': {use} '{port.name}' has {port.size} numbers, memory {size}")

    def _loop(self, node: Loop, rows: dict[str, int]) -> None:
        if node.axis in rows or node.axis in self.program.sources:
            self._fail(f"two loops or memories are named '{node.axis}'")
        if not node.turns and not any(node.axis in port.axes for port in self.program.inputs):
            self._fail(f"loop '{node.axis}' has no count and no stream")
        if node.when and self._size(node.when, rows, "input") != 1:
            self._fail(f"the condition of loop '{node.axis}' is no single number")
        if len(set(map(len, node.rows))) > 1:
            self._fail(f"the rows of loop '{node.axis}' differ in length")

    def _items(self, items: Items) -> None:
        for k, item in enumerate(items.rows):
            if not (0 <= item.parent < k or k == item.parent == 0):
                self._fail(f"item {k} has the parent {item.parent}, which is not before it")

    def _pass(self, node: Sweep | Walk, rows: dict[str, int]) -> None:
        items, fields = node.items, node.fields
        unknown = {name for names in fields for name in names}.difference(items.fields)
        if unknown:
            self._fail(f"no field '{unknown.pop()}'")
        first = node.first if isinstance(node, Walk) else ()
        state = node.state if isinstance(node, Walk) else 0
        least: dict[int, int] = {}
        for item in items.rows:
            least[item.kind] = min(len(item.constants), least.get(item.kind, len(item.constants)))
        for stage, takes in (*((x, 0) for x in first), *((x, state) for x in node.stages)):
            if stage is None:
                continue
            for share, use in (*((x, "input") for x in stage.inputs), *((x, "output") for x in stage.outputs)):
                self._size(share.memory, rows, use)
            sources, sinks = items.sources(fields, stage, takes), items.sinks(fields, stage, state)
            if len(sources) != stage.tape.n_inputs or len(sinks) != len(stage.tape.results):
                self._fail(f"step '{stage.tape.name}': its reads and writes do not fit its tape")
        for kind, stage in enumerate(node.stages):
            if stage is not None and kind in least and _constants(items.sources(fields, stage, state)) > least[kind]:
                self._fail(f"step '{stage.tape.name}': an item has too few constants")


def _constants(slots: list[Slot]) -> int:
    return sum(slot.where == "constant" for slot in slots)
