"""Programs whose blocks find every input in a slot that does not depend on the turn of a loop."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from appell.kernels.lowering.analysis import angles
from appell.program.life import held, slot_of
from appell.program.nodes import Block, Copy, Entry, Loop, Node, Program
from appell.trace.tape import Port, Tape, spans


def staged(program: Program) -> Program:
    """Return a program of blocks, copies and loops in which blocks read slots without axes alone.

    Inputs, rows of loops, and slots with axes are copied before the block, and results that go to slots with axes after
    it. An input port of a block with angles has a slot of its own, in which they may be reduced by whole turns.
    """
    program = held(program, is_all=True)
    return _Stage(program).program()


class _Stage:
    def __init__(self, program: Program) -> None:
        self._program, self._slots = program, list(program.slots)
        reads = [x for node in program.all_nodes if isinstance(node, Block) for x in node.reads]
        reads += [node.source for node in program.all_nodes if isinstance(node, Copy)]
        self._uses = Counter(reads)
        self._inputs = {slot_of(port.name) for port in program.inputs}

    def program(self) -> Program:
        """Return the program."""
        nodes = self._all(self._program.nodes)
        return replace(self._program, nodes=nodes, slots=tuple(self._slots))

    def _all(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in nodes:
            if isinstance(node, Block):
                found += self._block(node)
            else:
                found.append(node._replace(body=self._all(node.body)) if isinstance(node, Loop) else node)
        return tuple(found)

    def _block(self, block: Block) -> list[Node]:
        before, after, reads, writes = list[Copy](), list[Copy](), list[str | Entry](), list[str]()
        turning = _ports_with_angles(block.tape)
        for k, (port, source) in enumerate(zip(block.tape.inputs, block.reads, strict=True)):
            assert isinstance(source, str)  # without items
            slot, is_own = self._program.sources.get(source), source in self._inputs and self._uses[source] == 1
            if slot is None or slot.axes or (k in turning and not is_own):
                before.append(Copy(source, self._slot(port)))
                reads.append(before[-1].target)
            else:
                reads.append(source)
        for port, target in zip(block.tape.outputs, block.writes, strict=True):
            if target in self._program.sources and self._program.targets[target].axes:
                after.append(Copy(self._slot(port), target))
                writes.append(after[-1].source)
            else:
                writes.append(target)
        return [*before, Block(block.tape, tuple(reads), tuple(writes)), *after]

    def _slot(self, port: Port) -> str:
        name = f"own{len(self._slots)}_{port.name}"
        self._slots.append(Port(name, port.shape))
        return name


def _ports_with_angles(tape: Tape) -> set[int]:
    """Return the input ports some of whose numbers are angles."""
    turning = set(angles(tape))
    return {k for k, (_, own) in enumerate(spans(tape.inputs)) if turning.intersection(own)}
