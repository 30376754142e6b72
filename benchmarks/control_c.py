"""Exported controllers against Pinocchio: a complete computed-torque step of the PUMA 560, one sample at a time.

    python benchmarks/control_c.py [samples]

The C is what ``Tracking.export`` writes, gains and limits of forces included, and a loop in another file calls it once
per sample. Pinocchio's side is `rneaInParallel` with one thread on the same robot, a C++ loop over the same samples,
its time divided by their number: inverse dynamics only, while the control law includes feedback and limits, and
with integral action the anti-windup. All alternate, and the best of many counts. The last column is the largest
difference between the law's torques and Pinocchio's for the same acceleration, clipped to the limits, relative to the
largest torque.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pinocchio as pin
from export_c import FLAGS, Case, built, raced
from rich.console import Console

import appell
from appell.cli.compare import from_model
from appell.control import Tracking, gains, integral_gains
from appell.reports.table import Cell, Table

LIMIT = np.array([97.0, 186.0, 89.0, 24.0, 20.0, 21.0])
NAMES = ["q", "v", "goal_q", "goal_v", "goal_a", "tau"]
ROWS = "q + 6 * i, v + 6 * i, goal_q + 6 * i, goal_v + 6 * i, goal_a + 6 * i"
CALLS = {
    "tracking": (f"arm_tracking({ROWS}, tau + 6 * i)", NAMES),
    "tracking, integral action": (
        f"arm_tracking_with_integral({ROWS}, 1e-3f, memory, tau + 6 * i, memory)",
        [*NAMES, "memory"],
    ),
}


def main() -> None:
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    if not compilers:
        sys.exit("control_c: neither gcc nor clang is installed")
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    robot = appell.load("puma560", friction=False, armature=False)
    model = from_model(pin, robot.model)
    pool, rng = pin.ModelPool(model, 1), np.random.default_rng(0)
    q, v, goal_v, goal_a = (rng.uniform(-2.0, 2.0, (n, 6)) for _ in range(4))
    goal_q = q + rng.uniform(-0.1, 0.1, (n, 6))
    laws = {
        "tracking": Tracking(robot, lambda _: (q[0], v[0], v[0]), *gains(10.0), limit=LIMIT),
        "tracking, integral action": Tracking(
            robot, lambda _: (q[0], v[0], v[0]), *integral_gains(10.0, 1.0, 5.0), limit=LIMIT
        ),
    }
    u = goal_a + 20.0 * (goal_v - v) + 100.0 * (goal_q - q)
    columns = [np.asfortranarray(x.T) for x in (q, v, u)]
    reference = np.empty((6, n), order="F")
    with tempfile.TemporaryDirectory() as folder:
        cases: list[Case] = []
        for compiler in compilers:
            for name, flags in FLAGS.items():
                for kind, (call, names) in CALLS.items():
                    for real, libm in (("double", True), ("double", False), ("float", False)):
                        place = Path(folder, str(len(cases)), "law.c")
                        dtype = np.float64 if real == "double" else np.float32
                        arrays = [x.astype(dtype) for x in (q, v, goal_q, goal_v, goal_a)]
                        arrays += [np.empty((n, 6), dtype), np.zeros(12, dtype)][: len(names) - 5]
                        file = laws[kind].export(place, real=real, libm=libm, prefix="arm")
                        timed = built(file, real, call, names, [compiler, *flags])
                        what = f"{kind}: {compiler} {name}, {real}, {'math.h' if libm else 'own sines'}"
                        cases.append((what, timed, arrays))
        peer, best = raced(lambda: pin.rneaInParallel(1, pool, *columns, reference), cases, n)
    rows: list[tuple[Cell, ...]] = [("rneaInParallel alone", 1e9 * peer / n, 1.0, 0.0)]
    wanted = np.clip(reference.T, -LIMIT, LIMIT)
    for (what, _, arrays), seconds in zip(cases, best, strict=True):
        apart: Cell = float(np.abs(arrays[5] - wanted).max() / np.abs(wanted).max()) if len(arrays) == 6 else "—"
        rows.append((what, 1e9 * seconds / n, peer / seconds, apart))
    names = ("by", "ns/step", "times Pinocchio", "difference")
    Console(width=120).print(Table("PUMA 560, a control step, one at a time, one thread", names, tuple(rows)))


if __name__ == "__main__":
    main()
