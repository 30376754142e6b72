"""Operation counts as exact polynomials in the number of joints, in the notation of the papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

_POWERS = ("", "n", "n²", "n³")


@dataclass(frozen=True)
class Formula:
    """A polynomial in n with rational coefficients, the constant first.

    >>> str(Formula.of("-101", "96")), Formula.of("-101", "96")(6)
    ('96n − 101', 475)
    >>> str(Formula.of("-49", "19.5", "11.5")), str(Formula.of("0", "1/3", "1/2", "1/6"))
    ('11.5n² + 19.5n − 49', 'n³/6 + n²/2 + n/3')
    """

    coefficients: tuple[Fraction, ...]

    @classmethod
    def of(cls, *coefficients: str) -> Formula:
        """Return the formula of coefficients written as text, the constant first."""
        return cls(tuple(map(Fraction, coefficients)))

    def __call__(self, n: int) -> int | float:
        """Return the value at n."""
        value = sum((c * n**k for k, c in enumerate(self.coefficients)), Fraction(0))
        return int(value) if value.denominator == 1 else float(value)

    def __getitem__(self, power: int) -> Fraction:
        """Return the coefficient of a power of n."""
        return self.coefficients[power] if power < len(self.coefficients) else Fraction(0)

    def __str__(self) -> str:
        # thirds and sixths as fractions, all other coefficients as decimals
        decimal = all(c.denominator in (1, 2) for c in self.coefficients) and len(self.coefficients) < 4
        text = ""
        for k in reversed(range(len(self.coefficients))):
            c = self.coefficients[k]
            if c:
                sign = ("−" if c < 0 else "") if not text else (" − " if c < 0 else " + ")
                text += sign + _term(abs(c), _POWERS[k], decimal)
        return text or "0"


def _term(c: Fraction, power: str, decimal: bool) -> str:
    if c == 1 and power:
        return power
    if decimal or c.denominator == 1:
        return f"{float(c):g}{power}"
    return f"{'' if c.numerator == 1 and power else c.numerator}{power}/{c.denominator}"


def fit(counts: Mapping[int, int]) -> Formula | None:
    """Return the polynomial of lowest degree, at most cubic, through all counts; None if there is none.

    The counts are integers at consecutive n. The first few determine the polynomial, the others check it.

    >>> str(fit({n: 96 * n - 108 for n in range(3, 11)}))
    '96n − 108'
    >>> fit({3: 1, 4: 2, 5: 4, 6: 8, 7: 17, 8: 30}) is None
    True
    """
    first = min(counts)
    for degree in range(4):
        known = [Fraction(counts[first + k]) for k in range(degree + 1)]
        formula = Formula(_newton(known, first))
        if all(formula(n) == count for n, count in counts.items()):
            return formula
    return None


def _newton(values: list[Fraction], first: int) -> tuple[Fraction, ...]:
    """Return the coefficients of the polynomial through values at first, first + 1, … (Newton's differences)."""
    total = [Fraction(0)] * len(values)
    basis = [Fraction(1)]  # the binomial coefficient (n − first over k), as a polynomial in n
    for k in range(len(values)):
        for i, c in enumerate(basis):
            total[i] += values[0] * c
        values = [b - a for a, b in pairwise(values)]
        longer = [Fraction(0), *basis]
        for i, c in enumerate(basis):
            longer[i] -= c * (first + k)
        basis = [c / (k + 1) for c in longer]
    return tuple(total)
