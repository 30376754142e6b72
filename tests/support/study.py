"""Functions of studies that other processes import, and a driver to be killed."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import appell

CASES = 40


def noted(k: int, folder: str, rng: np.random.Generator) -> dict[str, object]:
    """A slow case that leaves a line in a file each time it runs; case 20 kills its process where a file "trap" is."""
    trap = Path(folder, "trap")
    if k == 20 and trap.exists():
        trap.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    with Path(folder, "calls.txt").open("a") as file:
        file.write(f"{k}\n")
    time.sleep(0.02)
    return {"square": k * k, "draw": rng.normal(size=3)}


def calls(folder: str | os.PathLike[str]) -> list[int]:
    return [int(line) for line in Path(folder, "calls.txt").read_text().split()]


def study(folder: str | os.PathLike[str], **options: object) -> appell.Study:
    space = appell.space.grid(k=range(CASES), folder=[str(folder)])
    return appell.sweep(noted, space, checkpoint=Path(folder, "checkpoint"), **options)  # type: ignore[arg-type]


def deadly(k: int, folder: str) -> dict[str, int]:
    """Case 3 kills its worker each time, case 5 once."""
    mark = Path(folder, "died")
    if k == 3 or (k == 5 and not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"k": k}


def asleep(k: int, folder: str) -> dict[str, int]:
    """A long case that leaves a file with the number of its process."""
    Path(folder, str(os.getpid())).touch()
    time.sleep(60.0)
    return {"k": k}


def is_running(process: int) -> bool:
    """Return whether a process runs; one that ended and was not waited for does not."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (ProcessLookupError, FileNotFoundError):
        return False


def within(seconds: float, ask: Callable[[], Any], is_enough: Callable[[Any], bool]) -> Any:
    """Return an answer as soon as it is enough, or the one after some seconds."""
    end = time.monotonic() + seconds
    while not is_enough(answer := ask()) and time.monotonic() < end:
        time.sleep(0.05)
    return answer


if __name__ == "__main__":
    study(sys.argv[1], engine="threads", workers=2)
