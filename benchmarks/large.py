"""Large robots with floating base against Pinocchio: TALOS (50 velocities) and Unitree G1, batch 4096, one thread.

Both alternate, the best of many counts. Compile times are with an empty cache, in this process.
"""

from __future__ import annotations

import os
import sysconfig
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pinocchio as pin

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
FILES = {
    "TALOS": ROBOTS / "talos_data" / "robots" / "talos_full_v2.urdf",
    "G1": ROBOTS / "g1_description" / "urdf" / "g1_29dof_rev_1_0.urdf",
}
BATCH, SECONDS = 4096, 6.0


def turns(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the best time of each call, all taking turns."""
    best = dict.fromkeys(calls, np.inf)
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def main() -> None:
    os.environ["APPELL_CACHE"] = tempfile.mkdtemp(prefix="appell-bench-")
    import appell  # noqa: PLC0415  # after the cache is set

    appell.threads(1)
    print(
        f"{'robot':8}{'verb':18}{'appell':>10}{'Pinocchio':>12}{'ratio':>8}{'compile':>10}{'cached':>10}{'difference':>12}"
    )
    for name, file in FILES.items():
        robot = appell.load(file, floating=True, friction=False, armature=False)
        model = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
        model.armature[:] = 0.0
        rng = np.random.default_rng(0)
        q, v, x = robot.random(rng, BATCH), *rng.normal(size=(2, BATCH, robot.nv))
        theirs = [joint for joint in model.names if joint in robot.joint_names[1:]]
        order = np.array([robot.joint_names.index(joint) - 1 for joint in theirs])
        at_q, at_v = np.r_[:7, 7 + order], np.r_[:6, 6 + order]
        pool = pin.ModelPool(model, 1)
        columns = [np.asfortranarray(a.T) for a in (q[:, at_q], v[:, at_v], x[:, at_v])]
        result = np.empty((model.nv, BATCH), order="F")
        for verb, peer in (("inverse_dynamics", pin.rneaInParallel), ("forward_dynamics", pin.abaInParallel)):
            start = time.perf_counter()
            robot.kernel(verb)
            cold = time.perf_counter() - start
            again = appell.load(file, floating=True, friction=False, armature=False)
            start = time.perf_counter()
            again.kernel(verb)
            cached = time.perf_counter() - start
            call = getattr(robot, verb)
            out = call(q, v, x)
            best = turns({"appell": partial(call, q, v, x, out=out), "pin": partial(peer, 1, pool, *columns, result)})
            difference = np.abs(out[:, at_v] - result.T).max() / np.abs(result).max()
            ours, theirs_time = (1e9 * best[k] / BATCH for k in ("appell", "pin"))
            print(
                f"{name:8}{verb:18}{ours:8.0f} ns{theirs_time:9.0f} ns{theirs_time / ours:8.1f}"
                f"{cold:8.2f} s{1e3 * cached:7.0f} ms{difference:12.1e}"
            )


if __name__ == "__main__":
    main()
