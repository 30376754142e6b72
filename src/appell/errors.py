"""The errors that appell raises: each names the subject, the place and the remedy.

Every error that a user can cause is an :class:`AppellError`, so that one ``except`` catches them all; an exception of
any other type that leaves the package is a bug of appell.
"""

from __future__ import annotations

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


class AppellError(Exception):
    """The base class of all errors of appell."""

    def __init__(self, message: object = "") -> None:
        super().__init__(_shown(message))


class ModelError(AppellError):
    """An invalid robot: a kinematic cycle, a negative mass, an axis of zero length."""


class ReadError(ModelError):
    """A file that does not describe a robot; the message begins with ``file:line``."""

    def __init__(self, message: str, source: str = "", line: int | None = None) -> None:
        where = f"{source}:{line}: " if source and line else f"{source}: " if source else ""
        super().__init__(where + message)
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
