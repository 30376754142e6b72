"""Output files, written atomically: a reader sees the old content or the new, never a part of it.

Content is written to a temporary file in the same folder, which then replaces the target in one step. Symbolic links
are followed and stay links. Devices and pipes are written to directly. A killed process leaves at most a hidden
temporary file, which a later write into the same folder removes.
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
from typing import Any

from appell.errors import InputError
from appell.model.build import listed
from appell.read.regular import as_path

DRAFT = ".appell-draft"
"""The suffix of temporary files."""
STALE = 3600.0
"""The age from which a temporary file is assumed to be that of a killed process [s]; writing takes seconds at most."""


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
