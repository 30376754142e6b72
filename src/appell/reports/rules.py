"""Rules: each computes a verdict from the paper's number and ours, and its text is printed with the table.

A rule is an object whose ``text`` describes its verdicts; a call with numbers returns the verdict. All verdicts on
papers are given by rules. Rules that compare can fail; those that explain why no comparison is possible
(:class:`Uncredited`) credit nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import pairwise

from appell.reports.verdict import Kind, Verdict

ROUNDING = 1e-12
"""Differences below this are shown as rounding."""


def equal(printed: str, ours: float, is_truncated: bool = False) -> bool:
    """Return whether a number, rounded or truncated to the digits of a printed number, is that number.

    >>> equal("8.62", 8.6194), equal("6.32", 6.3295), equal("6.32", 6.3295, True), equal("1", float("nan"))
    (True, False, True, False)
    """
    number, value = Decimal(printed), Decimal(repr(float(ours)))
    if not value.is_finite():
        return False
    unit = Decimal((0, (1,), int(number.as_tuple().exponent)))
    beyond = (value - number).copy_sign(1)
    if is_truncated:
        return beyond < unit and abs(value) >= abs(number)
    return beyond <= unit / 2


@dataclass(frozen=True)
class Digits:
    """Ours equals the printed digits: rounded, or, where a whole table is truncated, truncated.

    >>> Digits()("8.62", 8.61942), Digits()("6.32", 6.329512)
    ('equal to the printed digits', 'differs by 0.15 %')
    >>> Digits.of([("6.32", 6.329512), ("0.3851", 0.385192)])("6.32", 6.329512)
    'equal to the printed digits'
    """

    is_truncated: bool = False

    @classmethod
    def of(cls, table: Iterable[tuple[str, float]]) -> Digits:
        """Return the rule of a table of printed and own numbers: truncation applies to all of them or to none."""
        pairs = list(table)
        rounded, cut = (all(equal(*pair, is_truncated) for pair in pairs) for is_truncated in (False, True))
        return cls(cut and not rounded)

    @property
    def text(self) -> str:
        """Return the rule as text."""
        how = "truncated, as the whole table is," if self.is_truncated else "rounded"
        return f"Agrees when ours, {how} to the printed digits, is the printed number; else it differs."

    def __call__(self, printed: str, ours: float | None) -> Verdict:
        """Return the verdict on a number as it is printed, trailing zeros included."""
        if ours is None:
            return Verdict("no number of ours", Kind.DIFFERS, self.text)
        if equal(printed, ours, self.is_truncated):
            return Verdict("equal to the printed digits", Kind.AGREES, self.text)
        return Verdict(f"differs by {apart(float(printed), ours)}", Kind.DIFFERS, self.text)


@dataclass(frozen=True)
class Datum:
    """The runs used the printed data, number by number.

    >>> Datum()(["0.1", "-0.054"], [0.1, -0.054]), Datum()(["0.1", "-0.054"], [0.1, -0.05])
    ('as printed', '1 of 2 differ')
    """

    text: str = (
        "As printed when each number that our runs used is the printed number, or its reading where one is given, to "
        "eight digits; else it differs."
    )

    def __call__(self, printed: Sequence[str], used: Sequence[float]) -> Verdict:
        """Return the verdict on numbers as they are printed, or read, and as they were used."""
        same = (math.isclose(float(a), b, rel_tol=1e-8, abs_tol=1e-12) for a, b in zip(printed, used, strict=False))
        return _all(same, max(len(printed), len(used)), "as printed", Kind.AS_PRINTED, self.text)


@dataclass(frozen=True)
class Reference:
    """The paper prints no numbers; ours are those of an independent program, to its digits.

    >>> Reference()(["7.77", "0.00"], [7.7698, 1e-16]), Reference()(["7.77"], [7.78]).kind.value
    ('equal to the digits', 'differs')
    """

    text: str = (
        "The paper prints no number. Checked when each of ours, rounded to the digits of the reference, is its number; "
        "else it differs."
    )

    def __call__(self, reference: Sequence[str], ours: Sequence[float]) -> Verdict:
        """Return the verdict on numbers of the reference and ours."""
        same = (equal(*pair) for pair in zip(reference, ours, strict=False))
        return _all(same, max(len(reference), len(ours)), "equal to the digits", Kind.CHECKED, self.text)


def _all(same: Iterable[bool], count: int, words: str, kind: Kind, rule: str) -> Verdict:
    wrong = count - sum(same)
    return Verdict(f"{wrong} of {count} differ" if wrong else words, Kind.DIFFERS if wrong else kind, rule)


@dataclass(frozen=True)
class Same:
    """Ours is the printed text or integer.

    >>> Same()("O1 and O5", "O1 and O5"), Same()(5, 6)
    ('equal', 'differs')
    """

    text: str = "Agrees when ours is the same as the paper's; else it differs."

    def __call__(self, printed: object, ours: object) -> Verdict:
        """Return the verdict on two texts or integers."""
        kind = Kind.AGREES if printed == ours else Kind.DIFFERS
        return Verdict("equal" if printed == ours else "differs", kind, self.text)


@dataclass(frozen=True)
class Within:
    """Ours is within a relative tolerance of the printed number, which has a reason.

    >>> rule = Within(0.1, "single precision")
    >>> rule((1.29, 1.27)), rule((1.0, 1.02), (1.0, 3.0))
    ('within 1.6 %', 'off by a factor of 3')
    """

    tolerance: float
    reason: str

    @property
    def text(self) -> str:
        """Return the rule as text."""
        return f"Agrees when ours is within {100 * self.tolerance:g} % of the paper's ({self.reason}); else it differs."

    def __call__(self, *pairs: tuple[float, float]) -> Verdict:
        """Return the verdict on one or more pairs, printed and ours, of which the worst decides."""
        printed, ours = max(pairs, key=lambda pair: abs(pair[1] / pair[0] - 1.0))
        if abs(ours / printed - 1.0) <= self.tolerance:
            return Verdict(f"within {apart(printed, ours)}", Kind.AGREES, self.text)
        return Verdict(f"off by {apart(printed, ours)}", Kind.DIFFERS, self.text)


@dataclass(frozen=True)
class Holds:
    """A statement of the paper holds in ours: a quantity that should be zero is below a bound.

    >>> Holds(1e-12)(3e-15), Holds(1e-12)(0.1)
    ('holds', 'does not hold')
    """

    below: float
    what: str = "what should be zero"

    @property
    def text(self) -> str:
        """Return the rule as text."""
        return f"The paper's statement holds when {self.what} is below {self.below:g}; else it differs."

    def __call__(self, measured: float) -> Verdict:
        """Return the verdict on a measured number."""
        return _held(measured < self.below, self.text)


@dataclass(frozen=True)
class Less:
    """A statement of the paper, that one number is less than others, holds in ours.

    >>> Less()(3, 4, 5), Less()(3, 4, 2)
    ('holds', 'does not hold')
    """

    text: str = (
        "The paper's statement holds when the first of our numbers is less than each other one; else it differs."
    )

    def __call__(self, first: float, *others: float) -> Verdict:
        """Return the verdict on numbers of ours, of which the first should be the least."""
        return _held(all(first < other for other in others), self.text)


def _held(holds: bool, rule: str) -> Verdict:
    return Verdict("holds" if holds else "does not hold", Kind.HOLDS if holds else Kind.DIFFERS, rule)


@dataclass(frozen=True)
class Counts:
    """Operation counts over a range of sizes: equal, fewer or more, if both grow alike.

    >>> rule = Counts()
    >>> rule(((96, 84), (187, 475)), ((96, 84), (173, 461)))
    '14 fewer'
    >>> rule(((11.5, 8.5), (113, 482)), ((11.5, 8.5), (92, 431))), rule(((121, 90), (458,)), ((122, 90), (425,)))
    ('21 to 51 fewer', 'grows faster')
    >>> rule(((121, 90), (458,)), ((117, 90), (425,))).kind.value
    'different rules'
    """

    sizes: str = "n = 3 … 10"

    @property
    def text(self) -> str:
        """Return the rule as text."""
        return (
            "Products with 0 and ±1, operations on constants, sines and cosines are not counted. Where the highest "
            "power has the same coefficients in the paper's formulas and in ours, of products and of sums, algorithm "
            f"and rule are the same: the counts for {self.sizes}, hence also the lower powers, are equal (agrees), "
            "fewer, or more (differs). Where ours has a greater coefficient, it differs. Otherwise, the rules differ."
        )

    def __call__(
        self, paper: tuple[Sequence[float], Sequence[float]], ours: tuple[Sequence[float], Sequence[float]]
    ) -> Verdict:
        """Return the verdict on two counts, each the coefficients of the highest power and its values by size."""
        growth = [b - a for a, b in zip(paper[0], ours[0], strict=True)]
        if max(growth) > 0:
            return Verdict("grows faster", Kind.DIFFERS, self.text)
        if min(growth) < 0:
            return Verdict("different rules", Kind.DIFFERENT_RULES, self.text)
        more = [b - a for a, b in zip(paper[1], ours[1], strict=True)]
        if not any(more):
            return Verdict("equal", Kind.AGREES, self.text)
        kind = Kind.FEWER if max(more) <= 0 else Kind.DIFFERS
        sizes = sorted({abs(x) for x in more} if kind is Kind.FEWER else {x for x in more if x > 0})
        least = f"{sizes[0]:g} to " if len(sizes) > 1 else ""
        return Verdict(f"{least}{sizes[-1]:g} {'fewer' if kind is Kind.FEWER else 'more'}", kind, self.text)


@dataclass(frozen=True)
class Checked:
    """The paper prints no number; ours is compared with an independent computation.

    >>> Checked(1e-10, "Pinocchio")(1e-14), Checked(1e-10, "Pinocchio")(1e-3).kind.value
    ('equal to rounding', 'differs')
    """

    below: float
    against: str

    @property
    def text(self) -> str:
        """Return the rule as text."""
        return (
            f"The paper prints no number. Checked when ours is less than {self.below:.2g} off {self.against}; else it "
            "differs."
        )

    def __call__(self, error: float) -> Verdict:
        """Return the verdict on a difference."""
        kind = Kind.CHECKED if error < self.below else Kind.DIFFERS
        return Verdict("equal to rounding" if error < ROUNDING else f"{error:.0e} off", kind, self.text)


@dataclass(frozen=True)
class Falls:
    """The paper prints no number; our error decreases with its assumed cause.

    >>> Falls("the tolerance")(3e-8, 2e-10, 1e-12), Falls("the tolerance")(3e-8, 2e-10, 4e-10).kind.value
    ('falls with the tolerance', 'differs')
    """

    cause: str
    text: str = "The paper prints no number. Checked when each difference is less than the one before; else it differs."

    def __call__(self, *errors: float) -> Verdict:
        """Return the verdict on errors, which should decrease."""
        falls = all(second < first for first, second in pairwise(errors))
        words = f"falls with {self.cause}" if falls else f"does not fall with {self.cause}"
        return Verdict(words, Kind.CHECKED if falls else Kind.DIFFERS, self.text)


@dataclass(frozen=True)
class Uncredited:
    """No comparison is possible, for a reason; nothing is credited.

    >>> NotComparable("theirs is of an integrated loop")()
    'not comparable'
    >>> Misprint("two joints share nine digits")("joint 6 has the same digits")
    'misprint: joint 6 has the same digits'
    """

    kind: Kind
    reason: str

    @property
    def text(self) -> str:
        """Return the rule as text."""
        return f"{self.kind.value.capitalize()}, nothing credited: {self.reason}."

    def __call__(self, remark: str = "") -> Verdict:
        """Return the verdict."""
        return Verdict(f"{self.kind.value}: {remark}" if remark else self.kind.value, self.kind, self.text)


NotComparable = partial(Uncredited, Kind.NOT_COMPARABLE)
"""The two numbers do not measure the same thing."""
DifferentRules = partial(Uncredited, Kind.DIFFERENT_RULES)
"""The two counts do not follow the same rule."""
Misprint = partial(Uncredited, Kind.MISPRINT)
"""The printed number is evidently wrong."""
Failed = partial(Uncredited, Kind.DIFFERS)
"""Ours could not be computed."""


def apart(printed: float, ours: float) -> str:
    """Return the difference of two numbers relative to the printed one; absolute where that is zero.

    >>> apart(8.6, 8.7), apart(0.0, 0.25), apart(1.0, 25.0)
    ('1.2 %', '0.25', 'a factor of 25')
    """
    if printed == 0.0:
        return f"{ours:.2g}"
    ratio = ours / printed
    if not 0.5 < ratio < 2.0:
        return f"a factor of {ratio:.2g}"
    return f"{100.0 * abs(ratio - 1.0):.2g} %"
