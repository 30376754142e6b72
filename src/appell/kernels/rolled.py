"""Programs that are too long to be written out: loops over items that share a few kinds of step.

A :class:`Rolled` program keeps some fields per item (for a robot, per body) in a scratch memory and passes over the
items outward (first to last) or inward (last to first). In a pass, an item reads its own constants, its share of the
inputs, its own fields and those of its parent, runs the tape of its class, and writes its own fields, adds to its
parent's, or writes results. Code is as long as the classes' tapes, whatever the number of items; constants are data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from appell.kernels.emit import angles, compute, reduced
from appell.kernels.run import close_run, open_run
from appell.kernels.target import Target
from appell.kernels.trigonometry import exact_reduction
from appell.kernels.writer import Real, Writer, literal
from appell.trace.tape import Port, Tape
from appell.trace.verify import verify


class Pass(NamedTuple):
    """One sweep: which fields a step reads of itself and of its parent, writes, and adds to its parent.

    A step's tape has the ports constants, then the program's inputs (this item's share of each), then the fields read;
    its results are the fields written, then those added, then this item's share of the output if it has `results`.
    """

    inward: bool
    own: tuple[str, ...] = ()
    parent: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    results: bool = False


class Item(NamedTuple):
    """One item: its class, its parent (−1 for none), where its shares of inputs and output begin, its numbers."""

    kind: int
    parent: int
    inputs: tuple[int, ...]
    output: int
    constants: tuple[float, ...]


@dataclass(frozen=True)
class Rolled:
    """A program of passes over items; `steps[p][c]` is the tape of pass p for class c."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    fields: dict[str, int]
    base: dict[str, tuple[float, ...]]
    passes: tuple[Pass, ...]
    steps: tuple[tuple[Tape, ...], ...]
    items: tuple[Item, ...]

    def verified(self) -> Rolled:
        """Return the program after its steps' tapes are verified."""
        for tapes in self.steps:
            for tape in tapes:
                verify(tape)
        return self

    @property
    def width(self) -> int:
        """Return the scratch numbers per item."""
        return sum(self.fields.values())

    def place(self, field: str) -> int:
        """Return where a field stands in an item's scratch."""
        names = list(self.fields)
        return sum(self.fields[name] for name in names[: names.index(field)])


def rows(program: Rolled, real: Real, lanes: int, target: Target) -> str:
    """Return the LLVM text of `@rows` for a rolled program, with its tables."""
    w = Writer(real, lanes)
    ports, size = len(program.inputs) + len(program.outputs), lanes * real.size
    w.do(f"%scratch = call ptr @malloc(i64 {(len(program.items) + 1) * program.width * size})")
    for field, values in program.base.items():
        for j, value in enumerate(values):
            at = w.emit(f"getelementptr i8, ptr %scratch, i64 {(program.place(field) + j) * size}")
            w.do(f"store {w.vector} {w.constant(value)}, ptr {at}, align {real.size}")
    open_run(w, ports)
    w.do("br label %pass0")
    for p, sweep in enumerate(program.passes):
        _sweep(w, program, p, sweep, target)
    w.do(f"pass{len(program.passes)}:")
    text = close_run(w, ports, last=("call void @free(ptr %scratch)",))
    far = exact_reduction() if any(angles(tape) for tapes in program.steps for tape in tapes) else ""
    declarations = "declare ptr @malloc(i64)\ndeclare void @free(ptr)\n"
    return "\n".join([text, declarations, _tables(program, real, size), far])


def _sweep(w: Writer, program: Rolled, p: int, sweep: Pass, target: Target) -> None:
    """Append one pass: a loop over the items with a switch on their class."""
    n = len(program.items)
    first, step = (n - 1, -1) if sweep.inward else (0, 1)
    w.do(f"pass{p}:")
    w.do(f"br label %item{p}")
    w.do(f"item{p}:")
    w.do(f"%j{p} = phi i64 [ {first}, %pass{p} ], [ %j{p}_next, %step{p} ]")
    integers = 2 + len(program.inputs) + 1
    names = ["kind", "parent", *(f"in{k}" for k in range(len(program.inputs))), "out"]
    w.do(f"%plan{p} = getelementptr [{integers} x i64], ptr @plan, i64 %j{p}")
    for index, name in enumerate(names):
        w.do(f"%{name}{p}_at = getelementptr i64, ptr %plan{p}, i64 {index}")
        w.do(f"%{name}{p} = load i64, ptr %{name}{p}_at, !invariant.load !1")
    size = w.lanes * w.real.size
    w.do(f"%self{p}_at = add i64 %j{p}, 1")
    w.do(f"%self{p}_byte = mul i64 %self{p}_at, {program.width * size}")
    w.do(f"%self{p} = getelementptr i8, ptr %scratch, i64 %self{p}_byte")
    w.do(f"%up{p} = getelementptr i8, ptr %scratch, i64 %parent{p}")
    count = max(len(item.constants) for item in program.items)
    w.do(f"%numbers{p} = getelementptr [{count} x {w.real.name}], ptr @numbers, i64 %j{p}")
    cases = " ".join(f"i64 {c}, label %case{p}_{c}" for c in range(len(program.steps[p])))
    w.do(f"switch i64 %kind{p}, label %step{p} [ {cases} ]")
    for c, tape in enumerate(program.steps[p]):
        w.do(f"case{p}_{c}:")
        _case(w, program, p, sweep, tape, f"case{p}_{c}", target)
        w.do(f"br label %step{p}")
    w.do(f"step{p}:")
    w.do(f"%j{p}_next = add i64 %j{p}, {step}")
    w.do(f"%over{p} = icmp eq i64 %j{p}_next, {-1 if sweep.inward else n}")
    w.do(f"br i1 %over{p}, label %pass{p + 1}, label %item{p}")


def _case(w: Writer, program: Rolled, p: int, sweep: Pass, tape: Tape, here: str, target: Target) -> None:
    """Append one class's step: read, run its tape, write."""
    values: list[str] = []
    sizes = [port.size for port in tape.inputs]
    values += [_broadcast(w, f"%numbers{p}", j) for j in range(sizes[0])]
    for k in range(len(program.inputs)):
        values += _share(w, f"p{k}", f"%in{k}{p}", sizes[1 + k])
    for field in sweep.own:
        values += [_field(w, f"%self{p}", program.place(field) + j) for j in range(program.fields[field])]
    for field in sweep.parent:
        values += [_field(w, f"%up{p}", program.place(field) + j) for j in range(program.fields[field])]
    values = reduced(w, values, angles(tape), here)
    compute(w, tape, values, fused=target.has_fma)
    results = [values[i] for i in tape.results]
    for field in sweep.writes:
        for j in range(program.fields[field]):
            _put(w, f"%self{p}", program.place(field) + j, results.pop(0))
    for field in sweep.adds:
        for j in range(program.fields[field]):
            index = program.place(field) + j
            total = w.emit(f"fadd {w.vector} {_field(w, f'%up{p}', index)}, {results.pop(0)}")
            _put(w, f"%up{p}", index, total)
    if sweep.results:
        _scatter(w, f"p{len(program.inputs)}", f"%out{p}", results)


def _broadcast(w: Writer, base: str, index: int) -> str:
    at = w.emit(f"getelementptr inbounds {w.real.name}, ptr {base}, i64 {index}")
    x = w.emit(f"load {w.real.name}, ptr {at}, align {w.real.size}, !invariant.load !1")
    one = w.emit(f"insertelement {w.vector} poison, {w.real.name} {x}, i32 0")
    return w.shuffle(one, "poison", w.lanes, [0] * w.lanes)


def _share(w: Writer, port: str, offset: str, count: int) -> list[str]:
    """Append loads of `count` side-by-side numbers of every lane's row, from a byte offset on."""
    values = []
    places = [w.emit(f"getelementptr i8, ptr %{port}_row{lane}, i64 {offset}") for lane in range(w.lanes)]
    for j in range(count):
        vector = "poison"
        for lane, place in enumerate(places):
            at = w.emit(f"getelementptr i8, ptr {place}, i64 {j * w.real.size}") if j else place
            x = w.emit(f"load {w.real.name}, ptr {at}, align {w.real.size}")
            vector = w.emit(f"insertelement {w.vector} {vector}, {w.real.name} {x}, i32 {lane}")
        values.append(vector)
    return values


def _scatter(w: Writer, port: str, offset: str, values: Sequence[str]) -> None:
    for lane in range(w.lanes):
        place = w.emit(f"getelementptr i8, ptr %{port}_row{lane}, i64 {offset}")
        for j, value in enumerate(values):
            at = w.emit(f"getelementptr i8, ptr {place}, i64 {j * w.real.size}") if j else place
            x = w.emit(f"extractelement {w.vector} {value}, i32 {lane}")
            w.do(f"store {w.real.name} {x}, ptr {at}, align {w.real.size}")


def _field(w: Writer, item: str, index: int) -> str:
    at = w.emit(f"getelementptr inbounds i8, ptr {item}, i64 {index * w.lanes * w.real.size}")
    return w.emit(f"load {w.vector}, ptr {at}, align {w.real.size}")


def _put(w: Writer, item: str, index: int, value: str) -> None:
    at = w.emit(f"getelementptr inbounds i8, ptr {item}, i64 {index * w.lanes * w.real.size}")
    w.do(f"store {w.vector} {value}, ptr {at}, align {w.real.size}")


def _tables(program: Rolled, real: Real, size: int) -> str:
    """Return the data of the items: class, parent's place, offsets in bytes; and their numbers."""
    count = max(len(item.constants) for item in program.items)
    plan, numbers = [], []
    for item in program.items:
        parent = (item.parent + 1) * program.width * size
        integers = (item.kind, parent, *(x * real.size for x in item.inputs), item.output * real.size)
        plan.append(f"[{len(integers)} x i64] [{', '.join(f'i64 {x}' for x in integers)}]")
        padded = (*item.constants, *[0.0] * (count - len(item.constants)))
        values = ", ".join(f"{real.name} {literal(x, real)}" for x in padded)
        numbers.append(f"[{count} x {real.name}] [{values}]" if count else "[0 x double] zeroinitializer")
    n = len(program.items)
    width = 3 + len(program.inputs)
    return (
        f"@plan = internal constant [{n} x [{width} x i64]] [{', '.join(plan)}]\n"
        f"@numbers = internal constant [{n} x [{count} x {real.name}]] [{', '.join(numbers)}]\n"
    )
