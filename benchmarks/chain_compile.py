"""Random arms of many joints: time to trace and compile inverse dynamics, and comparison with Pinocchio.

    python benchmarks/chain_compile.py [n ...]

The cache is off; one line per robot; the last column is the largest difference relative to the largest torque.
"""

from __future__ import annotations

import os
import sys
import time

os.environ["APPELL_CACHE"] = "off"

import numpy as np
from rich.console import Console

import appell
from appell.cli.compare import from_model, pinocchio
from appell.reports.table import Cell, Table

SAMPLES = 64


def measured(n: int) -> tuple[Cell, ...]:
    rng = np.random.default_rng(n)
    robot = appell.random_chain(n, rng)
    start = time.perf_counter()
    robot.kernel("inverse_dynamics")
    seconds = time.perf_counter() - start
    q, v, a = rng.normal(size=(3, SAMPLES, n))
    ours = robot.inverse_dynamics(q, v, a)
    pin = pinocchio()
    if pin is None:
        return n, str(robot.operations("inverse_dynamics")), seconds, None
    model = from_model(pin, robot.model)
    data = model.createData()
    theirs = np.array([pin.rnea(model, data, *state) for state in zip(q, v, a, strict=True)])
    difference = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    return n, str(robot.operations("inverse_dynamics")), seconds, difference


def main() -> None:
    joints = [int(text) for text in sys.argv[1:]] or [6, 20, 50, 100]
    rows = tuple(measured(n) for n in joints)
    columns = ("joints", "operations", "trace and compile [s]", "difference to Pinocchio")
    Console().print(Table("Inverse dynamics of random arms", columns, rows))


if __name__ == "__main__":
    main()
