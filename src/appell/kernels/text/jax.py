"""JAX of programs: a module of pure functions that jit, grad, jacfwd and vmap take.

Arrays have their own axes first and the leading axes of the arguments behind, so that a batch is computed side by side.
A straight-line program is its values (:mod:`appell.kernels.text.jax_values`). In programs with loops, sweeps and walks
(:mod:`appell.program.nodes`) every block, and every step at items, is a function. A loop is a scan over the entries of
its streams, which carries the other memories that it writes. Sweeps and walks are scans over their visits, which are
known beforehand, with a switch to the step of a class. So all loops have a known number of turns, and derivatives in
both modes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import groupby
from typing import Any

from appell.kernels.text.c99 import Function
from appell.kernels.text.c99_values import count_name
from appell.kernels.text.jax_values import computed
from appell.kernels.text.python_text import Dialect, documentation
from appell.program.life import reads_in_loops, written
from appell.program.nodes import Begin, Block, Copy, Entry, Items, Loop, Node, Program, Share, Stage, Sweep, Walk
from appell.trace.tape import Port, Tape


class JaxNodes:
    """The lines of a program. A memory is a variable, and in a loop along one of its axes the entry of the turn.

    `results` are the names of the outputs that a caller is given.
    """

    def __init__(self, program: Program, results: Mapping[str, str]) -> None:
        self.program, self.results = program, results
        self._functions: list[str] = []
        self._blocks: dict[Tape, str] = {}
        self._tags = {items: t for t, items in enumerate(program.tables)}
        self._path: tuple[str, ...] = ()
        self._count = 0
        nodes = self._all(program.nodes)
        lines = [*self._memories(), *self._functions, *nodes]
        self.lines = [line for line, before in zip(lines, ["", *lines], strict=False) if line.strip() or before.strip()]

    def _memories(self) -> list[str]:
        """Return the lines that make the memories, and the tables of items."""
        first = {axis: port for port in reversed(self.program.inputs) for axis in port.axes}
        lines = [f"{count_name(axis)} = {x.name}.shape[{x.axes.index(axis)}]" for axis, x in first.items()]
        for port in (*self.program.slots, *self.program.outputs):
            shape = ", ".join(str(self._turns(axis)) for axis in port.axes) + ", " * bool(port.axes)
            lines.append(f"{self._name(port.name)} = _zeros(blank, {shape}{port.size})")
        for items, t in self._tags.items():
            count = max(len(item.constants) for item in items.rows)
            numbers = ((*item.constants, *[0.0] * (count - len(item.constants))) for item in items.rows)
            lines += _table(f"items{t}", ((item.kind, item.parent, *item.numbers) for item in items.rows))
            lines += [*_table(f"numbers{t}", numbers), f"numbers{t} = _rows(numbers{t}, blank)"]
            lines.append(f"places{t}, fields{t} = jnp.array(items{t}), _zeros(blank, {len(items.rows)}, {items.width})")
        return lines

    def _turns(self, axis: str) -> int | str:
        return self.program.turns.get(axis) or count_name(axis)

    def _name(self, memory: str) -> str:
        """Return the variable of a slot or output."""
        return self.results.get(memory, memory)

    def _numbered(self, name: str) -> str:
        self._count += 1
        return f"{re.sub(r'[^A-Za-z0-9]+', '_', name)}_{self._count}"

    # Nodes

    def _all(self, nodes: Iterable[Node]) -> list[str]:
        lines = []
        for node in nodes:
            match node:
                case Block():
                    lines += self._block(node)
                case Copy("", target):
                    lines.append(f"{self._name(target)} = jnp.zeros_like({self._name(target)})")
                case Copy(source, target):
                    lines.append(f"{self._name(target)} = _whole({source}, blank)")
                case Loop():
                    lines += self._loop(node)
                case Begin(items):
                    root = f"_stack({items.root!r}, blank)"
                    lines.append(f"fields{self._tags[items]} = fields{self._tags[items]}.at[0].set({root})")
                case Sweep() | Walk():
                    lines += self._pass(node)
        return lines

    def _block(self, block: Block) -> list[str]:
        """Return the call of a block's function."""
        tape = block.tape
        if tape not in self._blocks:
            ports = {port.name: port.size for port in tape.inputs}
            self._blocks[tape] = self._function(tape, ports, [port.size for port in tape.outputs])
        arguments = (self._field(x) if isinstance(x, Entry) else x for x in block.reads)
        return [f"{_tuple(map(self._name, block.writes))} = {self._blocks[tape]}({', '.join(arguments)})"]

    def _field(self, entry: Entry) -> str:
        place, size = entry.items.places[entry.field], entry.items.fields[entry.field]
        return f"fields{self._tags[entry.items]}[{entry.item}, {place}:{place + size}]"

    def _function(self, tape: Tape, arguments: Mapping[str, int], sizes: Iterable[int]) -> str:
        """Add the function of a tape from arguments of some sizes to results of some sizes; return its name."""
        numbers = [f"{name}[{k}]" for name, size in arguments.items() for k in range(size)]
        lines, arrays = computed(tape, numbers, sizes)
        name = self._numbered(tape.name)
        self._functions += _function(name, arguments, [*lines, f"return {_tuple(arrays)}"])
        return name

    def _loop(self, loop: Loop) -> list[str]:
        """Return a scan, with the entries of the turn, and the memories that are carried, in the names of these."""
        axis, read, wrote = loop.axis, {name for name, _ in reads_in_loops(loop.body, ())}, written(loop.body)
        given = [port for port in self.program.inputs if port.name in read]
        kept = [port for port in self.program.slots if port.name in read - wrote]
        made = [port for port in (*self.program.slots, *self.program.outputs) if port.name in wrote]
        streams = {port.name: port for port in (*given, *kept) if axis in port.axes}
        results = {self._name(port.name): port for port in made if axis in port.axes}
        places = {name: self._place(port, axis) for name, port in (streams | results).items()}
        carried = [*self._fields(loop.body), *(self._name(port.name) for port in made if axis not in port.axes)]
        turn = {name: f"jnp.moveaxis({name}, {k}, 0)" if k else name for name, k in places.items()}
        if loop.rows and loop.rows[0]:
            turn[axis] = f"_rows({loop.rows!r}, blank)"
        self._path = (*self._path, axis)
        lines = [f"{_tuple(carried)} = carried", f"{_tuple(turn)} = turn", *self._all(loop.body)]
        self._path = self._path[:-1]
        name = self._numbered(axis)
        ahead = f", reverse={loop.is_backward}" if loop.is_backward else ""
        scan = f"lax.scan({name}, {_tuple(carried)}, {_tuple(turn.values())}, {self._turns(axis)}{ahead})"
        return [
            *_function(name, ("carried", "turn"), [*lines, f"return {_tuple(carried)}, {_tuple(results)}"]),
            f"{_tuple(carried)}, {_tuple(results)} = {scan}",
            *(f"{name} = jnp.moveaxis({name}, 0, {places[name]})" for name in results if places[name]),
        ]

    def _place(self, port: Port, axis: str) -> int:
        """Return which axis of a memory is that of a loop here."""
        return [own for own in port.axes if own not in self._path].index(axis)

    def _fields(self, nodes: Iterable[Node]) -> list[str]:
        """Return the fields that nodes write to."""
        found: dict[str, None] = {}
        for node in nodes:
            if isinstance(node, Loop):
                found |= dict.fromkeys(self._fields(node.body))
            elif isinstance(node, Begin) or (isinstance(node, Sweep | Walk) and any(node.fields[3:])):
                found[f"fields{self._tags[node.items]}"] = None
        return list(found)

    # Sweeps and walks

    def _pass(self, node: Sweep | Walk) -> list[str]:
        """Return a scan over the visits of a pass.

        A switch returns the results of a class's step, and where its shares begin. They are written behind it: XLA
        would copy the memories that a switch returns.
        """
        first, state = (node.first, node.state) if isinstance(node, Walk) else ((), 0)
        classes = {c: stage for c, stage in enumerate(node.stages) if stage is not None}
        steps, t = {c: len(first) + k for k, c in enumerate(classes)}, self._tags[node.items]
        if isinstance(node, Walk):
            visits = f"_walked(items{t}, {[tuple(start) for start in node.starts]}, {steps})"
        else:
            visits = f"_swept(items{t}, {node.span!r}, {steps})"
        cases = [*((stage, 0) for stage in first), *((stage, state) for stage in classes.values())]
        sinks = enumerate(node.items.sinks(node.fields, cases[0][0]._replace(outputs=()), state))
        groups = [[slot for _, slot in group] for _, group in groupby(sinks, lambda x: (x[1].where, x[1].at - x[0]))]
        shares = [_columns(stage) for stage, _ in cases]
        columns = {
            column: [own[column].size if column in own else 0 for own in shares] for found in shares for column in found
        }
        carried = [*self._fields([node]), *dict.fromkeys(self._name(memory) for memory, _ in columns)]
        carried += ["climb"] if state else []
        lines = [f"{_tuple(carried)} = carried", "which, item, begun = visit", f"up = places{t}[item, 1]"]
        for k, (stage, takes) in enumerate(cases):
            lines += self._case(node, f"case{k}", stage, takes, [len(group) for group in groups], columns)
        made = [f"made{k}" for k in range(len(groups))]
        made += [f"{x}{k}" for k in range(len(columns)) for x in ("at", "share")]
        names = _tuple(f"case{k}" for k in range(len(cases)))
        lines.append(f"{_tuple(made)} = " + (f"lax.switch(which, {names})" if cases[1:] else "case0()"))
        places = {"own": "item", "parent": "up", "root": "0"}
        for k, group in enumerate(groups):
            where, start = group[0].where, group[0].at
            if where == "state":
                lines.append(f"climb = made{k}")
                continue
            before = f"fields{t}[{places[where]}, {start}:{start + len(group)}] + " if where != "own" else ""
            lines.append(f"fields{t} = _put(fields{t}, {before}made{k}, {places[where]}, {start})")
        for k, ((memory, _), sizes) in enumerate(columns.items()):
            name, is_even = self._name(memory), len(set(sizes)) == 1
            put = f"_put({name}, share{k}, at{k})" if is_even else f"{name}.at[at{k}].set(share{k}, mode='drop')"
            lines.append(f"{name} = {put}")
        name = self._numbered("visit")
        return [
            *([f"climb = _zeros(blank, {state})"] if state else []),
            *_function(name, ("carried", "visit"), [*lines, f"return {_tuple(carried)}, None"]),
            f"{_tuple(carried)} = _visited({name}, {_tuple(carried)}, {visits})",
        ]

    def _case(
        self,
        node: Sweep | Walk,
        name: str,
        stage: Stage,
        takes: int,
        groups: Sequence[int],
        columns: Mapping[tuple[str, int], Sequence[int]],
    ) -> list[str]:
        """Return the function of a step at an item: its results in groups, and those of shares with their places."""
        items, fields, t = node.items, node.fields, self._tags[node.items]
        arguments: dict[str, tuple[str, int]] = {}
        for k, share in enumerate(stage.inputs):
            at = self._at(items, share)
            arguments[f"in{k}"] = f"lax.dynamic_slice_in_dim({share.memory}, {at}, {share.size})", share.size
        for where, place, names in zip(("own", "parent", "root"), ("item", "up", "0"), fields[:3], strict=True):
            for field in names:
                start, size = items.places[field], items.fields[field]
                arguments[f"{where}_{field}"] = f"fields{t}[{place}, {start}:{start + size}]", size
        arguments["climb"] = "climb", takes
        constants = stage.tape.n_inputs - sum(size for _, size in arguments.values())
        given = {k: x for k, x in ({"constants": (f"numbers{t}[item]", constants)} | arguments).items() if x[1]}
        sizes = [*groups, *(share.size for share in stage.outputs)]
        called = self._function(stage.tape, {k: size for k, (_, size) in given.items()}, sizes)
        made = [f"made{k}" for k in range(len(sizes))]
        returned, own = made[: len(groups)], _columns(stage)
        for column, widths in columns.items():
            x, at = "_zeros(blank, 0)", "0"
            if column in own:
                x, at = made[len(groups) + list(own).index(column)], self._at(items, own[column])
            is_even = len(set(widths)) == 1
            returned.append(f"jnp.asarray({at}, int), {x}" if is_even else f"*_padded({x}, {at}, {max(widths)})")
        call = f"{_tuple(made)} = {called}({', '.join(text for text, _ in given.values())})"
        return _function(name, (), [call, f"return {_tuple(returned)}"])

    def _at(self, items: Items, share: Share) -> str:
        """Return where a share begins in its memory."""
        number = f"places{self._tags[items]}[item, {2 + share.number}]"
        factors = ((share.stride, number if share.number >= 0 else ""), (share.start, "begun"))
        terms = [f"{n} * {x}" if n != 1 else x for n, x in factors if n and x]
        return " + ".join([*terms, *([str(share.offset)] if share.offset or not terms else [])])


def _columns(stage: Stage) -> dict[tuple[str, int], Share]:
    """Return the shares that a step writes, by memory and their order there."""
    found: dict[tuple[str, int], Share] = {}
    for share in stage.outputs:
        found[share.memory, sum(memory == share.memory for memory, _ in found)] = share
    return found


def _tuple(names: Iterable[str]) -> str:
    found = list(names)
    return f"({', '.join(found)}{',' * (len(found) == 1)})"


def _table(name: str, rows: Iterable[Sequence[Any]]) -> list[str]:
    return [f"{name} = [", *(f"    {tuple(row)!r}," for row in rows), "]"]


def _function(name: str, arguments: Iterable[str], body: Iterable[str]) -> list[str]:
    return ["", f"def {name}({', '.join(arguments)}):", *(f"    {line}" for line in body), ""]


PREAMBLE = (files("appell.kernels.text") / "jax_functions.txt").read_text(encoding="utf-8")
"""Imports, and what every function uses."""
REMARKS = (
    "",
    "Pure functions: jax.jit, grad, jacfwd, jacrev and vmap take them. Arguments may have leading axes, which",
    "broadcast. JAX computes in single precision by default; for double: jax.config.update('jax_enable_x64', True).",
    "Arguments are not checked: quaternions in q must have unit length. The derivative of sign is zero.",
)


def _lines(function: Function, words: list[str]) -> list[str]:
    program = function.program
    given = [f"{port.name}=({port.name}, {(*port.axes, *port.shape)!r})" for port in program.inputs]
    names = [port.name for port in program.inputs]
    results = [(name, port) for name, port, is_result in function.arguments() if is_result]
    if program.tape is None:
        lines, arrays = (
            JaxNodes(program, {port.name: name for name, port in results}).lines,
            [name for name, _ in results],
        )
    else:
        numbers = [f"{port.name}[{k}]" for port in program.inputs for k in range(port.size)]
        lines, arrays = computed(program.tape, numbers, [port.size for _, port in results])
    returned = (f"_result({x}, {port.shape!r}, blank)" for x, (_, port) in zip(arrays, results, strict=True))
    body = [f"{', '.join(['blank', *names])} = _inputs({', '.join(given)})", *lines, f"return {', '.join(returned)}"]
    return [f"def {function.name}({', '.join(names)}):", *documentation(words, "    "), *(f"    {x}" for x in body)]


JAX = Dialect("jax", REMARKS, PREAMBLE, _lines)
"""The target."""
