"""Loads, calls, compiles, simulations, rollouts and exports in a loop: memory and memory mappings stay constant.

Run by ``make soak`` for ten minutes and by tests/faults/test_soak.py for seconds. Every round uses robots that no round
before has used, so that code which is not freed accumulates. Prints a table; the exit code is 1 where something grew.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

import appell
from appell.kernels.runtime import cache

ROUNDS_BEFORE = 9
"""Rounds before the first measurement: until then the allocator's pools and the kept memory of results grow."""
LEAST = 4
"""Measured rounds, however short the time."""
SHOWN = 24
"""Rows of the table."""


class Sizes(NamedTuple):
    """What a process holds."""

    resident: float
    """Resident memory [MiB]."""
    mappings: int
    descriptors: int


ALLOWED = Sizes(0.01, 4, 0)
"""Growth that is no leak: of resident memory relative to its size, for the allocator does not return every page."""


def sizes() -> Sizes:
    """Return what this process holds once garbage is collected."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # of another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    mappings = len(Path("/proc/self/maps").read_bytes().splitlines())
    return Sizes(resident, mappings, len(list(Path("/proc/self/fd").iterdir())))


def growth(rows: Sequence[Sizes]) -> Sizes:
    """Return the medians of the last third of rows less those of the first, of memory relative to its size."""
    third = max(len(rows) // 3, 1)
    first, last = ([median(column) for column in zip(*part, strict=True)] for part in (rows[:third], rows[-third:]))
    return Sizes(last[0] / first[0] - 1.0, int(last[1] - first[1]), int(last[2] - first[2]))


Activity = Callable[[int, Path], None]


def fresh(number: int, name: str = "two-link") -> appell.Robot:
    """Return a robot whose programs no round before has compiled."""
    return appell.load(name, gravity=(0.0, 0.0, -9.81 - 1e-6 * number))


def loads(number: int, folder: Path) -> None:
    """Load robots of several kinds and a saved file, and refuse one that does not exist."""
    for name in ("two-link", "puma560", "agile-wrist"):
        appell.load(name)
    appell.load(fresh(0).save(folder / "arm.urdf"), floating=True)
    with contextlib.suppress(appell.AppellError):
        appell.load(folder / "no such file.urdf")


def calls(number: int, folder: Path) -> None:
    """Call verbs with one sample, batches, both precisions, several threads, and arguments that are refused."""
    robot = appell.load("two-link")
    q, rows = np.full(2, 0.1), np.full((20_000, 2), 0.1)
    for _ in range(2000):
        robot.gravity(q)
        robot.inverse_dynamics_derivatives(q, q, q)
    robot.inverse_dynamics(rows, q, q)
    robot.inverse_dynamics(rows.astype(np.float32), *[q.astype(np.float32)] * 2)
    robot.gravity(q, out=np.empty(2))
    for _ in range(200):
        with contextlib.suppress(appell.AppellError):
            robot.inverse_dynamics(q[:1], q, q)
    pickle.loads(pickle.dumps(robot)).gravity(q)


def compiles(number: int, folder: Path) -> None:
    """Compile new programs, parametric and single-precision ones too, and read them from the cache again."""
    q = np.full(2, 0.1)
    for _ in range(2):
        robot = fresh(number)
        robot.inverse_dynamics(q, q, q, parameters=robot.parameters)
        robot.forward_dynamics(*[q.astype(np.float32)] * 3)


def simulations(number: int, folder: Path) -> None:
    """Simulate a motion under a control law, and save, load and plot it."""
    robot = fresh(number)
    law = appell.control.PointToPoint(robot, [0.5, 0.0], 9.0, 6.0)
    run = appell.simulate(robot, [0.1, 0.2], [0.0, 0.0], 0.02, control=law)
    appell.Run.load(run.save(folder / "run.npz"))
    if number % 8 == 0:
        run.plot(folder / "run.png")


def rollouts(number: int, folder: Path) -> None:
    """Roll out a new robot."""
    appell.rollout(fresh(number), np.zeros((8, 2)), np.zeros((8, 2)), np.zeros((8, 50, 2)), 1e-3)


def exports(number: int, folder: Path) -> None:
    """Export C and Python, and clear the cache of the round."""
    robot = fresh(number)
    robot.export("gravity", path=folder / "arm.c")
    robot.export("gravity", to="jax", path=folder / "arm.py")
    cache.clear()


ACTIVITIES: Mapping[str, Activity] = {
    function.__name__: function for function in (loads, calls, compiles, simulations, rollouts, exports)
}


def soak(seconds: float, activities: Mapping[str, Activity] = ACTIVITIES) -> list[Sizes]:
    """Repeat the activities for a time; return what the process held after each round, those of the start left out."""
    rows: list[Sizes] = []
    with tempfile.TemporaryDirectory() as place:
        os.environ["APPELL_CACHE"] = f"{place}/cache"
        start, number = time.perf_counter(), 0
        while time.perf_counter() - start < seconds or len(rows) < LEAST:
            number += 1
            for activity in activities.values():
                if number % 4 == 0 or number > ROUNDS_BEFORE:
                    activity(number, Path(place))
            if number > ROUNDS_BEFORE:
                rows.append(sizes())
    return rows


def table(rows: Sequence[Sizes], grown: Sizes) -> Table:
    """Return rows and growth as a table."""
    made = Table("round", "resident [MiB]", "mappings", "descriptors", title="What the process holds")
    step = max(-(-len(rows) // SHOWN), 1)
    for k, row in list(enumerate(rows, 1))[::-step][::-1]:  # the last one among them
        made.add_row(str(k), f"{row.resident:.1f}", str(row.mappings), str(row.descriptors))
    made.add_section()
    made.add_row("growth", f"{100.0 * grown.resident:+.2f} %", f"{grown.mappings:+d}", f"{grown.descriptors:+d}")
    made.add_row("allowed", f"{100.0 * ALLOWED.resident:+.2f} %", f"{ALLOWED.mappings:+d}", f"{ALLOWED.descriptors:+d}")
    return made


def main(arguments: Sequence[str] | None = None, activities: Mapping[str, Activity] = ACTIVITIES) -> int:
    """Run for a time, print the table and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    rows = soak(parser.parse_args(arguments).seconds, activities)
    grown = growth(rows)
    Console().print(table(rows, grown))
    return int(any(found > allowed for found, allowed in zip(grown, ALLOWED, strict=True)))


if __name__ == "__main__":
    sys.exit(main())
