"""Long tapes as native code: one function per part of the schedule (schedule.py), run block by block.

`@rows` goes over blocks of vectors and calls every part on the whole block. What crosses from part to part lies in a
memory of one frame per vector, what a part alone needs again in a frame that all vectors share. A part also asks for
the rows of the next block, which it reaches in an order that no processor foresees. Where angles of a block are beyond
the fast range of the sines, the parts are given a copy of its rows with the angles reduced.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from appell.kernels.llvm import emit
from appell.kernels.llvm.fusion import Fusion, is_constant, offset
from appell.kernels.llvm.llvm_writer import DOUBLE, Real, Writer, function, splat
from appell.kernels.llvm.line_stores import line_stores, line_tables
from appell.kernels.llvm.row_stores import BYPASS, LINE, row_stores, store_tables
from appell.kernels.llvm.schedule import Instruction, Kind, Move, Schedule, schedule
from appell.kernels.llvm.target import Target
from appell.kernels.llvm.trigonometry import Angle, emit_sincos, exact_reduction
from appell.kernels.llvm.vector_loop import end_vector_loop, open_vector_loop, row_arguments
from appell.trace.expr import Op
from appell.trace.tape import Port, Tape

LONG = 1500
"""Steps from which a schedule is worth its while; shorter tapes fit the instruction cache and are LLVM's to plan."""
WIDE = 256
"""Numbers of an output port from which on it is worth its while for fewer steps: rows are then stored by a loop."""
SHORT = 400
"""Steps up to which it is never."""
BLOCK = 8
"""Vectors that a part runs on in a turn."""
FRAMES = 3 << 15
"""Bytes for what crosses from part to part, a share of the second cache; a block is shorter where that is more."""
TOGETHER = 5
"""Parts that are compiled as one module: modules are compiled side by side, one per core."""
SPAN = 480
"""Instructions and moves between branches that are never taken; LLVM's time grows with the square of it."""


@dataclass(frozen=True)
class Frame:
    """What the functions of a kernel have in common."""

    tape: Tape
    fusion: Fusion
    schedule: Schedule
    real: Real
    lanes: int
    target: Target

    @property
    def ports(self) -> tuple[Port, ...]:
        """Return the ports in the order of the arguments."""
        return (*self.tape.inputs, *self.tape.outputs)

    @property
    def size(self) -> int:
        """Return the bytes of a vector."""
        return self.lanes * self.real.size

    @functools.cached_property
    def stores(self) -> dict[int, tuple[str, str]]:
        """Return, per output port that is stored by a loop at the end, the loop's tables and arguments."""
        result: dict[int, tuple[str, str]] = {}
        start = 0
        for k, (port, slots) in enumerate(zip(self.tape.outputs, self.schedule.kept, strict=True)):
            values = self.tape.results[start : start + port.size]
            start += port.size
            zero = {s for x, s in zip(values, slots, strict=False) if is_constant(self.tape, x, 0.0)}
            if slots:
                name = f"stores{k}"
                result[k] = (
                    line_tables(name, slots, zero, self.real)
                    if self.size == LINE
                    else store_tables(name, slots, zero, self.real, self.lanes)
                )
        return result

    @property
    def block(self) -> int:
        """Return the vectors that a part runs on in a turn."""
        return max(1, min(BLOCK, FRAMES // max(1, self.schedule.shared * self.size)))


def suits(tape: Tape) -> bool:
    """Return whether a tape is long enough for a schedule, or has large results."""
    return len(tape.steps) > (SHORT if any(port.size >= WIDE for port in tape.outputs) else LONG)


def rows(tape: Tape, real: Real, lanes: int, target: Target) -> Iterator[str]:
    """Yield the LLVM texts of `@rows` and the functions that it calls; many parts are in modules of their own."""
    whole = emit.poisoned(tape)
    fusion = Fusion(whole)
    frame = Frame(whole, fusion, schedule(whole, target.registers - 3, lanes, fusion), real, lanes, target)
    parts = range(len(frame.schedule.parts))
    turning = _turning(frame)
    helpers = []
    for k, places in turning.items():
        helpers += [_beyond(k, places, real, lanes), _reduced(tape.inputs[k], k, places, real)]
    if turning:
        helpers.append(exact_reduction())
    if any(frame.schedule.kept):
        memory = frame.schedule.shared * frame.size
        helpers.append(line_stores(real, memory) if frame.size == LINE else row_stores(real, lanes, memory))
    helpers += [tables for tables, _ in frame.stores.values()]
    head = [_blocks(frame, turning), *helpers]
    if len(parts) <= TOGETHER:
        yield "\n".join([*head, *(_part(frame, p) for p in parts)])
        return
    yield "\n".join([*head, *(f"declare {_signature(frame, p)}\n@constants{p} = external constant i8" for p in parts)])
    for first in parts[::TOGETHER]:
        yield "\n".join(_part(frame, p, linkage="") for p in parts[first : first + TOGETHER])


def _turning(frame: Frame) -> dict[int, list[int]]:
    """Return, per input port with angles, which of its numbers they are."""
    places = [(k, j) for k, port in enumerate(frame.tape.inputs) for j in range(port.size)]
    result: dict[int, list[int]] = {}
    for i in emit.angles(frame.tape):
        result.setdefault(places[i][0], []).append(places[i][1])
    return result


def _blocks(frame: Frame, turning: dict[int, list[int]]) -> str:
    """Return `@rows`: the loop over blocks."""
    ports, lanes, real, inputs = range(len(frame.ports)), frame.lanes, frame.real, len(frame.tape.inputs)
    picks = ", ".join(f"i64 %row{lane}" for lane in range(lanes))
    lines = [
        f"%shared = alloca [{max(1, frame.block * frame.schedule.shared * frame.size)} x i8], align 64",
        f"%own = alloca [{max(1, frame.schedule.own * frame.size)} x i8], align 64",
    ]
    for k in turning:
        lines.append(f"%copy{k} = alloca [{frame.block * lanes * frame.ports[k].size} x {real.name}], align 64")
    lines += [
        f"%rows0 = add i64 %last, %row{lanes - 1}",
        "%all = add i64 %rows0, 1",
        f"%bypass = icmp uge i64 %all, {-(-BYPASS // (real.size * sum(port.size for port in frame.tape.outputs)))}",
        "br label %block",
        "block:",
        "%first = phi i64 [ 0, %entry ], [ %end, %run ]",
        f"%beyond = add i64 %first, {frame.block}",
        "%end = call i64 @llvm.umin.i64(i64 %beyond, i64 %count)",
        f"%from0 = mul i64 %first, {lanes}",
        "%from = call i64 @llvm.umin.i64(i64 %from0, i64 %last)",
        f"%to0 = mul i64 %end, {lanes}",
        "%to = call i64 @llvm.umin.i64(i64 %to0, i64 %all)",
    ]
    given = {k: (f"%p{k}", f"%p{k}_step") for k in ports}
    before = "block"
    for k in turning:
        width = frame.ports[k].size * real.size
        lines += [
            f"%far{k} = call i1 @beyond{k}(ptr %p{k}, i64 %p{k}_step, i64 %from, i64 %to)",
            f"br i1 %far{k}, label %reduce{k}, label %near{k}, !prof !0",
            f"reduce{k}:",
            f"call void @reduce{k}(ptr %p{k}, i64 %p{k}_step, i64 %from, i64 %to, ptr %copy{k})",
            f"%skip{k} = mul i64 %from, {-width}",
            f"%moved{k} = getelementptr i8, ptr %copy{k}, i64 %skip{k}",
            f"br label %near{k}",
            f"near{k}:",
            f"%at{k} = phi ptr [ %p{k}, %{before} ], [ %moved{k}, %reduce{k} ]",
            f"%step{k} = phi i64 [ %p{k}_step, %{before} ], [ {width}, %reduce{k} ]",
        ]
        given[k] = (f"%at{k}", f"%step{k}")
        before = f"near{k}"
    arguments = ", ".join(f"ptr {at}, i64 {step}" for at, step in given.values())
    lines += ["br label %run", "run:"]
    for p in range(len(frame.schedule.parts)):
        memory = f"ptr @constants{p}, ptr %shared, ptr %shared, ptr %own, ptr %own"
        lines.append(f"call void @part{p}({arguments}, {picks}, i64 %last, i64 %first, i64 %end, {memory})")
    for k, (_, tables) in frame.stores.items():
        rows = f"ptr %p{k + inputs}, i64 %p{k + inputs}_step, {picks}, i64 %last, i64 %first, i64 %end"
        lines.append(f"call void @store_rows({rows}, {tables}, ptr %shared, i1 %bypass)")
    lines += ["%more = icmp ult i64 %end, %count", "br i1 %more, label %block, label %done", "done:"]
    if frame.stores:  # writes past the caches are done before whoever waits for the results goes on
        lines += ["br i1 %bypass, label %drain, label %leave", "drain:", "fence seq_cst", "br label %leave", "leave:"]
    lines.append("ret void")
    head = f"internal void @rows({row_arguments(len(ports), lanes)}, i64 %count, ptr noalias %k) noinline"
    return function(head, lines) + "@constants = internal constant [1 x i64] zeroinitializer\n"


def _signature(frame: Frame, index: int) -> str:
    """Return the type, name and arguments of a part's function."""
    memory = "ptr noalias %k, ptr %shared0, ptr %shared_back0, ptr %own, ptr %own_back"
    rows = row_arguments(len(frame.ports), frame.lanes, "ptr")
    return f"void @part{index}({rows}, i64 %first, i64 %stop, {memory})"


def _part(frame: Frame, index: int, linkage: str = "internal ") -> str:
    """Return one part's function, which runs on the vectors from %first to %stop, and its constants.

    Both memories come by two names, one to store to and one to load from: LLVM would trace a load back to the store
    that it follows, keep the value in a register instead, and be where it began.
    """
    w, ports, moving = Writer(frame.real, frame.lanes), len(frame.ports), ("shared", "shared_back")
    places = open_vector_loop(w, ports, "%first", moving)
    _ask(w, frame, index, places)
    _Body(w, frame, places).run(frame.schedule.parts[index])
    end_vector_loop(w, "%stop", moving, frame.schedule.shared * frame.size)
    head = f"{linkage}{_signature(frame, index)} noinline{frame.target.long_function}"
    return function(head, w.lines) + w.table(f"constants{index}", linkage)


def _ask(w: Writer, frame: Frame, index: int, places: dict[int, list[str]]) -> None:
    """Append prefetches of the rows that this vector's place in the next block has, of this part's share of inputs."""
    for k, port in enumerate(frame.tape.inputs):
        if k % len(frame.schedule.parts) == index:
            ahead = w.emit(f"mul i64 %p{k}_step, {frame.block * w.lanes}")
            for row in places[k]:
                soon = w.emit(f"getelementptr i8, ptr {row}, i64 {ahead}")
                for at in range(0, port.size * w.real.size, LINE):
                    place = w.emit(f"getelementptr i8, ptr {soon}, i64 {at}")
                    w.do(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 2, i32 1)")


class _Body:
    """Writes what one part does to one vector."""

    def __init__(self, w: Writer, frame: Frame, places: dict[int, list[str]]) -> None:
        self.w, self.tape, self.fusion, self.places = w, frame.tape, frame.fusion, places
        self.fused = frame.target.has_fma
        self.names: dict[int, str] = {}
        self.inputs = [(k, j) for k, port in enumerate(self.tape.inputs) for j in range(port.size)]
        first = len(self.tape.inputs)
        self.outputs = [(k, j) for k, port in enumerate(self.tape.outputs, start=first) for j in range(port.size)]

    def run(self, things: Sequence[Instruction | Move]) -> None:
        """Append instructions and moves."""
        w = self.w
        for count, thing in enumerate(things, start=1):
            if isinstance(thing, Move):
                self._move(thing)
            else:
                self._do(thing)
            if count % SPAN == 0:
                w.do(f"%never{count} = icmp eq ptr %k, null")
                w.do(f"br i1 %never{count}, label %end, label %go{count}, !prof !0")
                w.do(f"go{count}:")

    def _move(self, move: Move) -> None:
        w, size = self.w, self.w.lanes * self.w.real.size
        memory = ("%shared" if move.is_shared else "%own") + ("_back" if move.is_load else "")
        place = w.emit(f"getelementptr inbounds i8, ptr {memory}, i64 {move.slot * size}")
        if move.is_load:
            settled = ", !invariant.load !1" if move.is_settled else ""  # LLVM need not look for stores to it
            self.names[move.value] = w.emit(f"load {w.vector}, ptr {place}, align {size}{settled}")
        else:
            w.do(f"store {w.vector} {self.names[move.value]}, ptr {place}, align {size}")

    def _do(self, instruction: Instruction) -> None:
        kind, makes, _, what = instruction
        if kind is Kind.INPUT:
            port = self.inputs[what[0]][0]
            loaded = emit.load(self.w, self.places[port], [self.inputs[i][1] for i in what])
            self.names.update(zip(makes, loaded, strict=True))
        elif kind is Kind.SINES:
            angles = [Angle(self._value(at), more) for at, more in (offset(self.tape, a) for a in what)]
            pairs = dict(zip(what, emit_sincos(self.w, angles, fused=self.fused), strict=True))
            for i in makes:
                step = self.tape.steps[i - self.tape.n_inputs]
                self.names[i] = pairs[step.args[0]][step.op is Op.COS]
        elif kind is Kind.STEP:
            self.names[makes[0]] = self._step(makes[0])
        else:
            port = self.outputs[what[0]][0]
            emit.store(
                self.w, self.places[port], {self.outputs[k][1]: self._result(self.tape.results[k]) for k in what}
            )

    def _result(self, i: int) -> str:
        step = self.tape.steps[i - self.tape.n_inputs] if i >= self.tape.n_inputs else None
        return splat(step.value, self.w.real) if step is not None and step.op is Op.CONST else self._value(i)

    def _value(self, i: int) -> str:
        return self._step(i) if self.fusion.inside[i] else self.names[i]

    def _step(self, i: int) -> str:
        step = self.tape.steps[i - self.tape.n_inputs]
        return emit.operation(self.w, self.tape, step, [self._value(j) for j in step.args])


def _beyond(index: int, angles: list[int], real: Real, lanes: int) -> str:
    """Return the function that finds whether the angles of any row sum to beyond the fast range, or to not-a-number.

    A row is read as it lies, a vector of neighbours at a time; each lane has its own sum, in a row of its own angles.
    """
    w = Writer(real, lanes)
    w.do("br label %check", "check:", "%i = phi i64 [ %from, %entry ], [ %next, %check ]")
    w.do(f"%so_far = phi {w.integers} [ zeroinitializer, %entry ], [ %found, %check ]")
    w.do("%at = mul i64 %i, %step", "%row = getelementptr i8, ptr %p, i64 %at")
    sums: list[str] = []
    for count, vector in enumerate(_gather(w, angles)):
        size = emit.magnitude(w, vector)
        if count < 2:  # two sums side by side hide the latency of one
            sums.append(size)
        else:
            sums[count % 2] = w.emit(f"fadd {w.vector} {sums[count % 2]}, {size}")
    total = sums[0] if len(sums) == 1 else w.emit(f"fadd {w.vector} {sums[0]}, {sums[1]}")
    wide = w.emit(f"sext <{lanes} x i1> {emit.is_beyond(w, total)} to {w.integers}")
    w.do(f"%found = or {w.integers} %so_far, {wide}")
    w.do("%next = add i64 %i, 1", "%more = icmp ult i64 %next, %to", "br i1 %more, label %check, label %end", "end:")
    some = w.emit(f"icmp ne {w.integers} %found, zeroinitializer")
    mask = w.emit(f"bitcast <{lanes} x i1> {some} to i{lanes}")
    w.do(f"ret i1 {w.emit(f'icmp ne i{lanes} {mask}, 0')}")
    return function(f"internal i1 @beyond{index}(ptr %p, i64 %step, i64 %from, i64 %to) noinline", w.lines)


def _gather(w: Writer, places: list[int]) -> Iterator[str]:
    """Append loads of some numbers of %row; yield vectors that hold them all, some maybe twice, and nothing else."""
    start = 0
    for k, place in enumerate(places):
        if k + 1 < len(places) and places[k + 1] == place + 1:
            continue
        run, start = places[start : k + 1], k + 1
        if len(run) < w.lanes:
            vector = "zeroinitializer"
            for lane, j in enumerate(run):
                at = w.emit(f"getelementptr i8, ptr %row, i64 {j * w.real.size}")
                x = w.emit(f"load {w.real.name}, ptr {at}, align {w.real.size}")
                vector = w.emit(f"insertelement {w.vector} {vector}, {w.real.name} {x}, i32 {lane}")
            yield vector
            continue
        for j in (*range(run[0], run[-1] + 2 - w.lanes, w.lanes), run[-1] + 1 - w.lanes):
            at = w.emit(f"getelementptr i8, ptr %row, i64 {j * w.real.size}")
            yield w.emit(f"load {w.vector}, ptr {at}, align {w.real.size}")


def _reduced(port: Port, index: int, angles: list[int], real: Real) -> str:
    """Return what copies rows with their angles reduced."""
    name, one, size = real.name, real.size, port.size
    flags = ", ".join(f"i1 {int(j in set(angles))}" for j in range(size))
    wide, narrow = ("%x", "%y") if real is DOUBLE else ("%wide", "%narrow")
    extend = "" if real is DOUBLE else "  %wide = fpext float %x to double\n"
    trunc = "" if real is DOUBLE else "  %narrow = fptrunc double %y to float\n"
    return f"""
define internal void @reduce{index}(ptr %p, i64 %step, i64 %from, i64 %to, ptr %copy) noinline cold {{
entry:
  br label %row
row:
  %i = phi i64 [ %from, %entry ], [ %i_next, %row_end ]
  %at = mul i64 %i, %step
  %source = getelementptr i8, ptr %p, i64 %at
  %place0 = sub i64 %i, %from
  %place1 = mul i64 %place0, {size * one}
  %place = getelementptr i8, ptr %copy, i64 %place1
  br label %number
number:
  %j = phi i64 [ 0, %row ], [ %j_next, %number_end ]
  %from_j = getelementptr {name}, ptr %source, i64 %j
  %to_j = getelementptr {name}, ptr %place, i64 %j
  %x = load {name}, ptr %from_j, align {one}
  store {name} %x, ptr %to_j, align {one}
  %flag = getelementptr [{size} x i1], ptr @angular{index}, i64 0, i64 %j
  %turns = load i1, ptr %flag
  br i1 %turns, label %turn, label %number_end
turn:
{extend}  %y = call double @reduce(double {wide})
{trunc}  store {name} {narrow}, ptr %to_j, align {one}
  br label %number_end
number_end:
  %j_next = add i64 %j, 1
  %j_more = icmp ult i64 %j_next, {size}
  br i1 %j_more, label %number, label %row_end
row_end:
  %i_next = add i64 %i, 1
  %i_more = icmp ult i64 %i_next, %to
  br i1 %i_more, label %row, label %end
end:
  ret void
}}
@angular{index} = internal constant [{size} x i1] [{flags}]
"""
