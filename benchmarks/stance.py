"""Legged robots in stance, one thread, a batch of 8192 against `pinocchio.constraintDynamics`, in one run.

Pinocchio's C++ is called from Python once per sample (the call itself costs about a microsecond). Accelerations and
contact forces are compared first. Then both sides alternate, and the best of many repeats counts.

    .venv/bin/python -m benchmarks.stance [anymal go2 talos]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import appell
from tests.support.stances import STANCES, Peer, standing, tree_forces

BATCH, TURNS, CALLS = 8192, 60, 40


def seconds(call: Callable[[], Any], samples: int) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) / samples


def measure(name: str) -> None:
    stance = STANCES[name]
    start = time.perf_counter()
    robot = standing(stance)
    held = time.perf_counter() - start
    rng = np.random.default_rng(0)
    q = np.tile(robot.random(rng, 64), (BATCH // 64, 1))
    v, tau = rng.normal(size=(BATCH, robot.nv)), 10.0 * rng.normal(size=(BATCH, robot.nu))
    a = rng.normal(size=(BATCH, len(robot.driven)))
    whole, forces = robot.tree_velocity(q, v), tree_forces(robot, tau)
    peer = Peer(stance, robot)

    theirs = [(q[i][peer.to_q], whole[i][peer.to_v], forces[i][peer.to_v]) for i in range(CALLS)]

    def constrained() -> None:
        for state in theirs:
            peer.solve(*state)

    calls: dict[str, tuple[Callable[[], Any], int]] = {
        "pin.constraintDynamics": (constrained, CALLS),
        "forward dynamics": (lambda: robot.forward_dynamics(q, v, tau), BATCH),
        "contact forces": (lambda: robot.contact_forces(q, v, tau), BATCH),
        "inverse dynamics": (lambda: robot.inverse_dynamics(q, v, a), BATCH),
    }
    made = {}
    for what, (call, _) in calls.items():
        made[what] = seconds(call, 1)
    apart = [0.0, 0.0]
    for i in range(64):
        expected = peer.accelerations(q[i], whole[i], forces[i])
        ours = robot.tree_acceleration(q[i], v[i], robot.forward_dynamics(q[i], v[i], tau[i]))
        pairs = (ours, expected), (robot.contact_forces(q[i], v[i], tau[i]), peer.wrenches(q[i]))
        apart = [max(x, float(np.abs(a - b).max() / np.abs(b).max())) for x, (a, b) in zip(apart, pairs, strict=True)]
    best = dict.fromkeys(calls, np.inf)
    for _ in range(TURNS):
        for what, (call, samples) in calls.items():
            best[what] = min(best[what], seconds(call, samples))
    bar = best["pin.constraintDynamics"]
    print(f"{name}: nv {robot.nv} of {robot.model.nv}, {robot.nu} motors, held in {held:.1f} s; accelerations apart by")
    print(f"  {apart[0]:.1e}, contact forces by {apart[1]:.1e}")
    for what, took in best.items():
        print(f"  {what:24} {1e9 * took:8.0f} ns per sample   {bar / took:6.1f} ×   first call {made[what]:.2f} s")


def main() -> None:
    appell.threads(1)
    for name in sys.argv[1:] or list(STANCES):
        measure(name)


if __name__ == "__main__":
    main()
