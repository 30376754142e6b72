"""Verdicts: how a number of ours stands to the paper's, in words for people and as one of a few kinds to count.

A verdict is what a rule of :mod:`appell.reports.rules` returns; a table prints the rules of its verdicts.
"""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What a verdict comes down to; :data:`MEANING` says it in a sentence."""

    AGREES = "agrees"
    FEWER = "fewer"
    DIFFERS = "differs"
    NOT_COMPARABLE = "not comparable"
    DIFFERENT_RULES = "different rules"
    MISPRINT = "misprint"
    CHECKED = "checked"

    @property
    def css(self) -> str:
        """Return the kind as the name of a class on a page."""
        return self.value.replace(" ", "-")


MEANING = {
    Kind.AGREES: "ours is the number that the paper prints, or what it states of the result holds in ours",
    Kind.FEWER: "the same algorithm under the same counting rule takes fewer operations in ours",
    Kind.DIFFERS: "ours is not what the paper prints or states",
    Kind.NOT_COMPARABLE: "the two numbers do not measure the same thing, or the paper leaves out what decides them",
    Kind.DIFFERENT_RULES: "the two counts do not follow the same rule, so that fewer means nothing",
    Kind.MISPRINT: "the printed number is wrong on its face; nothing is credited",
    Kind.CHECKED: "the paper prints no number; ours passes a check against an independent computation",
}


class Verdict(str):
    """A verdict in words, with its kind and the text of its rule; a cell of a table like any other text.

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
