"""Programs that repeat: a state that steps through time, many at once, one in each lane.

A rollout keeps, per lane, named *slots* of numbers on the stack. At each step it reads what drives it, may run a law on
the slots, then runs one stage as often as the method has, and a finish; every so many steps it writes the state. The
parts are tapes; nothing here knows what they mean. A lane never looks at another, so the numbers of one are the same
bits whatever the others do, and whoever its neighbours are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from appell.kernels.llvm.emit import compute, load, reduced, store
from appell.kernels.llvm.llvm_writer import Real, Writer, fetch, function, module_text
from appell.kernels.llvm.target import Target
from appell.kernels.llvm.trigonometry import exact_reduction
from appell.kernels.llvm.vector_loop import end_vector_loop, open_vector_loop, row_choice
from appell.kernels.lowering.inputs import angles
from appell.trace.tape import Port, Tape

LONG = 2000
"""Steps from which compile time counts for more than the last percent of speed."""
WEIGHTS = "weights"
"""The name under which a stage reads its own row of numbers, the same for all lanes."""


class Part(NamedTuple):
    """A tape and the slots that its input and output ports stand for; several ports may stand for one slot."""

    tape: Tape
    reads: tuple[str, ...]
    writes: tuple[str, ...]


class Bound(NamedTuple):
    """A slot that is kept within ± another after the law; not-a-number stays what it is."""

    slot: str
    limit: str


@dataclass(frozen=True)
class RolloutIR:
    """A stepping program.

    `states` are read at the start and written as they go; `fixed` are read once, `drives` at every step. At each step,
    `law` if there is one, `bounds`, `starts` (a slot and the one it becomes a copy of; cleared where that is ""), then
    `stage` once per row of weights, then `finish` if there is one.
    """

    name: str
    states: tuple[Port, ...]
    fixed: tuple[Port, ...]
    drives: tuple[Port, ...]
    scratch: tuple[Port, ...]
    stage: Part
    stages: int
    starts: tuple[tuple[str, str], ...] = ()
    law: Part | None = None
    bounds: tuple[Bound, ...] = ()
    finish: Part | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return the parts that are there."""
        return tuple(part for part in (self.law, self.stage, self.finish) if part is not None)


def module(rollout: RolloutIR, real: Real, target: Target) -> str:
    """Return the text of an LLVM module that defines `@rollout`.

    Its arguments: a table of address, stride from row to row and stride from step to step for each of the states,
    fixed, drives and states to be written; the weights; how many rows, steps, and steps between two that are written;
    and where to put, per row, for how many steps the state stayed finite.
    """
    w = Writer(real, target.lanes(real.size))
    _Body(w, rollout, fused=target.has_fma).write()
    given = "ptr %table, ptr %weights, i64 %n, i64 %steps, i64 %every, ptr %lasted"
    own = given.replace("ptr %", "ptr noalias %")
    attributes = target.long_function if sum(len(part.tape.steps) for part in rollout.parts) > LONG else ""
    parts = [
        function(f"internal void @run({own}, ptr noalias %k) noinline{attributes}", w.lines),
        function(f"void @rollout({given})", [f"call void @run({given}, ptr @constants)", "ret void"]),
        w.table(),
        exact_reduction() if any(angles(part.tape) for part in rollout.parts) else "",
    ]
    return module_text(parts, real, w.lanes)


class _Body:
    """Writes the three loops: over vectors of rows, over steps, over stages."""

    def __init__(self, w: Writer, rollout: RolloutIR, *, fused: bool) -> None:
        self._w, self._rollout, self._fused = w, rollout, fused
        ports = (*rollout.states, *rollout.fixed, *rollout.drives)
        self._sizes = {port.name: port.size for port in (*ports, *rollout.scratch)}
        self._bytes = w.lanes * w.real.size
        self._streams = (*ports, *rollout.states)
        self._places: dict[int, list[str]] = {}

    def write(self) -> None:
        """Append the body of the function."""
        self._enter()
        self._open_vector()
        self._open_step()
        self._stages()
        self._close_step()
        self._close_vector()

    # The loops

    def _enter(self) -> None:
        w = self._w
        for name, size in self._sizes.items():
            w.do(f"%slot_{name} = alloca [{max(size, 1)} x {w.vector}], align {self._bytes}")
        w.do(f"%finite = alloca <{w.lanes} x i64>, align {8 * w.lanes}")
        for k in range(len(self._streams)):
            for j, (name, kind) in enumerate((("", "ptr"), ("_step", "i64"), ("_time", "i64"))):
                w.do(*fetch(f"p{k}{name}", kind, "%table", 3 * k + j))
        w.do(*row_choice(w.lanes))

    def _open_vector(self) -> None:
        w, rollout = self._w, self._rollout
        self._places = open_vector_loop(w, len(self._streams))
        for k, port in enumerate((*rollout.states, *rollout.fixed)):
            self._put(port.name, load(w, self._places[k], range(port.size)))
        for k, port in self._written():
            store(w, self._places[k], dict(enumerate(self._get(port.name))))
        w.do(f"store <{w.lanes} x i64> zeroinitializer, ptr %finite, align {8 * w.lanes}")

    def _open_step(self) -> None:
        w, rollout = self._w, self._rollout
        w.do("br label %step", "step:")
        w.do("%s = phi i64 [ 0, %body ], [ %s_next, %step_done ]")
        w.do("%due = phi i64 [ %every, %body ], [ %due_next, %step_done ]")
        w.do("%kept = phi i64 [ 1, %body ], [ %kept_next, %step_done ]")
        for k, port in enumerate(rollout.drives, start=len(rollout.states) + len(rollout.fixed)):
            self._put(port.name, load(w, self._rows(k, "%s"), range(port.size)))
        w.do("br label %law", "law:")
        if rollout.law is not None:
            self._part(rollout.law, "law")
        w.do("br label %start_stages", "start_stages:")
        for bound in rollout.bounds:
            self._clamp(bound)
        for slot, source in rollout.starts:
            self._put(slot, self._get(source) if source else ["zeroinitializer"] * self._sizes[slot])

    def _stages(self) -> None:
        w = self._w
        w.do("br label %stage", "stage:", "%j = phi i64 [ 0, %start_stages ], [ %j_next, %stage_done ]")
        self._part(self._rollout.stage, "stage")
        w.do("br label %stage_done", "stage_done:")
        w.do("%j_next = add i64 %j, 1", f"%again = icmp ult i64 %j_next, {self._rollout.stages}")
        w.do("br i1 %again, label %stage, label %finish")

    def _close_step(self) -> None:
        w, rollout = self._w, self._rollout
        w.do("finish:")
        if rollout.finish is not None:
            self._part(rollout.finish, "finish")
        w.do("br label %check", "check:")
        self._count()
        w.do("%s_next = add i64 %s, 1", "%left = sub i64 %due, 1", "%is_due = icmp eq i64 %left, 0")
        w.do("br i1 %is_due, label %keep, label %step_done", "keep:")
        for k, port in self._written():
            store(w, self._rows(k, "%kept"), dict(enumerate(self._get(port.name))))
        w.do("%kept_more = add i64 %kept, 1", "br label %step_done", "step_done:")
        w.do("%due_next = phi i64 [ %left, %check ], [ %every, %keep ]")
        w.do("%kept_next = phi i64 [ %kept, %check ], [ %kept_more, %keep ]")
        w.do("%on = icmp ult i64 %s_next, %steps", "br i1 %on, label %step, label %steps_done")

    def _close_vector(self) -> None:
        w = self._w
        w.do("steps_done:")
        total = w.emit(f"load <{w.lanes} x i64>, ptr %finite, align {8 * w.lanes}")
        for lane in range(w.lanes):
            number = w.emit(f"extractelement <{w.lanes} x i64> {total}, i32 {lane}")
            row = w.emit(f"add i64 %start, %row{lane}")
            w.do(f"store i64 {number}, ptr {w.emit(f'getelementptr i64, ptr %lasted, i64 {row}')}")
        end_vector_loop(w)

    # One part, and the slots

    def _part(self, part: Part, here: str) -> None:
        """Append a tape on its slots. Angles come first, before the branch; the rest is read after it, when needed."""
        tape, sources = part.tape, _sources(part)
        turning = angles(tape)
        values = [self._read(*sources[i]) if i in turning else "" for i in range(tape.n_inputs)]
        values = reduced(self._w, values, turning, here)
        values = [x or self._read(*sources[i]) for i, x in enumerate(values)]
        compute(self._w, tape, values, fused=self._fused)
        results = [values[i] for i in tape.results]
        for port, slot in zip(tape.outputs, part.writes, strict=True):
            self._put(slot, results[: port.size])
            results = results[port.size :]

    def _read(self, slot: str, index: int) -> str:
        w = self._w
        if slot != WEIGHTS:
            return w.emit(f"load {w.vector}, ptr {self._place(slot, index)}, align {self._bytes}")
        columns = next(port.size for port, name in _bindings(self._rollout.stage) if name == WEIGHTS)
        at = w.emit(f"getelementptr [{columns} x {w.real.name}], ptr %weights, i64 %j, i64 {index}")
        x = w.emit(f"load {w.real.name}, ptr {at}, align {w.real.size}, !invariant.load !1")
        one = w.emit(f"insertelement {w.vector} poison, {w.real.name} {x}, i32 0")
        return w.shuffle(one, "poison", w.lanes, [0] * w.lanes)

    def _place(self, slot: str, index: int) -> str:
        return self._w.emit(f"getelementptr inbounds i8, ptr %slot_{slot}, i64 {index * self._bytes}")

    def _get(self, slot: str) -> list[str]:
        return [self._read(slot, index) for index in range(self._sizes[slot])]

    def _put(self, slot: str, values: Sequence[str]) -> None:
        for index, value in enumerate(values):
            self._w.do(f"store {self._w.vector} {value}, ptr {self._place(slot, index)}, align {self._bytes}")

    def _clamp(self, bound: Bound) -> None:
        w, kept = self._w, []
        flags, vector = f"<{w.lanes} x i1>", w.vector
        for x, limit in zip(self._get(bound.slot), self._get(bound.limit), strict=True):
            least = w.emit(f"fneg {vector} {limit}")
            above = w.emit(f"fcmp ogt {vector} {x}, {limit}")
            below = w.emit(f"fcmp olt {vector} {x}, {least}")
            down = w.emit(f"select {flags} {above}, {vector} {limit}, {vector} {x}")
            kept.append(w.emit(f"select {flags} {below}, {vector} {least}, {vector} {down}"))
        self._put(bound.slot, kept)

    def _count(self) -> None:
        """Append the count of steps after which every number of the state is finite: Σ 0·x is then a number."""
        w, kind = self._w, f"<{self._w.lanes} x i64>"
        total = "zeroinitializer"
        for port in self._rollout.states:
            for x in self._get(port.name):
                total = w.fma(x, "zeroinitializer", total)
        finite = w.emit(f"fcmp ord {w.vector} {total}, {total}")
        one = w.emit(f"zext <{w.lanes} x i1> {finite} to {kind}")
        before = w.emit(f"load {kind}, ptr %finite, align {8 * w.lanes}")
        w.do(f"store {kind} {w.emit(f'add {kind} {before}, {one}')}, ptr %finite, align {8 * w.lanes}")

    # Rows of the caller's arrays

    def _written(self) -> list[tuple[int, Port]]:
        """Return the states and where they stand among the streams as they are written."""
        return list(enumerate(self._rollout.states, start=len(self._streams) - len(self._rollout.states)))

    def _rows(self, k: int, step: str) -> list[str]:
        """Return the addresses of each lane's row of a stream at a step."""
        far = self._w.emit(f"mul i64 {step}, %p{k}_time")
        return [self._w.emit(f"getelementptr i8, ptr {row}, i64 {far}") for row in self._places[k]]


def _bindings(part: Part) -> list[tuple[Port, str]]:
    return list(zip(part.tape.inputs, part.reads, strict=True))


def _sources(part: Part) -> list[tuple[str, int]]:
    """Return, per scalar input of a part's tape, the slot and the place in it."""
    return [(slot, index) for port, slot in _bindings(part) for index in range(port.size)]
