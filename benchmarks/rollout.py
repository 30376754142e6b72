"""Rollouts against `mujoco.rollout`: random torques, RK4, one thread, the same robots and steps on both sides.

    python benchmarks/rollout.py [robots] [steps]

MuJoCo reads each robot from a URDF file without geometry, written by appell; contacts, limits and its constraint solver
are disabled. Torques are `qfrc_applied`, without actuators. Both store every state; they alternate, and the best of
several counts. The last column is the largest difference of q after 0.1 s, a check that both solve the same equations.
"""

from __future__ import annotations

import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np
from mujoco import rollout as peer
from numpy.typing import NDArray
from rich.console import Console

import appell
from appell.reports.table import Cell, Table
from appell.simulation.rollout.rollout import rollout

Array = NDArray[Any]
ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
DT = 1e-3
REPEATS = 5


class Case(NamedTuple):
    """A robot, how many of it, and how many steps: MuJoCo's share of a large robot would take minutes."""

    name: str
    file: str
    robots: int
    steps: int


def in_mujoco(robot: appell.Robot) -> Any:
    """Return MuJoCo's model of a robot: RK4, constraints off."""
    with tempfile.TemporaryDirectory() as folder:
        model = mujoco.MjModel.from_xml_path(str(robot.save(Path(folder, "robot.urdf"))))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = DT
    model.opt.gravity[:] = robot.model.gravity
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= flags.mjDSBL_CONSTRAINT | flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT
    return model


def best(*calls: Callable[[], object]) -> list[float]:
    """Return the least time of each call; they take turns."""
    times = [float("inf")] * len(calls)
    for _ in range(REPEATS):
        for k, call in enumerate(calls):
            start = time.perf_counter()
            call()
            times[k] = min(times[k], time.perf_counter() - start)
    return times


def measured(case: Case) -> list[tuple[Cell, ...]]:
    robot = appell.load(str(ROBOTS / case.file), friction=False, armature=False)
    model = in_mujoco(robot)
    data = mujoco.MjData(model)
    joints = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) for name in robot.joint_names]
    places = model.jnt_dofadr[joints]  # theirs[places] = ours
    rng = np.random.default_rng(0)
    n, steps, nv = case.robots, case.steps, robot.nv
    q, v = rng.uniform(-1.0, 1.0, (n, nv)), rng.uniform(-1.0, 1.0, (n, nv))
    tau = rng.uniform(-1.0, 1.0, (n, steps, nv))

    def theirs(x: Array) -> Array:
        result = np.zeros_like(x)
        result[..., places] = x
        return result

    state = np.concatenate([np.zeros((n, 1)), theirs(q), theirs(v)], axis=-1)
    forces, spec = theirs(tau), int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
    singles = [x.astype(np.float32) for x in (q, v, tau)]

    def mujoco_call() -> Any:
        return peer.rollout(model, data, state, forces, control_spec=spec)[0]

    near = min(steps, round(0.1 / DT))
    ours, single = (rollout(robot, *x[:2], x[2][:, :near], DT).q[:, -1] for x in ((q, v, tau), singles))
    reference = mujoco_call()[:, near - 1, 1:][:, places]
    times = best(mujoco_call, lambda: rollout(robot, q, v, tau, DT), lambda: rollout(robot, *singles, DT))
    rows: list[tuple[Cell, ...]] = []
    for name, seconds, q_end in zip(
        ("mujoco", "appell", "appell float32"), times, (reference, ours, single), strict=True
    ):
        apart = float(np.abs(q_end - reference).max())
        per_step = 1e9 * seconds / (n * steps)
        rows.append((f"{case.name}, {n} × {steps}", name, 1e9 / per_step, per_step, times[0] / seconds, apart))
    return rows


def main() -> None:
    numbers = [int(text) for text in sys.argv[1:]]
    n, steps = (*numbers, *(4096, 500)[len(numbers) :])
    appell.threads(1)
    cases = (
        Case("UR5", "ur_description/urdf/ur5_robot.urdf", n, steps),
        Case("Talos", "talos_data/robots/talos_full_v2.urdf", n // 16, steps // 5),
    )
    rows = tuple(row for case in cases for row in measured(case))
    columns = ("robot", "by", "steps/s", "ns/step", "times mujoco", "difference of q")
    Console(width=110).print(Table("Rollouts, RK4, one thread", columns, rows))


if __name__ == "__main__":
    main()
