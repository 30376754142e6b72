"""Sine, cosine and square root in C99 without math.h, of the numbers in :mod:`appell.kernels.lowering.sines`.

No function here needs a library: angles are reduced by whole multiples of parts of π/2 (Cody and Waite), large ones by
as many bits of 1/2π as it takes (Payne and Hanek), in integers of 32 bits and products of 64. The functions are the
files of the folder c99_functions, with ``$name`` where numbers and types go.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.resources import files
from string import Template

from appell.kernels.lowering.sines import LARGEST_FAST_ANGLE, TABLES, half_pi_parts, pi_bits

Literal = Callable[[float], str]

PARTS = {
    "double": (LARGEST_FAST_ANGLE, half_pi_parts((37, 37, 53))),
    "float": (8192.0, half_pi_parts((11, 11, 11, 24))),
}
"""Largest angle that is reduced by parts of π/2, and the parts: so few bits that their products with k are exact."""
WORDS = 40
"""Words of 32 bits of 1/2π: up to the largest double."""


def sine_cosine_text(real: str, literal: Literal, double: Literal) -> str:
    """Return the C of ``sine_cosine(x, &s, &c)`` for a floating type, and of the reduction of large angles."""
    large = "reduced(x, &quadrant)" if real == "double" else "(float)reduced((double)x, &quadrant)"
    own = _text("sine_cosine", **_numbers(real, literal), large=large, largest=literal(PARTS[real][0]))
    return f"{_reduction_text(double)}\n\n{own}"


def sines_cosines_text(real: str, literal: Literal, large: str) -> str:
    """Return the C of ``sines_cosines(count, x, s, c)``: sines and cosines of many angles.

    Its main loop has no branches and compares no numbers, or gcc would not vectorise it. `large` are the statements for
    an angle ``x[i]`` that is not reduced by parts of π/2; clang would vectorise them too, for all angles, if their loop
    always ran.
    """
    largest = PARTS[real][0]
    # the conversion to an integer rounds towards zero, so what it converts is made positive
    positive = 2 ** math.ceil(math.log2(largest * 2.0 / math.pi))
    is_fast = f"x[i] <= {literal(largest)} && x[i] >= -{literal(largest)}"
    rounding = {"positive": str(positive), "rounding": literal(positive + 0.5)}
    return _text("sines_cosines", **_numbers(real, literal), **rounding, is_fast=is_fast, large=large)


def _numbers(real: str, literal: Literal) -> dict[str, str]:
    """Return the type and the numbers that sines and cosines are made of."""
    tables, plain = TABLES[real], {"zero": 0.0, "one": 1.0, "half": 0.5, "turns": 2.0 / math.pi}
    steps = "\n".join(f"        r = r - n * {literal(part)};" for part in PARTS[real][1])
    polynomials = {"sine": _horner(tables.sine, literal), "cosine": _horner(tables.cosine, literal)}
    return {"real": real, "steps": steps} | polynomials | {name: literal(x) for name, x in plain.items()}


def _text(name: str, **values: str) -> str:
    """Return the text of a function with some values."""
    template = (files("appell.kernels.text") / "c99_functions" / f"{name}.c").read_text(encoding="utf-8")
    return Template(template.rstrip("\n")).substitute(values)


def _horner(coefficients: tuple[float, ...], literal: Literal) -> str:
    text = literal(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        text = f"{literal(coefficient)} + z * ({text})"
    return text


def _reduction_text(literal: Literal) -> str:
    """Return the C of ``reduced(x, &k)``: of a large angle r and k with x = r + k·π/2; not-a-number if x is not finite.

    With x = M·2^e and M whole, whole multiples of M drop out of x/2π: six words of 1/2π from bit e on times M, modulo
    1, are the fraction of a turn, whose first two bits, rounded, are k.
    """
    fraction = (1 << (64 * WORDS)) // (2 * pi_bits(32 * WORDS))
    # four leading zero words: below 2⁵³ the wanted bits begin before the point
    table = [0] * 4 + [(fraction >> (32 * (WORDS - 1 - i))) & 0xFFFFFFFF for i in range(WORDS)]
    rows = [", ".join(f"0x{word:08X}U" for word in table[k : k + 8]) for k in range(0, len(table), 8)]
    scale = literal(2.0 * math.pi * 2.0**-64)
    return _text("reduced", count=str(len(table)), entries=",\n        ".join(rows), scale=scale)


def square_root_text(real: str) -> str:
    """Return the C of ``square_root(x)``: a first guess from half the exponent, then Heron's mean four times."""
    if real == "double":
        return _text("square_root", real=real, narrow="", widen="x", zero="0.0")
    return _text("square_root", real=real, narrow="(float)", widen="(double)x", zero="0.0f")
