"""Programs from functions on traced scalars that call other programs.

A function that calls nothing leaves one block. Each call cuts it: what the call needs is computed in the block before
it, its results are new inputs, and values of earlier blocks that later ones read are kept in slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from appell.errors import TraceError
from appell.program.nodes import Block, Node, Program, inlined
from appell.trace.expr import EVALUATE, Expr, Graph, Op, needed
from appell.trace.tape import Port, Tape, flatten, lay, spans, trace

Value = Any


class _Call(NamedTuple):
    """A call: the program, what it is given, and its results."""

    program: Program
    arguments: list[Value]
    results: list[Expr]


class Recorder:
    """What a function that is recorded calls other programs with."""

    def __init__(self) -> None:
        self.graph, self.calls = Graph(), list[_Call]()

    def __call__(self, program: Program, *arguments: Sequence[Value]) -> list[tuple[Value, ...]]:
        """Return the results of a program, one tuple per output; straight-line ones become part of the caller."""
        if program.tape is not None:
            found = iter(program.tape.run(*arguments))
            return [tuple(next(found) for _ in range(port.size)) for port in program.outputs]
        parts = [tuple(self.graph.unknown() for _ in range(port.size)) for port in program.outputs]
        self.calls.append(_Call(program, list(flatten(arguments)), [x for part in parts for x in part]))
        return parts


def record(name: str, function: Callable[..., Any], inputs: Sequence[Port], outputs: Sequence[Port]) -> Program:
    """Return the program of a function of a :class:`Recorder` and of tuples of scalars.

    >>> from appell.program.run import run
    >>> x = Port("x", (1,))
    >>> square = record("square", lambda call, x: (x[0] * x[0],), [x], [Port("y", (1,))])
    >>> fourth = record("fourth", lambda call, x: call(square, call(square, x)[0]), [x], [Port("y", (1,))])
    >>> run(fourth, [2.0])
    [16.0]
    """
    recorder = Recorder()
    graph = recorder.graph
    arguments = graph.inputs_like(*(port.size for port in inputs))
    flat = list(flatten(function(recorder, *arguments)))
    expected = sum(port.size for port in outputs)
    if len(flat) != expected:
        raise TraceError(f"program '{name}': expected {expected} scalar results, got {len(flat)}")
    names = tuple(port.name for port in inputs), tuple(port.name for port in outputs)
    if not recorder.calls:
        tape = lay(name, graph, flat, inputs, outputs)
        return Program(name, tape.inputs, tape.outputs, (Block(tape, *names),))
    return _Cut(name, recorder, flat, inputs, outputs).program()


class _Cut:
    """A recorded function, cut at its calls."""

    def __init__(
        self, name: str, recorder: Recorder, results: list[Value], inputs: Sequence[Port], outputs: Sequence[Port]
    ) -> None:
        self.name, self.calls, self.results = name, recorder.calls, results
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.origin: dict[int, tuple[str, int]] = {}
        """By input or result of a call, the memory that it is in and its place there."""
        for port, own in spans(self.inputs):
            self.origin |= {recorder.graph.inputs[i].index: (port.name, k) for k, i in enumerate(own)}
        self.slots: list[Port] = []
        level = dict.fromkeys(self.origin, 0)
        for k, call in enumerate(self.calls):
            for port, own in spans(call.program.outputs):
                slot = self._slot(f"call{k}_{port.name}_out", port.size)
                for j, i in enumerate(own):
                    x = call.results[i].index
                    self.origin[x], level[x] = (slot, j), k + 1
        self.level = level

    def _slot(self, name: str, size: int) -> str:
        self.slots.append(Port(name, (size,)))
        return name

    def program(self) -> Program:
        """Return the program: blocks with the nodes of the calls between them."""
        wanted = [[x for x in call.arguments if isinstance(x, Expr)] for call in self.calls]
        wanted.append([x for x in self.results if isinstance(x, Expr)])
        for expr in needed([x for values in wanted for x in values]):
            self.level.setdefault(expr.index, max((self.level[arg.index] for arg in expr.args), default=0))
        self._keep(wanted)
        nodes: list[Node] = []
        for k, call in enumerate(self.calls):
            ports = [port._replace(name=f"call{k}_{port.name}") for port in call.program.inputs]
            self.slots += ports
            nodes.append(self._block(k, call.arguments, ports, [port.name for port in ports]))
            outputs = {port.name: f"call{k}_{port.name}_out" for port in call.program.outputs}
            reads = {own.name: port.name for own, port in zip(call.program.inputs, ports, strict=True)}
            made, slots = inlined(call.program, f"call{k}_", reads, outputs)
            nodes += made
            self.slots += slots
        nodes.append(self._block(len(self.calls), self.results, self.outputs, [port.name for port in self.outputs]))
        return Program(self.name, self.inputs, self.outputs, tuple(nodes), tuple(self.slots))

    def _keep(self, wanted: list[list[Expr]]) -> None:
        """Give slots to values that are read in later blocks than theirs."""
        every = needed([x for values in wanted for x in values])
        reads = [(x, self.level[expr.index]) for expr in every for x in expr.args]
        reads += [(x, k) for k, values in enumerate(wanted) for x in values]
        self.kept: list[list[Expr]] = [[] for _ in wanted]
        for x in dict.fromkeys(x for x, at in reads if x.args and self.level[x.index] < at):
            self.kept[self.level[x.index]].append(x)
        for k, values in enumerate(self.kept):
            slot = self._slot(f"kept{k}", len(values)) if values else ""
            self.origin |= {x.index: (slot, j) for j, x in enumerate(values)}

    def _block(self, k: int, results: Iterable[Value], ports: Sequence[Port], targets: list[str]) -> Block:
        """Return the block that makes the arguments of the k-th call, or the results, and what is kept from it."""
        own = self.kept[k]
        roots = [*results, *own]
        known = {x.index for level in self.kept[:k] for x in level}
        nodes, pending, found = list[Expr](), [x for x in roots if isinstance(x, Expr)], set[int]()
        while pending:
            x = pending.pop()
            if x.index not in found:
                found.add(x.index)
                nodes.append(x)
                pending += () if x.index in known else x.args
        nodes.sort(key=lambda x: x.index)
        read = [x for x in nodes if x.op is not Op.CONST and (not x.args or x.index in known)]
        memories = list(dict.fromkeys(self.origin[x.index][0] for x in read))
        sizes = {port.name: port.size for port in (*self.inputs, *self.slots)}
        inputs = [Port(name, (sizes[name],)) for name in memories]

        def program(*given: Any) -> list[Value]:
            memory = dict(zip(memories, given, strict=True))
            values: dict[int, Value] = {}
            for x in nodes:
                if x.op is Op.CONST:
                    values[x.index] = x.value
                elif x.index in known or not x.args:
                    name, place = self.origin[x.index]
                    values[x.index] = memory[name][place]
                else:
                    values[x.index] = EVALUATE[x.op](*(values[arg.index] for arg in x.args))
            return [values[x.index] if isinstance(x, Expr) else x for x in roots]

        outputs = [*ports, *([Port(f"kept{k}", (len(own),))] if own else [])]
        tape: Tape = trace(f"{self.name} {k}" if k else self.name, program, inputs, outputs)
        return Block(tape, tuple(memories), (*targets, *([f"kept{k}"] if own else [])))
