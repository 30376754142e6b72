"""Every verb of arms, humanoids and a parallel robot: plain and with `out=`, 1 and 2 threads, float32, compile times.

    python benchmarks/verbs.py [ROBOT ...]

All ways of a call take turns, and the best of many counts [ns per sample]. Compile times are of this process: with an
empty cache folder (cold), and of a second kernel from that folder (cached).
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
ROBOTS: dict[str, tuple[str, bool, int]] = {
    "UR5": (str(FOLDER / "ur_description/urdf/ur5_robot.urdf"), False, 8192),
    "Panda": (str(FOLDER / "panda_description/urdf/panda.urdf"), False, 8192),
    "G1": (str(FOLDER / "g1_description/urdf/g1_29dof_rev_1_0.urdf"), True, 1024),
    "TALOS": (str(FOLDER / "talos_data/robots/talos_reduced.urdf"), True, 1024),
    "Stewart": ("stewart", False, 4096),
}
"""Name → file, whether on a free base, samples."""
VERBS = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "gravity",
    "bias",
    "regressor",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
SECONDS = 1.0


def turns(calls: dict[str, Callable[[], Any]], threads: Callable[[int], int]) -> dict[str, float]:
    """Return the best time of each call [s], all taking turns; a name that begins with 2 has two threads."""
    best = dict.fromkeys(calls, np.inf)
    end, left = time.perf_counter() + SECONDS, 3
    while left > 0 or time.perf_counter() < end:
        left -= 1
        for name, call in calls.items():
            threads(2 if name.startswith("2") else 1)
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def main() -> None:
    os.environ["APPELL_CACHE"] = tempfile.mkdtemp(prefix="appell-bench-")
    import appell  # noqa: PLC0415  # after the cache is set

    columns = ("plain", "out=", "2 threads", "2 threads, out=", "float32, out=")
    print(
        f"{'robot':8} {'verb':30}",
        *(f"{name:>16}" for name in columns),
        f"{'plain/out':>10}{'cold s':>8}{'cached ms':>10}",
    )
    for name in sys.argv[1:] or ROBOTS:
        file, floating, batch = ROBOTS[name]
        options = {"floating": True} if floating else {}
        load = partial(appell.load, file, **options, **({} if name == "Stewart" else {"friction": False}))
        robot, again, rng = load(), load(), np.random.default_rng(0)
        motion = {"q": robot.random(rng, batch)}
        motion |= {x: rng.normal(size=(batch, n)) for x, n in (("v", robot.nv), ("a", robot.nv), ("tau", robot.nu))}
        for verb in VERBS:
            ports = robot.verbs[verb].ports(robot.facts.sizes)[0]
            given = [np.ascontiguousarray(motion[port.name][:, : port.size]) for port in ports]
            narrow, call, marks = [x.astype(np.float32) for x in given], getattr(robot, verb), [time.perf_counter()]
            for one in (robot, again):
                one.kernel(verb)
                marks.append(time.perf_counter())
            out, small = call(*given), call(*narrow)
            plain, into = partial(call, *given), partial(call, *given, out=out)
            ways = (plain, into, plain, into, partial(call, *narrow, out=small))
            best = turns(dict(zip(columns, ways, strict=True)), appell.threads)
            times = (f"{1e9 * best[column] / batch:16.1f}" for column in columns)
            cold, cached = np.diff(marks)
            ratio = best["plain"] / best["out="]
            print(f"{name:8} {verb:30}", *times, f"{ratio:10.2f}{cold:8.2f}{1e3 * cached:10.1f}", flush=True)


if __name__ == "__main__":
    main()
