"""Long tapes as native code: the segments of a schedule (schedule.py), run one after the other, block by block.

Every vector of samples has a frame of memory. `@rows` goes over blocks of vectors: it transposes their inputs into the
frames, reduces angles that are beyond the fast range of the sines, runs the segments on the whole block, and transposes
results from the frames to the rows of the outputs. The arithmetic of a part is written as x86 instructions (x86.py)
or, for other processors, as LLVM's (ir_part.py).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

from appell.kernels.llvm import emit, ir_part, x86
from appell.kernels.llvm.emit import LINE
from appell.kernels.llvm.line_stores import line_stores, line_tables
from appell.kernels.llvm.llvm_writer import Real, Writer, function, literal, splat
from appell.kernels.llvm.row_loads import load_port, reduce_angles
from appell.kernels.llvm.row_stores import BYPASS, one_row_store, one_row_table, row_stores, store_tables
from appell.kernels.llvm.schedule import Part, Schedule, StoredSlots, schedule
from appell.kernels.llvm.target import Target
from appell.kernels.llvm.trigonometry import exact_reduction
from appell.kernels.llvm.vector_loop import end_vector_loop, open_vector_loop, row_arguments
from appell.kernels.lowering.inputs import angles, poisoned
from appell.trace.tape import Tape

LONG = 1500
"""Steps from which a schedule is worth its while; shorter tapes fit the instruction cache and are LLVM's to plan."""
WIDE = 256
"""Numbers of an output port from which on it is worth its while for fewer steps: rows are then stored by a loop."""
SHORT = 400
"""Steps up to which it is never."""
LARGE = 2
"""Numbers of an output port, in vectors, from which on it is stored by a loop."""
FEW = 16
"""Numbers of an output port, in vectors, up to which its lines are prefetched while parts run."""
BLOCK = 8
"""Vectors that a segment runs on in a turn."""
FRAMES = 3 << 15
"""Bytes for the frames of a block, a share of the second cache; a block is shorter where that is more."""
TOGETHER = 3
"""Parts that are compiled as one module: modules are compiled side by side, one per core."""


def suits(tape: Tape, target: Target) -> bool:
    """Return whether a tape is long enough for a schedule, or has large results; sines need fused instructions."""
    return target.has_fma and len(tape.steps) > (SHORT if any(port.size >= WIDE for port in tape.outputs) else LONG)


def rows(tape: Tape, real: Real, lanes: int, target: Target) -> Iterator[str]:
    """Yield the LLVM texts of `@rows` and the functions that it calls; many parts are in modules of their own."""
    whole = poisoned(tape)
    is_spelled = x86.suits(target)
    frame = Frame(whole, schedule(whole, real, target.registers - (0 if is_spelled else 3)), real, lanes, target)
    parts = [segment for segment in frame.schedule.segments if isinstance(segment, Part)]
    head = _Rows(frame).text()
    if len(parts) <= TOGETHER:
        yield "\n".join([head, *(_part(frame, p, part, "internal ") for p, part in enumerate(parts))])
        return
    yield "\n".join([head, *(f"declare void @part{p}({_arguments(frame)})" for p in range(len(parts)))])
    for first in range(0, len(parts), TOGETHER):
        some = enumerate(parts[first : first + TOGETHER], start=first)
        yield "\n".join(_part(frame, p, part, "") for p, part in some)


@dataclass(frozen=True)
class Frame:
    """What the functions of a kernel have in common."""

    tape: Tape
    schedule: Schedule
    real: Real
    lanes: int
    target: Target

    @property
    def size(self) -> int:
        """Return the bytes of a vector."""
        return self.lanes * self.real.size

    @property
    def bytes(self) -> int:
        """Return the bytes of a frame."""
        return self.schedule.shared * self.size

    @functools.cached_property
    def prefetched(self) -> list[int]:
        """Return the output ports whose lines are prefetched while parts run.

        Those of larger ports are so many that parts would wait for them. AMD's processors are slower with prefetches.
        """
        if not x86.suits(self.target) or self.target.is_amd:
            return []
        some = range(self.lanes, FEW * self.lanes)
        return [k for k, port in enumerate(self.tape.outputs[: len(x86.OUTPUTS)]) if port.size in some]

    def lines(self, index: int) -> list[tuple[int, int]]:
        """Return a part's share of the lines to be prefetched, as ports and distances from their rows.

        Rows of the samples of a vector are taken to lie side by side.
        """
        ports = ((k, self.tape.outputs[k].size * self.size) for k in self.prefetched)
        lines = [(k, at) for k, size in ports for at in range(0, size, LINE)]
        lengths = [len(x.code) for x in self.schedule.segments if isinstance(x, Part)]
        first, last = (len(lines) * sum(lengths[:k]) // sum(lengths) for k in (index, index + 1))
        return lines[first:last]

    @property
    def block(self) -> int:
        """Return the vectors that a segment runs on in a turn."""
        return max(1, min(BLOCK, FRAMES // self.bytes))


_MEMORIES = "ptr %shared0, ptr %own, ptr %shared_again, ptr %back_own, ptr noalias %k, i64 %n"
"""What a part is given: the frames, its own memory, both once more, the constants, and how many frames there are."""


def _arguments(frame: Frame) -> str:
    """Return what a part is given; besides memories, the rows of outputs whose lines it prefetches."""
    return ", ".join([_MEMORIES, *(f"ptr %to{k}_0, i64 %to{k}_step" for k in frame.prefetched)])


def _part(frame: Frame, index: int, part: Part, linkage: str) -> str:
    """Return the function of a part."""
    w, is_spelled = Writer(frame.real, frame.lanes), x86.suits(frame.target)
    w.do("br label %body", "body:", "%i = phi i64 [ 0, %entry ], [ %next, %done ]")
    for name, first in (("shared", "shared0"), ("back_shared", "shared_again")):
        w.do(f"%{name} = phi ptr [ %{first}, %entry ], [ %{name}_next, %done ]")
    for k in frame.prefetched:
        w.do(f"%to{k} = phi ptr [ %to{k}_0, %entry ], [ %to{k}_next, %done ]")
    if is_spelled:
        w.do(x86.X86(frame.real, frame.target).call(part.code, frame.lines(index)))
    else:
        ir_part.write(w, part.code)
    w.do("br label %done", "done:")
    for name in ("shared", "back_shared"):
        w.do(f"%{name}_next = getelementptr inbounds i8, ptr %{name}, i64 {frame.bytes}")
    w.do(*(f"%to{k}_next = getelementptr i8, ptr %to{k}, i64 %to{k}_step" for k in frame.prefetched))
    w.do("%next = add i64 %i, 1", "%more = icmp ult i64 %next, %n", "br i1 %more, label %body, label %end", "end:")
    w.do(*(['call void asm sideeffect "vzeroupper", ""()'] if is_spelled else []), "ret void")
    head = f"{linkage}void @part{index}({_arguments(frame)}) noinline{frame.target.long_function}"
    return function(head, w.lines)


class _Rows:
    """Writes `@rows`, the loop over blocks, and the functions that it calls, but for parts."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.helpers: list[str] = []
        self.picks = ", ".join(f"i64 %row{lane}" for lane in range(frame.lanes))
        self.n_parts = self.n_stores = 0
        self.has_table_stores = False

    def text(self) -> str:
        """Return all functions and the table of constants."""
        frame, tape = self.frame, self.frame.tape
        calls = self._loads()
        for segment in frame.schedule.segments:
            if isinstance(segment, Part):
                memories = "ptr %shared, ptr %own, ptr %shared, ptr %own, ptr %k, i64 %n"
                rows = [f"ptr %to{k}, i64 %by{k}" for k in frame.prefetched]
                calls.append(f"call void @part{self.n_parts}({', '.join([memories, *rows])})")
                self.n_parts += 1
            else:
                calls += self._store(segment)
        row = frame.real.size * sum(port.size for port in tape.outputs)
        many = -(-BYPASS // row) if frame.target.is_amd else -1
        lines = [
            f"%shared = alloca [{frame.block * frame.bytes} x i8], align 64",
            f"%own = alloca [{max(1, frame.schedule.own) * frame.size} x i8], align 64",
            *self._fixed(),
            f"%rows0 = add i64 %last, %row{frame.lanes - 1}",
            "%all = add i64 %rows0, 1",
            f"%bypass = icmp uge i64 %all, {many}",
            "%is_one = icmp eq i64 %all, 1",
            "br label %block",
            "block:",
            "%first = phi i64 [ 0, %entry ], [ %end, %turn ]",
            f"%beyond = add i64 %first, {frame.block}",
            "%end = call i64 @llvm.umin.i64(i64 %beyond, i64 %count)",
            "%n = sub i64 %end, %first",
            *self._outputs(),
            *calls,
            "br label %turn",
            "turn:",
            "%more = icmp ult i64 %end, %count",
            "br i1 %more, label %block, label %done",
            "done:",  # writes past the caches are done before whoever waits for the results goes on
            "br i1 %bypass, label %drain, label %leave",
            "drain:",
            "fence seq_cst",
            "br label %leave",
            "leave:",
            "ret void",
        ]
        arguments = f"{row_arguments(len(tape.inputs) + len(tape.outputs), frame.lanes)}, i64 %count, ptr noalias %k"
        head = f"internal void @rows({arguments}) noinline"
        return "\n".join([function(head, lines), *self.helpers, self._constants()])

    def _outputs(self) -> list[str]:
        """Return the lines that find where the rows of a block lie in outputs whose lines are prefetched."""
        lines = []
        for k in self.frame.prefetched:
            port = k + len(self.frame.tape.inputs)
            lines += [f"%by{k} = mul i64 %p{port}_step, {self.frame.lanes}", f"%far{k} = mul i64 %by{k}, %first"]
            lines.append(f"%to{k} = getelementptr i8, ptr %p{port}, i64 %far{k}")
        return lines

    def _fixed(self) -> list[str]:
        """Return the lines that put constants among the results into every frame."""
        frame = self.frame
        w = Writer(frame.real, frame.lanes)
        for k in range(frame.block):
            for slot, value in frame.schedule.fixed.items():
                at = w.emit(f"getelementptr i8, ptr %shared, i64 {k * frame.bytes + slot * frame.size}")
                w.do(f"store {w.vector} {splat(value, frame.real)}, ptr {at}, align {frame.size}")
        return w.lines

    def _loads(self) -> list[str]:
        """Return the calls that fill the frames with inputs."""
        frame, tape = self.frame, self.frame.tape
        calls, place = [], 0
        for k, port in enumerate(tape.inputs):
            if port.size:
                self.helpers.append(load_port(f"load{k}", port.size, place, frame.real, frame.lanes, frame.bytes))
                calls.append(f"call void @load{k}({self._rows_of(k)}, ptr %shared)")
            place += port.size * frame.size
        if found := angles(tape):
            self.helpers += [reduce_angles(found, frame.real, frame.lanes, frame.bytes), exact_reduction()]
            calls.append("call void @reduce_angles(ptr %shared, i64 %n)")
        return calls

    def _rows_of(self, k: int, pointer: str = "") -> str:
        return f"ptr {pointer or f'%p{k}'}, i64 %p{k}_step, {self.picks}, i64 %last, i64 %first, i64 %end"

    def _store(self, phase: StoredSlots) -> list[str]:
        """Return the lines that store results: by a loop over tables if they are many."""
        frame, index, k = self.frame, self.n_stores, len(self.frame.tape.inputs) + phase.port
        self.n_stores += 1
        lines, place = [], f"%p{k}"
        if phase.start:
            place = f"%piece{index}"
            lines.append(f"{place} = getelementptr i8, ptr %p{k}, i64 {phase.start * frame.real.size}")
        if len(phase.slots) < LARGE * frame.lanes:
            self.helpers.append(self._small_store(f"store{index}", phase))
            return [*lines, f"call void @store{index}({self._rows_of(k, place)}, ptr %shared)"]
        zero = {
            slot for slot, value in frame.schedule.fixed.items() if splat(value, frame.real) == splat(0.0, frame.real)
        }
        name, is_line = f"stores{index}", frame.size == LINE
        if not self.has_table_stores:
            self.has_table_stores = True
            self.helpers.append(
                line_stores(frame.real, frame.bytes, prefetches=not frame.target.is_amd)
                if is_line
                else row_stores(frame.real, frame.lanes, frame.bytes)
            )
            self.helpers.append(one_row_store(frame.real))
        tables, given = (
            line_tables(name, phase.slots, zero, frame.real)
            if is_line
            else store_tables(name, phase.slots, zero, frame.real, frame.lanes)
        )
        self.helpers += [tables, one_row_table(f"row{index}", phase.slots, frame.size)]
        return [
            *lines,
            f"br i1 %is_one, label %one{index}, label %several{index}",
            f"one{index}:",
            f"call void @store_row(ptr {place}, ptr @row{index}, i64 {len(phase.slots)}, ptr %shared)",
            f"br label %stored{index}",
            f"several{index}:",
            f"call void @store_rows({self._rows_of(k, place)}, {given}, ptr %shared, i1 %bypass)",
            f"br label %stored{index}",
            f"stored{index}:",
        ]

    def _small_store(self, name: str, phase: StoredSlots) -> str:
        """Return a function that stores a few results."""
        frame = self.frame
        w = Writer(frame.real, frame.lanes)
        rows = open_vector_loop(w, 1, "%first", ("shared",))[0]
        values = {}
        for k, slot in enumerate(phase.slots):
            place = w.emit(f"getelementptr inbounds i8, ptr %shared, i64 {slot * frame.size}")
            values[k] = w.emit(f"load {w.vector}, ptr {place}, align {frame.size}")
        emit.store(w, rows, values)
        end_vector_loop(w, "%stop", ("shared",), frame.bytes)
        arguments = f"{row_arguments(1, frame.lanes, 'ptr')}, i64 %first, i64 %stop, ptr %shared0"
        return function(f"internal void @{name}({arguments}) noinline", w.lines)

    def _constants(self) -> str:
        """Return the table that parts read: one number each for 512 bits, else a vector of it."""
        frame = self.frame
        numbers, is_wide = frame.schedule.constants, frame.size == LINE
        kind = frame.real.name if is_wide else f"<{frame.lanes} x {frame.real.name}>"
        entries = (literal(x, frame.real) if is_wide else splat(x, frame.real) for x in numbers)
        values = f"[{', '.join(f'{kind} {x}' for x in entries)}]" if numbers else "zeroinitializer"
        return f"@constants = internal constant [{len(numbers)} x {kind}] {values}, align 64\n"
