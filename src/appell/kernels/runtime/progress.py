"""A line on stderr while a program is compiled for longer than a second: on a terminal only, erased at the end."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

VARIABLE = "APPELL_PROGRESS"
"""The environment variable that switches the line off: "off" or "0"."""
AFTER, EVERY = 1.0, 0.5
"""Seconds until the line appears, and between its updates."""
_one_line = threading.Lock()
_silences: list[None] = []


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Show no line inside, as progress bars ask for that have the terminal to themselves.

    Examples
    --------
    >>> with silent(), compiling("inverse_dynamics"):
    ...     pass
    """
    _silences.append(None)
    try:
        yield
    finally:
        _silences.pop()


def switch_off() -> None:
    """Show no line in this process any more."""
    _silences.append(None)


@contextlib.contextmanager
def compiling(name: str) -> Iterator[None]:
    """Show what is compiled, and for how long, while the block runs longer than a second.

    Nothing is shown where stderr is no terminal, inside :func:`silent`, where ``APPELL_PROGRESS`` is "off", or while
    another thread shows its own line.

    Parameters
    ----------
    name
        The name of the program.

    Examples
    --------
    >>> with compiling("inverse_dynamics"):
    ...     pass
    """
    stream = sys.stderr
    if not _is_shown(stream) or not _one_line.acquire(blocking=False):
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(name, stream, done), daemon=True)
    try:
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
    finally:
        _one_line.release()


def _is_shown(stream: Any) -> bool:
    if _silences or os.environ.get(VARIABLE, "").lower() in ("off", "0"):
        return False
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # no stream, or one that is closed
        return False


def _show(name: str, stream: Any, done: threading.Event) -> None:
    start, width = time.monotonic(), 0
    with contextlib.suppress(OSError, ValueError):  # of a terminal that is gone
        while not done.wait(EVERY if width else AFTER):
            line = f"appell: compiling {name} ... {time.monotonic() - start:.0f} s"
            width = max(width, len(line))
            stream.write(f"\r{line}")
            stream.flush()
        if width:
            stream.write(f"\r{' ' * width}\r")
            stream.flush()
