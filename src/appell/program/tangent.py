"""Rates of the results of programs, as programs: forward mode over every node.

A memory that moves has its rate in a memory beside it, a field in a field of the same items, and every tape carries
both on (:mod:`appell.trace.derive`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from appell.program.life import leaves, reached
from appell.program.nodes import (
    Begin,
    Block,
    Copy,
    Entry,
    Fields,
    Items,
    Loop,
    Node,
    Program,
    Share,
    Stage,
    Sweep,
    Walk,
)
from appell.program.prune import pruned
from appell.trace.derive import along
from appell.trace.expr import Expr, Graph
from appell.trace.tape import Port, Tape, lay


def tangent(program: Program, rates: Mapping[str, str]) -> Program:
    """Return the program of the rates of all outputs, under their names, for rates of some inputs.

    `rates` gives the names of the inputs that the rates are, after those of the program.

    >>> from appell.program.nodes import straight
    >>> from appell.program.run import run
    >>> from appell.trace.tape import trace
    >>> square = straight(trace("square", lambda x: (x[0] * x[0],), [Port("x", (1,))], [Port("y", ())]))
    >>> run(tangent(square, {"x": "dx"}), [3.0], [1.0])
    [6.0]
    """
    return _Tangent(program, rates).program()


class _Tangent:
    """A program on its way to its rates."""

    def __init__(self, program: Program, rates: Mapping[str, str]) -> None:
        self.given, moving = program, reached(leaves(program.nodes), rates)
        taken = {*program.sources, *program.targets, *program.turns, *rates.values()}
        own = {port.name: _free(f"rate_{port.name}", taken) for port in program.slots if port.name in moving}
        self.own = {port.name: port.size for port in program.slots}
        self.slots = tuple(port._replace(name=own[port.name]) for port in program.slots if port.name in own)
        self.reads: dict[str, str] = {**rates, **own}
        """The rates of the memories that are read."""
        self.writes = own | {port.name: port.name for port in program.outputs}
        self.fields: dict[Items, dict[str, str]] = {}
        """The rates of fields."""
        self.items: dict[Items, Items] = {}
        for items in program.tables:
            marks = {x: _free(f"rate_{x}", {*items.fields}) for x in items.fields if (items, x) in moving}
            sizes = {rate: items.fields[name] for name, rate in marks.items()}
            self.fields[items], self.items[items] = marks, replace(items, fields=items.fields | sizes)

    def program(self) -> Program:
        """Return the rates."""
        given = self.given
        inputs = tuple(port._replace(name=self.reads[port.name]) for port in given.inputs if port.name in self.reads)
        return pruned(
            replace(
                given,
                name=f"rates of {given.name}",
                inputs=(*given.inputs, *inputs),
                nodes=self._all(given.nodes),
                slots=(*given.slots, *self.slots),
            )
        )

    def _all(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(made for node in nodes for made in self._one(node))

    def _one(self, node: Node) -> tuple[Node, ...]:
        match node:
            case Block():
                return (self._block(node),)
            case Copy(source, target):
                rates = (Copy(self.reads.get(source, ""), self.writes[target]),) if target in self.writes else ()
                return (*((node,) if target in self.own else ()), *rates)
            case Loop():
                return (node._replace(body=self._all(node.body)),)
            case Begin(items):
                return (Begin(self.items[items]),)
            case Sweep() | Walk():
                return (self._pass(node),)

    def _rate(self, source: str | Entry) -> str | Entry | None:
        """Return the rate of what a block reads, if it moves."""
        if isinstance(source, str):
            return self.reads.get(source)
        name = self.fields[source.items].get(source.field)
        return Entry(self.items[source.items], name, source.item) if name else None

    def _block(self, block: Block) -> Block:
        """Return a block with the rates of what it writes; it does not write outputs themselves."""
        tape, rates = block.tape, [self._rate(x) for x in block.reads]
        moving = [port for port, rate in zip(tape.inputs, rates, strict=True) if rate is not None]
        sources = [(port.size, rate is not None) for port, rate in zip(tape.inputs, rates, strict=True)]
        flags = [(name in self.own, name in self.writes) for name in block.writes]
        sinks = [(port.size, *flag) for port, flag in zip(tape.outputs, flags, strict=True)]
        graph, results = _carried(tape, [sources], [sinks])
        kept = [port for port, (keeps, _) in zip(tape.outputs, flags, strict=True) if keeps]
        kept += (port for port, (_, moves) in zip(tape.outputs, flags, strict=True) if moves)
        inputs = [port._replace(name=f"x{k}") for k, port in enumerate((*tape.inputs, *moving))]
        made = lay(tape.name, graph, results, inputs, [port._replace(name=f"y{k}") for k, port in enumerate(kept)])
        reads = [x._replace(items=self.items[x.items]) if isinstance(x, Entry) else x for x in block.reads]
        writes = [x for x in block.writes if x in self.own], [self.writes[x] for x in block.writes if x in self.writes]
        return Block(made, (*reads, *(x for x in rates if x is not None)), (*writes[0], *writes[1]))

    def _pass(self, node: Sweep | Walk) -> Sweep | Walk:
        """Return a pass that carries the rates of its fields and of its state on."""
        marks = self.fields[node.items]
        fields = Fields(*((*part, *(marks[x] for x in part if x in marks)) for part in node.fields))
        state = node.state if isinstance(node, Walk) else 0
        stages = tuple(None if x is None else self._stage(node, x, state, state) for x in node.stages)
        made = node._replace(items=self.items[node.items], fields=fields, stages=stages)
        if isinstance(made, Walk) and isinstance(node, Walk):
            made = made._replace(state=2 * state, first=tuple(self._stage(node, x, 0, state) for x in node.first))
        return made

    def _stage(self, node: Sweep | Walk, stage: Stage, takes: int, gives: int) -> Stage:
        """Return a step with the rates of what it gives."""
        sizes, marks = node.items.fields, self.fields[node.items]
        count = sum(slot.where == "constant" for slot in node.items.sources(node.fields, stage, takes))
        shares = [(share.size, share.memory in self.reads) for share in stage.inputs]
        parts = [[(sizes[x], x in marks) for x in part] for part in node.fields]
        sinks = [[(size, True, moves) for size, moves in part] for part in (*parts[3:], [(gives, True)])]
        sinks.append([(share.size, share.memory in self.own, share.memory in self.writes) for share in stage.outputs])
        graph, results = _carried(stage.tape, [[(count, False)], shares, *parts[:3], [(takes, True)]], sinks)
        ports = Port("x", (len(graph.inputs),)), Port("results", (len(results),))
        return Stage(
            lay(stage.tape.name, graph, results, ports[:1], ports[1:]),
            (*stage.inputs, *_renamed(stage.inputs, self.reads)),
            (*(share for share in stage.outputs if share.memory in self.own), *_renamed(stage.outputs, self.writes)),
        )


def _carried(
    tape: Tape, sources: Sequence[Sequence[tuple[int, bool]]], sinks: Sequence[Sequence[tuple[int, bool, bool]]]
) -> tuple[Graph, list[Any]]:
    """Return the results of a tape and their rates, and the graph of both.

    Sources are in groups, each followed by the rates of its parts that move, each of a size; so are sinks, whose parts
    may be kept, and have a rate.
    """
    graph, values, direction = Graph(), list[Expr](), list[tuple[Expr, Expr]]()
    for group in sources:
        own = graph.inputs_like(*(size for size, _ in group))
        moving = [x for part, (_, moves) in zip(own, group, strict=True) if moves for x in part]
        values += (x for part in own for x in part)
        direction += zip(moving, graph.inputs_like(len(moving))[0], strict=True)
    found, results = tape.run(values), list[Any]()
    pairs = iter(list(zip(found, (rate for (rate,) in along(found, [direction])), strict=True)))
    for part in sinks:
        rows = [[next(pairs) for _ in range(size)] for size, _, _ in part]
        results += (x for row, (_, keeps, _) in zip(rows, part, strict=True) if keeps for x, _ in row)
        results += (rate for row, (_, _, moves) in zip(rows, part, strict=True) if moves for _, rate in row)
    return graph, results


def _renamed(shares: Sequence[Share], names: Mapping[str, str]) -> Iterator[Share]:
    """Yield the shares of the rates of memories."""
    return (share._replace(memory=names[share.memory]) for share in shares if share.memory in names)


def _free(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, now taken."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
