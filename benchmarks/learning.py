"""Gradients of a UR5's forward dynamics: PyTorch and JAX on native kernels against the function exported to JAX.

    python benchmarks/learning.py [SAMPLES]

Everything runs on one core. All variants alternate, and the best of many counts [ms per batch, ns per sample]; the
numbers are compared first. "forward" is the accelerations, "backward" the gradient of half their squares by q, v and τ,
with the accelerations of before where a framework keeps them (PyTorch), from the arguments where it does not (JAX).
"exported" is the gradient that JAX makes of the exported accelerations, "exported product" the exported vector–Jacobian
product.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import jax
import numpy as np
import torch

import appell
from appell.interop import jax as in_jax
from appell.interop import torch as in_torch

FILE = Path(
    sysconfig.get_path("purelib"), "cmeel.prefix", "share/example-robot-data/robots/ur_description/urdf/ur5_robot.urdf"
)
TURNS, SECONDS = 200, 10.0
"""How often each way is taken, or for how long."""


def best(ways: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the shortest time of each way, in turns."""
    found, spent = dict.fromkeys(ways, float("inf")), dict.fromkeys(ways, 0.0)
    for _ in range(TURNS):
        for name, way in ways.items():
            if spent[name] < SECONDS:
                start = time.perf_counter()
                way()
                elapsed = time.perf_counter() - start
                found[name], spent[name] = min(found[name], elapsed), spent[name] + elapsed
    return found


def main(samples: int) -> None:
    appell.threads(1)
    torch.set_num_threads(1)
    jax.config.update("jax_enable_x64", True)
    robot, rng = appell.load(FILE), np.random.default_rng(0)
    given = robot.random(rng, samples), *rng.normal(size=(2, samples, robot.nv))
    arrays = [jax.numpy.asarray(x) for x in given]
    tensors = [torch.tensor(x, requires_grad=True) for x in given]
    pure = robot.export("forward_dynamics", to="jax")

    def native(*x: Any) -> Any:
        return in_jax.forward_dynamics(robot, *x)

    def gradient(function: Callable[..., Any]) -> Any:
        return jax.jit(jax.grad(lambda *x: 0.5 * (function(*x) ** 2).sum(), argnums=(0, 1, 2)))

    product = robot.export("forward_dynamics_vjp", to="jax")
    forwards = {"exported": jax.jit(pure), "JAX": jax.jit(native)}
    gradients = {
        "exported": gradient(pure),
        "exported product": jax.jit(lambda *x: product(*x, pure(*x))),
        "JAX": gradient(native),
    }
    a = in_torch.forward_dynamics(robot, *tensors)

    def backward() -> Any:
        return torch.autograd.grad(a, tensors, a.detach(), retain_graph=True)

    expected, slopes = (
        np.asarray(forwards["exported"](*arrays)),
        [np.asarray(x) for x in gradients["exported"](*arrays)],
    )
    ours = {"JAX": (forwards["JAX"](*arrays), gradients["JAX"](*arrays)), "PyTorch": (a.detach(), backward())}
    for name, (found, by) in ours.items():
        pairs = zip((found, *by), (expected, *slopes), strict=True)
        apart = [np.abs(np.asarray(x) - y).max() / np.abs(y).max() for x, y in pairs]
        print(f"{name:9} apart from the exported function by {max(apart):.1e} of the largest number")

    for what, ways in {
        "forward": {
            **{name: lambda f=f: jax.block_until_ready(f(*arrays)) for name, f in forwards.items()},
            "PyTorch": lambda: in_torch.forward_dynamics(robot, *tensors),
        },
        "backward": {
            **{name: lambda f=f: jax.block_until_ready(f(*arrays)) for name, f in gradients.items()},
            "PyTorch": backward,
        },
    }.items():
        for name, seconds in (times := best(ways)).items():
            ratio = f"{times['exported'] / seconds:8.1f}×"
            print(f"{what:9} {name:17} {1e3 * seconds:9.3f} ms {1e9 * seconds / samples:10.1f} ns {ratio}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8192)
