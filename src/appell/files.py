"""Files: regular ones of bounded size to read, and atomic writes.

No pipe blocks a reader, and no device or archive fills memory. A reader sees the old content of a written file or the
new, never a part of it: content is written to a temporary file in the same folder, which then replaces the target in
one step. Symbolic links are followed and stay links. Devices and pipes are written to directly. A killed process leaves
at most a hidden temporary file, which a later write into the same folder removes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from appell.errors import InputError, ReadError, visible
from appell.messages import listed

DRAFT = ".appell-draft"
"""The suffix of temporary files."""
STALE = 3600.0
"""The age from which a temporary file is assumed to be that of a killed process [s]; writing takes seconds at most."""
MEGABYTE = 2**20
DESCRIPTION = 16 * MEGABYTE
"""The largest robot file [bytes], enough for ten thousand links."""
NUMBER = 8
"""Bytes per number in memory."""
EXPANSION = 256 * MEGABYTE
"""Bytes that a compressed file may expand to …"""
RATIO = 16
"""… beyond this many times its own size."""


# Reading


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


# Writing


def extension(what: str, path: Any, known: Sequence[str]) -> str:
    """Return the extension of an output file, one of the known ones; for devices and pipes without one, the first.

    Raises
    ------
    InputError
        When `path` is not a path or its extension is unknown; the message begins with `what`.

    >>> extension("run.save", "run.CSV", (".npz", ".csv")), extension("run.save", "/dev/null", (".npz", ".csv"))
    ('.csv', '.npz')
    """
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise InputError(f"{what}: expected a path, got {type(path).__name__}")
    place = Path(path)
    if not place.suffix and _is_stream(place):
        return known[0]
    if place.suffix.lower() not in known:
        raise InputError(f"{what}: unknown extension of '{place.name}'; known: {listed(known)}")
    return place.suffix.lower()


def write(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file atomically and return its path; missing folders are created.

    Raises
    ------
    InputError
        When the file cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder, "new", "a.txt"), "text").read_text()
    'text'
    """
    place = as_path(path, "write")
    write_together({place: content})
    return place


def write_together(contents: Mapping[Path, str | bytes]) -> None:
    """Write several files, or none if one of them cannot be written.

    Only a process killed between the final renames, which take microseconds, can leave a mix of new and old files.

    Raises
    ------
    InputError
        When a file cannot be written.
    """
    drafts: dict[Path, Path] = {}
    replaced: dict[Path, bytes | None] = {}
    try:
        for place, content in contents.items():
            with _errors_name(place):
                if not _is_stream(place):
                    drafts[place] = _draft_path(place)
                    _write_draft(drafts[place], place, _bytes(content))
        for place in contents.keys() - drafts.keys():
            with _errors_name(place):
                _write_stream(place, _bytes(contents[place]))
        for place, draft in drafts.items():
            with _errors_name(place):
                old = place.read_bytes() if len(drafts) > 1 and place.exists() else None
                draft.replace(os.path.realpath(place))
                replaced[place] = old
    except BaseException:
        for place, old in replaced.items():
            _restore(place, old)
        raise
    finally:
        for draft in drafts.values():
            with contextlib.suppress(OSError):
                draft.unlink()


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content


@contextlib.contextmanager
def _errors_name(place: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # a ValueError for a zero byte in a path
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{place}: cannot be written: {reason}") from None


def _is_stream(place: Path) -> bool:
    """Return whether a path is a device, a pipe, or the file that standard output or error goes to."""
    try:
        found = place.stat()
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)) or _standard(found) is not None


def _standard(found: os.stat_result) -> int | None:
    """Return the descriptor of standard output or error where it is this file, else None."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(found, os.fstat(descriptor)):
                return descriptor
    return None


def _write_stream(place: Path, data: bytes) -> None:
    descriptor = _standard(place.stat())
    if descriptor is None:
        with os.fdopen(os.open(place, os.O_WRONLY | getattr(os, "O_BINARY", 0)), "wb") as file:
            file.write(data)
        return
    for stream in (sys.stdout, sys.stderr):  # earlier output comes first
        if stream is not None:
            stream.flush()
    with open(descriptor, "wb", closefd=False) as file:
        file.write(data)


def _draft_path(place: Path) -> Path:
    """Return an unused name in the folder of the file, which is created if missing."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(place.stat().st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    folder = Path(os.path.realpath(place)).parent
    folder.mkdir(parents=True, exist_ok=True)
    _remove_stale(folder)
    return folder / f".{secrets.token_hex(8)}{DRAFT}"


def _write_draft(draft: Path, place: Path, data: bytes) -> None:
    with draft.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if place.exists():
        shutil.copymode(place, draft)


def _restore(place: Path, old: bytes | None) -> None:
    with contextlib.suppress(OSError, InputError):
        Path(os.path.realpath(place)).unlink() if old is None else write(place, old)


def _remove_stale(folder: Path) -> None:
    """Remove the temporary files of killed processes."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(DRAFT) and entry.stat().st_mtime < time.time() - STALE:
                Path(entry.path).unlink()
