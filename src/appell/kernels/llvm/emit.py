"""From a tape to LLVM's instructions.

Every value of the tape is a vector with one sample in each lane, so the code is the tape, instruction by instruction.
The table :data:`CODE` is the whole instruction selection. Sines come first, several in lockstep; angles beyond their
fast range branch, once per vector, to an exact reduction.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from appell.errors import CompileError
from appell.kernels.llvm.llvm_writer import DOUBLE, Writer, splat
from appell.kernels.llvm.transposition import address, transposed, within_chunks
from appell.kernels.llvm.trigonometry import Angle, emit_sincos
from appell.kernels.lowering.fusion import TRIGONOMETRIC, offset, plain_sums
from appell.kernels.lowering.sines import LARGEST_FAST_ANGLE
from appell.trace.expr import Op
from appell.trace.tape import Step, Tape

CODE = {
    Op.ADD: "fadd contract {T} {0}, {1}",
    Op.SUB: "fsub contract {T} {0}, {1}",
    Op.MUL: "fmul contract {T} {0}, {1}",
    Op.DIV: "fdiv {T} {0}, {1}",
    Op.NEG: "fneg {T} {0}",
    Op.SQRT: "call {T} @llvm.sqrt({T} {0})",
}
"""Operations that are one instruction; sine, cosine, sign and select are short sequences below."""
LINE = 64
"""Bytes of a cache line."""
LOCKSTEP = 6
"""Sines computed side by side: enough to hide their latency, few enough for the registers."""


def compute(w: Writer, tape: Tape, values: list[str], *, fused: bool) -> None:
    """Append the tape's steps; `values` grows by one name per step."""
    known = dict(enumerate(values))
    for i in _early(tape):
        known[i] = _value(w, tape, i, known)
    trigonometry = _trigonometry(w, tape, known, fused=fused)
    for i, step in enumerate(tape.steps, start=tape.n_inputs):
        if i in known:
            values.append(known[i])
        elif step.op in TRIGONOMETRIC:
            angle = step.args[0]
            if angle not in trigonometry:
                trigonometry[angle] = emit_sincos(w, [Angle(values[angle], 0.0)], fused=fused)[0]
            values.append(trigonometry[angle][step.op is Op.COS])
        else:
            values.append(_value(w, tape, i, values))


def _value(w: Writer, tape: Tape, position: int, values: Sequence[str] | dict[int, str]) -> str:
    """Append one step that is no sine or cosine; return its value's name."""
    step = tape.steps[position - tape.n_inputs]
    return operation(w, tape, step, [values[i] for i in step.args])


def operation(w: Writer, tape: Tape, step: Step, arguments: list[str]) -> str:
    """Append an operation that is no sine or cosine on some values; return the result's name."""
    if step.op is Op.CONST:
        return w.constant(step.value)
    if step.op is Op.SIGN:
        return sign(w, arguments[0])
    if step.op is Op.SELECT:
        return select(w, *arguments)
    if step.op not in CODE:
        raise CompileError(f"tape '{tape.name}': native code knows no operation {step.op.name}")
    return w.emit(CODE[step.op].format(*arguments, T=w.vector))


def _early(tape: Tape) -> list[int]:
    """Return the steps that only sum inputs and constants on the way to an angle; they come before everything else."""
    plain = plain_sums(tape)
    wanted: set[int] = set()
    pending = [offset(tape, step.args[0])[0] for step in tape.steps if step.op in TRIGONOMETRIC]
    while pending:
        i = pending.pop()
        if i >= tape.n_inputs and plain[i] and i not in wanted:
            wanted.add(i)
            pending.extend(tape.steps[i - tape.n_inputs].args)
    return sorted(wanted)


def _trigonometry(w: Writer, tape: Tape, values: dict[int, str], *, fused: bool) -> dict[int, tuple[str, str]]:
    """Append sine and cosine of every angle whose value is known by now, a few in lockstep."""
    wanted = {step.args[0]: offset(tape, step.args[0]) for step in tape.steps if step.op in TRIGONOMETRIC}
    ready = [(at, Angle(values[source], more)) for at, (source, more) in wanted.items() if source in values]
    result: dict[int, tuple[str, str]] = {}
    for k in range(0, len(ready), LOCKSTEP):
        group = ready[k : k + LOCKSTEP]
        pairs = emit_sincos(w, [angle for _, angle in group], fused=fused)
        result.update(zip((at for at, _ in group), pairs, strict=True))
    return result


def sign(w: Writer, x: str) -> str:
    """Append sign(x) by comparisons that are quiet on not-a-number: zero and not-a-number stay what they are."""
    flags, bits = f"<{w.lanes} x i1>", w.integers
    raw = w.emit(f"bitcast {w.vector} {x} to {bits}")
    sign = w.emit(f"and {bits} {raw}, splat ({w.real.integer} {-(2 ** (8 * w.real.size - 1))})")
    one = w.emit(f"bitcast {w.vector} {splat(1.0, w.real)} to {bits}")
    unit = w.emit(f"bitcast {bits} {w.emit(f'or {bits} {sign}, {one}')} to {w.vector}")
    moving = w.emit(f"fcmp une {w.vector} {x}, zeroinitializer")
    known = w.emit(f"fcmp ord {w.vector} {x}, {x}")
    both = w.emit(f"and {flags} {moving}, {known}")
    return w.emit(f"select {flags} {both}, {w.vector} {unit}, {w.vector} {x}")


def select(w: Writer, condition: str, chosen: str, other: str) -> str:
    """Append the choice by a condition; comparisons are quiet on not-a-number, which does not fulfil it."""
    flags, bits = f"<{w.lanes} x i1>", w.integers
    raw = w.emit(f"bitcast {w.vector} {condition} to {bits}")
    above = w.emit(f"icmp sgt {bits} {raw}, zeroinitializer")  # the bits of numbers above zero are whole ones above it
    known = w.emit(f"fcmp ord {w.vector} {condition}, {condition}")
    both = w.emit(f"and {flags} {above}, {known}")
    return w.emit(f"select {flags} {both}, {w.vector} {chosen}, {w.vector} {other}")


def reduced(w: Writer, values: list[str], angles: list[int], here: str) -> list[str]:
    """Append the branch to the exact reduction, taken when the angles of any lane sum to beyond the bound.

    The angles of the other lanes stay what they are to the last bit.
    """
    if not angles:
        return values
    sizes = [magnitude(w, values[i]) for i in angles]
    beyond = is_beyond(w, functools.reduce(lambda a, b: w.emit(f"fadd {w.vector} {a}, {b}"), sizes))
    mask = w.emit(f"bitcast <{w.lanes} x i1> {beyond} to i{w.lanes}")
    any_lane = w.emit(f"icmp ne i{w.lanes} {mask}, 0")
    w.do(f"br i1 {any_lane}, label %{here}_far, label %{here}_near, !prof !0")
    w.do(f"{here}_far:")
    own = f"select <{w.lanes} x i1> {beyond}, {w.vector}"
    exact = {i: w.emit(f"{own} {_reduce_lanes(w, values[i])}, {w.vector} {values[i]}") for i in angles}
    w.do(f"br label %{here}_near")
    w.do(f"{here}_near:")
    result = list(values)
    for i in angles:
        result[i] = w.emit(f"phi {w.vector} [ {values[i]}, %{here} ], [ {exact[i]}, %{here}_far ]")
    return result


def magnitude(w: Writer, x: str) -> str:
    """Append |x|, by its bits."""
    bits, mask = w.integers, f"splat ({w.real.integer} {2 ** (8 * w.real.size - 1) - 1})"
    cleared = w.emit(f"and {bits} {w.emit(f'bitcast {w.vector} {x} to {bits}')}, {mask}")
    return w.emit(f"bitcast {bits} {cleared} to {w.vector}")


def is_beyond(w: Writer, size: str) -> str:
    """Append whether a sum of angles' sizes is beyond the fast range of the sines, or not a number.

    It is compared as an integer: the same order for positive numbers, and quiet on not-a-number.
    """
    bound = w.emit(f"bitcast {w.vector} {splat(LARGEST_FAST_ANGLE, w.real)} to {w.integers}")
    return w.emit(f"icmp sgt {w.integers} {w.emit(f'bitcast {w.vector} {size} to {w.integers}')}, {bound}")


def _reduce_lanes(w: Writer, vector: str) -> str:
    result = "poison"
    for lane in range(w.lanes):
        x = w.emit(f"extractelement {w.vector} {vector}, i32 {lane}")
        wide = x if w.real is DOUBLE else w.emit(f"fpext float {x} to double")
        y = w.emit(f"call double @reduce(double {wide})")
        narrow = y if w.real is DOUBLE else w.emit(f"fptrunc double {y} to float")
        result = w.emit(f"insertelement {w.vector} {result}, {w.real.name} {narrow}, i32 {lane}")
    return result


def load(w: Writer, rows: list[str], wanted: Sequence[int]) -> list[str]:
    """Append loads of some numbers, in rising order, of each lane's row; return one vector per number.

    Neighbours are loaded as one, as many as 128 bits hold, and the lanes woven from them: a fraction of the loads of a
    number at a time. Fewer are loaded with some before them, if these are neighbours that are wanted too.
    """
    values: list[str] = []
    while len(values) < len(wanted):
        first, count, again = _neighbours(wanted, len(values), 16 // w.real.size)
        parts = [_element(w, row, first, again + count) for row in rows]
        joined = [_join(w, parts[j :: again + count], again + count) for j in range(again + count)]
        values += within_chunks(w, joined, again + count)[again:]
    return values


def _neighbours(places: Sequence[int], k: int, most: int) -> tuple[int, int, int]:
    """Return the first of some neighbours, how many are from the k-th place on, and how many of those before it.

    In all there are `most`, or two, or one.
    """

    def follow(first: int, count: int) -> bool:
        return first >= 0 and list(places[first : first + count]) == [*range(places[first], places[first] + count)]

    for size in dict.fromkeys((most, 2)):
        for again in range(size):
            if follow(k - again, size):
                return places[k - again], size - again, again
    return places[k], 1, 0


def _element(w: Writer, row: str, k: int, count: int) -> str:
    return w.emit(f"load <{count} x {w.real.name}>, ptr {address(w, row, k)}, align {w.real.size}, !invariant.load !1")


def _join(w: Writer, parts: list[str], width: int) -> str:
    """Return vectors of some width one after the other."""
    while len(parts) > 1:
        parts = [w.shuffle(a, b, width, list(range(2 * width))) for a, b in zip(parts[0::2], parts[1::2], strict=True)]
        width *= 2
    return parts[0]


def store(w: Writer, rows: list[str], values: dict[int, str]) -> None:
    """Append stores of vectors to their places in each lane's row.

    They are as many neighbours as there are lanes, or as 128 bits hold, some of them for the second time if they are
    fewer; or pairs.
    """
    places, k = sorted(values), 0
    while k < len(places):
        whole = places[k : k + w.lanes]
        if places[k] % w.lanes == 0 and whole == [*range(places[k], places[k] + w.lanes)]:
            for row, vector in zip(rows, transposed(w, [values[j] for j in whole]), strict=True):
                w.do(f"store {w.vector} {vector}, ptr {address(w, row, places[k])}, align {w.real.size}")
            k += w.lanes
            continue
        first, count, again = _neighbours(places, k, 16 // w.real.size)
        k, size = k + count, again + count
        woven = within_chunks(w, [values[first + j] for j in range(size)], size)
        for lane, row in enumerate(rows):
            picks = [lane - lane % size + j for j in range(size)]
            piece = w.shuffle(woven[lane % size], "poison", w.lanes, picks)
            w.do(f"store <{size} x {w.real.name}> {piece}, ptr {address(w, row, first)}, align {w.real.size}")
