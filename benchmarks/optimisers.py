"""Inverse dynamics in CasADi and JAX: time to build and to call functions, against appell's native kernel.

    python benchmarks/optimisers.py

One thread and one sample per call, the best of many; CasADi's virtual machine runs 1000 samples in one call.
Pinocchio's CasADi interface is not in its wheels, so there is no peer here.
"""

from __future__ import annotations

import sysconfig
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

import appell

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")


def cases() -> Iterator[tuple[str, appell.Robot]]:
    yield "two-link", appell.load("two-link")
    yield "UR5", appell.load(ROBOTS / "ur_description" / "urdf" / "ur5_robot.urdf")
    yield "Stewart platform", appell.load("stewart")
    for name in ("talos_reduced", "talos_full_v2"):
        file = ROBOTS / "talos_data" / "robots" / f"{name}.urdf"
        if file.is_file():
            yield f"{name}, free base", appell.load(file, floating=True)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def best(call: Callable[[], Any], times: int = 30) -> float:
    return min(timed(call)[0] for _ in range(times))


def main() -> None:
    warnings.simplefilter("ignore", appell.AppellWarning)
    jax.config.update("jax_enable_x64", True)
    appell.threads(1)
    rng = np.random.default_rng(0)
    print("robot                       steps  casadi: made  a sample   jax: compiled  a call   appell: a call")
    for name, robot in cases():
        steps = len(robot.tape("inverse_dynamics").steps)
        count = robot.nu
        sample = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=count)
        made, function = timed(lambda robot=robot: robot.export("inverse_dynamics", to="casadi"))
        many, columns = function.map(1000), [np.tile(x[:, None], 1000) for x in sample]
        called = best(lambda many=many, columns=columns: many(*columns), 5) / 1000
        looped = robot.export("inverse_dynamics", to="jax")
        compiled, run = timed(lambda looped=looped, sample=sample: jax.jit(looped).lower(*sample).compile())
        inner = best(lambda run=run, sample=sample: jax.block_until_ready(run(*sample)))
        own = best(lambda robot=robot, sample=sample: robot.inverse_dynamics(*sample), 200)
        print(
            f"{name:<26} {steps:6}  {made:9.2f} s  {called * 1e6:6.1f} µs  {compiled:11.2f} s  {inner * 1e6:5.0f} µs"
            f"  {own * 1e6:8.1f} µs",
            flush=True,
        )


if __name__ == "__main__":
    main()
