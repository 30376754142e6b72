"""Numbers that sine and cosine are made of: parts of π/2, bits of π, and polynomials."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

LARGEST_FAST_ANGLE = 1e5


@functools.cache
def pi_bits(bits: int) -> int:
    """Return ⌊π·2^bits⌋, by Machin's formula in integers.

    >>> pi_bits(30) / 2**30 - math.pi < 1e-9
    True
    """
    guard = bits + 16

    def arctan_inverse(n: int) -> int:
        total = term = (1 << guard) // n
        k, sign = 3, -1
        while term:
            term //= n * n
            total += sign * (term // k)
            k, sign = k + 2, -sign
        return total

    return (4 * (4 * arctan_inverse(5) - arctan_inverse(239))) >> 16


def half_pi_parts(widths: tuple[int, ...]) -> tuple[float, ...]:
    """Return π/2 as a sum of numbers of at most that many significant bits each."""
    scale = 200
    rest, parts = pi_bits(scale) >> 1, []
    for width in widths:
        shift = max(rest.bit_length() - width, 0)
        head = (rest >> shift) << shift
        parts.append(math.ldexp(float(head >> shift), shift - scale))
        rest -= head
    return tuple(parts)


@dataclass(frozen=True)
class Tables:
    """What a scalar type needs: the number whose addition rounds to an integer, parts of π/2, and two polynomials."""

    magic: float
    fused: tuple[float, ...]
    plain: tuple[float, ...]
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


TABLES = {
    # With a fused multiply-add x − k·P is exact for P of full length, as both are multiples of P's last bit and their
    # difference is less than 2; without one, k·P must itself be exact, so P leaves room for the 16 bits of k.
    "double": Tables(
        magic=1.5 * 2**52,
        fused=half_pi_parts((53, 53)),
        plain=half_pi_parts((37, 37, 53)),
        sine=(
            -1.66666666666666324348e-01,
            8.33333333332248946124e-03,
            -1.98412698298579493134e-04,
            2.75573137070700676789e-06,
            -2.50507602534068634195e-08,
            1.58969099521155010221e-10,
        ),
        cosine=(
            4.16666666666666019037e-02,
            -1.38888888888741095749e-03,
            2.48015872894767294178e-05,
            -2.75573143513906633035e-07,
            2.08757232129817482790e-09,
            -1.13596475577881948265e-11,
        ),
    ),
    "float": Tables(
        magic=1.5 * 2**23,
        fused=half_pi_parts((24, 24, 24)),
        plain=(),  # reduced in double
        sine=(-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
        cosine=(4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
    ),
}
"""Minimax coefficients on |r| ≤ π/4 as published: double in Sun's fdlibm, single in Moshier's Cephes."""
