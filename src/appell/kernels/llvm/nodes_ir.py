"""LLVM text of programs (:mod:`appell.program.nodes`), one vector of samples after the other.

A block is its tape, instruction by instruction; loops are loops; sweeps and walks have one block per class of items and
tables of constants. Slots are on the stack, the fields of items in a scratch memory. A lane never looks at another one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from appell.kernels.llvm.emit import LINE, compute, exact_reduction, load, reduced, store
from appell.kernels.llvm.llvm_writer import Real, Streams, Writer, close_vector_loop, numbers_table, open_vector_loop
from appell.kernels.llvm.target import Target
from appell.kernels.lowering.analysis import angles, poisoned
from appell.program import nodes as ir
from appell.program.life import cleared, held
from appell.trace.tape import Port, spans

UNALLOCATED = "unallocated"
"""The counter of calls of `@rows` that got no memory and returned without results."""
LONG = 2000
"""Steps from which compile time counts for more than the last percent of speed."""


def rows(program: ir.Program, real: Real, target: Target) -> str:
    """Return the LLVM text of `@rows` for a program, with its tables."""
    tape = program.tape
    program = held(program) if tape is None else ir.straight(poisoned(tape))
    w = Writer(real, target.lanes(real.size))
    text = _Nodes(w, program, target)
    text.write()
    attributes = target.long_function if sum(len(tape.steps) for tape in program.tapes) > LONG else ""
    last = ("call void @free(ptr %raw)",) if program.tables else ()
    code = close_vector_loop(w, text.streams, attributes, last=last)
    far = exact_reduction() if any(angles(tape) for tape in program.tapes) else ""
    counter = f"@{UNALLOCATED} = global i64 0\n" if program.tables else ""
    return "\n".join([code, *text.tables, far, counter, _DECLARATIONS])


_DECLARATIONS = """declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare ptr @malloc(i64)
declare void @free(ptr)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
"""


class _Rows(NamedTuple):
    """An input or output, its number among the arguments, and the addresses of each lane's row."""

    port: Port
    number: int
    rows: list[str]


class _Visit(NamedTuple):
    """Where a step runs: a suffix of names, the items and fields, the number of a walk's start, and its states."""

    tag: str
    items: ir.Items
    fields: ir.Fields
    begun: str = "0"
    takes: int = 0
    gives: int = 0


class _Nodes:
    """Appends the nodes of one program to a writer. Names of a node end in its number."""

    def __init__(self, w: Writer, program: ir.Program, target: Target) -> None:
        self.w, self.program, self.target = w, program, target
        self.size = w.lanes * w.real.size
        self.align = min(self.size, LINE)
        self.streams = Streams(program)
        self.tables: list[str] = []
        self._rows: dict[str, int] = {}
        self._count = 0

    def write(self) -> None:
        """Append the program of every vector of samples."""
        w, program = self.w, self.program
        turns = {name: n or f"%turns_{name}" for name, n in program.turns.items()}
        self.turns: dict[str, int | str] = turns
        w.do(*(f"%turn_{axis} = alloca i64" for axis in turns))
        self._scratch()
        before = "allocated" if program.tables else "entry"
        rows = open_vector_loop(w, len(self.streams.ports), before=before)
        self.inputs = {port.name: _Rows(port, k, rows[k]) for k, port in enumerate(program.inputs)}
        outputs = enumerate(program.outputs, start=len(program.inputs))
        self.outputs = {port.name: _Rows(port, k, rows[k]) for k, port in outputs}
        if program.tape is not None and not self.target.is_amd:
            self._prefetch()
        self._all(cleared(program) if program.slots else program.nodes)

    def _next(self) -> str:
        self._count += 1
        return f"{self._count - 1}"

    def _all(self, nodes: Sequence[ir.Node]) -> None:
        for node in nodes:
            match node:
                case ir.Block():
                    self._block(node)
                case ir.Copy("", target):
                    self._clear(target)
                case ir.Copy(source, target):
                    self._put(target, self._get(source))
                case ir.Loop():
                    self._loop(node)
                case ir.Begin(items):
                    for k, value in enumerate(items.root):
                        self._store_field(self._scratches[items], k, self.w.constant(value))
                case ir.Sweep():
                    self._sweep(node)
                case ir.Walk():
                    self._walk(node)

    def _prefetch(self) -> None:
        """Append prefetches of the rows of outputs that the next vector writes, if they lie side by side.

        Intel's processors take a third less time for large results then; AMD's are slower with it.
        """
        w = self.w
        for port, k, rows in self.outputs.values():
            if port.size >= w.lanes:
                step = w.emit(f"mul i64 %p{k}_step, {w.lanes}")
                for at in range(0, port.size * self.size, LINE):
                    far = w.emit(f"add i64 {step}, {at}")
                    place = w.emit(f"getelementptr i8, ptr {rows[0]}, i64 {far}")
                    w.do(f"call void @llvm.prefetch.p0(ptr {place}, i32 1, i32 3, i32 1)")

    # Memories

    def _lanes(self, place: _Rows) -> list[str]:
        """Append the addresses of each lane's present entry of an input or output."""
        port, k, rows = place
        for axis in port.axes:
            far = self.w.emit(f"mul i64 {self._turn(axis)}, {self.streams.stride(k, axis)}")
            rows = [self.w.emit(f"getelementptr i8, ptr {row}, i64 {far}") for row in rows]
        return rows

    def _turn(self, axis: str) -> str:
        return self.w.emit(f"load i64, ptr %turn_{axis}")

    def _slot(self, name: str) -> str:
        """Append the address of the present entry of a slot."""
        port, at = self.program.sources[name], ""
        for axis in port.axes:
            at = self.w.emit(f"mul i64 {at}, {self.turns[axis]}") if at else ""
            at = self.w.emit(f"add i64 {at}, {self._turn(axis)}") if at else self._turn(axis)
        if not at:
            return f"%slot_{name}"
        byte = self.w.emit(f"mul i64 {at}, {port.size * self.size}")
        return self.w.emit(f"getelementptr i8, ptr %slot_{name}, i64 {byte}")

    def _field(self, base: str, index: int) -> str:
        at = self.w.emit(f"getelementptr inbounds i8, ptr {base}, i64 {index * self.size}")
        return self.w.emit(f"load {self.w.vector}, ptr {at}, align {self.align}")

    def _store_field(self, base: str, index: int, value: str) -> None:
        at = self.w.emit(f"getelementptr inbounds i8, ptr {base}, i64 {index * self.size}")
        self.w.do(f"store {self.w.vector} {value}, ptr {at}, align {self.align}")

    def _get(self, source: str | ir.Entry, wanted: Sequence[int] | None = None) -> list[str]:
        """Append loads of some numbers of a memory, by default of all."""
        if isinstance(source, ir.Entry):
            own = source.items.fields[source.field]
            first = source.item * source.items.width + source.items.places[source.field]
            base = self._scratches[source.items]
            return [self._field(base, first + k) for k in (range(own) if wanted is None else wanted)]
        if isinstance(source, str) and source in self._rows:
            count = self._rows[source]
            kind = f"[{count} x {self.w.real.name}]"
            row = self.w.emit(f"getelementptr {kind}, ptr @rows_{source}, i64 {self._turn(source)}")
            return [self._spread(row, k) for k in (range(count) if wanted is None else wanted)]
        wanted = range(self.program.sources[source].size) if wanted is None else wanted
        if source in self.inputs:
            return load(self.w, self._lanes(self.inputs[source]), wanted)
        base = self._slot(source)
        return [self._field(base, k) for k in wanted]

    def _put(self, target: str, values: Sequence[str]) -> None:
        """Append stores of all numbers of a memory."""
        if target in self.outputs:
            store(self.w, self._lanes(self.outputs[target]), dict(enumerate(values)))
            return
        base = self._slot(target)
        for k, value in enumerate(values):
            self._store_field(base, k, value)

    def _clear(self, target: str) -> None:
        """Append zeros for all numbers of a memory."""
        output = self.outputs.get(target)
        count = self.program.targets[target].size * (self.w.real.size if output else self.size)
        for place in self._lanes(output) if output else [self._slot(target)]:
            self.w.do(f"call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {count}, i1 false)")

    def _spread(self, row: str, index: int) -> str:
        """Append the load of one number for all lanes."""
        w = self.w
        at = w.emit(f"getelementptr inbounds {w.real.name}, ptr {row}, i64 {index}")
        x = w.emit(f"load {w.real.name}, ptr {at}, align {w.real.size}, !invariant.load !1")
        one = w.emit(f"insertelement {w.vector} poison, {w.real.name} {x}, i32 0")
        return w.shuffle(one, "poison", w.lanes, [0] * w.lanes)

    # Blocks and loops

    def _block(self, block: ir.Block) -> None:
        """Append a tape. Of slots, angles are read before the branch to their reduction, the rest after it."""
        tape, here = block.tape, f"block{self._next()}"
        self.w.do(f"br label %{here}", f"{here}:")
        turning, read = set(angles(tape)), {i for step in tape.steps for i in step.args}.union(tape.results)
        values, later = [""] * tape.n_inputs, list[tuple[str | ir.Entry, list[int], int]]()
        for (_, own), source in zip(spans(tape.inputs), block.reads, strict=True):
            start, wanted = own.start, [k for k, i in enumerate(own) if i in read]
            if isinstance(source, str) and source in self.inputs:
                first = wanted
            else:
                first = [k for k in wanted if start + k in turning]
                later.append((source, [k for k in wanted if start + k not in turning], start))
            if first:
                for k, value in zip(first, self._get(source, first), strict=True):
                    values[start + k] = value
        values = reduced(self.w, values, sorted(turning), here)
        for source, wanted, start in later:
            for k, value in zip(wanted, self._get(source, wanted) if wanted else (), strict=True):
                values[start + k] = value
        compute(self.w, tape, values, fused=self.target.has_fma)
        results = [values[i] for i in tape.results]
        for port, target in zip(tape.outputs, block.writes, strict=True):
            self._put(target, results[: port.size])
            results = results[port.size :]

    def _loop(self, loop: ir.Loop) -> None:
        w, n, axis, turns = self.w, self._next(), loop.axis, self.turns[loop.axis]
        if loop.rows and axis not in self._rows:
            self._rows[axis] = len(loop.rows[0])
            self.tables.append(numbers_table(f"rows_{axis}", loop.rows, w.real))
        if loop.when:
            bits = w.emit(f"bitcast {w.vector} {self._get(loop.when)[0]} to {w.integers}")
            above = w.emit(f"icmp sgt {w.integers} {bits}, zeroinitializer")
            mask = w.emit(f"bitcast <{w.lanes} x i1> {above} to i{w.lanes}")
            w.do(f"br i1 {w.emit(f'icmp ne i{w.lanes} {mask}, 0')}, label %taken{n}, label %over{n}", f"taken{n}:")
        last = w.emit(f"sub i64 {turns}, 1")
        w.do(f"store i64 {last if loop.is_backward else 0}, ptr %turn_{axis}", f"br label %loop{n}", f"loop{n}:")
        self._all(loop.body)
        now = self._turn(axis)
        w.do(f"store i64 {w.emit(f'add i64 {now}, {-1 if loop.is_backward else 1}')}, ptr %turn_{axis}")
        over = w.emit(f"icmp eq i64 {now}, {0 if loop.is_backward else last}")
        w.do(f"br i1 {over}, label %over{n}, label %loop{n}", f"over{n}:")

    # Sweeps and walks

    def _scratch(self) -> None:
        """Append the allocation of slots, and of the fields of all items: on the stack if there are no items."""
        w, program, self._scratches = self.w, self.program, dict[ir.Items, str]()
        self._tags = {items: f"{t}" for t, items in enumerate(program.tables)}
        slots = {
            f"%slot_{port.name}": port.size * math.prod(program.turns[axis] for axis in port.axes) * self.size
            for port in program.slots
        }
        if not program.tables:
            w.do(*(f"{name} = alloca [{max(size, 1)} x i8], align {self.size}" for name, size in slots.items()))
            return
        walks = [node.state for node in program.all_nodes if isinstance(node, ir.Walk)]
        if walks:
            w.do(f"%state = alloca [{max(*walks, 1)} x {w.vector}], align {self.size}")
        sizes = {f"%scratch{t}": len(items.rows) * items.width * self.size for items, t in self._tags.items()} | slots
        w.do(f"%raw = call ptr @malloc(i64 {sum(sizes.values()) + LINE})", "%is_none = icmp eq ptr %raw, null")
        w.do("br i1 %is_none, label %unallocated, label %allocated", "unallocated:")
        w.do(f"%was = atomicrmw add ptr @{UNALLOCATED}, i64 1 monotonic", "ret void", "allocated:")
        w.do(f"%raw_end = getelementptr i8, ptr %raw, i64 {LINE - 1}")
        w.do(f"%scratch = call ptr @llvm.ptrmask.p0.i64(ptr %raw_end, i64 {-LINE})")
        for (name, _), start in zip(sizes.items(), accumulate(sizes.values(), initial=0), strict=False):
            w.do(f"{name} = getelementptr i8, ptr %scratch, i64 {start}")
        for items, t in self._tags.items():
            self._scratches[items] = f"%scratch{t}"
            self.tables += _tables(t, items, w.real)

    def _sweep(self, sweep: ir.Sweep) -> None:
        w, span, p = self.w, sweep.span, self._next()
        w.do(f"br label %enter{p}", f"enter{p}:", f"br label %item{p}", f"item{p}:")
        w.do(f"%j{p} = phi i64 [ {span[0]}, %enter{p} ], [ %j{p}_next, %step{p} ]")
        self._item(p, sweep.items, f"%j{p}")
        self._cases(_Visit(p, sweep.items, sweep.fields), f"%kind{p}", f"step{p}", sweep.stages)
        w.do(f"step{p}:", f"%j{p}_next = add i64 %j{p}, {span.step}", f"%over{p} = icmp eq i64 %j{p}_next, {span.stop}")
        w.do(f"br i1 %over{p}, label %after{p}, label %item{p}", f"after{p}:")

    def _walk(self, walk: ir.Walk) -> None:
        w, items, p = self.w, walk.items, self._next()
        self.tables.append(_integers(f"starts{p}", list(walk.starts)))
        w.do(f"br label %enter{p}", f"enter{p}:", f"br label %begin{p}", f"begin{p}:")
        w.do(f"%s{p} = phi i64 [ 0, %enter{p} ], [ %s{p}_next, %arrived{p} ]")
        w.do(f"%start{p}_row = getelementptr [3 x i64], ptr @starts{p}, i64 %s{p}")
        for index, name in enumerate(("first", "way", "begun")):
            w.do(f"%{name}{p}_at = getelementptr i64, ptr %start{p}_row, i64 {index}")
            w.do(f"%{name}{p} = load i64, ptr %{name}{p}_at, !invariant.load !1")
        first = _Visit(f"{p}_0", items, walk.fields, f"%begun{p}", gives=walk.state)
        self._item(f"{p}_0", items, f"%first{p}")
        self._cases(first, f"%way{p}", f"leave{p}", walk.first)
        w.do(f"leave{p}:", f"br label %climb{p}", f"climb{p}:")
        w.do(f"%j{p} = phi i64 [ %parent{p}_0, %leave{p} ], [ %parent{p}, %step{p} ]")
        w.do(f"%top{p} = icmp eq i64 %j{p}, 0", f"br i1 %top{p}, label %arrived{p}, label %item{p}", f"item{p}:")
        self._item(p, items, f"%j{p}")
        self._cases(first._replace(tag=p, takes=walk.state), f"%kind{p}", f"step{p}", walk.stages)
        w.do(f"step{p}:", f"br label %climb{p}", f"arrived{p}:", f"%s{p}_next = add i64 %s{p}, 1")
        w.do(f"%over{p} = icmp eq i64 %s{p}_next, {len(walk.starts)}")
        w.do(f"br i1 %over{p}, label %after{p}, label %begin{p}", f"after{p}:")

    def _item(self, tag: str, items: ir.Items, j: str) -> None:
        """Append loads of an item's row of the table and the addresses of its fields, its parent's, its constants."""
        w, t = self.w, self._tags[items]
        integers = 2 + len(items.rows[0].numbers)
        w.do(f"%row{tag}_ = getelementptr [{integers} x i64], ptr @items{t}, i64 {j}")
        for index, name in enumerate(("kind", "parent", *(f"n{k}_" for k in range(integers - 2)))):
            w.do(f"%{name}{tag}_at = getelementptr i64, ptr %row{tag}_, i64 {index}")
            w.do(f"%{name}{tag} = load i64, ptr %{name}{tag}_at, !invariant.load !1")
        for name, which in (("own", j), ("up", f"%parent{tag}")):
            w.do(f"%{name}{tag}_byte = mul i64 {which}, {items.width * self.size}")
            w.do(f"%{name}{tag} = getelementptr i8, ptr %scratch{t}, i64 %{name}{tag}_byte")
        count = max(len(item.constants) for item in items.rows)
        w.do(f"%numbers{tag} = getelementptr [{count} x {w.real.name}], ptr @numbers{t}, i64 {j}")

    def _cases(self, visit: _Visit, kind: str, after: str, stages: Sequence[ir.Stage | None]) -> None:
        """Append a switch to the step of a class."""
        w, tag, known = self.w, visit.tag, [(c, stage) for c, stage in enumerate(stages) if stage is not None]
        w.do(f"switch i64 {kind}, label %{after} [ {' '.join(f'i64 {c}, label %case{tag}_{c}' for c, _ in known)} ]")
        for c, stage in known:
            here, tape = f"case{tag}_{c}", stage.tape
            w.do(f"{here}:")
            read = {i for step in tape.steps for i in step.args} | set(tape.results)
            sources = visit.items.sources(visit.fields, stage, visit.takes)
            values = self._sources(visit, [slot if i in read else None for i, slot in enumerate(sources)])
            values = reduced(w, values, angles(tape), here)
            compute(w, tape, values, fused=self.target.has_fma)
            sinks = visit.items.sinks(visit.fields, stage, visit.gives)
            self._sinks(visit, sinks, [values[i] for i in tape.results])
            w.do(f"br label %{after}")

    def _sources(self, visit: _Visit, slots: list[ir.Slot | None]) -> list[str]:
        """Append loads of what a step reads; nothing for what it does not."""
        values: list[str] = []
        for share, group in groupby(slots, lambda slot: slot and slot.share):
            own = list(group)
            if isinstance(share, ir.Share):
                wanted = [slot.at for slot in own if slot]
                rows = self._share(visit, share, self.inputs)
                values += (
                    load(self.w, rows, wanted)
                    if share.memory in self.inputs
                    else [self._field(rows[0], k) for k in wanted]
                )
            else:
                values += [self._source(visit, slot) if slot else "" for slot in own]
        return values

    def _source(self, visit: _Visit, slot: ir.Slot) -> str:
        if slot.where == "constant":
            return self._spread(f"%numbers{visit.tag}", slot.at)
        return self._field(self._where(visit, slot), slot.at)

    def _where(self, visit: _Visit, slot: ir.Slot) -> str:
        places = {"own": f"%own{visit.tag}", "parent": f"%up{visit.tag}", "state": "%state"}
        return places.get(slot.where) or self._scratches[visit.items]

    def _sinks(self, visit: _Visit, slots: list[ir.Slot], values: list[str]) -> None:
        """Append stores of a step's results."""
        for share, group in groupby(zip(slots, values, strict=True), lambda pair: pair[0].share):
            rows = self._share(visit, share, self.outputs) if share is not None else []
            if share is not None and share.memory in self.outputs:
                store(self.w, rows, {slot.at: value for slot, value in group})
                continue
            for slot, value in group:
                memory, total = rows[0] if rows else self._where(visit, slot), value
                if slot.where in ("parent", "root"):
                    total = self.w.emit(f"fadd {self.w.vector} {self._field(memory, slot.at)}, {value}")
                self._store_field(memory, slot.at, total)

    def _share(self, visit: _Visit, share: ir.Share, ports: dict[str, _Rows]) -> list[str]:
        """Append the addresses of the first number of a share: per lane, or the one in a slot."""
        w, port = self.w, ports.get(share.memory)
        rows, step = (self._lanes(port), w.real.size) if port else ([self._slot(share.memory)], self.size)
        at = ""
        for number, stride in ((f"%n{share.number}_{visit.tag}", share.stride), (visit.begun, share.start)):
            if stride and (number == visit.begun or share.number >= 0):
                term = w.emit(f"mul i64 {number}, {stride}")
                at = w.emit(f"add i64 {at}, {term}") if at else term
        if at:
            byte = w.emit(f"mul i64 {at}, {step}")
            rows = [w.emit(f"getelementptr i8, ptr {row}, i64 {byte}") for row in rows]
        if share.offset:
            rows = [w.emit(f"getelementptr i8, ptr {row}, i64 {share.offset * step}") for row in rows]
        return rows


def _tables(tag: str, items: ir.Items, real: Real) -> list[str]:
    """Return the data of items: their class, parent, numbers and constants."""
    count = max(len(item.constants) for item in items.rows)
    rows = [(item.kind, item.parent, *item.numbers) for item in items.rows]
    padded = ((*item.constants, *[0.0] * (count - len(item.constants))) for item in items.rows)
    return [_integers(f"items{tag}", rows), numbers_table(f"numbers{tag}", padded, real)]


def _integers(name: str, rows: Sequence[tuple[int, ...]]) -> str:
    width = len(rows[0])
    text = ", ".join(f"[{width} x i64] [{', '.join(f'i64 {x}' for x in row)}]" for row in rows)
    return f"@{name} = internal constant [{len(rows)} x [{width} x i64]] [{text}]"
