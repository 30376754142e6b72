"""One input at a time: what a target is, what may come of an input, and what counts as a failure."""

from __future__ import annotations

import contextlib
import itertools
import os
import resource
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from appell.errors import AppellError, AppellWarning

SEEDS = Path(__file__).parent / "seeds"
LONGEST = 10.0
"""Seconds of processor time that one input may take: those of a clock count other processes too."""
MOST_MEMORY = 1 << 30
"""Bytes by which one input may raise the peak of memory."""
QUIET = (AppellWarning, DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)
"""Warnings that are no failure: appell's own, and those about versions of other packages."""


class Input(NamedTuple):
    """What a target is given, and how many faults were injected into it."""

    data: bytes
    faults: int


class Outcome(NamedTuple):
    """What came of an input: "accepted", "refused" or "failed"; of a failure where and why."""

    kind: str
    reason: str = ""


class BrokenPropertyError(Exception):
    """A property that does not hold of something accepted."""


class HangError(Exception):
    """An input that takes longer than :data:`LONGEST`."""


@dataclass(frozen=True)
class Target:
    """Something that takes inputs.

    `make` draws an input; `call` reads it from a file with the ending `suffix`, in a folder of its own, checks what it
    accepts (:func:`ensure`), and raises an AppellError where it refuses. `share` is the target's part of all inputs,
    `short` the number of its inputs in ``make test``, of those that `is_quick` chooses.
    """

    name: str
    suffix: str
    make: Callable[[Random], Input]
    call: Callable[[Path], object]
    share: float = 1.0
    short: int = 15
    is_quick: Callable[[bytes], bool] = lambda data: True

    def input(self, seed: int, index: int) -> Input:
        """Return one of the target's inputs, the same in every process."""
        return self.make(Random(f"{seed}/{self.name}/{index}"))

    def quick(self, seed: int) -> list[bytes]:
        """Return the inputs of a short run."""
        drawn = (self.input(seed, index).data for index in itertools.count())
        return list(itertools.islice(filter(self.is_quick, drawn), self.short))

    def findings(self) -> list[Path]:
        """Return the files that once failed."""
        return sorted(path for path in (SEEDS / self.name).glob("*") if path.is_file())


def ensure(holds: object, what: str) -> None:
    """Raise what does not hold."""
    if not holds:
        raise BrokenPropertyError(what)


def outcome(target: Target, data: bytes, folder: Path) -> Outcome:
    """Return what comes of an input, in an empty folder, which must be empty again afterwards."""
    file = folder / f"input{target.suffix}"
    file.write_bytes(data)
    home, peak = Path.cwd(), _peak()
    os.chdir(folder)
    try:
        with warnings.catch_warnings(record=True) as caught, _limited(LONGEST):
            warnings.simplefilter("always")
            kind, reason = "accepted", ""
            try:
                target.call(file)
            except AppellError as error:
                kind = "refused"
                ensure(str(error).isprintable(), f"a message of more than one line: {str(error)!r}")
            for one in caught:
                is_own = issubclass(one.category, AppellWarning)
                ensure(
                    not is_own or str(one.message).isprintable(), f"a warning of more than one line: {one.message!r}"
                )
    except BaseException as error:
        kind, reason = "failed", _told(error)
        if isinstance(error, KeyboardInterrupt):
            raise
    finally:
        os.chdir(home)
    loud = [x for x in caught if not issubclass(x.category, QUIET)]
    file.unlink(missing_ok=True)
    left = sorted(path.name for path in folder.iterdir())
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    if kind == "failed":
        return Outcome(kind, reason)
    if loud:
        where = f"{loud[0].filename}:{loud[0].lineno}"
        return Outcome("failed", f"{loud[0].category.__name__}: {loud[0].message} at {where}")
    if left:
        return Outcome("failed", f"files left behind: {', '.join(left)}")
    if _peak() - peak > MOST_MEMORY:
        return Outcome("failed", f"memory: {(_peak() - peak) >> 20} MB more")
    return Outcome(kind)


def _told(error: BaseException) -> str:
    """Return an exception in one line, with the last places in appell and outside."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [x for x in frames if "/appell/" in x.filename][-1:]
    last = [x for x in frames[-1:] if x not in ours]
    where = " < ".join(f"{Path(x.filename).name}:{x.lineno} {x.name}" for x in (*last, *ours))
    return f"{type(error).__name__}: {str(error)[:200]!r} at {where}"


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@contextlib.contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise a HangError after so many seconds, if Python code runs by then; else the parent process ends this one."""

    def late(*_: object) -> None:
        raise HangError(f"still at work after {seconds:g} s")

    former = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, former)
