"""Calls of user functions (control laws, events, walls, tasks): read-only copies of arrays, and errors in one line.

A function gets copies, so that it may keep them, and read-only ones, so that a change in place, which would be lost, is
an error.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import InputError
from appell.spatial.scalar import Array

LOCKED = "read-only"
"""What the message of NumPy's ValueError contains when a read-only array is changed."""

NUMPY = str(Path(np.__file__).parent)
"""The folder of NumPy's own code."""


def own(x: Array) -> Array:
    """Return a read-only copy of an array.

    >>> own(np.zeros(2)).flags.writeable
    False
    """
    copy = x.copy()
    copy.setflags(write=False)
    return copy


def called(what: str, function: Callable[..., Any], t: float, *arrays: Array) -> Any:
    """Return the value of a user function at a time, given its own arrays; any exception becomes an InputError."""
    try:
        return function(t, *map(own, arrays))
    except Exception as error:  # a user's function may raise anything
        raise InputError(f"{what} raised {raised(error)}") from error


@contextmanager
def unchanged(what: str) -> Iterator[None]:
    """Turn the exception of a user function that changes its arguments in place into an InputError."""
    try:
        yield
    except ValueError as error:
        if LOCKED not in str(error):
            raise
        raise InputError(f"{what} raised {raised(error)}") from error


def raised(error: BaseException) -> str:
    """Return an exception as one line of text: its type, its message, and the file and line, outside of NumPy.

    >>> try:
    ...     {}["speed"]
    ... except KeyError as error:
    ...     print(raised(error).partition(" (")[0])
    KeyError: 'speed'
    """
    frames = traceback.extract_tb(error.__traceback__)
    at = next((frame for frame in reversed(frames) if not frame.filename.startswith(NUMPY)), None)
    where = f" ({at.filename}:{at.lineno})" if at else ""
    text = " ".join(str(error).split())
    is_change = isinstance(error, ValueError) and LOCKED in text
    remedy = "; arguments must not be changed in place: change a copy, for example v = v.copy()" if is_change else ""
    return f"{type(error).__name__}{': ' + text if text else ''}{where}{remedy}"
