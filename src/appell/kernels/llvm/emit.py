"""From a tape to LLVM's instructions.

Every value of the tape is a vector with one sample in each lane, so the code is the tape, instruction by instruction.
The table :data:`CODE` is the whole instruction selection. Sines come first, several in lockstep; angles beyond their
fast range branch, once per vector, to an exact reduction.

Sine and cosine are vector code with no call and no branch. An angle x is reduced to r = x − k·π/2 with |r| ≤ π/4 by
subtracting k times two or three parts of π/2 without rounding (Cody and Waite), then sin r and cos r come from two
short polynomials, and the quadrant k swaps and signs them. The rounding of x·2/π to the integer k is an addition of
1.5·2⁵², whose low bits then *are* k. Good to about one unit in the last place for |x| ≤ 10⁵; a kernel sends larger
angles through :func:`exact_reduction` first, which multiplies by as many bits of 1/2π as it takes (Payne and Hanek).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

from appell.errors import CompileError
from appell.kernels.llvm.llvm_writer import DOUBLE, SINGLE, Real, WideWriter, Writer, from_file, literal, splat
from appell.kernels.lowering.analysis import TRIGONOMETRIC, offset, plain_sums
from appell.kernels.lowering.sines import LARGEST_FAST_ANGLE, TABLES, pi_bits
from appell.trace.expr import Op
from appell.trace.tape import Step, Tape


def address(w: Writer, row: str, k: int) -> str:
    """Append the address of the k-th number of a row."""
    return w.emit(f"getelementptr inbounds i8, ptr {row}, i64 {k * w.real.size}") if k else row


def transposed(w: Writer, vectors: list[str]) -> list[str]:
    """Append shuffles that turn as many vectors as there are lanes into one vector per lane.

    First within chunks of 128 bits, whose numbers are interleaved from one chunk of each of two vectors; then chunk by
    chunk, the even and the odd ones of two vectors: each shuffle is one instruction on AVX and AVX-512.
    """
    if len(set(vectors)) == 1 and vectors[0].startswith("splat"):
        return vectors
    chunk = 16 // w.real.size
    groups = [within_chunks(w, vectors[k : k + chunk], chunk) for k in range(0, w.lanes, chunk)]
    columns = [_by_chunks(w, [group[c] for group in groups], chunk) for c in range(chunk)]
    return [columns[lane % chunk][lane // chunk] for lane in range(w.lanes)]


def transposed_from(w: Writer, places: list[str], align: int = 0) -> list[str]:
    """Append loads of as many vectors as there are lanes, and shuffles into one vector per lane.

    Loads of halves, joined in pairs, are the first of the steps of :func:`transposed` by chunks: an insertion from
    memory does not take the one port that shuffles do. The places are multiples of `align` bytes, by default of those
    that are loaded.
    """
    chunk, half = 16 // w.real.size, w.lanes // 2
    if half < chunk:
        size = align or w.lanes * w.real.size
        return transposed(w, [w.emit(f"load {w.vector}, ptr {place}, align {size}") for place in places])
    result = []
    for low in (0, half):
        halves = [_half(w, place, low, align or half * w.real.size) for place in places]
        columns: list[list[str]] = [[] for _ in range(chunk)]
        for k in range(0, w.lanes, 2 * chunk):
            pairs = zip(halves[k : k + chunk], halves[k + chunk : k + 2 * chunk], strict=True)
            joined = [w.shuffle(a, b, half, list(range(w.lanes))) for a, b in pairs]
            for column, vector in zip(columns, within_chunks(w, joined, chunk), strict=True):
                column.append(vector)
        turned = [_by_chunks(w, column, chunk) for column in columns]
        result += [turned[lane % chunk][lane // chunk] for lane in range(half)]
    return result


def _half(w: Writer, place: str, low: int, align: int) -> str:
    kind = f"<{w.lanes // 2} x {w.real.name}>"
    return w.emit(f"load {kind}, ptr {address(w, place, low)}, align {align}")


def within_chunks(w: Writer, vectors: list[str], chunk: int) -> list[str]:
    """Return vectors each of whose chunks has one number of every given vector, in their order."""
    if len(vectors) == 1:
        return vectors
    first, second = within_chunks(w, vectors[0::2], chunk), within_chunks(w, vectors[1::2], chunk)
    result = []
    for a, b in zip(first, second, strict=True):
        for low in range(0, chunk, chunk // 2):
            places = (at + low + j for at in range(0, w.lanes, chunk) for j in range(chunk // 2))
            result.append(w.shuffle(a, b, w.lanes, [x for i in places for x in (i, w.lanes + i)]))
    return result


def _by_chunks(w: Writer, vectors: list[str], chunk: int) -> list[str]:
    """Return, per place of a chunk, the vector of the chunks that all given vectors have there."""
    if len(vectors) == 1:
        return vectors
    even, odd = list[str](), list[str]()
    for a, b in zip(vectors[0::2], vectors[1::2], strict=True):
        for result, start in ((even, 0), (odd, chunk)):
            picks = [at + j for at in range(start, 2 * w.lanes, 2 * chunk) for j in range(chunk)]
            result.append(w.shuffle(a, b, w.lanes, picks))
    sides = _by_chunks(w, even, chunk), _by_chunks(w, odd, chunk)
    return [vector for pair in zip(*sides, strict=True) for vector in pair]


class Angle(NamedTuple):
    """A vector of angles and a constant to add to it."""

    value: str
    more: float


def emit_sincos(w: Writer, angles: Sequence[Angle], *, fused: bool) -> list[tuple[str, str]]:
    """Append sin and cos of several angles in lockstep; offsets are added after the reduction, where nothing is lost.

    One sine is a chain of some twenty dependent instructions, longer than a processor looks ahead; several chains side
    by side keep it busy.
    """
    tables = TABLES[w.real.name]
    is_wide = w.real is SINGLE and not fused
    reduced = _reduce_wide(w, angles) if is_wide else _reduce(w, w.real, angles, fused=fused)
    remainders = [r for _, r in reduced]
    squares = [w.emit(f"fmul {w.vector} {r}, {r}") for r in remainders]
    # sin r = r + r z (s₁ + s₂ z + …),  cos r = 1 − z/2 + z² (c₁ + c₂ z + …)
    tails = _horner(w, squares, tables.sine)
    cubes = [w.emit(f"fmul {w.vector} {r}, {z}") for r, z in zip(remainders, squares, strict=True)]
    sines = [w.fma(c, t, r) for c, t, r in zip(cubes, tails, remainders, strict=True)]
    tails = _horner(w, squares, tables.cosine)
    halves = [w.fma(z, w.constant(-0.5), w.constant(1.0)) for z in squares]
    fourths = [w.emit(f"fmul {w.vector} {z}, {z}") for z in squares]
    cosines = [w.fma(f, t, h) for f, t, h in zip(fourths, tails, halves, strict=True)]
    return [_placed(w, k, s, c) for (k, _), s, c in zip(reduced, sines, cosines, strict=True)]


def _placed(w: Writer, quadrant: str, sine: str, cosine: str) -> tuple[str, str]:
    """Swap the two in odd quadrants; bit 1 of k is the sign of the sine, bit 1 of k + 1 that of the cosine."""
    width, vector, integers = 8 * w.real.size, w.vector, w.integers

    def whole(n: int) -> str:
        return f"splat ({w.real.integer} {n})"

    odd = w.emit(f"shl {integers} {quadrant}, {whole(width - 1)}")
    swap = w.emit(f"icmp slt {integers} {odd}, zeroinitializer")
    first = w.emit(f"select <{w.lanes} x i1> {swap}, {vector} {cosine}, {vector} {sine}")
    second = w.emit(f"select <{w.lanes} x i1> {swap}, {vector} {sine}, {vector} {cosine}")
    following = w.emit(f"add {integers} {quadrant}, {whole(1)}")
    results = []
    for value, bits in ((first, quadrant), (second, following)):
        moved = w.emit(f"shl {integers} {bits}, {whole(width - 2)}")
        sign = w.emit(f"and {integers} {moved}, {whole(-(2 ** (width - 1)))}")
        signed = w.emit(f"xor {integers} {w.emit(f'bitcast {vector} {value} to {integers}')}, {sign}")
        results.append(w.emit(f"bitcast {integers} {signed} to {vector}"))
    return results[0], results[1]


def _horner(w: Writer, variables: list[str], coefficients: tuple[float, ...]) -> list[str]:
    values = [w.constant(coefficients[-1]) for _ in variables]
    for c in reversed(coefficients[:-1]):
        values = [w.fma(value, z, w.constant(c)) for value, z in zip(values, variables, strict=True)]
    return values


def _reduce(w: Writer, real: Real, angles: Sequence[Angle], *, fused: bool) -> list[tuple[str, str]]:
    """Append, for each angle, the quadrant k, as integers, and r = angle + offset − k·π/2."""
    tables = TABLES[real.name]
    shifted = []
    for value, more in angles:
        turns = w.emit(f"fmul contract {w.vector} {value}, {w.constant(2.0 / math.pi)}")
        if more:
            turns = w.emit(f"fadd contract {w.vector} {turns}, {w.constant(more * 2.0 / math.pi)}")
        shifted.append(w.emit(f"fadd contract {w.vector} {turns}, {w.constant(tables.magic)}"))
    counts = [w.emit(f"fsub {w.vector} {x}, {w.constant(tables.magic)}") for x in shifted]
    remainders = [value for value, _ in angles]
    for index, part in enumerate(tables.fused if fused else tables.plain):
        remainders = [w.fma(k, w.constant(-part), r) for k, r in zip(counts, remainders, strict=True)]
        if index == 0:
            remainders = [
                w.emit(f"fadd {w.vector} {r}, {w.constant(more)}") if more else r
                for r, (_, more) in zip(remainders, angles, strict=True)
            ]
    quadrants = [w.emit(f"bitcast {w.vector} {x} to {w.integers}") for x in shifted]
    return list(zip(quadrants, remainders, strict=True))


def _reduce_wide(w: Writer, angles: Sequence[Angle]) -> list[tuple[str, str]]:
    """Append the reduction of single precision in double, for machines without fused multiply-add."""
    wide = WideWriter(w)
    doubled = [Angle(w.emit(f"fpext {w.vector} {value} to {wide.vector}"), more) for value, more in angles]
    results = []
    for quadrant, r in _reduce(wide, DOUBLE, doubled, fused=False):
        narrow = w.emit(f"trunc {wide.integers} {quadrant} to {w.integers}")
        results.append((narrow, w.emit(f"fptrunc {wide.vector} {r} to {w.vector}")))
    return results


def exact_reduction() -> str:
    """Return the LLVM text of @reduce: any finite angle to the equal one in [−π, π]; others to not-a-number.

    With x = M·2^e and M whole, whole multiples of M drop out of x/2π, so three 64-bit words of 1/2π from bit e on are
    enough: their product with M modulo 1 is the fraction of a turn to 2⁻⁶⁴ and better.
    """
    words = 20
    fraction = ((1 << (64 * words)) << (64 * words)) // (2 * pi_bits(64 * words))
    # two leading zero words let e start at −128 + …: below 2⁵³ the wanted bits begin before the point
    table = [0, 0] + [(fraction >> (64 * (words - 1 - i))) & (2**64 - 1) for i in range(words)]
    entries = ", ".join(f"i64 {word - 2**64 if word >= 2**63 else word}" for word in table)
    word, turn = literal(2.0**-64, DOUBLE), literal(2.0 * math.pi * 2.0**-64, DOUBLE)
    return from_file("reduce", count=len(table), entries=entries, word=word, turn=turn)


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

    Neighbours are loaded as one, as many as 128 bits hold, and the lanes interleaved from them: a fraction of the loads
    of a number at a time. Fewer are loaded with some before them, if these are neighbours that are wanted too.
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
