"""Sine, cosine and square root in C99 without math.h, of the numbers in :mod:`appell.kernels.lowering.sines`.

No function here needs a library: angles are reduced by whole multiples of parts of π/2 (Cody and Waite), large ones by
as many bits of 1/2π as it takes (Payne and Hanek), in integers of 32 bits and products of 64.
"""

from __future__ import annotations

import math
from collections.abc import Callable

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
    largest, parts = PARTS[real]
    tables, zero, one, half = TABLES[real], literal(0.0), literal(1.0), literal(0.5)
    steps = "\n".join(f"        r = r - n * {literal(part)};" for part in parts)
    large = "reduced(x, &quadrant)" if real == "double" else "(float)reduced((double)x, &quadrant)"
    return f"""{_reduction_text(double)}

/* sin x = r + r z (s1 + s2 z + ...), cos x = 1 - z/2 + z z (c1 + c2 z + ...), with z = r r, r = x - k pi/2,
 * swapped and signed by the quadrant k. */
static void sine_cosine(const {real} x, {real} *s, {real} *c)
{{
    {real} r = x;
    unsigned long quadrant;
    if (x <= {literal(largest)} && x >= -{literal(largest)}) {{
        const long k = (long)(x * {literal(2.0 / math.pi)} + (x < {zero} ? -{half} : {half}));
        const {real} n = ({real})k;
        quadrant = (unsigned long)k;
{steps}
    }} else {{
        r = {large};
    }}
    const {real} z = r * r;
    const {real} sine = r + r * z * ({_horner(tables.sine, literal)});
    const {real} cosine = {one} - {half} * z + z * z * ({_horner(tables.cosine, literal)});
    const {real} first = (quadrant & 1UL) ? cosine : sine;
    const {real} second = (quadrant & 1UL) ? sine : cosine;
    *s = (quadrant & 2UL) ? -first : first;
    *c = ((quadrant + 1UL) & 2UL) ? -second : second;
}}"""


def sines_cosines_text(real: str, literal: Literal, large: str) -> str:
    """Return the C of ``sines_cosines(count, x, s, c)``: sines and cosines of many angles.

    Its main loop has no branches and compares no numbers, or gcc would not vectorise it. `large` are the statements for
    an angle ``x[i]`` that is not reduced by parts of π/2; clang would vectorise them too, for all angles, if their loop
    always ran.
    """
    largest, parts = PARTS[real]
    tables, zero, one, half = TABLES[real], literal(0.0), literal(1.0), literal(0.5)
    steps = "\n".join(f"        r = r - n * {literal(part)};" for part in parts)
    is_fast = f"x[i] <= {literal(largest)} && x[i] >= -{literal(largest)}"
    # the conversion to an integer rounds towards zero, so what it converts is made positive
    positive = 2 ** math.ceil(math.log2(largest * 2.0 / math.pi))
    return f"""/* Sines and cosines of many angles; compilers can vectorise the second loop. */
static void sines_cosines(const int count, const {real} *restrict x, {real} *restrict s, {real} *restrict c)
{{
    int n_large = 0;
    for (int i = 0; i < count; i++) {{
        const int is_fast = {is_fast};
        s[i] = is_fast ? x[i] : {zero};
        n_large += !is_fast;
    }}
    for (int i = 0; i < count; i++) {{
        {real} r = s[i];
        const int k = (int)(r * {literal(2.0 / math.pi)} + {literal(positive + 0.5)}) - {positive};
        const {real} n = ({real})k;
{steps}
        const {real} z = r * r;
        const {real} sine = r + r * z * ({_horner(tables.sine, literal)});
        const {real} cosine = {one} - {half} * z + z * z * ({_horner(tables.cosine, literal)});
        const {real} first = (k & 1) ? cosine : sine;
        const {real} second = (k & 1) ? sine : cosine;
        s[i] = (k & 2) ? -first : first;
        c[i] = ((k + 1) & 2) ? -second : second;
    }}
    for (int i = 0; n_large > 0 && i < count; i++) {{
        if (!({is_fast})) {{
            {large}
            n_large--;
        }}
    }}
}}"""


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
    entries = ",\n        ".join(rows)
    return f"""/* r in [-pi/4, pi/4] and the quadrant of a large angle: its mantissa times the bits of
 * 1/(2 pi) that matter, modulo 1. */
static double reduced(const double x, unsigned long *quadrant)
{{
    static const uint32_t inverse[{len(table)}] = {{
        {entries}
    }};
    union {{
        double number;
        uint64_t bits;
    }} as;
    as.number = x;
    const uint32_t field = (uint32_t)(as.bits >> 52) & 2047U;
    if (field == 2047U) {{
        *quadrant = 0UL;
        return x - x;
    }}
    const uint64_t mantissa = (as.bits & 0xFFFFFFFFFFFFFULL) | 0x10000000000000ULL;
    const uint64_t low = mantissa & 0xFFFFFFFFU, high = mantissa >> 32;
    const uint32_t start = field - 947U; /* of the first bit that matters, the leading zeros counted */
    const uint32_t *word = inverse + (start >> 5);
    const uint32_t shift = start & 31U;
    uint32_t bits[6], product[6];
    for (int i = 0; i < 6; i++) {{
        const uint64_t pair = ((uint64_t)word[i] << 32) | word[i + 1];
        bits[i] = (uint32_t)((pair << shift) >> 32);
    }}
    uint64_t carry = 0U;
    for (int i = 5; i >= 0; i--) {{
        carry += low * bits[i];
        product[i] = (uint32_t)(carry & 0xFFFFFFFFU);
        carry >>= 32;
    }}
    carry = 0U;
    for (int i = 4; i >= 0; i--) {{
        carry += high * bits[i + 1] + product[i];
        product[i] = (uint32_t)(carry & 0xFFFFFFFFU);
        carry >>= 32;
    }}
    const uint64_t top = ((uint64_t)product[0] << 32) | product[1];
    const uint64_t rest = ((uint64_t)product[2] << 32) | product[3];
    const uint64_t k = (top + 0x2000000000000000ULL) >> 62;
    const uint64_t left = top - (k << 62);
    const double whole = (left >> 63) ? -(double)(~left + 1U) : (double)left;
    const double angle = (whole + (double)rest * 0x1p-64) * {literal(2.0 * math.pi * 2.0**-64)};
    const int is_negative = (int)(as.bits >> 63);
    *quadrant = (unsigned long)(is_negative ? 4U - k : k);
    return is_negative ? -angle : angle;
}}"""


def square_root_text(real: str) -> str:
    """Return the C of ``square_root(x)``: a first guess from half the exponent, then Heron's mean four times."""
    narrow, widen = ("", "x") if real == "double" else ("(float)", "(double)x")
    return f"""/* The root of x: half its exponent is a guess to 6 %, and Heron's mean squares the error. */
static {real} square_root(const {real} x)
{{
    union {{
        double number;
        uint64_t bits;
    }} as;
    as.number = {widen};
    if (!(as.number > 0.0)) {{
        return x < {"0.0" if real == "double" else "0.0f"} ? (x - x) / (x - x) : x;
    }}
    if (!(as.number <= 0x1.fffffffffffffp+1023)) {{
        return x;
    }}
    const int tiny = as.number < 0x1p-1000;
    if (tiny) {{
        as.number *= 0x1p+108;
    }}
    const double square = as.number;
    as.bits = (as.bits >> 1) + 0x1FF7A3BEA91D9B1BULL;
    double root = as.number;
    for (int i = 0; i < 4; i++) {{
        root = 0.5 * (root + square / root);
    }}
    return {narrow}(tiny ? root * 0x1p-54 : root);
}}"""
