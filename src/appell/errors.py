"""The errors that appell raises: each names the subject, the place and the remedy.

Every error that a user can cause is an :class:`AppellError`, so that one ``except`` catches them all; an exception of
any other type that leaves the package is a bug of appell.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
import warnings
from collections.abc import Iterator

LONGEST = 2000
"""Largest length of a message; longer ones are cut in the middle: damaged files may contain long names."""


def visible(text: str) -> str:
    r"""Return text on one line: line breaks and other characters that are not printable as escapes.

    >>> print(visible("first\nsecond"))
    first\nsecond
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _shown(message: object) -> str:
    """Return a message on one line and of a bounded length, whatever names it contains."""
    half, text = LONGEST // 2, visible(str(message))
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"


def _where(source: str, line: int | None) -> str:
    return f"{source}:{line}: " if source and line else f"{source}: " if source else ""


class AppellError(Exception):
    """The base class of all errors of appell."""

    def __init__(self, message: object = "") -> None:
        super().__init__(_shown(message))


class ModelError(AppellError):
    """An invalid robot: a kinematic cycle, a negative mass, an axis of zero length."""


class ReadError(ModelError):
    """A file that does not describe a robot; the message begins with ``file:line``."""

    def __init__(self, message: str, source: str = "", line: int | None = None) -> None:
        super().__init__(_where(source, line) + message)
        self.source, self.line = source, line


class FragmentError(ReadError):
    """A file without a robot of its own, for inclusion in others: an MJCF fragment, a file of xacro macros."""


class InputError(AppellError, ValueError):
    """Arguments that do not fit the robot: a wrong shape, a wrong type, an unknown name."""


class TraceError(AppellError):
    """A program that cannot be traced, or a tape that failed its verification."""


class CompileError(AppellError):
    """Native code that could not be compiled or loaded on this machine."""


class AllocationError(AppellError, MemoryError):
    """A call that needs more memory than the machine provides."""


class AppellWarning(UserWarning):
    """Unusual input that appell accepts; the message states what was assumed."""

    def __init__(self, message: object = "") -> None:
        super().__init__(_shown(message))


_is_quiet = contextvars.ContextVar("is_quiet", default=False)
_OWN = ("appell", "scipy")
"""Packages whose lines a warning does not name."""


def warn(message: object, source: str = "", line: int | None = None) -> None:
    """Give a warning, which begins with ``file:line`` of a faulty file, unless inside :func:`quiet`.

    Python shows it with the line of the first caller outside of appell.
    """
    if _is_quiet.get():
        return
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OWN:
        frame, level = frame.f_back, level + 1
    warnings.warn(_where(source, line) + str(message), AppellWarning, stacklevel=level)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Give no warning of appell inside, in this thread: Python's own filters are those of all threads.

    >>> with quiet():
    ...     warn("no mass")
    """
    token = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(token)
