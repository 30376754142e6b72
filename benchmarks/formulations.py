"""The papers' formulations on the PUMA 560, in batches of native code, one thread: time and operations per sample.

    python benchmarks/formulations.py [samples]

Each formulation runs on the frames of the robot's file; "compiled" is the default program. All
results of a verb must agree before they are timed. Pinocchio's C++ batch calls are timed in the same run.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from rich.console import Console

import appell
from appell.reports.table import Cell, Table

VERBS = {"inverse_dynamics": "qva", "mass_matrix": "q", "forward_dynamics": "qvt"}
PEERS = {"inverse_dynamics": pin.rneaInParallel, "forward_dynamics": pin.abaInParallel}


def best(call: Callable[[], Any], repeats: int = 40) -> float:
    """Return the least time of a call [s]."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main(samples: int) -> Table:
    appell.threads(1)
    robot = appell.load("puma560", friction=False, armature=False)
    rng = np.random.default_rng(560)
    arrays = dict(zip("qvat", rng.normal(size=(4, samples, robot.nv)), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "puma560.urdf")
        robot.save(path)
        pool = pin.ModelPool(pin.buildModelFromUrdf(str(path)), 1)
    rows: list[tuple[Cell, ...]] = []
    for verb, letters in VERBS.items():
        call, given = getattr(robot, verb), [arrays[letter] for letter in letters]
        plain = call(*given)
        out = np.empty_like(plain)
        for name in (*robot.formulations(verb), None):
            found = call(*given, formulation=name) if name else plain
            assert np.abs(found - plain).max() <= 1e-9 * np.abs(plain).max(), (verb, name)
            spent = best(lambda call=call, given=given, name=name, out=out: call(*given, out=out, formulation=name))  # type: ignore[misc]
            count = robot.operations(verb, name)
            rows.append((verb, name or f"compiled ({count.formulation})", str(count), 1e9 * spent / samples))
        if verb in PEERS:
            theirs = [np.asfortranarray(array.T) for array in given]
            spent = best(lambda verb=verb, theirs=theirs: PEERS[verb](1, pool, *theirs))  # type: ignore[misc]
            rows.append((verb, "Pinocchio", None, 1e9 * spent / samples))
    return Table(f"PUMA 560, {samples} samples", ("verb", "formulation", "operations", "ns per sample"), tuple(rows))


if __name__ == "__main__":
    Console().print(main(int(sys.argv[1]) if len(sys.argv) > 1 else 8192))
