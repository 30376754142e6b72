"""Error messages for exceptions raised by user functions (control laws, events, walls)."""

from __future__ import annotations

import traceback


def raised(error: BaseException) -> str:
    """Return an exception as one line of text: its type, its message, and the file and line that raised it.

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
