"""Long tapes as native code: the segments of a schedule (schedule.py), run one after the other, block by block.

Every vector of samples has a frame of memory. `@rows` goes over blocks of vectors: it transposes their inputs into the
frames, reduces angles that are beyond the fast range of the sines, runs the segments on the whole block, and transposes
results from the frames to the rows of the outputs. The loops of a program are inside that over blocks. The arithmetic
of a part is written as x86 instructions (x86.py) or, for other processors, as LLVM's (ir_part.py).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence

from appell.kernels.llvm import emit, ir_part, x86
from appell.kernels.llvm.emit import LINE, exact_reduction
from appell.kernels.llvm.llvm_writer import (
    Real,
    Streams,
    Writer,
    end_vector_loop,
    function,
    literal,
    numbers_table,
    open_vector_loop,
    row_arguments,
    splat,
)
from appell.kernels.llvm.rows import (
    BYPASS,
    line_stores,
    line_tables,
    load_port,
    one_row_store,
    one_row_table,
    reduce_angles,
    row_stores,
    store_tables,
)
from appell.kernels.llvm.schedule import CodePart, Places, Schedule, StoredSlots, schedule
from appell.kernels.llvm.target import Target
from appell.kernels.lowering.analysis import angles, poisoned
from appell.kernels.lowering.staged import staged
from appell.program.life import cleared
from appell.program.nodes import Block, Copy, Loop, Node, Program, straight
from appell.trace.tape import Port

LONG = 1500
"""Steps from which a tape is scheduled; shorter ones fit the instruction cache, and LLVM schedules them."""
WIDE = 256
"""Numbers of an output port from which on shorter tapes are scheduled too: rows are then stored by a loop."""
SHORT = 400
"""Steps up to which no tape is scheduled."""
LARGE = 2
"""Numbers of an output port, in vectors, from which on it is stored by a loop."""
FEW = 16
"""Numbers of an output port, in vectors, up to which its lines are prefetched while parts run."""
BLOCK = 8
"""Vectors that a segment runs on in a turn."""
NEAREST = 1 << 15
"""Bytes of the first cache."""
FRAMES = 1 << 18
"""Bytes for the frames of a block, a share of the second cache; a block is shorter where that is more."""
TOGETHER = 3
"""Parts that are compiled as one module: modules are compiled side by side, one per core."""


def suits(program: Program, target: Target) -> bool:
    """Return whether blocks are long enough for a schedule, or have large results; sines need fused instructions."""
    if not target.has_fma:
        return False
    tape = program.tape
    if tape is not None and any(port.size >= WIDE for port in tape.outputs):
        return len(tape.steps) > SHORT
    is_plain = all(isinstance(node, Block | Copy | Loop) for node in program.all_nodes)
    return is_plain and any(len(tape.steps) > LONG for tape in program.tapes)


def rows(program: Program, real: Real, lanes: int, target: Target) -> Iterator[str]:
    """Yield the LLVM texts of `@rows` and the functions that it calls; many parts are in modules of their own."""
    frame = FrameLayout(program, real, lanes, target)
    head = _Rows(frame).text()
    if len(frame.parts) <= TOGETHER:
        yield "\n".join([head, *(_part(frame, p, "internal ") for p in range(len(frame.parts)))])
        return
    yield "\n".join([head, *(f"declare void @part{p}({_arguments(frame)})" for p in range(len(frame.parts)))])
    for first in range(0, len(frame.parts), TOGETHER):
        some = range(first, min(first + TOGETHER, len(frame.parts)))
        yield "\n".join(_part(frame, p, "") for p in some)


class FrameLayout:
    """What the functions of a kernel have in common: the memory of a vector of samples, and its schedules.

    First in a frame lie the slots of the program, in `places`; then what the parts of a block share.
    """

    def __init__(self, program: Program, real: Real, lanes: int, target: Target) -> None:
        self.real, self.lanes, self.target, tape = real, lanes, target, program.tape
        self.tape = tape and poisoned(tape)
        """The tape of a straight-line program."""
        self.program = staged(straight(self.tape) if self.tape is not None else program)
        self.places: dict[str, int] = {}
        free = 0
        for port in self.program.slots:
            self.places[port.name] = free
            free += port.size * math.prod(self.program.turns[axis] for axis in port.axes)
        self._free, self._constants = free, dict[str, int]()
        blocks = [node for node in self.program.all_nodes if isinstance(node, Block)]
        self._schedules = {id(node): self._scheduled(node) for node in blocks}
        self.parts = [x for one in self._schedules.values() for x in one.segments if isinstance(x, CodePart)]

    def _scheduled(self, block: Block) -> Schedule:
        program, tape = self.program, block.tape
        inputs = [
            self.places[source] + k
            for port, source in zip(tape.inputs, block.reads, strict=True)
            if isinstance(source, str)
            for k in range(port.size)
        ]
        kept = {
            k: tuple(range(self.places[target], self.places[target] + program.targets[target].size))
            for k, target in enumerate(block.writes)
            if target in self.places
        }
        registers = self.target.registers - (0 if x86.suits(self.target) else 3)
        return schedule(tape, self.real, registers, Places(tuple(inputs), kept, self._free), self._constants)

    def schedule_of(self, block: Block) -> Schedule:
        """Return the schedule of a block."""
        return self._schedules[id(block)]

    @property
    def constants(self) -> tuple[float, ...]:
        """Return the constants of all schedules."""
        return tuple(map(float.fromhex, self._constants))

    @property
    def size(self) -> int:
        """Return the bytes of a vector."""
        return self.lanes * self.real.size

    @functools.cached_property
    def bytes(self) -> int:
        """Return the bytes of a frame."""
        return max(self._free, *(one.shared for one in self._schedules.values())) * self.size

    @property
    def own(self) -> int:
        """Return the bytes of the memory that a part has to itself."""
        return max(1, *(one.own for one in self._schedules.values())) * self.size

    @functools.cached_property
    def prefetched(self) -> list[int]:
        """Return the output ports whose lines are prefetched while parts of a straight-line program run.

        Those of larger ports are so many that parts would wait for them. AMD's processors are slower with prefetches.
        """
        if not x86.suits(self.target) or self.target.is_amd or self.tape is None:
            return []
        some = range(self.lanes, FEW * self.lanes)
        return [k for k, port in enumerate(self.tape.outputs[: len(x86.OUTPUTS)]) if port.size in some]

    def lines(self, index: int) -> list[tuple[int, int]]:
        """Return a part's share of the lines to be prefetched, as ports and distances from their rows.

        Rows of the samples of a vector are taken to lie side by side.
        """
        ports = ((k, self.program.outputs[k].size * self.size) for k in self.prefetched)
        lines = [(k, at) for k, size in ports for at in range(0, size, LINE)]
        lengths = [len(x.code) for x in self.parts]
        first, last = (len(lines) * sum(lengths[:k]) // sum(lengths) for k in (index, index + 1))
        return lines[first:last]

    @property
    def block(self) -> int:
        """Return the vectors that a segment runs on in a turn."""
        return max(1, min(BLOCK, FRAMES // self.bytes))


_MEMORIES = "ptr %shared0, ptr %own, ptr %shared_again, ptr %back_own, ptr noalias %k, i64 %n"
"""What a part is given: the frames, its own memory, both once more, the constants, and how many frames there are."""


def _arguments(frame: FrameLayout) -> str:
    """Return what a part is given; besides memories, the rows of outputs whose lines it prefetches."""
    return ", ".join([_MEMORIES, *(f"ptr %to{k}_0, i64 %to{k}_step" for k in frame.prefetched)])


def _part(frame: FrameLayout, index: int, linkage: str) -> str:
    """Return the function of a part."""
    w, part, is_spelled = Writer(frame.real, frame.lanes), frame.parts[index], x86.suits(frame.target)
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
    """Writes `@rows`, the loop over blocks of vectors, and the functions that it calls, but for parts."""

    def __init__(self, frame: FrameLayout) -> None:
        self.frame, self.program = frame, frame.program
        self.w = Writer(frame.real, frame.lanes)
        self.helpers: dict[str, str] = {}
        """Definitions by name."""
        self.picks = ", ".join(f"i64 %row{lane}" for lane in range(frame.lanes))
        self.streams = Streams(self.program)
        self.turns = {name: n or f"%turns_{name}" for name, n in self.program.turns.items()}
        self._inputs = {port.name: (k, port) for k, port in enumerate(self.program.inputs)}
        self._outputs = {port.name: (k, port) for k, port in enumerate(self.program.outputs)}
        self._rows: dict[str, int] = {}
        self.n_parts = self._count = 0
        self.shared, self.n = "%shared", "%n"
        """The first of the frames that nodes work on, and how many there are."""

    def text(self) -> str:
        """Return all functions and the table of constants."""
        frame, w = self.frame, self.w
        row = frame.real.size * sum(port.size for port in self.program.outputs)
        many = -(-BYPASS // row) if frame.target.is_amd else -1
        w.do(f"%shared = alloca [{frame.block * frame.bytes} x i8], align 64")
        w.do(
            f"%own = alloca [{frame.own} x i8], align 64",
            *(f"%{name}_{axis} = alloca i64" for axis in self.turns for name in ("turn", "at")),
        )
        for block in (node for node in self.program.all_nodes if isinstance(node, Block)):
            self._fixed(frame.schedule_of(block))
        w.do(f"%rows0 = add i64 %last, %row{frame.lanes - 1}", "%all = add i64 %rows0, 1")
        w.do(f"%bypass = icmp uge i64 %all, {many}", "%is_one = icmp eq i64 %all, 1", "br label %block", "block:")
        w.do("%first = phi i64 [ 0, %entry ], [ %end, %turn ]", f"%beyond = add i64 %first, {frame.block}")
        w.do("%end = call i64 @llvm.umin.i64(i64 %beyond, i64 %count)", "%n = sub i64 %end, %first")
        self._prefetched()
        self._all(cleared(self.program))
        w.do("br label %turn", "turn:", "%more = icmp ult i64 %end, %count", "br i1 %more, label %block, label %done")
        # writes past the caches are done before whoever waits for the results goes on
        w.do("done:", "br i1 %bypass, label %drain, label %leave", "drain:", "fence seq_cst", "br label %leave")
        w.do("leave:", "ret void")
        ports = len(self.program.inputs) + len(self.program.outputs)
        arguments = f"{row_arguments(ports, frame.lanes)}, i64 %count, ptr noalias %k{self.streams.arguments}"
        head = f"internal void @rows({arguments}) noinline"
        return "\n".join([function(head, w.lines), *self.helpers.values(), self._constants()])

    def _next(self) -> int:
        self._count += 1
        return self._count - 1

    def _prefetched(self) -> None:
        """Append what finds the rows of a block in outputs whose lines are prefetched."""
        for k in self.frame.prefetched:
            port = k + len(self.program.inputs)
            self.w.do(f"%by{k} = mul i64 %p{port}_step, {self.frame.lanes}", f"%far{k} = mul i64 %by{k}, %first")
            self.w.do(f"%to{k} = getelementptr i8, ptr %p{port}, i64 %far{k}")

    def _fixed(self, made: Schedule) -> None:
        """Append what puts constants among the results into every frame."""
        frame, w = self.frame, self.w
        for k in range(frame.block):
            for slot, value in made.fixed.items():
                at = w.emit(f"getelementptr i8, ptr %shared, i64 {k * frame.bytes + slot * frame.size}")
                w.do(f"store {w.vector} {splat(value, frame.real)}, ptr {at}, align {frame.size}")

    # Nodes

    def _all(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            if isinstance(node, Block):
                self._block(node)
            elif isinstance(node, Loop):
                self._loop(node)
            elif isinstance(node, Copy):
                self._copy(node.source, node.target)

    def _loop(self, loop: Loop) -> None:
        """Append a loop.

        One with a condition runs on each succession of frames in which a lane fulfils it. A short one of a constant
        number of turns takes all of them in one frame or two before it goes on to the next.
        """
        blocks = [node for node in loop.body if isinstance(node, Block)]
        is_short = len(blocks) == len(loop.body) and sum(len(block.tape.steps) for block in blocks) < LONG
        if not loop.when and not (loop.turns and is_short):
            self._turns(loop)
            return
        w, n, axis, frames = self.w, self._next(), loop.axis, (self.shared, self.n)
        w.do(f"store i64 0, ptr %at_{axis}", f"br label %find{n}", f"find{n}:")
        at = w.emit(f"load i64, ptr %at_{axis}")
        for wanted in ("false", "true") if loop.when else ("",):
            far = w.emit(f"mul i64 {at}, {self.frame.bytes}")
            self.shared = w.emit(f"getelementptr i8, ptr {frames[0]}, i64 {far}")
            self.n = w.emit(f"sub i64 {frames[1]}, {at}")
            if loop.when:
                self.helpers["leading"] = leading(self.frame)
                self.n = w.emit(f"call i64 @leading(ptr {self._slot(loop.when)}, i64 {self.n}, i1 {wanted})")
            else:
                self.n = w.emit(f"call i64 @llvm.umin.i64(i64 {self.n}, i64 {self._together(blocks)})")
            at = w.emit(f"add i64 {at}, {self.n}")
        w.do(f"store i64 {at}, ptr %at_{axis}", f"%none{n} = icmp eq i64 {self.n}, 0")
        w.do(f"br i1 %none{n}, label %beyond{n}, label %found{n}", f"found{n}:")
        self._turns(loop)
        self.shared, self.n = frames
        w.do(f"br label %find{n}", f"beyond{n}:")

    def _together(self, blocks: Sequence[Block]) -> int:
        """Return in how many frames what blocks read fits the first cache, two at most, which hide latencies."""
        names = {x for block in blocks for x in block.reads if isinstance(x, str)}
        sizes = (port.size for port in self.program.slots if port.name in names)
        return min(2, max(1, NEAREST // (sum(sizes) * self.frame.size)))

    def _turns(self, loop: Loop) -> None:
        w, n, axis, turns = self.w, self._next(), loop.axis, self.turns[loop.axis]
        if loop.rows and axis not in self._rows:
            self._rows[axis] = len(loop.rows[0])
            self.helpers[f"rows_{axis}"] = numbers_table(f"rows_{axis}", loop.rows, w.real)
        last = w.emit(f"sub i64 {turns}, 1")
        w.do(f"store i64 {last if loop.is_backward else 0}, ptr %turn_{axis}", f"br label %loop{n}", f"loop{n}:")
        self._all(loop.body)
        now = w.emit(f"load i64, ptr %turn_{axis}")
        w.do(f"store i64 {w.emit(f'add i64 {now}, {-1 if loop.is_backward else 1}')}, ptr %turn_{axis}")
        over = w.emit(f"icmp eq i64 {now}, {0 if loop.is_backward else last}")
        w.do(f"br i1 {over}, label %over{n}, label %loop{n}", f"over{n}:")

    def _block(self, block: Block) -> None:
        frame, made = self.frame, self.frame.schedule_of(block)
        turning = angles(block.tape)
        if turning:
            name, places = f"angles{self._next()}", self._inputs_of(block)
            slots = [places[i] for i in turning]
            self.helpers[name] = reduce_angles(name, slots, frame.real, frame.lanes, frame.bytes)
            self.helpers["reduce"] = exact_reduction()
            self.w.do(f"call void @{name}(ptr {self.shared}, i64 {self.n})")
        for segment in made.segments:
            if isinstance(segment, CodePart):
                rows = [f"ptr %to{k}, i64 %by{k}" for k in frame.prefetched]
                frames = f"ptr {self.shared}, ptr %own"
                memories = ", ".join([frames, frames, f"ptr %k, i64 {self.n}", *rows])
                self.w.do(f"call void @part{self.n_parts}({memories})")
                self.n_parts += 1
            else:
                self._store(block.writes[segment.port], segment, made.fixed)

    def _inputs_of(self, block: Block) -> list[int]:
        pairs = zip(block.tape.inputs, block.reads, strict=True)
        return [self.frame.places[x] + k for port, x in pairs if isinstance(x, str) for k in range(port.size)]

    def _copy(self, source: str, target: str) -> None:
        """Append a copy: from an input, a row or a slot to a slot, or from a slot to an output."""
        frame, w = self.frame, self.w
        if target in self._outputs:
            first = frame.places[source]
            size = self.program.targets[target].size
            self._store(target, StoredSlots(0, 0, tuple(range(first, first + size))), {})
            return
        size = self.program.targets[target].size
        to = self._slot(target)
        if source in self._inputs:
            name = f"load{self._next()}"
            self.helpers[name] = load_port(name, size, 0, frame.real, frame.lanes, frame.bytes)
            k, port = self._inputs[source]
            w.do(f"call void @{name}({self._rows_of(k, self._entry(k, port))}, ptr {to})")
        elif source in self._rows:
            self.helpers["spread"] = spread(frame.real, frame.lanes, frame.bytes)
            kind = f"[{self._rows[source]} x {frame.real.name}]"
            row = w.emit(f"getelementptr {kind}, ptr @rows_{source}, i64 {w.emit(f'load i64, ptr %turn_{source}')}")
            w.do(f"call void @spread(ptr {to}, ptr {row}, i64 {size}, i64 {self.n})")
        else:
            self.helpers["move"] = move(frame.bytes)
            begin = self._slot(source) if source else "null"
            w.do(f"call void @move(ptr {to}, ptr {begin}, i64 {size * frame.size}, i64 {self.n})")

    def _slot(self, name: str) -> str:
        """Append the address of the present entry of a slot in the first frame."""
        frame, w, port, at = self.frame, self.w, self.program.sources[name], ""
        for axis in port.axes:
            now = w.emit(f"load i64, ptr %turn_{axis}")
            at = w.emit(f"add i64 {w.emit(f'mul i64 {at}, {self.turns[axis]}')}, {now}") if at else now
        first = frame.places[name] * frame.size
        place = w.emit(f"getelementptr i8, ptr {self.shared}, i64 {first}")
        if not at:
            return place
        return w.emit(f"getelementptr i8, ptr {place}, i64 {w.emit(f'mul i64 {at}, {port.size * frame.size}')}")

    def _entry(self, k: int, port: Port) -> str:
        """Append the address of the first row of a port's present entry."""
        w, place = self.w, f"%p{k}"
        for axis in port.axes:
            now = w.emit(f"load i64, ptr %turn_{axis}")
            far = w.emit(f"mul i64 {now}, {self.streams.stride(k, axis)}")
            place = w.emit(f"getelementptr i8, ptr {place}, i64 {far}")
        return place

    def _rows_of(self, k: int, pointer: str) -> str:
        return f"ptr {pointer}, i64 %p{k}_step, {self.picks}, i64 %last, i64 %first, i64 %end"

    def _store(self, target: str, phase: StoredSlots, fixed: dict[int, float]) -> None:
        """Append what stores results: by a loop over tables if they are many."""
        frame, w, index = self.frame, self.w, self._next()
        (k, port), slots = self._outputs[target], phase.slots
        k += len(self.program.inputs)
        place = self._entry(k, port)
        if phase.start:
            place = w.emit(f"getelementptr i8, ptr {place}, i64 {phase.start * frame.real.size}")
        if len(slots) < LARGE * frame.lanes:
            self.helpers[f"store{index}"] = self._small_store(f"store{index}", slots)
            w.do(f"call void @store{index}({self._rows_of(k, place)}, ptr %shared)")
            return
        zero = {slot for slot, value in fixed.items() if splat(value, frame.real) == splat(0.0, frame.real)}
        name, is_line = f"stores{index}", frame.size == LINE
        if "store_rows" not in self.helpers:
            self.helpers["store_rows"] = (
                line_stores(frame.real, frame.bytes, prefetches=not frame.target.is_amd)
                if is_line
                else row_stores(frame.real, frame.lanes, frame.bytes)
            )
            self.helpers["store_row"] = one_row_store(frame.real)
        self.helpers[name], given = (
            line_tables(name, slots, zero, frame.real)
            if is_line
            else store_tables(name, slots, zero, frame.real, frame.lanes)
        )
        self.helpers[f"row{index}"] = one_row_table(f"row{index}", slots, frame.size)
        w.do(f"br i1 %is_one, label %one{index}, label %several{index}", f"one{index}:")
        w.do(f"call void @store_row(ptr {place}, ptr @row{index}, i64 {len(slots)}, ptr %shared)")
        w.do(f"br label %stored{index}", f"several{index}:")
        w.do(f"call void @store_rows({self._rows_of(k, place)}, {given}, ptr %shared, i1 %bypass)")
        w.do(f"br label %stored{index}", f"stored{index}:")

    def _small_store(self, name: str, slots: Sequence[int]) -> str:
        """Return a function that stores a few results."""
        frame = self.frame
        w = Writer(frame.real, frame.lanes)
        rows = open_vector_loop(w, 1, "%first", ("shared",))[0]
        values = {}
        for k, slot in enumerate(slots):
            place = w.emit(f"getelementptr inbounds i8, ptr %shared, i64 {slot * frame.size}")
            values[k] = w.emit(f"load {w.vector}, ptr {place}, align {frame.size}")
        emit.store(w, rows, values)
        end_vector_loop(w, "%stop", ("shared",), frame.bytes)
        arguments = f"{row_arguments(1, frame.lanes, 'ptr')}, i64 %first, i64 %stop, ptr %shared0"
        return function(f"internal void @{name}({arguments}) noinline", w.lines)

    def _constants(self) -> str:
        """Return the table that parts read: one number each for 512 bits, else a vector of it."""
        frame = self.frame
        numbers, is_wide = frame.constants, frame.size == LINE
        kind = frame.real.name if is_wide else f"<{frame.lanes} x {frame.real.name}>"
        entries = (literal(x, frame.real) if is_wide else splat(x, frame.real) for x in numbers)
        values = f"[{', '.join(f'{kind} {x}' for x in entries)}]" if numbers else "zeroinitializer"
        return f"@constants = internal constant [{len(numbers)} x {kind}] {values}, align 64\n"


def _over_frames(head: str, lines: Sequence[str], bytes_of_frame: int) -> str:
    """Return a function that does something in %n frames, %at bytes from the first."""
    body = ["br label %body", "body:", "%i = phi i64 [ 0, %entry ], [ %next, %done ]"]
    body += [f"%at = mul i64 %i, {bytes_of_frame}", "%to = getelementptr i8, ptr %to0, i64 %at", *lines]
    body += ["br label %done", "done:", "%next = add i64 %i, 1", "%more = icmp ult i64 %next, %n"]
    return function(head, [*body, "br i1 %more, label %body, label %end", "end:", "ret void"])


def leading(frame: FrameLayout) -> str:
    """Return @leading: how many of %n frames, from the first on, have a number above zero in a lane, or have none."""
    w, flags = Writer(frame.real, frame.lanes), f"<{frame.lanes} x i1>"
    w.do("br label %head", "head:", "%i = phi i64 [ 0, %entry ], [ %next, %same ]")
    w.do("%is_last = icmp eq i64 %i, %n", "br i1 %is_last, label %end, label %body", "body:")
    at = w.emit(f"getelementptr i8, ptr %from, i64 {w.emit(f'mul i64 %i, {frame.bytes}')}")
    bits = w.emit(f"bitcast {w.vector} {w.emit(f'load {w.vector}, ptr {at}, align {frame.size}')} to {w.integers}")
    mask = w.emit(f"bitcast {flags} {w.emit(f'icmp sgt {w.integers} {bits}, zeroinitializer')} to i{frame.lanes}")
    w.do(f"%found = icmp ne i{frame.lanes} {mask}, 0", "%is_same = icmp eq i1 %found, %wanted")
    w.do("br i1 %is_same, label %same, label %end", "same:", "%next = add i64 %i, 1", "br label %head")
    w.do("end:", "ret i64 %i")
    return function("internal i64 @leading(ptr %from, i64 %n, i1 %wanted) noinline", w.lines)


def move(bytes_of_frame: int) -> str:
    """Return @move: it copies some bytes within each frame, or clears them where there is no source."""
    lines = ["%is_none = icmp eq ptr %from0, null", "br i1 %is_none, label %clear, label %copy", "clear:"]
    lines += ["call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 %size, i1 false)", "br label %done", "copy:"]
    lines += ["%from = getelementptr i8, ptr %from0, i64 %at"]
    lines += ["call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)"]
    text = _over_frames("internal void @move(ptr %to0, ptr %from0, i64 %size, i64 %n) noinline", lines, bytes_of_frame)
    return text + (
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\ndeclare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)\n"
    )


def spread(real: Real, lanes: int, bytes_of_frame: int) -> str:
    """Return @spread: it puts each of some numbers into all lanes of a slot, in each frame."""
    w = Writer(real, lanes)
    w.do("br label %number", "number:", "%j = phi i64 [ 0, %body ], [ %j_next, %number ]")
    x = w.emit(f"load {real.name}, ptr {w.emit(f'getelementptr {real.name}, ptr %row, i64 %j')}, align {real.size}")
    first = w.emit(f"insertelement {w.vector} poison, {real.name} {x}, i32 0")
    vector = w.shuffle(first, "poison", lanes, [0] * lanes)
    place = w.emit(f"getelementptr i8, ptr %to, i64 {w.emit(f'mul i64 %j, {lanes * real.size}')}")
    w.do(f"store {w.vector} {vector}, ptr {place}, align {lanes * real.size}", "%j_next = add i64 %j, 1")
    w.do("%j_more = icmp ult i64 %j_next, %size", "br i1 %j_more, label %number, label %numbers", "numbers:")
    head = "internal void @spread(ptr %to0, ptr %row, i64 %size, i64 %n) noinline"
    return _over_frames(head, w.lines, bytes_of_frame)
