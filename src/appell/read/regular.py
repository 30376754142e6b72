"""Input files: regular files of bounded size, so that no pipe blocks and no device or archive fills memory."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import BinaryIO

from appell.errors import InputError, ReadError, visible

MEGABYTE = 2**20
DESCRIPTION = 16 * MEGABYTE
"""The largest robot file [bytes], enough for ten thousand links."""
NUMBER = 8
"""Bytes per number in memory."""
EXPANSION = 256 * MEGABYTE
"""Bytes that a compressed file may expand to …"""
RATIO = 16
"""… beyond this many times its own size."""


def as_path(given: object, what: str) -> Path:
    """Return an argument as a path, with ``~`` expanded.

    Raises
    ------
    InputError
        When it is not a path; `what` is the function that needs one.

    >>> as_path(None, "load")
    Traceback (most recent call last):
    ...
    appell.errors.InputError: load: expected the path of a file, got NoneType
    """
    path = os.fspath(given) if isinstance(given, str | os.PathLike) else given
    if not isinstance(path, str) or not path:
        got = "an empty text" if isinstance(path, str) else type(given).__name__
        raise InputError(f"{what}: expected the path of a file, got {got}")
    with contextlib.suppress(RuntimeError, OSError):  # a home that nobody has, an invalid file name
        return Path(path).expanduser()
    return Path(path)


def is_file(path: Path) -> bool:
    """Return whether a file exists; False for invalid names.

    >>> is_file(Path("a" * 5000)), is_file(Path("a" + chr(0)))
    (False, False)
    """
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def shortened(path: Path) -> str:
    """Return a path for an error message: on one line, shortened, without unprintable characters.

    >>> shortened(Path("robots/" + "a" * 5000 + ".urdf"))[-12:]
    'aaaaaaa.urdf'
    """
    text = visible(str(path))
    return text if len(text) <= 300 else f"{text[:100]}…{text[-100:]}"


def opened(path: Path, most: int | None = None, remedy: str = "") -> BinaryIO:
    """Return an open regular file of at most `most` bytes; `remedy` is the advice for larger ones.

    Raises
    ------
    ReadError
        When the file does not exist, or is a folder, a pipe, a device, too large or not readable.
    """
    name = shortened(path)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ReadError("is a folder; expected a file", name)
        if not stat.S_ISREG(status.st_mode):
            raise ReadError("is a pipe or a device; save its content to a regular file first", name)
        if most is not None and status.st_size > most:
            size, limit = status.st_size / MEGABYTE, most / MEGABYTE
            raise ReadError(f"{size:.4g} MB exceed the limit of {limit:g} MB; {remedy}", name)
        return path.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        raise ReadError("file not found; check the path", name) from None
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror or error}", name) from None
    except ValueError as error:  # a NUL or a lone surrogate in its name
        raise ReadError(f"invalid file name: {error}", name) from None


def file_bytes(path: Path, most: int = DESCRIPTION, remedy: str = "check the path") -> bytes:
    """Return the bytes of a regular file of at most `most` bytes; for errors see :func:`opened`."""
    try:
        with opened(path, most, remedy) as file:
            return file.read()
    except OSError as error:
        raise ReadError(f"cannot be read: {error.strerror or error}", shortened(path)) from None


def check_expansion(expanded: int, packed: int, source: str, remedy: str) -> None:
    """Reject a compressed file by its declared size, before memory is allocated.

    >>> check_expansion(12 * 2**30, 3 * 2**20, "log.npz", "split it")
    Traceback (most recent call last):
    ...
    appell.errors.ReadError: log.npz: 3.0 MB expand to 12288 MB, more than 304 MB (256 MB + 16 times the file); split it
    """
    most = EXPANSION + RATIO * packed
    if expanded > most:
        limit = f"{most / MEGABYTE:.0f} MB ({EXPANSION // MEGABYTE} MB + {RATIO} times the file)"
        raise ReadError(
            f"{packed / MEGABYTE:.1f} MB expand to {expanded / MEGABYTE:.0f} MB, more than {limit}; {remedy}", source
        )
