"""Verdicts: comparisons of our numbers with the paper's, as text and as one of a few kinds to count.

A verdict is the result of a rule of :mod:`appell.reports.rules`; a table prints the rules of its verdicts.
"""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The kind of a verdict, described by :data:`MEANING`."""

    AGREES = "agrees"
    HOLDS = "holds"
    FEWER = "fewer"
    DIFFERS = "differs"
    NOT_COMPARABLE = "not comparable"
    DIFFERENT_RULES = "different rules"
    MISPRINT = "misprint"
    CHECKED = "checked"
    AS_PRINTED = "as printed"

    @property
    def css(self) -> str:
        """Return the kind as a CSS class."""
        return self.value.replace(" ", "-")


MEANING = {
    Kind.AGREES: "ours equals the printed number",
    Kind.HOLDS: "the paper's statement holds in our results",
    Kind.FEWER: "the same algorithm under the same counting rule takes fewer operations in ours",
    Kind.DIFFERS: "ours differs from the printed number or statement",
    Kind.NOT_COMPARABLE: "the two numbers do not measure the same quantity, or the paper omits necessary data",
    Kind.DIFFERENT_RULES: "the two counts follow different rules and cannot be compared",
    Kind.MISPRINT: "the printed number is evidently wrong; no credit is given",
    Kind.CHECKED: "the paper prints no number; ours passes a check against an independent computation",
    Kind.AS_PRINTED: "an input of our runs is the printed one, or its stated reading",
}


class Verdict(str):
    """A verdict as text, with its kind and the text of its rule; it is a cell of a table.

    >>> verdict = Verdict("14 fewer", Kind.FEWER, "ours is less")
    >>> verdict, verdict.kind.value, verdict.rule
    ('14 fewer', 'fewer', 'ours is less')
    """

    __slots__ = ("kind", "rule")
    kind: Kind
    rule: str

    def __new__(cls, words: str, kind: Kind, rule: str) -> Verdict:
        """Return the words with their kind and their rule."""
        made = super().__new__(cls, words)
        made.kind, made.rule = kind, rule
        return made
