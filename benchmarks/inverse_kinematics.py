"""Inverse kinematics of the Panda with three tasks against mink and pink, in one run, one thread.

Tasks: position and orientation of the hand, with weight 1, and a posture with weight 0.001. All sides begin at the same
configuration, with the same reachable targets, and stop at the same tolerance; each has one start per target, within
the joint limits, and as many iterations as it can use. mink and pink take full Gauss–Newton steps with the damping and
the QP solver of theirs that solve most targets per second. Pinocchio's forward kinematics checks every solution before
it counts. Solutions per second are those that pass, divided by the time for all targets.

    .venv/bin/python benchmarks/inverse_kinematics.py [targets of the batch] [targets of the peers]
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded

import logging  # noqa: E402
import sys  # noqa: E402
import sysconfig  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
import pinocchio as pin  # noqa: E402

import appell  # noqa: E402

FILE = Path(
    sysconfig.get_path("purelib"),
    "cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf",
)
FRAME, FINGERS = "panda_hand", ["panda_finger_joint1", "panda_finger_joint2"]
START = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
TOLERANCE, POSTURE, ITERATIONS = 1e-4, 1e-3, 100
SLACK = 1e-4  # [rad], what QP solvers leave of limits
SETTINGS = [(solver, damping) for solver in ("daqp", "quadprog", "proxqp") for damping in (1e-2, 1e-1, 1.0)]
Solve = Callable[[np.ndarray], tuple[np.ndarray, int]]


class Row(NamedTuple):
    """The results of one side."""

    name: str
    seconds: float
    reached: int
    targets: int
    posture: float
    iterations: float

    @property
    def rate(self) -> float:
        """Return solutions per second."""
        return self.reached / self.seconds


class Judge:
    """Forward kinematics and limits of Pinocchio."""

    def __init__(self) -> None:
        whole = pin.buildModelFromUrdf(str(FILE))
        fingers = [whole.getJointId(name) for name in FINGERS]
        self.model = pin.buildReducedModel(whole, fingers, pin.neutral(whole))
        self.data = self.model.createData()
        self.frame = self.model.getFrameId(FRAME)

    def passes(self, q: np.ndarray, goal: np.ndarray) -> bool:
        """Return whether a solution is within the tolerance and the limits."""
        pin.framesForwardKinematics(self.model, self.data, q)
        pose = self.data.oMf[self.frame]
        off = np.linalg.norm(pose.translation - goal[:3, 3]), np.linalg.norm(pin.log3(goal[:3, :3].T @ pose.rotation))
        low, high = self.model.lowerPositionLimit - SLACK, self.model.upperPositionLimit + SLACK
        return bool(max(off) <= TOLERANCE and (q >= low).all() and (q <= high).all())

    def row(self, name: str, seconds: float, q: Sequence[Any], goals: np.ndarray, iterations: float) -> Row:
        """Return the row of some solutions."""
        good = [x for x, goal in zip(q, goals, strict=True) if self.passes(np.asarray(x), goal)]
        away = float(np.median([np.linalg.norm(x - START) for x in good])) if good else float("nan")
        return Row(name, seconds, len(good), len(goals), away, iterations)


def by_mink(robot: appell.Robot, solver: str, damping: float) -> Solve:
    import mink  # noqa: PLC0415
    import mujoco  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        model = mujoco.MjModel.from_xml_path(str(robot.save(Path(folder, "panda.xml"))))
    configuration = mink.Configuration(model)
    hand = mink.FrameTask(FRAME, "site", 1.0, 1.0, lm_damping=damping)
    posture = mink.PostureTask(model, cost=POSTURE)
    posture.set_target(START)
    limits = [mink.ConfigurationLimit(model)]

    def solve(goal: np.ndarray) -> tuple[np.ndarray, int]:
        hand.set_target(mink.SE3.from_matrix(goal))
        configuration.update(START)
        for k in range(ITERATIONS):
            error = hand.compute_error(configuration)
            if max(np.linalg.norm(error[:3]), np.linalg.norm(error[3:])) <= TOLERANCE:
                return configuration.q.copy(), k
            v = mink.solve_ik(configuration, [hand, posture], 1.0, solver, limits=limits)
            configuration.integrate_inplace(v, 1.0)
        return configuration.q.copy(), ITERATIONS

    return solve


def by_pink(judge: Judge, solver: str, damping: float) -> Solve:
    import pink  # noqa: PLC0415
    from pink.limits import ConfigurationLimit  # noqa: PLC0415
    from pink.tasks import FrameTask, PostureTask  # noqa: PLC0415

    model = judge.model
    hand = FrameTask(FRAME, 1.0, 1.0, lm_damping=damping)
    posture = PostureTask(POSTURE)
    posture.set_target(START)
    limits = [ConfigurationLimit(model)]
    configuration = pink.Configuration(model, model.createData(), START)

    def solve(goal: np.ndarray) -> tuple[np.ndarray, int]:
        hand.set_target(pin.SE3(goal))
        configuration.update(START)
        for k in range(ITERATIONS):
            error = hand.compute_error(configuration)
            if max(np.linalg.norm(error[:3]), np.linalg.norm(error[3:])) <= TOLERANCE:
                return configuration.q.copy(), k
            v = pink.solve_ik(configuration, [hand, posture], 1.0, solver, limits=limits, safety_break=False)
            configuration.integrate_inplace(v, 1.0)
        return configuration.q.copy(), ITERATIONS

    return solve


def one_by_one(judge: Judge, name: str, solve: Solve, goals: np.ndarray) -> Row:
    solve(goals[0])
    start = time.perf_counter()
    found = []
    for goal in goals:
        try:
            found.append(solve(goal))
        except Exception:  # their QP solvers give up in ways of their own: a target that is not reached
            found.append((np.full(len(START), np.nan), ITERATIONS))
    seconds = time.perf_counter() - start
    return judge.row(name, seconds, [q for q, _ in found], goals, float(np.mean([k for _, k in found])))


def best(judge: Judge, name: str, make: Callable[[str, float], Solve], goals: np.ndarray) -> Row:
    """Return the row of the settings that solve most targets per second, chosen on the first targets."""
    tried = {}
    for solver, damping in SETTINGS:
        row = one_by_one(judge, f"{name}, {solver}, damping {damping:g}", make(solver, damping), goals[:30])
        tried[row.rate] = (row.name, solver, damping)
    label, solver, damping = tried[max(tried)]
    return one_by_one(judge, label, make(solver, damping), goals)


def main(batch: int = 8192, peers: int = 200) -> None:
    appell.threads(1)
    warnings.simplefilter("ignore")  # of inertias in the file, and of QP solvers
    logging.disable()  # pink reports every joint that its QP solver leaves beyond a limit by rounding
    robot = appell.load(FILE).locked(FINGERS)
    judge = Judge()
    goals = robot.pose(robot.random(np.random.default_rng(0), batch), FRAME)
    tasks = [
        appell.tasks.Position(goals[:, :3, 3], FRAME),
        appell.tasks.Orientation(goals, FRAME),
        appell.tasks.Posture(START, POSTURE),
    ]
    options: dict[str, Any] = {"guess": START, "tolerance": TOLERANCE}

    def ours(restarts: int) -> Row:
        appell.inverse_kinematics(robot, tasks=tasks, restarts=restarts, **options)
        start = time.perf_counter()
        found = appell.inverse_kinematics(robot, tasks=tasks, restarts=restarts, **options)
        seconds = time.perf_counter() - start
        name = f"appell, one call for {batch}" + (f", {restarts} restarts" if restarts else "")
        return judge.row(name, seconds, found.q, goals, float(found.iterations.mean()))

    def single(goal: np.ndarray) -> tuple[np.ndarray, int]:
        own = [
            appell.tasks.Position(goal[:3, 3], FRAME),
            appell.tasks.Orientation(goal, FRAME),
            appell.tasks.Posture(START, POSTURE),
        ]
        found = appell.inverse_kinematics(robot, tasks=own, restarts=0, **options)
        return found.q, int(found.iterations)

    rows = [
        best(judge, "mink", lambda solver, damping: by_mink(robot, solver, damping), goals[:peers]),
        best(judge, "pink", lambda solver, damping: by_pink(judge, solver, damping), goals[:peers]),
        one_by_one(judge, "appell, one call per target", single, goals[:peers]),
        ours(0),
        ours(20),
    ]
    print(f"{'':44} reached   iterations   µs per target   solutions/s   × mink   × pink   |q − posture|")
    for row in rows:
        ratios = "".join(f"{row.rate / peer.rate:9.1f}" for peer in rows[:2])
        print(
            f"{row.name:44} {row.reached / row.targets:7.1%} {row.iterations:12.1f} "
            f"{1e6 * row.seconds / row.targets:15.1f} {row.rate:13.0f}{ratios} {row.posture:13.3f} rad"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
