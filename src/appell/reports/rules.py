"""Rules: each computes a verdict from the paper's number and ours, and its text is printed with the table.

A rule is an object whose ``text`` describes its verdicts; a call with numbers returns the verdict. All verdicts on
papers are given by rules. Rules that compare can fail; the three that explain why no comparison is possible
(:class:`NotComparable`, :class:`DifferentRules`, :class:`Misprint`) credit nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from itertools import pairwise

from appell.reports.verdict import Kind, Verdict


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
        rounded, cut = (all(rule._equal(*pair) for pair in pairs) for rule in (cls(False), cls(True)))
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
        if self._equal(printed, ours):
            return Verdict("equal to the printed digits", Kind.AGREES, self.text)
        return Verdict(f"differs by {apart(float(printed), ours)}", Kind.DIFFERS, self.text)

    def _equal(self, printed: str, ours: float) -> bool:
        number = Decimal(printed)
        return Decimal(repr(float(ours))).quantize(number, ROUND_DOWN if self.is_truncated else ROUND_HALF_UP) == number


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
        return f"The paper's statement holds (agrees) when {self.what} is below {self.below:g}; else it differs."

    def __call__(self, measured: float) -> Verdict:
        """Return the verdict on a measured number."""
        holds = measured < self.below
        return Verdict("holds" if holds else "does not hold", Kind.AGREES if holds else Kind.DIFFERS, self.text)


@dataclass(frozen=True)
class Less:
    """A statement of the paper, that one number is less than others, holds in ours.

    >>> Less()(3, 4, 5), Less()(3, 4, 2)
    ('holds', 'does not hold')
    """

    text: str = "The paper's statement holds (agrees) when the first of our numbers is less than each other one."

    def __call__(self, first: float, *others: float) -> Verdict:
        """Return the verdict on numbers of ours, of which the first should be the least."""
        holds = all(first < other for other in others)
        return Verdict("holds" if holds else "does not hold", Kind.AGREES if holds else Kind.DIFFERS, self.text)


@dataclass(frozen=True)
class Counts:
    """Operation counts: equal, fewer or more, if both follow one rule, as equal growth with n shows.

    >>> rule = Counts()
    >>> rule(((96, 84), 475), ((96, 84), 461)), rule(((121, 90), 458), ((117, 90), 425)).kind.value
    ('14 fewer', 'different rules')
    >>> rule(((121, 91), 590), ((121, 91), 599)).kind.value
    'differs'
    """

    at: str = "n = 6"

    @property
    def text(self) -> str:
        """Return the rule as text."""
        return (
            "Products with 0 and ±1, operations on constants, sines and cosines are not counted. Where "
            "the highest power of n has the same coefficients in the paper's formulas and in ours, of products and of "
            f"sums, algorithm and rule are the same: the counts for {self.at} are equal (agrees), fewer, or more "
            "(differs). Otherwise, the rules differ."
        )

    def __call__(self, paper: tuple[object, float], ours: tuple[object, float]) -> Verdict:
        """Return the verdict on two counts, each the coefficients of the highest power and its value."""
        if paper[0] != ours[0]:
            return Verdict("different rules", Kind.DIFFERENT_RULES, self.text)
        more = ours[1] - paper[1]
        if more == 0:
            return Verdict("equal", Kind.AGREES, self.text)
        kind = Kind.FEWER if more < 0 else Kind.DIFFERS
        return Verdict(f"{abs(more):g} {'fewer' if more < 0 else 'more'}", kind, self.text)


@dataclass(frozen=True)
class Checked:
    """The paper prints no number; ours is compared with an independent computation.

    >>> Checked(1e-10, "Pinocchio")(1e-14), Checked(1e-10, "Pinocchio")(1e-3).kind.value
    ('1e-14 off', 'differs')
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
        return Verdict(f"{error:.0e} off", kind, self.text)


@dataclass(frozen=True)
class Falls:
    """The paper prints no number; our error decreases with its assumed cause.

    >>> Falls("the tolerance")(3e-8, 2e-10, 1e-12), Falls("the tolerance")(3e-8, 2e-10, 4e-10).kind.value
    ('falls with the tolerance', 'differs')
    """

    cause: str

    @property
    def text(self) -> str:
        """Return the rule as text."""
        return "The paper prints no number. Checked when each difference is less than the one before; else it differs."

    def __call__(self, *errors: float) -> Verdict:
        """Return the verdict on errors, which should decrease."""
        falls = all(second < first for first, second in pairwise(errors))
        words = f"falls with {self.cause}" if falls else f"does not fall with {self.cause}"
        return Verdict(words, Kind.CHECKED if falls else Kind.DIFFERS, self.text)


@dataclass(frozen=True)
class NotComparable:
    """The two numbers do not measure the same thing, for a reason.

    >>> NotComparable("theirs is of an integrated loop")().kind.value
    'not comparable'
    """

    reason: str

    @property
    def text(self) -> str:
        """Return the rule as text."""
        return f"Not comparable: {self.reason}."

    def __call__(self) -> Verdict:
        """Return the verdict."""
        return Verdict("not comparable", Kind.NOT_COMPARABLE, self.text)


@dataclass(frozen=True)
class DifferentRules:
    """The two counts do not follow the same rule, for a reason.

    >>> DifferentRules("the published count does not define free operations")()
    'different rules'
    """

    reason: str

    @property
    def text(self) -> str:
        """Return the rule as text."""
        return f"Different rules: {self.reason}."

    def __call__(self) -> Verdict:
        """Return the verdict."""
        return Verdict("different rules", Kind.DIFFERENT_RULES, self.text)


@dataclass(frozen=True)
class Misprint:
    """The printed number is evidently wrong, for a reason; no credit is given.

    >>> Misprint("two joints share nine digits")("joint 6 has the same digits")
    'misprint: joint 6 has the same digits'
    """

    reason: str

    @property
    def text(self) -> str:
        """Return the rule as text."""
        return f"Misprint, nothing credited: {self.reason}."

    def __call__(self, remark: str = "") -> Verdict:
        """Return the verdict."""
        return Verdict(f"misprint: {remark}" if remark else "misprint", Kind.MISPRINT, self.text)


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
