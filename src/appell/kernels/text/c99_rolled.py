"""C of programs of loops (:mod:`appell.kernels.rolled`): tables of the items, and a loop with a switch per pass.

Inputs are copied before any result is written, so arrays of a caller may overlap. Fields and the state of walks are on
the stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain

from appell.kernels.rolled import Fields, Rolled, Slot, Stage, Sweep, Walk
from appell.kernels.text.c99_values import Real, Values
from appell.trace.tape import Port

COPY = "{0}_in"
"""The name of an input's copy."""


def scratch(program: Rolled) -> int:
    """Return how many numbers a function keeps on the stack, at most."""
    return len(program.items) * program.width + program.state + sum(port.size for port in program.inputs)


class Loops:
    """The tables and the lines of a function, but for what it returns."""

    def __init__(
        self, program: Rolled, name: str, arguments: Sequence[tuple[str, Port, bool]], real: Real, *, libm: bool
    ) -> None:
        self.program, self.name, self.real, self.libm = program, name, real, libm
        self.results = {port.name: stored for stored, port, is_result in arguments if is_result}
        self.tables = self._tables()
        self.lines: list[str] = []
        passes = [
            self._sweep(one) if isinstance(one, Sweep) else self._walk(p, one) for p, one in enumerate(program.passes)
        ]
        used = set(re.findall(r"\w+", "\n".join(chain.from_iterable(passes))))
        for port in program.inputs:
            copy = COPY.format(port.name)
            if copy in used:
                self._add(f"{real.name} {copy}[{port.size}];", *_loop(port.size, f"{copy}[k] = {port.name}[k];"))
            else:
                self._add(f"(void){port.name};")
        for port in program.outputs:
            if port.name not in self.results:
                self._add(f"{real.name} {port.name}[{max(port.size, 1)}];")
        self._add(f"{real.name} scratch[{len(program.items)}][{max(program.width, 1)}];")
        if program.state:
            self._add(f"{real.name} state[{program.state}] = {{{real.literal(0.0)}}};")
        for k in program.zeroed:
            self._add(*_loop(program.outputs[k].size, f"{self._result(k)}[k] = {real.literal(0.0)};"))
        if program.width:
            self._add(*_loop(program.width, f"scratch[0][k] = {name}_root[k];"))
        self._add(*chain.from_iterable(passes))

    def _add(self, *lines: str) -> None:
        self.lines += [f"    {line}" for line in lines]

    def _result(self, port: int) -> str:
        name = self.program.outputs[port].name
        return self.results.get(name, name)

    def _tables(self) -> list[str]:
        """Return the items' classes, parents and numbers, their constants, the root's fields, and the walks' starts."""
        program, real = self.program, self.real
        count = max(len(item.constants) for item in program.items)
        rows = [(item.kind, item.parent, *item.numbers) for item in program.items]
        lines = self._table("int", "items", [[str(x) for x in row] for row in rows])
        if count:
            padded = ((*item.constants, *[0.0] * (count - len(item.constants))) for item in program.items)
            lines += self._table(real.name, "numbers", [[real.literal(x) for x in row] for row in padded])
        if program.width:
            values = ", ".join(real.literal(x) for x in program.root)
            lines.append(f"static const {real.name} {self.name}_root[{program.width}] = {{{values}}};")
        for p, one in enumerate(program.passes):
            if isinstance(one, Walk):
                lines += self._table("int", f"starts{p}", [[str(x) for x in start] for start in one.starts])
        return lines

    def _table(self, kind: str, name: str, rows: list[list[str]]) -> list[str]:
        head = f"static const {kind} {self.name}_{name}[{len(rows)}][{len(rows[0])}] = {{"
        return [head, *(f"    {{{', '.join(row)}}}," for row in rows), "};"]

    def _sweep(self, sweep: Sweep) -> list[str]:
        span = self.program.span(sweep)
        ahead, turn = (f"j < {span.stop}", "j++") if span.step > 0 else (f"j > {span.stop}", "j--")
        body = self._cases("item[0]", sweep.stages, sweep.fields)
        return [f"for (int j = {span.start}; {ahead}; {turn}) {{", *self._item(body), "}"]

    def _walk(self, p: int, walk: Walk) -> list[str]:
        table = f"{self.name}_starts{p}"
        first = self._cases("start[1]", walk.first, walk.fields, gives=walk.state)
        steps = self._cases("item[0]", walk.stages, walk.fields, takes=walk.state, gives=walk.state)
        up = f"j = {self.name}_items[j][1];"
        lines = [f"const int *const start = {table}[s];", "int j = start[0];", "{", *self._item(first), "}", up]
        lines += ["while (j != 0) {", *self._item(steps), f"    {up}", "}"]
        return [f"for (int s = 0; s < {len(walk.starts)}; s++) {{", *(f"    {line}" for line in lines), "}"]

    def _item(self, body: list[str]) -> list[str]:
        """Return a body with the names that it uses defined before it."""
        text = "\n".join(body)
        known = {
            "root": f"{self.real.name} *const root = scratch[0];",
            "up": f"{self.real.name} *const up = scratch[item[1]];",
            "own": f"{self.real.name} *const own = scratch[j];",
            "number": f"const {self.real.name} *const number = {self.name}_numbers[j];",
            "item": f"const int *const item = {self.name}_items[j];",
        }
        lines: list[str] = []
        for name, definition in known.items():
            if re.search(rf"\b{name}\b", text):
                lines.insert(0, definition)
                text += definition
        return [f"    {line}" for line in (*lines, *body)]

    def _cases(
        self, switch: str, stages: Iterable[Stage | None], fields: Fields, takes: int = 0, gives: int = 0
    ) -> list[str]:
        """Return a switch to the step of a class."""
        lines = [f"switch ({switch}) {{"]
        for c, stage in enumerate(stages):
            if stage is not None:
                sources, sinks = self.program.sources(fields, stage, takes), self.program.sinks(fields, stage, gives)
                inputs = [COPY.format(port.name) for port in self.program.inputs]
                outputs = [self._result(k) for k in range(len(self.program.outputs))]
                values = Values(stage.tape, [_place(slot, inputs) for slot in sources], self.real, libm=self.libm)
                values.compute_all()
                body = [*values.lines]
                for k, slot in enumerate(sinks):
                    sign = "+=" if slot.where in ("parent", "root") else "="
                    body.append(f"{_place(slot, outputs)} {sign} {values.result(k)};")
                lines += [f"case {c}: {{", *(f"    {line}" for line in body), "    break;", "}"]
        return [*lines, "default:", "    break;", "}"]


def _place(slot: Slot, ports: Sequence[str]) -> str:
    """Return a number's place in C."""
    if slot.share is None:
        names = {"constant": "number", "own": "own", "parent": "up", "root": "root", "state": "state"}
        return f"{names[slot.where]}[{slot.at}]"
    port, _, number, stride, offset, start = slot.share
    terms = [_times(f"item[{2 + number}]", stride)] if number >= 0 else []
    terms += [_times("start[2]", start)] if start else []
    terms += [str(offset + slot.at)] if offset + slot.at or not terms else []
    return f"{ports[port]}[{' + '.join(terms)}]"


def _times(text: str, factor: int) -> str:
    return text if factor == 1 else f"{text} * {factor}"


def _loop(count: int, line: str) -> list[str]:
    return [f"for (int k = 0; k < {count}; k++) {{", f"    {line}", "}"]
