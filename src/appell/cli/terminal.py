"""Standard output and error of a command: width, encoding, and streams that are closed or full."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import shutil
import sys
import unicodedata

import typer

from appell.errors import visible
from appell.reports.layout import wrapped

HANDLER = "appell.spelled"
"""The name of the error handler that spells characters missing from an encoding."""
PIPED = 240
"""The width where there is neither a terminal nor COLUMNS: one line per row, for grep and awk."""
SPELLING = {"–": "-", "—": "-", "−": "-", "·": "*", "×": "x", "→": "->", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~"}
SPELLING |= {"∂": "d", "√": "sqrt", "°": "deg", "⁄": "/", "✓": "+", "’": "'", "‘": "'", "“": '"', "”": '"', "∞": "inf"}
SPELLING |= {"─": "-", "│": "|", "├": "+", "└": "+"}


def prepare() -> None:
    """Make the standard streams safe to write to: missing characters are spelled, closed streams are replaced.

    Otherwise the next file opened would get a closed descriptor, and the printed text with it.
    """
    if sys.stdout is None:
        sys.stdout = _opened(1, os.O_RDONLY)  # on which writing is an error, as it is on a closed descriptor
    if sys.stderr is None:
        sys.stderr = _opened(2, os.O_WRONLY)  # since no error could be shown
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=HANDLER)


def has_every_character() -> bool:
    """Return whether standard output has a Unicode encoding."""
    return (sys.stdout.encoding or "").lower().startswith("utf")


def width() -> int:
    """Return the characters of a line of standard output: COLUMNS, the terminal's, or `PIPED` without a terminal."""
    return shutil.get_terminal_size((PIPED, 24)).columns if sys.stdout.isatty() else _columns() or PIPED


def _columns() -> int | None:
    text = os.environ.get("COLUMNS", "")
    return int(text) if text.isascii() and text.isdigit() and int(text) else None


def say(text: str) -> None:
    """Print a message on stderr: one line, on a terminal broken at spaces."""
    shown = visible(text)
    lines = wrapped(shown, shutil.get_terminal_size().columns) if sys.stderr.isatty() else [shown]
    typer.echo("\n".join(lines), err=True)


def discard() -> None:
    """Discard pending output: Python would write it at exit, and fail again."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # ValueError: of a stream without a descriptor
            stream.flush()
            continue
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def spelled(text: str) -> str:
    """Return text in ASCII, symbols spelled.

    >>> spelled("τ = 1.5 N·m, 9.81 m/s², Gibbs–Appell, ½, Δ")
    'tau = 1.5 N*m, 9.81 m/s2, Gibbs-Appell, 1/2, Delta'
    """
    return "".join(map(_spelled, text))


def _spelled(character: str) -> str:
    if character.isascii() or character in SPELLING:
        return SPELLING.get(character, character)
    parts = unicodedata.normalize("NFKD", character)
    if parts != character:
        return "".join(_spelled(part) for part in parts if not unicodedata.combining(part))
    words = unicodedata.name(character, "").split()
    if words[:1] == ["GREEK"]:
        return words[-1].lower() if "SMALL" in words else words[-1].capitalize()
    return "?"


def _spell(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    if all("\udc80" <= character <= "\udcff" for character in missing):  # bytes of the name of a file
        return missing.encode("ascii", "surrogateescape"), error.end
    return spelled(missing), error.end


codecs.register_error(HANDLER, _spell)


def _opened(descriptor: int, mode: int) -> io.TextIOWrapper:
    """Return a text stream to the null device at a descriptor that is closed."""
    nowhere = os.open(os.devnull, mode)
    if nowhere != descriptor:
        try:
            os.fstat(descriptor)
        except OSError:
            os.dup2(nowhere, descriptor)
            nowhere = descriptor
    return open(nowhere, "w", encoding="utf-8", closefd=False)
