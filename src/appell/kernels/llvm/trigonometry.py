"""Sine and cosine as vector code, with no call and no branch.

An angle x is reduced to r = x − k·π/2 with |r| ≤ π/4 by subtracting k times two or three parts of π/2 without rounding
(Cody and Waite), then sin r and cos r come from two short polynomials, and the quadrant k swaps and signs them. The
rounding of x·2/π to the integer k is an addition of 1.5·2⁵², whose low bits then *are* k. Good to about one unit in the
last place for |x| ≤ 10⁵; a kernel sends larger angles through :func:`exact_reduction` first, which multiplies by as
many bits of 1/2π as it takes (Payne and Hanek).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from appell.kernels.llvm.llvm_writer import DOUBLE, SINGLE, Real, WideWriter, Writer, literal
from appell.kernels.lowering.sines import TABLES, pi_bits


class Angle(NamedTuple):
    """A vector of angles and a constant to add to it."""

    value: str
    offset: float


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
    for value, offset in angles:
        turns = w.emit(f"fmul contract {w.vector} {value}, {w.constant(2.0 / math.pi)}")
        if offset:
            turns = w.emit(f"fadd contract {w.vector} {turns}, {w.constant(offset * 2.0 / math.pi)}")
        shifted.append(w.emit(f"fadd contract {w.vector} {turns}, {w.constant(tables.magic)}"))
    counts = [w.emit(f"fsub {w.vector} {x}, {w.constant(tables.magic)}") for x in shifted]
    remainders = [value for value, _ in angles]
    for index, part in enumerate(tables.fused if fused else tables.plain):
        remainders = [w.fma(k, w.constant(-part), r) for k, r in zip(counts, remainders, strict=True)]
        if index == 0:
            remainders = [
                w.emit(f"fadd {w.vector} {r}, {w.constant(offset)}") if offset else r
                for r, (_, offset) in zip(remainders, angles, strict=True)
            ]
    quadrants = [w.emit(f"bitcast {w.vector} {x} to {w.integers}") for x in shifted]
    return list(zip(quadrants, remainders, strict=True))


def _reduce_wide(w: Writer, angles: Sequence[Angle]) -> list[tuple[str, str]]:
    """Append the reduction of single precision in double, for machines without fused multiply-add."""
    wide = WideWriter(w)
    doubled = [Angle(w.emit(f"fpext {w.vector} {value} to {wide.vector}"), offset) for value, offset in angles]
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
    return f"""
@inverse_two_pi = internal unnamed_addr constant [{words + 2} x i64] [{entries}]

define internal double @reduce(double %x) noinline cold {{
  %bits = bitcast double %x to i64
  %field0 = lshr i64 %bits, 52
  %field = and i64 %field0, 2047
  %odd = icmp eq i64 %field, 2047
  %small = icmp ult i64 %field, 1029
  %plain = or i1 %odd, %small
  br i1 %plain, label %asis, label %large
asis:
  %difference = fsub double %x, %x
  %kept = fadd double %x, %difference
  ret double %kept
large:
  %low = and i64 %bits, 4503599627370495
  %mantissa = or i64 %low, 4503599627370496
  ; first wanted bit of 1/2pi, counted with the two zero words: e + 128 = field - 1075 + 128
  %start = sub i64 %field, 947
  %word = lshr i64 %start, 6
  %shift = and i64 %start, 63
  %p0 = getelementptr i64, ptr @inverse_two_pi, i64 %word
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %w0 = load i64, ptr %p0
  %w1 = load i64, ptr %p1
  %w2 = load i64, ptr %p2
  %w3 = load i64, ptr %p3
  %f0 = call i64 @llvm.fshl.i64(i64 %w0, i64 %w1, i64 %shift)
  %f1 = call i64 @llvm.fshl.i64(i64 %w1, i64 %w2, i64 %shift)
  %f2 = call i64 @llvm.fshl.i64(i64 %w2, i64 %w3, i64 %shift)
  %m = zext i64 %mantissa to i128
  %g1 = zext i64 %f1 to i128
  %g2 = zext i64 %f2 to i128
  %product2 = mul i128 %m, %g2
  %carry2 = lshr i128 %product2, 64
  %product1 = mul i128 %m, %g1
  %middle = add i128 %product1, %carry2
  %carry1 = lshr i128 %middle, 64
  %top = mul i64 %mantissa, %f0
  %carry = trunc i128 %carry1 to i64
  %high = add i64 %top, %carry
  %rest = trunc i128 %middle to i64
  %a = sitofp i64 %high to double
  %b = uitofp i64 %rest to double
  %b1 = fmul double %b, {literal(2.0**-64, DOUBLE)}
  %sum = fadd double %a, %b1
  %angle = fmul double %sum, {literal(2.0 * math.pi * 2.0**-64, DOUBLE)}
  %negative = icmp slt i64 %bits, 0
  %opposite = fneg double %angle
  %signed = select i1 %negative, double %opposite, double %angle
  ret double %signed
}}

declare i64 @llvm.fshl.i64(i64, i64, i64)
"""
