"""C99 of tapes: the programs that are compiled natively, as text for a compiler of one's own.

A target is a table from operation to text (:data:`appell.kernels.text.c99_values.EXPRESSIONS`). The order of the values
is that of the native code (:mod:`appell.kernels.lowering.analysis`), in which few are alive at a time; products stand
in their sums. All results are stored last, so arrays of a caller may overlap. Long tapes are several functions, since
compilers take minutes for one of ten thousand lines. The text depends on the program alone: the same robot gives the
same bytes.

Of programs with loops, sweeps and walks (:mod:`appell.program.nodes`), every block is a static function; the program
calls them in its loops. A sweep is a loop with a switch, over tables of the items. Inputs are copied before any result
is written. Slots, fields and the state of walks are on the stack.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from appell.kernels.lowering.analysis import TRIGONOMETRIC
from appell.kernels.text.c99_math import sine_cosine_text, sines_cosines_text, square_root_text
from appell.kernels.text.c99_values import (
    ATOM,
    MACRO,
    REALS,
    CReal,
    Layout,
    Parts,
    Values,
    count_name,
    input_names,
    inputs_read,
    is_long,
)
from appell.program import nodes as ir
from appell.program.life import cleared, held
from appell.syntax import c_comment, c_include, identifier
from appell.trace.expr import Op
from appell.trace.tape import Port, Tape, spans


def scratch(program: ir.Program) -> int:
    """Return how many numbers a function keeps on the stack itself, at most."""
    program = held(program, is_all=True)
    fields = sum(len(items.rows) * items.width for items in program.tables)
    return fields + sum(_length(program, port) for port in program.slots) + _state(program)


def _length(program: ir.Program, port: Port) -> int:
    return port.size * math.prod(program.turns[axis] for axis in port.axes)


def _state(program: ir.Program) -> int:
    return max((node.state for node in program.all_nodes if isinstance(node, ir.Walk)), default=0)


class CNodes:
    """The tables, and the lines of a function, but for what it returns.

    `results` are the C names of the outputs that a caller gives; others are arrays on the stack. `blocks` are the names
    of the functions of blocks.
    """

    def __init__(
        self,
        program: ir.Program,
        name: str,
        results: dict[str, str],
        real: CReal,
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

    # CNodes

    def _all(self, nodes: Iterable[ir.Node]) -> list[str]:
        lines = []
        for node in nodes:
            match node:
                case ir.Block():
                    lines += self._block(node)
                case ir.Copy(source, target):
                    lines += self._copy(source, target)
                case ir.Loop():
                    lines += self._loop(node)
                case ir.Begin(items):
                    if items.width:
                        tag = self._tags[items]
                        lines += loop(items.width, f"scratch{tag}[0][k] = {self.name}_root{tag}[k];")
                case ir.Sweep():
                    lines += self._sweep(node)
                case ir.Walk():
                    lines += self._walk(node)
        return lines

    def _block(self, block: ir.Block) -> list[str]:
        """Return the call of a block's function."""
        tape = block.tape
        arguments = []
        for port, source in zip(tape.inputs, block.reads, strict=True):
            if isinstance(source, ir.Entry):
                place = source.items.places[source.field]
                text = f"scratch{self._tags[source.items]}[{source.item}] + {place}"
            elif source in self.program.sources:
                text = self._source(source)
            else:
                text = f"{self.name}_{source}_rows[{source}]"
            arguments.append(f"({text})[0]" if not port.shape else text)
        arguments += [self._target(target) for target in block.writes]
        return [f"{self.blocks[tape]}({', '.join(arguments)});"]

    def _loop(self, node: ir.Loop) -> list[str]:
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

    def _tabulate(self, items: ir.Items, tag: str) -> None:
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

    def _sweep(self, sweep: ir.Sweep) -> list[str]:
        span = sweep.span
        ahead, turn = (f"j < {span.stop}", "j++") if span.step > 0 else (f"j > {span.stop}", "j--")
        body = self._cases("item[0]", sweep.items, sweep.stages, sweep.fields)
        return [f"for (int j = {span.start}; {ahead}; {turn}) {{", *self._item(sweep.items, body), "}"]

    def _walk(self, walk: ir.Walk) -> list[str]:
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

    def _item(self, items: ir.Items, body: list[str]) -> list[str]:
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
        self,
        switch: str,
        items: ir.Items,
        stages: Iterable[ir.Stage | None],
        fields: ir.Fields,
        takes: int = 0,
        gives: int = 0,
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

    def _place(self, slot: ir.Slot, array: Callable[[str], str]) -> str:
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


@dataclass(frozen=True)
class ErrorCode:
    """A result that shows whether the others are valid: the test that fails otherwise, and its error code."""

    port: str
    passes: str
    """What is true of a good value ``{x}``; numbers stand as ``{0}``, ``{1}``."""
    numbers: tuple[float, ...]
    code: str
    meaning: str
    is_result: bool = False
    single: tuple[float, ...] = ()
    """The numbers in single precision, where they are others."""

    def test(self, real: CReal, x: str) -> str:
        """Return the test of a value in C."""
        numbers = self.single if self.single and real.name == "float" else self.numbers
        return self.passes.format(*(real.literal(number) for number in numbers), x=x)


@dataclass(frozen=True)
class Function:
    """A function to be: its name, its program, what it does, its arguments in words with their extents, its guards.

    Extents are those of one entry of a stream.
    """

    name: str
    program: ir.Program
    text: str
    words: dict[str, str]
    extents: dict[str, tuple[str, ...]]
    guards: tuple[ErrorCode, ...] = ()
    is_static: bool = False

    @property
    def tape(self) -> Tape:
        """Return the tape of a straight-line program."""
        assert self.program.tape is not None
        return self.program.tape

    def arguments(self) -> list[tuple[str, Port, bool]]:
        """Return each argument's name, port, and whether it is a result; a result named as an input is ``…_out``."""
        hidden = {guard.port for guard in self.guards if not guard.is_result}
        inputs = [(port.name, port, False) for port in self.program.inputs]
        taken = {name for name, _, _ in inputs}
        results = [port for port in self.program.outputs if port.name not in hidden]
        return inputs + [(f"{p.name}_out" if p.name in taken else p.name, p, True) for p in results]

    @property
    def counts(self) -> dict[str, str]:
        """Return the names of the numbers of turns that are known at run time only, by axis."""
        return {axis: count_name(axis) for axis in self.program.axes if not self.program.turns.get(axis)}

    @cached_property
    def blocks(self) -> dict[Tape, Function]:
        """Return the functions of the blocks of a program with loops."""
        if self.program.tape is not None:
            return {}
        nodes = (node.tape for node in self.program.all_nodes if isinstance(node, ir.Block))
        return {tape: _block(f"{self.name}_{k}", tape) for k, tape in enumerate(dict.fromkeys(nodes))}

    @cached_property
    def layout(self) -> Layout | None:
        """Return the layout of a long tape in parts; None of other programs."""
        tape = self.program.tape
        if tape is None or not is_long(tape):
            return None
        ports = [port.name for port in tape.outputs for _ in range(port.size)]
        return Layout(tape, [k for k, name in enumerate(ports) if any(name == g.port for g in self.guards)])


@dataclass(frozen=True)
class Sheet:
    """What goes into one pair of files: a title, remarks, macros with their meanings, functions."""

    title: str
    remarks: tuple[str, ...]
    macros: tuple[tuple[str, int, str], ...]
    functions: tuple[Function, ...]


WIDTH = 110
"""The longest declaration that stands on one line."""
CODES = {"NOT_UNIT": 1, "SMALL_PIVOT": 2, "OUT_OF_REACH": 4, "SINGULAR_MASS_MATRIX": 8}
"""What a function returns when a guard fails, added up."""


def header_text(sheet: Sheet, stem: str, real: CReal, prefix: str) -> str:
    """Return the header: macros of sizes, and every function with its documentation."""
    guard = f"{identifier(stem).upper()}_H"
    lines = [*_comment([sheet.title, "", *sheet.remarks]), f"#ifndef {guard}", f"#define {guard}", ""]
    codes = dict.fromkeys(g.code for function in sheet.functions for g in function.guards)
    macros = [*sheet.macros, *((f"{prefix}_{code}".upper(), CODES[code], "returned: see below") for code in codes)]
    lines += [f"#define {name} {value} /* {c_comment(meaning)} */" for name, value, meaning in macros]
    lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for function in sheet.functions:
        lines += [*_comment(_documentation(function, prefix)), f"{_signature(function, real)};", ""]
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join(lines) + "\n"


def source_text(sheet: Sheet, stem: str, real: CReal, prefix: str, *, libm: bool) -> str:
    """Return the source file: the functions, after their own sine, cosine and root if math.h is not to be used."""
    every = [own for function in sheet.functions for own in (function, *function.blocks.values())]
    used = {step.op for function in sheet.functions for step in function.program.steps}
    lines = [*_comment([sheet.title, "", f"{stem}.h documents the calls."]), f"#include {c_include(f'{stem}.h')}", ""]
    if libm and used & {*TRIGONOMETRIC, Op.SQRT}:
        lines += ["#include <math.h>", ""]
    layouts = [function.layout for function in every if function.layout is not None]
    has_sines, has_roots = not libm and bool(used & set(TRIGONOMETRIC)), not libm and Op.SQRT in used
    if has_sines or has_roots:
        lines += ["#include <stdint.h>", ""]
    if has_sines:
        lines += [sine_cosine_text(real.name, real.literal, REALS["double"].literal), ""]
    if has_roots:
        lines += [square_root_text(real.name), ""]
    if any(layout.angles for layout in layouts):
        s, c = f"sin{real.suffix}", f"cos{real.suffix}"
        large = f"s[i] = {s}(x[i]);\n{' ' * 12}c[i] = {c}(x[i]);" if libm else "sine_cosine(x[i], s + i, c + i);"
        lines += [sines_cosines_text(real.name, real.literal, large), ""]
    lines += [MACRO, ""] if layouts else []
    for function in sheet.functions:
        tape = function.program.tape
        if tape is None:
            lines += _looped(function, real, prefix, libm=libm)
        else:
            lines += _straight(function, tape, real, prefix, libm=libm)
    return "\n".join(lines[:-1]) + "\n"


def _comment(lines: list[str]) -> list[str]:
    first, *rest = [c_comment(line) for line in lines]
    return [f"/* {first}", *(f" * {line}".rstrip() for line in rest), " */"]


def _signature(function: Function, real: CReal) -> str:
    counts, arguments = [f"int {count}" for count in function.counts.values()], []
    for name, port, is_result in function.arguments():
        arguments += counts if is_result and counts else []
        counts = [] if is_result else counts
        kind = real.name if is_result else f"const {real.name}"
        if not port.shape and not port.axes and not is_result:  # a single number comes by value
            arguments.append(f"{kind} {name}")
        else:  # C++ has no arrays of variable length
            is_plain = port.size and not any(axis in function.counts for axis in port.axes)
            arguments.append(f"{kind} {name}[{_extent(function, port)}]" if is_plain else f"{kind} *{name}")
    start = f"{'static ' * function.is_static}{'int' if function.guards else 'void'} {function.name}("
    line = f"{start}{', '.join(arguments)})"
    return line if len(line) <= WIDTH else start + ",".join(f"\n    {argument}" for argument in arguments) + ")"


def _extent(function: Function, port: Port) -> str:
    """Return how many numbers an argument has."""
    turns = (str(function.program.turns.get(axis) or count_name(axis)) for axis in port.axes)
    return " * ".join((*turns, *function.extents[port.name])) or "1"


def _documentation(function: Function, prefix: str) -> list[str]:
    rows: list[str] = []
    counts = [f"  {count:<10} in   number of {count}; 0 or more" for count in function.counts.values()]
    for name, port, is_result in function.arguments():
        rows, counts = ([*rows, *counts], []) if is_result else (rows, counts)
        order = "; row by row" if len(port.shape) > 1 else ""
        order += f"; {name}[{_extent(function, port)}], one {port.axes[-1]} after the other" if port.axes else ""
        rows.append(f"  {name:<10} {'out' if is_result else 'in '}  {function.words[port.name]}{order}")
    if function.guards:
        rows += ["", "Returns 0, or the sum of"]
        rows += [f"  {f'{prefix}_{guard.code}'.upper()}: {guard.meaning}" for guard in function.guards]
    stack = max(own.layout.size if own.layout else 0 for own in (function, *function.blocks.values()))
    stack += scratch(function.program) if function.program.tape is None else 0
    rows += ["", f"Keeps {stack} numbers on the stack."] if stack else []
    return [*textwrap.wrap(f"{function.name}: {function.text}", WIDTH, subsequent_indent="  "), "", *rows]


def _block(name: str, tape: Tape) -> Function:
    """Return the static function of a block."""
    extents = {port.name: tuple(map(str, port.shape)) for port in (*tape.inputs, *tape.outputs)}
    return Function(f"{name}_{identifier(tape.name)}", ir.straight(tape), "", {}, extents, is_static=True)


def _looped(function: Function, real: CReal, prefix: str, *, libm: bool) -> list[str]:
    """Return the lines of a function with loops, after those of its tables and of its blocks."""
    results = {port.name: name for name, port, is_result in function.arguments() if is_result}
    names = {tape: block.name for tape, block in function.blocks.items()}
    nodes = CNodes(function.program, function.name, results, real, names, libm=libm)
    lines = [*nodes.tables, *([""] if nodes.tables else [])]
    for tape, block in function.blocks.items():
        lines += _straight(block, tape, real, prefix, libm=libm)
    lines += [_signature(function, real), "{", *nodes.lines]
    return [*lines, *_returned(function, function.program, real, prefix), "}", ""]


def _straight(function: Function, tape: Tape, real: CReal, prefix: str, *, libm: bool) -> list[str]:
    """Return the lines of a function without loops, after those of its parts if it is long."""
    stored = {port.name: name for name, port, is_result in function.arguments() if is_result}
    if function.layout is None:
        before, values = list[str](), _values(tape, real, libm=libm)
        lines = [*values.lines, *_stores(tape, values, stored)]
    else:
        parts = Parts(tape, function.layout, function.name, stored, real, libm=libm)
        before, values, lines = parts.functions, parts.values, parts.lines
    lines += [f"return {_code(function, tape, values, prefix)};"] if function.guards else []
    return [*before, _signature(function, real), "{", *(f"    {line}" for line in lines), "}", ""]


def _values(tape: Tape, real: CReal, *, libm: bool) -> Values:
    """Return the values of a short tape."""
    values = Values(tape, input_names(tape), real, libm=libm)
    values.lines += [f"(void){port.name};" for port, read in inputs_read(tape) if not read]
    values.compute_all()
    return values


def _stores(tape: Tape, values: Values, stored: dict[str, str]) -> list[str]:
    """Return the lines that store all results."""
    lines = list[str]()
    for port, own in spans(tape.outputs):
        if port.name in stored:
            lines += [f"{stored[port.name]}[{k}] = {values.result(i)};" for k, i in enumerate(own)]
            lines += [] if port.size else [f"(void){stored[port.name]};"]
    return lines


def _code(function: Function, tape: Tape, values: Values, prefix: str) -> str:
    """Return the sum of the codes of the guards that fail."""
    guards, tests = {guard.port: guard for guard in function.guards}, []
    for port, places in spans(tape.outputs):
        if port.name in guards and port.size:
            guard = guards[port.name]
            passed = " && ".join(guard.test(values.real, values.result(i, ATOM)) for i in places)
            tests.append(f"(({passed}) ? 0 : {prefix.upper()}_{guard.code})")
    return " + ".join(tests) or "0"


def _returned(function: Function, program: ir.Program, real: CReal, prefix: str) -> list[str]:
    """Return the lines that end a function of loops: its guards, checked number by number."""
    lines, tests = [], []
    for guard in function.guards:
        size = next(port.size for port in program.outputs if port.name == guard.port)
        lines += [f"    int {guard.port}_passed = 1;", f"    for (int k = 0; k < {size}; k++) {{"]
        lines += [f"        {guard.port}_passed = {guard.port}_passed && ({guard.test(real, f'{guard.port}[k]')});"]
        lines += ["    }"]
        tests.append(f"({guard.port}_passed ? 0 : {prefix.upper()}_{guard.code})")
    return [*lines, f"    return {' + '.join(tests)};"] if tests else []
