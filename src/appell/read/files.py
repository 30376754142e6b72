"""Writing files in one step: whoever reads a file sees the old text or the new, never half of one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from appell.errors import InputError


def write(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file beside its place and move it there; folders on the way are made.

    Raises
    ------
    InputError
        When the place cannot be written to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder, "new", "a.txt"), "text").read_text()
    'text'
    """
    place = Path(path)
    data = content.encode() if isinstance(content, str) else content
    draft = ""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.", suffix=".draft")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(draft).chmod(0o666 & ~_umask())
        Path(draft).replace(place)
    except OSError as error:
        if draft:
            with contextlib.suppress(OSError):
                Path(draft).unlink()
        raise InputError(f"{place}: cannot be written: {error.strerror or error}") from None
    return place


def _umask() -> int:
    """Return the process's mask of file rights, which a temporary file does not follow by itself."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
