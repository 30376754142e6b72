"""Exported C against Pinocchio: inverse dynamics of the UR5, one sample at a time.

    python benchmarks/export_c.py [samples]

The C is what ``robot.export`` writes, in a file of its own, and a loop in another file calls it once per sample: a
compiler cannot vectorise that across samples. Pinocchio's side is `rneaInParallel` with one thread, a C++ loop over the
same samples, its time divided by their number. Both alternate, and the best of many counts. The last column is the
greatest difference, relative to the greatest torque.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from rich.console import Console

import appell
from appell.reports.table import Cell, Table

UR5 = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots").joinpath(
    "ur_description", "urdf", "ur5_robot.urdf"
)
Case = tuple[str, Any, list[NDArray[Any]]]
"""What it is, its timed loop, and the arrays of it."""
REPEATS = 200
LOOP = """#define _POSIX_C_SOURCE 199309L
#include "{stem}.h"
#include <time.h>

double timed(long n, {arguments})
{{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (long i = 0; i < n; i++)
        {call};
    clock_gettime(CLOCK_MONOTONIC, &after);
    return (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}}
"""
CALL = "ur5_inverse_dynamics(q + i * UR5_NQ, v + i * UR5_NV, a + i * UR5_NV, tau + i * UR5_NV)"
FLAGS = {"-O2": ["-O2"], "-O3 -march=native": ["-O3", "-march=native"]}


def built(file: Path, real: str, call: str, names: list[str], command: list[str]) -> Any:
    """Return the timed loop around a call of an exported function, compiled; the names are its arrays'."""
    loop, library = file.with_name("loop.c"), file.with_suffix(".so")
    arguments = ", ".join(f"{real} *{name}" for name in names)
    loop.write_text(LOOP.format(stem=file.stem, arguments=arguments, call=call))
    always = ["-std=c99", "-fPIC", "-shared", str(file), str(loop), "-o", str(library), "-lm"]
    subprocess.run([*command, *always], check=True)
    timed = ctypes.CDLL(str(library)).timed
    timed.restype = ctypes.c_double
    timed.argtypes = [ctypes.c_long, *[ctypes.c_void_p] * len(names)]
    return timed


def raced(peer: Callable[[], object], cases: list[Case], n: int) -> tuple[float, list[float]]:
    """Return the best times of a peer and of each case on n samples [s]; they take turns."""
    first, best = float("inf"), [float("inf")] * len(cases)
    for _ in range(REPEATS):
        start = time.perf_counter()
        peer()
        first = min(first, time.perf_counter() - start)
        for k, (_, timed, arrays) in enumerate(cases):
            best[k] = min(best[k], timed(n, *(x.ctypes.data for x in arrays)))
    return first, best


def main() -> None:
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    if not compilers:
        sys.exit("export_c: neither gcc nor clang is installed")
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    robot = appell.load(str(UR5), friction=False, armature=False)
    model = pin.buildModelFromUrdf(str(UR5))
    pool = pin.ModelPool(model, 1)
    rng = np.random.default_rng(0)
    q, v, a = (rng.uniform(-3.0, 3.0, (n, 6)) for _ in range(3))
    columns = [np.asfortranarray(x.T) for x in (q, v, a)]
    reference = np.empty((6, n), order="F")
    with tempfile.TemporaryDirectory() as folder:
        cases: list[Case] = []
        for compiler in compilers:
            for name, flags in FLAGS.items():
                for real, libm in (("double", True), ("double", False), ("float", True), ("float", False)):
                    place = Path(folder, str(len(cases)))
                    dtype = np.float64 if real == "double" else np.float32
                    arrays = [x.astype(dtype) for x in (q, v, a)] + [np.empty((n, 6), dtype)]
                    what = f"{compiler} {name}, {real}, {'math.h' if libm else 'own sines'}"
                    file = robot.export("inverse_dynamics", path=place / "ur5.c", real=real, libm=libm, prefix="ur5")
                    timed = built(file, real, CALL, ["q", "v", "a", "tau"], [compiler, *flags])
                    cases.append((what, timed, arrays))
        peer, best = raced(lambda: pin.rneaInParallel(1, pool, *columns, reference), cases, n)
    rows: list[tuple[Cell, ...]] = [("rneaInParallel", 1e9 * peer / n, 1.0, 0.0)]
    for (what, _, arrays), seconds in zip(cases, best, strict=True):
        apart = float(np.abs(arrays[3] - reference.T).max() / np.abs(reference).max())
        rows.append((what, 1e9 * seconds / n, peer / seconds, apart))
    names = ("by", "ns/sample", "times Pinocchio", "difference")
    Console(width=110).print(Table("UR5 inverse dynamics, one sample at a time, one thread", names, tuple(rows)))


if __name__ == "__main__":
    main()
