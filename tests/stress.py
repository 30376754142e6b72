"""Everything that is made on first use, made by many threads at once: no fault, no wrong number, no lost warning.

Every round is a new process with an empty cache, every second one with the cache of the round before. Its threads
share robots, begin together, and each works through all tasks in an order of its own: loads, verbs in both precisions
and of several sizes, with and without `out=`, rollouts and their gradients, inverse kinematics, closed robots at
singularities, singular mass matrices, long chains, simulations and files. Each result is compared with that of one
thread, and the warnings are counted. Run by tests/faults/test_stress.py; longer::

    .venv/bin/python -m tests.stress --minutes 20 --threads 8
"""

from __future__ import annotations

import argparse
import collections
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import appell
from appell.errors import AppellWarning
from appell.simulation.rollout.adjoint import rollout_gradients
from tests.support.closed import stretched

Task = Callable[[], Any]
TIMEOUT = 600.0
"""Seconds of a round; a round of 8 threads takes ten to twenty on two cores."""
CART = """<robot name="cart"><link name="base"/><link name="slider"/><link name="pole"><inertial><mass value="1"/>
<origin xyz="0 0 0.5"/><inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="base"/><child link="slider"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint><joint name="hinge" type="continuous">
<parent link="slider"/><child link="pole"/><axis xyz="0 1 0"/></joint></robot>"""


class Shared:
    """The robots that all threads use, and what they are called with."""

    def __init__(self, folder: Path) -> None:
        self.folder, rng = folder, np.random.default_rng(0)
        (folder / "cart.urdf").write_text(CART, encoding="utf-8")
        self.arm = appell.load("puma560")
        self.chain = appell.random_chain(100, rng)
        self.cart = appell.load(folder / "cart.urdf", floating=True)
        self.five = appell.load("five-bar")
        self.passive = self.five.with_independent(["mot1", "free1"])
        self.wrist = appell.load("agile-wrist")
        self.stretched = stretched(self.five, 0.0)
        self.state = [rng.normal(size=(70_000, 6)) for _ in range(3)]
        self.long = [rng.normal(size=(20, 100)) for _ in range(3)]


def tasks(at: Shared) -> Mapping[str, Task]:
    """Return the tasks by name; those at singularities warn, every time."""
    arm, five, passive, cart = at.arm, at.five, at.passive, at.cart
    found: dict[str, Task] = {}
    for rows in (1, 9, 5000, 70_000):
        for kind in (np.float64, np.float32):
            state = [x[:rows].astype(kind) for x in at.state]
            for verb in ("inverse_dynamics", "forward_dynamics"):
                call = partial(getattr(arm, verb), *state)
                found[f"{verb} {rows} {kind.__name__}"] = call
                found[f"{verb} {rows} {kind.__name__} out"] = partial(_into, call, state[0])
    q, v, a = (x[0] for x in at.state)
    still, push, bent = np.zeros((1, 2)), np.ones((1, 2)), [0.1, 0.5, -0.5, 0.2, 0.3, 0.1]
    low = [np.full((40, *n, 6), 0.1, np.float32) for n in ((), (), (30,))]
    found |= {
        "mass matrix": lambda: arm.mass_matrix(at.state[0][:5000]),
        "derivatives": lambda: np.concatenate(arm.inverse_dynamics_derivatives(q, v, a), axis=-1),
        "parameters": lambda: arm.inverse_dynamics(q, v, a, parameters=arm.parameters),
        "formulation": lambda: arm.inverse_dynamics(q, v, a, formulation="newton-euler"),
        "base regressor": lambda: arm.regressor(q, v, a, base=True) @ arm.base_parameters,
        "pose": lambda: arm.pose(at.state[0][:9], "link6"),
        "chain": lambda: at.chain.forward_dynamics(*at.long),
        "chain float32": lambda: at.chain.inverse_dynamics(*(x.astype(np.float32) for x in at.long)),
        "wrist": lambda: at.wrist.inverse_dynamics(at.wrist.neutral(), [0.1] * 3, [0.2] * 3),
        "load": lambda: appell.load("stanford").gravity([0.1] * 6),
        "load closed": lambda: appell.load("four-bar").mass_matrix(appell.load("four-bar").neutral()),
        "load held": lambda: arm.held({"link6": 3}, at=bent).gravity(bent),
        "pickle": lambda: pickle.loads(pickle.dumps(arm)).gravity(q),
        "rollout": lambda: appell.rollout(arm, at.state[0][:40], np.zeros((40, 6)), np.zeros((40, 30, 6)), 1e-3).q,
        "rollout float32": lambda: appell.rollout(arm, low[0], low[1], low[2], 1e-3).v,
        "rollout law": lambda: (
            appell.rollout(
                arm,
                at.state[0][:9],
                np.zeros((9, 6)),
                None,
                1e-3,
                steps=20,
                control=appell.control.PointToPoint(arm, [0.1] * 6, 9.0, 6.0),
            ).q
        ),
        "rollout gradient": lambda: _gradient(arm),
        "inverse kinematics": lambda: appell.inverse_kinematics(arm, arm.pose([0.3] * 6, "link6"), "link6").q,
        "simulate": lambda: _simulated(at),
        "torques at a singularity": lambda: passive.inverse_dynamics(at.stretched[None], still, push),
        "derivatives at a singularity": lambda: passive.inverse_dynamics_derivatives(at.stretched[None], still, push)[
            2
        ],
        "coordinates at a singularity": lambda: five.mass_matrix(at.stretched),
        "closed": lambda: five.forward_dynamics(five.neutral(), [0.1, 0.2], [0.3, 0.4]),
        "integrate": lambda: five.integrate(five.neutral(), [0.1, -0.1]),
        "near": lambda: five.with_independent(near=at.stretched).mass_matrix(at.stretched),
        "singular mass": lambda: cart.forward_dynamics(cart.neutral(), np.zeros(cart.nv), np.ones(cart.nv)) * 0.0,
        "threads": lambda: appell.threads(1 + appell.threads() % 3) * 0,
    }
    return found


def _into(call: Callable[..., Any], like: Any) -> Any:
    return call(out=np.empty_like(like))


def _gradient(arm: appell.Robot) -> Any:
    q, tau = np.full((4, 11, 6), 0.1), np.zeros((4, 10, 6))
    path = appell.rollout(arm, q[:, 0], 0.0 * q[:, 0], tau, 1e-3)
    return rollout_gradients(arm, "rk4", 1e-3, (path.q, path.v), tau, None, (np.ones_like(q), np.ones_like(q))).q0


def _simulated(at: Shared) -> Any:
    law = appell.control.PointToPoint(at.arm, [0.1] * 6, 9.0, 6.0)
    run = appell.simulate(at.arm, [0.2] * 6, [0.0] * 6, 0.02, control=law)
    path = at.folder / f"{threading.get_ident()}.npz"
    return appell.Run.load(run.save(path)).q[-1]


WARNED = {"torques at", "derivatives at", "coordinates at", "singular mass"}
"""The tasks that warn, by the beginning of their names."""


def warns(name: str) -> bool:
    """Return whether a task warns every time."""
    return any(name.startswith(one) for one in WARNED)


def play(seed: int, threads: int, folder: Path) -> list[str]:
    """Run all tasks in every thread; return what went wrong."""
    at, rng = Shared(folder), np.random.default_rng(seed)
    known = tasks(at)
    orders = [rng.permutation(sorted(known)).tolist() for _ in range(threads)]
    barrier, results = threading.Barrier(threads), list[tuple[str, Any]]()

    def work(order: list[str]) -> None:
        barrier.wait()
        for name in order:
            results.append((name, np.array(known[name]())))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, orders))
    faults = _miscounted(caught, threads)
    appell.threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AppellWarning)
        alone = {name: np.array(task()) for name, task in tasks(Shared(folder)).items()}
    for name, found in results:
        within = 2e-3 if found.dtype == np.float32 else 1e-8
        size = np.abs(alone[name]).max(initial=0.0)
        is_compared = not warns(name) or "coordinates" in name
        if found.dtype != alone[name].dtype or found.shape != alone[name].shape:
            faults.append(f"{name}: {found.dtype} {found.shape}")
        elif is_compared and not np.allclose(found, alone[name], rtol=0.0, atol=within * size):
            faults.append(f"{name}: {np.abs(found - alone[name]).max() / size:.1e} apart")
    return faults


def _miscounted(caught: Sequence[warnings.WarningMessage], threads: int) -> list[str]:
    """Return the warnings of which there are not as many as threads, and those that nobody expects."""
    wanted = {
        "actuation singularity": 2 * threads,
        "singularity of the loops": threads,
        "singular mass matrix": threads,
        "no rigid body has such an inertia": 2 * threads,  # of two links, when a run is loaded
    }
    counts = collections.Counter(
        next((part for part in wanted if part in str(one.message)), f"unexpected: {one.message}") for one in caught
    )
    texts = {str(one.message) for one in caught if "singular mass" in str(one.message)}
    faults = [
        f"{counts[part]} of {count} warnings of {part}" for part, count in wanted.items() if counts[part] != count
    ]
    faults += [part for part in counts if part not in wanted]
    return faults + ([f"{len(texts)} texts of one singular mass matrix"] if len(texts) > 1 else [])


def rounds(minutes: float, threads: int, *, least: int = 2) -> tuple[int, list[str]]:
    """Play rounds for a time, each in a new process; return how many, and what went wrong."""
    end, number, faults = time.monotonic() + 60.0 * minutes, 0, list[str]()
    with tempfile.TemporaryDirectory() as place:
        while time.monotonic() < end or number < least:
            environment = {**os.environ, "APPELL_CACHE": f"{place}/cache{number // 2}"}
            command = [sys.executable, "-X", "faulthandler", "-m", "tests.stress", "--play", str(number)]
            command += ["--threads", str(threads)]
            try:
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT
                )
                if done.returncode or done.stdout.strip():
                    faults.append(f"round {number}: exit code {done.returncode}: {done.stdout}{done.stderr[-2000:]}")
            except subprocess.TimeoutExpired as late:
                faults.append(f"round {number}: {late}")
            number += 1
    return number, faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Play for a time and print what went wrong; the exit code is 1 if anything did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--play", type=int, help=argparse.SUPPRESS)  # one round, in this process
    given = parser.parse_args(arguments)
    if given.play is not None:
        with tempfile.TemporaryDirectory() as place:
            faults = play(given.play, given.threads, Path(place))
    else:
        number, faults = rounds(given.minutes, given.threads)
        sys.stdout.write(f"{number} rounds of {given.threads} threads, {len(faults)} with a fault\n")
    sys.stdout.write("".join(f"{fault}\n" for fault in faults))
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
