"""Verdicts: how a number of ours stands to the paper's, in words for people and as one of a few kinds to count."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What a verdict comes down to; :data:`MEANING` says it in a sentence."""

    AGREES = "agrees"
    BETTER = "better"
    ORDER = "order"
    CORRECTED = "corrected"
    DIFFERS = "differs"
    NEW = "new"


MEANING = {
    Kind.AGREES: "ours is what the paper prints or claims",
    Kind.BETTER: "ours is less, where less is better: operations, errors",
    Kind.ORDER: "only orders of magnitude can be compared, and they agree",
    Kind.CORRECTED: "the paper's is off, and ours agrees with an independent reference",
    Kind.DIFFERS: "ours is not the paper's; the table's notes say what is known of the reason",
    Kind.NEW: "the paper has no number for it",
}


class Verdict(str):
    """A verdict in words, with its kind; a cell of a table like any other text.

    >>> verdict = Verdict("14 fewer", Kind.BETTER)
    >>> verdict, verdict.kind.value
    ('14 fewer', 'better')
    """

    __slots__ = ("kind",)
    kind: Kind

    def __new__(cls, words: str, kind: Kind) -> Verdict:
        """Return the words with their kind."""
        made = super().__new__(cls, words)
        made.kind = kind
        return made
