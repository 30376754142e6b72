"""Exceptions of a user's functions (control laws, events, walls), in words."""

from __future__ import annotations

import traceback


def raised(error: BaseException) -> str:
    """Return an exception in words: its type, its text, and the line that raised it.

    >>> try:
    ...     {}["speed"]
    ... except KeyError as error:
    ...     print(raised(error).partition(" (")[0])
    KeyError: 'speed'
    """
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' + text if text else ''}{where}"
