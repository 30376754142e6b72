"""Names and values in messages of errors: listed, shortened, with the known names that resemble an unknown one."""

from __future__ import annotations

import difflib
import heapq
import itertools
from collections.abc import Iterable

DOZEN = 12
"""Names that are always listed in an error message; of more, those that resemble the unknown one."""
ALIKE, SHORTEST_PART = 0.7, 3
"""The least similarity, by difflib's ratio, of names that are suggested; the least length of a part of a name."""
LOOKED_AT, LONGEST_NAME = 5000, 100
"""Known names that are compared, and their characters: a damaged file may hold any number of either."""
_LEFT_OUT = str.maketrans("", "", "-_ ./")


def listed(names: Iterable[str], most: int = 12) -> str:
    """Return quoted names for an error message, at most a dozen; "none" for an empty list.

    >>> listed(["b", "a"]), listed([])
    ("'b', 'a'", 'none')
    """
    names = list(names)
    if not names:
        return "none"
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(f"'{name}'" for name in names[:most]) + more


def alternatives(name: object, known: Iterable[str], most: int = 12) -> str:
    """Return the end of an error message about an unknown name: the known names it resembles, or all known names.

    Parameters
    ----------
    name
        The unknown name. Letter case, hyphens and underscores do not count.
    known
        The known names.
    most
        How many names are listed at most where none resembles it. A list of a dozen names follows in any case.

    Returns
    -------
    str
        Text for the place after a semicolon.

    Examples
    --------
    >>> alternatives("Elbow", ["elbow", "wrist"])
    "did you mean 'elbow'? known: 'elbow', 'wrist'"
    >>> alternatives("gripper", ["elbow", "wrist"])
    "known: 'elbow', 'wrist'"
    """
    names = list(known)
    everything = f"known: {listed(names, most)}"
    near = resembling(name, names) if isinstance(name, str) else []
    if not near:
        return everything
    suggested = " or ".join(f"'{other}'" for other in near)
    question = f"did you mean {suggested}?"
    return f"{question} {everything}" if len(names) <= DOZEN else question


def resembling(name: str, known: Iterable[str]) -> list[str]:
    """Return up to three known names that resemble an unknown one, the nearest first.

    Examples
    --------
    >>> resembling("wrist3", ["wrist_1_joint", "wrist_3_joint", "elbow_joint"])
    ['wrist_3_joint']
    """
    wanted = _plain(name)
    scores = []
    for other in itertools.islice(dict.fromkeys(known), LOOKED_AT):
        plain = _plain(other)
        score = difflib.SequenceMatcher(None, plain, wanted).ratio()
        is_part = len(wanted) >= SHORTEST_PART and wanted in plain
        if is_part or score >= ALIKE:
            scores.append((not is_part, -score, other))
    return [other for _, _, other in heapq.nsmallest(3, scores)]


def _plain(name: str) -> str:
    return name[:LONGEST_NAME].casefold().translate(_LEFT_OUT)


def shown(value: object) -> str:
    """Return a value for an error message, on one line, shortened.

    >>> shown("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…"
    """
    try:
        literal = " ".join(repr(value).split())
    except ValueError:  # an integer with more digits than Python prints
        return f"a very large {type(value).__name__}"
    return literal if len(literal) <= 40 else literal[:38] + "…"
