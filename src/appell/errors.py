"""The errors appell raises: each names the thing, the place and the remedy.

Every error a user can cause is an :class:`AppellError`, so one ``except`` catches them all; an exception of any other
type that leaves the package is a bug of appell's.
"""

from __future__ import annotations

LONGEST = 2000
"""Characters of a message about a file; beyond, its middle is left out, since a damaged file may hold any name."""


def _cut(message: str) -> str:
    half = LONGEST // 2
    return message if len(message) <= LONGEST else f"{message[:half]} … {message[-half:]}"


class AppellError(Exception):
    """The parent of every error that appell raises on purpose."""


class ModelError(AppellError):
    """A robot that cannot be: a cycle, a negative mass, an axis of zero length."""


class ReadError(ModelError):
    """A file that does not describe a robot; the message begins with ``file:line``."""

    def __init__(self, message: str, source: str = "", line: int | None = None) -> None:
        where = f"{source}:{line}: " if source and line else f"{source}: " if source else ""
        super().__init__(where + _cut(message))
        self.source, self.line = source, line


class FragmentError(ReadError):
    """A file that other files include and that has no robot of its own: an MJCF fragment, a file of xacro macros."""


class InputError(AppellError, ValueError):
    """Arguments of a verb that do not fit the robot: a wrong size, a wrong type, an unknown name."""


class TraceError(AppellError):
    """A program that cannot be traced or a tape that failed its verification."""


class CompileError(AppellError):
    """Native code that could not be made or loaded on this machine."""


class AppellWarning(UserWarning):
    """Something odd that appell could work with; the message says what it assumed."""
