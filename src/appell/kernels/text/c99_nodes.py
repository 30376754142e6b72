"""C of programs with loops, sweeps and walks (:mod:`appell.program.nodes`).

Every block is a static function; the program calls them in its loops. A sweep is a loop with a switch, over tables of
the items. Inputs are copied before any result is written, so arrays of a caller may overlap. Slots, fields and the
state of walks are on the stack.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping

from appell.kernels.text.c99_values import Real, Values, count_name
from appell.program.held import held
from appell.program.life import cleared
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
    Slot,
    Stage,
    Sweep,
    Walk,
)
from appell.trace.tape import Port, Tape


def scratch(program: Program) -> int:
    """Return how many numbers a function keeps on the stack itself, at most."""
    program = held(program, is_all=True)
    fields = sum(len(items.rows) * items.width for items in program.tables)
    return fields + sum(_length(program, port) for port in program.slots) + _state(program)


def _length(program: Program, port: Port) -> int:
    return port.size * math.prod(program.turns[axis] for axis in port.axes)


def _state(program: Program) -> int:
    return max((node.state for node in program.all_nodes if isinstance(node, Walk)), default=0)


class Nodes:
    """The tables, and the lines of a function, but for what it returns.

    `results` are the C names of the outputs that a caller gives; others are arrays on the stack. `blocks` are the names
    of the functions of blocks.
    """

    def __init__(
        self,
        program: Program,
        name: str,
        results: dict[str, str],
        real: Real,
        blocks: Mapping[Tape, str],
        *,
        libm: bool,
    ) -> None:
        self.program, self.name, self.real, self.libm = held(program, is_all=True), name, real, libm
        self.results, self.blocks = results, blocks
        self.inputs = {port.name for port in self.program.inputs}
        self.tables: list[str] = []
        self._tags = {items: f"{t or ''}" for t, items in enumerate(self.program.tables)}
        self._walks = 0
        for items, tag in self._tags.items():
            self._tabulate(items, tag)
        body = self._all(cleared(self.program))
        self.lines = [f"    {line}" for line in (*self._declarations("\n".join(body)), *body)]

    def _declarations(self, body: str) -> list[str]:
        """Return the lines of what is on the stack, and of arguments that are not used."""
        program, kind = self.program, self.real.name
        lines = [f"(void){port.name};" for port in program.inputs if not re.search(rf"\b{port.name}\b", body)]
        for port in program.outputs:
            if port.name not in self.results:
                lines.append(f"{kind} {port.name}[{max(port.size, 1)}];")
        for port in program.slots:
            if re.search(rf"\b{port.name}\b", body):
                lines.append(f"{kind} {port.name}[{max(_length(program, port), 1)}];")
        for items, tag in self._tags.items():
            if re.search(rf"\bscratch{tag}\b", body):
                lines.append(f"{kind} scratch{tag}[{len(items.rows)}][{items.width}];")
        if _state(program):
            lines.append(f"{kind} climb[{_state(program)}] = {{{self.real.literal(0.0)}}};")
        return lines

    # Memories

    def _source(self, name: str) -> str:
        """Return the C text of where the present entry of an input or slot begins."""
        return self._array(self.program.sources[name], name)

    def _target(self, name: str) -> str:
        """Return the C text of where the present entry of an output or slot begins."""
        return self._array(self.program.targets[name], self.results.get(name, name))

    def _array(self, port: Port, base: str) -> str:
        at = ""
        for axis in port.axes:
            at = f"({at} * {self.program.turns[axis] or count_name(axis)} + {axis})" if at else axis
        return f"({base} + {port.size} * {at})" if at else base

    def _number(self, name: str, k: int) -> str:
        """Return the C text of a number of a memory; a single number that is an input comes by value."""
        port = self.program.sources[name]
        if name in self.inputs and not port.shape and not port.axes:
            return name
        return f"{self._source(name)}[{k}]"

    def _copy(self, source: str, target: str) -> list[str]:
        size = self.program.targets[target].size
        zero = self.real.literal(0.0)
        if size == 1:
            return [f"{self._target(target)}[0] = {self._number(source, 0) if source else zero};"]
        return loop(size, f"{self._target(target)}[k] = {f'{self._source(source)}[k]' if source else zero};")

    # Nodes

    def _all(self, nodes: Iterable[Node]) -> list[str]:
        lines = []
        for node in nodes:
            match node:
                case Block():
                    lines += self._block(node)
                case Copy(source, target):
                    lines += self._copy(source, target)
                case Loop():
                    lines += self._loop(node)
                case Begin(items):
                    if items.width:
                        tag = self._tags[items]
                        lines += loop(items.width, f"scratch{tag}[0][k] = {self.name}_root{tag}[k];")
                case Sweep():
                    lines += self._sweep(node)
                case Walk():
                    lines += self._walk(node)
        return lines

    def _block(self, block: Block) -> list[str]:
        """Return the call of a block's function."""
        tape = block.tape
        arguments = []
        for port, source in zip(tape.inputs, block.reads, strict=True):
            if isinstance(source, Entry):
                place = source.items.places[source.field]
                text = f"scratch{self._tags[source.items]}[{source.item}] + {place}"
            elif source in self.program.sources:
                text = self._source(source)
            else:
                text = f"{self.name}_{source}_rows[{source}]"
            arguments.append(f"({text})[0]" if not port.shape else text)
        arguments += [self._target(target) for target in block.writes]
        return [f"{self.blocks[tape]}({', '.join(arguments)});"]

    def _loop(self, node: Loop) -> list[str]:
        axis, count = node.axis, node.turns or count_name(node.axis)
        if node.rows and node.rows[0]:
            numbers = [[self.real.literal(x) for x in row] for row in node.rows]
            self.tables += self._table(self.real.name, f"{axis}_rows", numbers)
        head = f"for (int {axis} = 0; {axis} < {count}; {axis}++) {{"
        if node.is_backward:
            head = f"for (int {axis} = {count} - 1; {axis} >= 0; {axis}--) {{"
        if node.when:
            head = f"if ({self._number(node.when, 0)} > {self.real.literal(0.0)}) {head}"
        return [head, *(f"    {line}" for line in self._all(node.body)), "}"]

    # Sweeps and walks

    def _tabulate(self, items: Items, tag: str) -> None:
        """Add the items' classes, parents and numbers, their constants and the root's fields."""
        real, count = self.real, max(len(item.constants) for item in items.rows)
        rows = [(item.kind, item.parent, *item.numbers) for item in items.rows]
        self.tables += self._table("int", f"items{tag}", [[str(x) for x in row] for row in rows])
        if count:
            padded = ((*item.constants, *[0.0] * (count - len(item.constants))) for item in items.rows)
            self.tables += self._table(real.name, f"numbers{tag}", [[real.literal(x) for x in row] for row in padded])
        if items.width:
            values = ", ".join(real.literal(x) for x in items.root)
            self.tables.append(f"static const {real.name} {self.name}_root{tag}[{items.width}] = {{{values}}};")

    def _table(self, kind: str, name: str, rows: list[list[str]]) -> list[str]:
        head = f"static const {kind} {self.name}_{name}[{len(rows)}][{len(rows[0])}] = {{"
        return [head, *(f"    {{{', '.join(row)}}}," for row in rows), "};"]

    def _sweep(self, sweep: Sweep) -> list[str]:
        span = sweep.span
        ahead, turn = (f"j < {span.stop}", "j++") if span.step > 0 else (f"j > {span.stop}", "j--")
        body = self._cases("item[0]", sweep.items, sweep.stages, sweep.fields)
        return [f"for (int j = {span.start}; {ahead}; {turn}) {{", *self._item(sweep.items, body), "}"]

    def _walk(self, walk: Walk) -> list[str]:
        items, table = walk.items, f"starts{self._walks}"
        self._walks += 1
        self.tables += self._table("int", table, [[str(x) for x in start] for start in walk.starts])
        first = self._cases("start[1]", items, walk.first, walk.fields, gives=walk.state)
        steps = self._cases("item[0]", items, walk.stages, walk.fields, takes=walk.state, gives=walk.state)
        up = f"j = {self.name}_items{self._tags[items]}[j][1];"
        lines = [f"const int *const start = {self.name}_{table}[s];", "int j = start[0];"]
        lines += ["{", *self._item(items, first), "}", up]
        lines += ["while (j != 0) {", *self._item(items, steps), f"    {up}", "}"]
        return [f"for (int s = 0; s < {len(walk.starts)}; s++) {{", *(f"    {line}" for line in lines), "}"]

    def _item(self, items: Items, body: list[str]) -> list[str]:
        """Return a body with the names that it uses defined before it."""
        text, tag = "\n".join(body), self._tags[items]
        known = {
            "root": f"{self.real.name} *const root = scratch{tag}[0];",
            "up": f"{self.real.name} *const up = scratch{tag}[item[1]];",
            "own": f"{self.real.name} *const own = scratch{tag}[j];",
            "number": f"const {self.real.name} *const number = {self.name}_numbers{tag}[j];",
            "item": f"const int *const item = {self.name}_items{tag}[j];",
        }
        lines: list[str] = []
        for name, definition in known.items():
            if re.search(rf"\b{name}\b", text):
                lines.insert(0, definition)
                text += definition
        return [f"    {line}" for line in (*lines, *body)]

    def _cases(
        self, switch: str, items: Items, stages: Iterable[Stage | None], fields: Fields, takes: int = 0, gives: int = 0
    ) -> list[str]:
        """Return a switch to the step of a class."""
        lines = [f"switch ({switch}) {{"]
        for c, stage in enumerate(stages):
            if stage is not None:
                sources, sinks = items.sources(fields, stage, takes), items.sinks(fields, stage, gives)
                values = Values(
                    stage.tape, [self._place(slot, self._source) for slot in sources], self.real, libm=self.libm
                )
                values.compute_all()
                body = [*values.lines]
                for k, slot in enumerate(sinks):
                    sign = "+=" if slot.where in ("parent", "root") else "="
                    body.append(f"{self._place(slot, self._target)} {sign} {values.result(k)};")
                lines += [f"case {c}: {{", *(f"    {line}" for line in body), "    break;", "}"]
        return [*lines, "default:", "    break;", "}"]

    def _place(self, slot: Slot, array: Callable[[str], str]) -> str:
        """Return a number's place in C."""
        if slot.share is None:
            names = {"constant": "number", "own": "own", "parent": "up", "root": "root", "state": "climb"}
            return f"{names[slot.where]}[{slot.at}]"
        memory, _, number, stride, offset, start = slot.share
        terms = [_times(f"item[{2 + number}]", stride)] if number >= 0 else []
        terms += [_times("start[2]", start)] if start else []
        terms += [str(offset + slot.at)] if offset + slot.at or not terms else []
        return f"{array(memory)}[{' + '.join(terms)}]"


def _times(text: str, factor: int) -> str:
    return text if factor == 1 else f"{text} * {factor}"


def loop(count: int, line: str) -> list[str]:
    """Return a loop over k."""
    return [f"for (int k = 0; k < {count}; k++) {{", f"    {line}", "}"]
