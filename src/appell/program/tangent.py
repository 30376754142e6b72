"""Rates of the results of programs, as programs: forward mode over every node.

A memory that moves has its rate in a memory beside it, a field in a field of the same items, and every tape carries
both on (:mod:`appell.trace.derive`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from appell.program import nodes as ir
from appell.program.life import leaves, reached
from appell.program.prune import pruned
from appell.trace.derive import along
from appell.trace.expr import Expr, Graph
from appell.trace.tape import Tape, lay_parts


def tangent(program: ir.Program, rates: Mapping[str, str]) -> ir.Program:
    """Return the program of the rates of all outputs, under their names, for rates of some inputs.

    `rates` gives the names of the inputs that the rates are, after those of the program.

    >>> from appell.program.nodes import straight
    >>> from appell.program.run import run
    >>> from appell.trace.tape import Port, trace
    >>> square = straight(trace("square", lambda x: (x[0] * x[0],), [Port("x", (1,))], [Port("y", ())]))
    >>> run(tangent(square, {"x": "dx"}), [3.0], [1.0])
    [6.0]
    """
    return _Tangent(program, rates).program()


class _Tangent:
    """The construction of the program of rates. Outputs are replaced by slots, and only their rates are results."""

    def __init__(self, program: ir.Program, rates: Mapping[str, str]) -> None:
        self.given, moving = program, reached(leaves(program.nodes), rates)
        taken = {*program.sources, *program.targets, *program.turns, *rates.values()}
        own = {port.name: _free(f"rate_{port.name}", taken) for port in program.slots if port.name in moving}
        self.slots = tuple(port._replace(name=own[port.name]) for port in program.slots if port.name in own)
        self.values = {port.name: _free(f"value_{port.name}", taken) for port in program.outputs}
        """What takes the place of outputs."""
        self.reads = {**rates, **own}
        """The rates of the memories that are read."""
        self.writes = own | {port.name: port.name for port in program.outputs}
        self.fields: dict[ir.Items, dict[str, str]] = {}
        """The rates of fields."""
        self.items: dict[ir.Items, ir.Items] = {}
        for items in program.tables:
            marks = {x: _free(f"rate_{x}", {*items.fields}) for x in items.fields if (items, x) in moving}
            sizes = {rate: items.fields[name] for name, rate in marks.items()}
            self.fields[items], self.items[items] = marks, replace(items, fields=items.fields | sizes)

    def program(self) -> ir.Program:
        """Return the rates."""
        given = self.given
        inputs = (port._replace(name=self.reads[port.name]) for port in given.inputs if port.name in self.reads)
        made = replace(given, name=f"rates of {given.name}", inputs=(*given.inputs, *inputs))
        return pruned(replace(made, nodes=self._all(given.nodes), slots=(*given.slots, *self.slots)))

    def _all(self, nodes: tuple[ir.Node, ...]) -> tuple[ir.Node, ...]:
        return tuple(made for node in nodes for made in self._one(node))

    def _one(self, node: ir.Node) -> Iterator[ir.Node]:
        match node:
            case ir.Block():
                yield self._block(node)
            case ir.Copy(source, target):
                yield ir.Copy(source, self.values.get(target, target))
                if target in self.writes:
                    yield ir.Copy(self.reads.get(source, ""), self.writes[target])
            case ir.Loop():
                yield node._replace(body=self._all(node.body), when="")
            case ir.Begin(items):
                yield ir.Begin(self.items[items])
            case ir.Sweep() | ir.Walk():
                yield self._pass(node)

    def _block(self, block: ir.Block) -> ir.Block:
        """Return a block with the rates of what it writes."""
        tape, rates = block.tape, [self._rate(x) for x in block.reads]
        sources = [(port.size, rate is not None) for port, rate in zip(tape.inputs, rates, strict=True)]
        sinks = [(port.size, name in self.writes) for port, name in zip(tape.outputs, block.writes, strict=True)]
        reads = [x._replace(items=self.items[x.items]) if isinstance(x, ir.Entry) else x for x in block.reads]
        writes = [self.values.get(x, x) for x in block.writes]
        return ir.Block(
            _carried(tape, [sources], [sinks]),
            (*reads, *(x for x in rates if x is not None)),
            (*writes, *(self.writes[x] for x in block.writes if x in self.writes)),
        )

    def _rate(self, source: str | ir.Entry) -> str | ir.Entry | None:
        """Return the rate of what a block reads, if it moves."""
        if isinstance(source, str):
            return self.reads.get(source)
        name = self.fields[source.items].get(source.field)
        return ir.Entry(self.items[source.items], name, source.item) if name else None

    def _pass(self, node: ir.Sweep | ir.Walk) -> ir.Sweep | ir.Walk:
        """Return a pass that carries the rates of its fields and of its state on."""
        marks = self.fields[node.items]
        fields = ir.Fields(*((*part, *(marks[x] for x in part if x in marks)) for part in node.fields))
        state = node.state
        stages = tuple(None if x is None else self._stage(node, x, state, state) for x in node.stages)
        made = node._replace(items=self.items[node.items], fields=fields, stages=stages)
        if isinstance(made, ir.Walk) and isinstance(node, ir.Walk):
            made = made._replace(state=2 * state, first=tuple(self._stage(node, x, 0, state) for x in node.first))
        return made

    def _stage(self, node: ir.Sweep | ir.Walk, stage: ir.Stage, takes: int, gives: int) -> ir.Stage:
        """Return a step with the rates of what it gives."""
        sizes, marks = node.items.fields, self.fields[node.items]
        count = node.items.n_constants(node.fields, stage, takes)
        pairs = (stage.inputs, self.reads), (stage.outputs, self.writes)
        taken, given = ([(x.size, x.memory in rates) for x in shares] for shares, rates in pairs)
        parts = [[(sizes[x], x in marks) for x in part] for part in node.fields]
        sources = [[(count, False)], taken, *parts[:3], [(takes, True)]]
        tape = _carried(stage.tape, sources, [*parts[3:], [(gives, True)], given])
        values = {x.memory: self.values.get(x.memory, x.memory) for x in stage.outputs}
        inputs = (*stage.inputs, *_renamed(stage.inputs, self.reads))
        return ir.Stage(tape, inputs, (*_renamed(stage.outputs, values), *_renamed(stage.outputs, self.writes)))


Groups = Sequence[Sequence[tuple[int, bool]]]
"""Parts of some sizes in groups; the rates of those that move follow the group."""


def _carried(tape: Tape, sources: Groups, sinks: Groups) -> Tape:
    """Return a tape with rates."""
    graph, inputs, values, direction = Graph(), list[Any](), list[Any](), list[tuple[Expr, Expr]]()
    for group in sources:
        own = graph.inputs_like(*(size for size, _ in group))
        moving = [part for part, (_, moves) in zip(own, group, strict=True) if moves]
        rates = graph.inputs_like(*map(len, moving))
        inputs, values = [*inputs, *own, *rates], [*values, *own]
        direction += zip(chain(*moving), chain(*rates), strict=True)
    found, results = tape.run(*values), list[list[Any]]()
    pairs = iter(list(zip(found, (rate for (rate,) in along(found, [direction])), strict=True)))
    for group in sinks:
        rows = [[next(pairs) for _ in range(size)] for size, _ in group]
        results += ([x for x, _ in row] for row in rows)
        results += ([rate for _, rate in row] for row, (_, moves) in zip(rows, group, strict=True) if moves)
    return lay_parts(tape.name, graph, inputs, results)


def _renamed(shares: Sequence[ir.Share], names: Mapping[str, str]) -> Iterator[ir.Share]:
    """Yield the shares of the rates of memories."""
    return (share._replace(memory=names[share.memory]) for share in shares if share.memory in names)


def _free(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, now taken."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
