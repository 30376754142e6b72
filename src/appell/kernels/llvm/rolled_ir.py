"""LLVM text of programs of loops (:mod:`appell.kernels.rolled`): one block per pass and class, constants as tables."""

from __future__ import annotations

from itertools import groupby

from appell.kernels.llvm.emit import angles, compute, load, reduced, store
from appell.kernels.llvm.llvm_writer import Real, Writer, literal
from appell.kernels.llvm.target import Target
from appell.kernels.llvm.trigonometry import exact_reduction
from appell.kernels.llvm.vector_loop import close_vector_loop, open_vector_loop
from appell.kernels.rolled import Fields, Rolled, Share, Slot, Stage, Sweep, Walk

UNALLOCATED = "unallocated"
"""The counter of calls of `@rows` that got no memory and returned without results."""
ALIGNED = 64
"""Bytes of a cache line: a vector that crosses one costs two accesses."""


def rows(program: Rolled, real: Real, lanes: int, target: Target) -> str:
    """Return the LLVM text of `@rows` for a program of loops, with its tables."""
    w = Writer(real, lanes)
    ports = len(program.inputs) + len(program.outputs)
    numbers = len(program.items) * program.width + program.state
    w.do(f"%raw = call ptr @malloc(i64 {numbers * lanes * real.size + ALIGNED})")
    w.do("%is_none = icmp eq ptr %raw, null", "br i1 %is_none, label %unallocated, label %allocated")
    w.do("unallocated:", f"%was = atomicrmw add ptr @{UNALLOCATED}, i64 1 monotonic", "ret void", "allocated:")
    w.do(f"%raw_end = getelementptr i8, ptr %raw, i64 {ALIGNED - 1}")
    w.do(f"%scratch = call ptr @llvm.ptrmask.p0.i64(ptr %raw_end, i64 {-ALIGNED})")
    _Text(w, program, target).write(open_vector_loop(w, ports, before="allocated"))
    text = close_vector_loop(w, ports, last=("call void @free(ptr %raw)",))
    far = exact_reduction() if any(angles(stage.tape) for stage in program.stages) else ""
    return "\n".join([text, _DECLARATIONS, _tables(program, real), far])


_DECLARATIONS = (
    f"@{UNALLOCATED} = global i64 0\n"
    + """declare ptr @malloc(i64)
declare void @free(ptr)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""
)


class _Text:
    """Appends the passes of one program to a writer; names of a pass end in its number."""

    def __init__(self, w: Writer, program: Rolled, target: Target) -> None:
        self.w, self.program, self.target = w, program, target
        self.size = w.lanes * w.real.size
        self.count = max(len(item.constants) for item in program.items)

    def write(self, places: dict[int, list[str]]) -> None:
        """Append the program of one vector of samples, given the addresses of each lane's rows."""
        w, program = self.w, self.program
        self.inputs = [places[k] for k in range(len(program.inputs))]
        self.outputs = [places[len(self.inputs) + k] for k in range(len(program.outputs))]
        for port in program.zeroed:
            count = program.outputs[port].size * w.real.size
            for row in self.outputs[port]:
                w.do(f"call void @llvm.memset.p0.i64(ptr align {w.real.size} {row}, i8 0, i64 {count}, i1 false)")
        for k, value in enumerate(program.root):
            self._put("%scratch", k, w.constant(value))
        w.do(f"%state = getelementptr i8, ptr %scratch, i64 {len(program.items) * program.width * self.size}")
        w.do("br label %pass0")
        for p, one in enumerate(program.passes):
            w.do(f"pass{p}:")
            if isinstance(one, Sweep):
                self._sweep(p, one)
            else:
                self._walk(p, one)
        w.do(f"pass{len(program.passes)}:")

    def _sweep(self, p: int, sweep: Sweep) -> None:
        w, span = self.w, self.program.span(sweep)
        w.do(f"br label %item{p}")
        w.do(f"item{p}:")
        w.do(f"%j{p} = phi i64 [ {span[0]}, %pass{p} ], [ %j{p}_next, %step{p} ]")
        self._item(f"{p}", f"%j{p}")
        self._cases(f"{p}", f"%kind{p}", f"step{p}", list(sweep.stages), sweep.fields)
        w.do(f"step{p}:")
        w.do(f"%j{p}_next = add i64 %j{p}, {span.step}")
        w.do(f"%over{p} = icmp eq i64 %j{p}_next, {span.stop}")
        w.do(f"br i1 %over{p}, label %pass{p + 1}, label %item{p}")

    def _walk(self, p: int, walk: Walk) -> None:
        w = self.w
        w.do(f"br label %start{p}")
        w.do(f"start{p}:")
        w.do(f"%s{p} = phi i64 [ 0, %pass{p} ], [ %s{p}_next, %arrived{p} ]")
        w.do(f"%start{p}_row = getelementptr [3 x i64], ptr @starts{p}, i64 %s{p}")
        for index, name in enumerate(("first", "way", "begun")):
            w.do(f"%{name}{p}_at = getelementptr i64, ptr %start{p}_row, i64 {index}")
            w.do(f"%{name}{p} = load i64, ptr %{name}{p}_at, !invariant.load !1")
        self._item(f"{p}_0", f"%first{p}")
        begun = f"%begun{p}"
        self._cases(f"{p}_0", f"%way{p}", f"leave{p}", list(walk.first), walk.fields, begun, gives=walk.state)
        w.do(f"leave{p}:")
        w.do(f"br label %climb{p}")
        w.do(f"climb{p}:")
        w.do(f"%j{p} = phi i64 [ %parent{p}_0, %leave{p} ], [ %parent{p}, %step{p} ]")
        w.do(f"%top{p} = icmp eq i64 %j{p}, 0")
        w.do(f"br i1 %top{p}, label %arrived{p}, label %item{p}")
        w.do(f"item{p}:")
        self._item(f"{p}", f"%j{p}")
        stages, state = list(walk.stages), walk.state
        self._cases(f"{p}", f"%kind{p}", f"step{p}", stages, walk.fields, begun, takes=state, gives=state)
        w.do(f"step{p}:")
        w.do(f"br label %climb{p}")
        w.do(f"arrived{p}:")
        w.do(f"%s{p}_next = add i64 %s{p}, 1")
        w.do(f"%over{p} = icmp eq i64 %s{p}_next, {len(walk.starts)}")
        w.do(f"br i1 %over{p}, label %pass{p + 1}, label %start{p}")

    def _item(self, tag: str, j: str) -> None:
        """Append loads of an item's row of the table and the addresses of its scratch, its parent's, its constants."""
        w, program = self.w, self.program
        integers = 2 + len(program.items[0].numbers)
        w.do(f"%row{tag}_ = getelementptr [{integers} x i64], ptr @items, i64 {j}")
        for index, name in enumerate(("kind", "parent", *(f"n{k}_" for k in range(integers - 2)))):
            w.do(f"%{name}{tag}_at = getelementptr i64, ptr %row{tag}_, i64 {index}")
            w.do(f"%{name}{tag} = load i64, ptr %{name}{tag}_at, !invariant.load !1")
        for name, which in (("own", j), ("up", f"%parent{tag}")):
            w.do(f"%{name}{tag}_byte = mul i64 {which}, {program.width * self.size}")
            w.do(f"%{name}{tag} = getelementptr i8, ptr %scratch, i64 %{name}{tag}_byte")
        w.do(f"%numbers{tag} = getelementptr [{self.count} x {w.real.name}], ptr @numbers, i64 {j}")

    def _cases(
        self,
        tag: str,
        kind: str,
        after: str,
        stages: list[Stage | None],
        fields: Fields,
        begun: str = "0",
        takes: int = 0,
        gives: int = 0,
    ) -> None:
        """Append a switch to the step of a class."""
        w, known = self.w, [(c, stage) for c, stage in enumerate(stages) if stage is not None]
        w.do(f"switch i64 {kind}, label %{after} [ {' '.join(f'i64 {c}, label %case{tag}_{c}' for c, _ in known)} ]")
        for c, stage in known:
            here = f"case{tag}_{c}"
            w.do(f"{here}:")
            sources, sinks = self.program.sources(fields, stage, takes), self.program.sinks(fields, stage, gives)
            tape = stage.tape
            read = {i for step in tape.steps for i in step.args} | set(tape.results)
            values = self._read(tag, begun, [slot if i in read else None for i, slot in enumerate(sources)])
            values = reduced(w, values, angles(tape), here)
            compute(w, tape, values, fused=self.target.has_fma)
            self._write(tag, begun, sinks, [values[i] for i in tape.results])
            w.do(f"br label %{after}")

    def _read(self, tag: str, begun: str, slots: list[Slot | None]) -> list[str]:
        """Append loads of what a step reads; nothing for what it does not."""
        values: list[str] = []
        for share, group in groupby(slots, lambda slot: slot and slot.share):
            if isinstance(share, Share):
                found = load(self.w, self._places(tag, begun, self.inputs, share), [s.at for s in group if s])
                values += found
            else:
                values += [self._load(tag, slot) if slot else "" for slot in group]
        return values

    def _load(self, tag: str, slot: Slot) -> str:
        if slot.where != "constant":
            return self._field(self._memory(tag, slot), slot.at)
        w = self.w
        at = w.emit(f"getelementptr inbounds {w.real.name}, ptr %numbers{tag}, i64 {slot.at}")
        x = w.emit(f"load {w.real.name}, ptr {at}, align {w.real.size}, !invariant.load !1")
        one = w.emit(f"insertelement {w.vector} poison, {w.real.name} {x}, i32 0")
        return w.shuffle(one, "poison", w.lanes, [0] * w.lanes)

    def _write(self, tag: str, begun: str, slots: list[Slot], values: list[str]) -> None:
        """Append stores of a step's results."""
        pairs = list(zip(slots, values, strict=True))
        for share, group in groupby(pairs, lambda pair: pair[0].share):
            if share is not None:
                found = {slot.at: value for slot, value in group}
                store(self.w, self._places(tag, begun, self.outputs, share), found)
                continue
            for slot, value in group:
                memory, total = self._memory(tag, slot), value
                if slot.where in ("parent", "root"):
                    total = self.w.emit(f"fadd {self.w.vector} {self._field(memory, slot.at)}, {value}")
                self._put(memory, slot.at, total)

    def _memory(self, tag: str, slot: Slot) -> str:
        return {"own": f"%own{tag}", "parent": f"%up{tag}", "root": "%scratch", "state": "%state"}[slot.where]

    def _places(self, tag: str, begun: str, ports: list[list[str]], share: Share) -> list[str]:
        """Append the addresses, per lane, of the first number of a share."""
        w, rows = self.w, ports[share.port]
        at = ""
        for number, stride in ((f"%n{share.number}_{tag}", share.stride), (begun, share.start)):
            if stride and (number == begun or share.number >= 0):
                term = w.emit(f"mul i64 {number}, {stride}")
                at = w.emit(f"add i64 {at}, {term}") if at else term
        if at:
            byte = w.emit(f"mul i64 {at}, {w.real.size}")
            rows = [w.emit(f"getelementptr i8, ptr {row}, i64 {byte}") for row in rows]
        if share.offset:
            rows = [w.emit(f"getelementptr i8, ptr {row}, i64 {share.offset * w.real.size}") for row in rows]
        return rows

    def _field(self, item: str, index: int) -> str:
        at = self.w.emit(f"getelementptr inbounds i8, ptr {item}, i64 {index * self.size}")
        return self.w.emit(f"load {self.w.vector}, ptr {at}, align {min(self.size, ALIGNED)}")

    def _put(self, item: str, index: int, value: str) -> None:
        at = self.w.emit(f"getelementptr inbounds i8, ptr {item}, i64 {index * self.size}")
        self.w.do(f"store {self.w.vector} {value}, ptr {at}, align {min(self.size, ALIGNED)}")


def _tables(program: Rolled, real: Real) -> str:
    """Return the data: of items their class, parent, numbers and constants, and where walks begin."""
    count = max(len(item.constants) for item in program.items)
    rows = [(item.kind, item.parent, *item.numbers) for item in program.items]
    numbers = []
    for item in program.items:
        padded = (*item.constants, *[0.0] * (count - len(item.constants)))
        values = ", ".join(f"{real.name} {literal(x, real)}" for x in padded)
        numbers.append(f"[{count} x {real.name}] " + (f"[{values}]" if count else "zeroinitializer"))
    lines = [_integers("items", rows)]
    lines += [
        _integers(f"starts{p}", list(one.starts)) for p, one in enumerate(program.passes) if isinstance(one, Walk)
    ]
    shape = f"[{len(numbers)} x [{count} x {real.name}]]"
    return "\n".join([*lines, f"@numbers = internal constant {shape} [{', '.join(numbers)}]\n"])


def _integers(name: str, rows: list[tuple[int, ...]]) -> str:
    width = len(rows[0])
    text = ", ".join(f"[{width} x i64] [{', '.join(f'i64 {x}' for x in row)}]" for row in rows)
    return f"@{name} = internal constant [{len(rows)} x [{width} x i64]] [{text}]"
