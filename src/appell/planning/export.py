"""Inverse kinematics as exported code: one descent from a guess, in a fixed number of steps and without restarts.

Arguments and results of the exported function:

    q            the guess; the configuration that was found
    pose         pose of the frame, if it is a target
    target_0 …   targets of the tasks, in their order: a position, a rotation, a configuration
    residual     of every task; a pose counts as a position and an orientation

Weights, tolerances and joint limits are constants. As in :func:`appell.inverse_kinematics`, bold steps come first and
steps that must lower the cost, without preferences, follow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from appell.arguments import whole
from appell.errors import InputError
from appell.kernels.text.c99 import ErrorCode
from appell.planning.descent import START, DescentSettings, singles
from appell.planning.inverse_kinematics import BOLD_STEPS, STEPS, placed, problem_of
from appell.planning.tasks import Orientation, Posture, Task, all_tasks
from appell.program.nodes import Loop, Node, Program, verify
from appell.program.stepping import Fragment, now, part
from appell.recursion.kinematics import Scalars
from appell.robot.export.text import Source
from appell.robot.export.text import source as source_of_verbs
from appell.robot.kind import Key
from appell.robot.robot import Robot
from appell.spatial.scalar import sqrt
from appell.trace.tape import Port

TOLERANCE = 1e-9
"""Residual [m, rad] up to which a task counts as reached."""
FAR = 1e30
"""Above all costs, residuals, tolerances and joint limits: constants of programs are finite."""


def source(robot: Robot, *, frame: str | None = None, tasks: Any = (), steps: Any = STEPS) -> Source:
    """Return the exporter's source of a descent; without tasks, or with a frame, a pose is among the targets."""
    if not robot.nv:
        raise InputError(f"robot: '{robot.name}' has no joint that moves")
    has_pose = frame is not None or not tasks
    own = source_of_verbs(robot.kind)
    robot = placed(robot)
    given = all_tasks(robot, np.eye(4) if has_pose else None, frame, 1.0, tasks)
    for k, task in enumerate(given):
        if np.ndim(task.target) > task.core:
            raise InputError(f"tasks: target {k} has shape {np.shape(task.target)}; export takes one target per task")
    names = [*(["pose"] * 2 if has_pose else []), *(f"target_{k}" for k in range(len(given) - 2 * has_pose))]
    rows = [_remark(name, task) for name, task in zip(names, given, strict=True)]
    make = partial(_made, robot, given, names, whole("steps", steps))
    return replace(own, order=(*own.order, "", "Tasks:", *rows), symbols=lambda _: {"q": ("q",)}, make=make)


def _remark(name: str, task: Task) -> str:
    frame = f" of frame {task.frame}" if task.frame else ""
    tolerance = TOLERANCE if task.tolerance is None else task.tolerance
    within = f"tolerance {tolerance:g}" if math.isfinite(tolerance) else "a preference"
    weights = ", ".join(f"{x:g}" for x in dict.fromkeys(np.ravel(task.weight).tolist()))
    return f"  {name:<10} {type(task).__name__}{frame}, weight {weights}, {within}"


def _made(
    robot: Robot, tasks: Sequence[Task], names: Sequence[str], steps: int, _key: Key, _to: str
) -> tuple[Program, tuple[ErrorCode, ...]]:
    """Return the program: a loop of bold steps and one of strict steps, each after what begins it."""
    problem = problem_of(robot, tasks, TOLERANCE, ())
    layout, step = problem.solver.layout, problem.solver.step()
    targets = {name: _port(name, task, robot) for name, task in zip(names, tasks, strict=True)}
    q, residual = Port("q", (robot.nq,)), Port("residual", (len(tasks),))
    slots = {port.name: port._replace(name=now(port.name)) for port in layout.states}
    made = step

    def loop(axis: str, settings: DescentSettings, start: Port, count: int) -> tuple[Node, ...]:
        """Return a search that begins at a configuration."""
        nonlocal made
        inputs, outputs = [start, *targets.values()], [*slots.values(), *layout.fixed]

        def begin(_: Any, q: Scalars, *given: Scalars) -> Any:
            known = dict(zip(targets, given, strict=True))
            goals = [_target(name, task, known[name], robot) for name, task in zip(names, tasks, strict=True)]
            zero = [[0.0] * port.size for port in layout.states[4:]]
            progress = FAR, 2.0 * FAR, START, 0.0, 0.0  # neither a good nor a bad prediction
            return (
                q,
                q,
                progress,
                [FAR] * len(tasks),
                zero,
                goals,
                np.clip(np.concatenate(settings), -FAR, FAR).tolist(),
            )

        begun = part(f"{axis} begins", begin, *([(port, port.name) for port in ports] for ports in (inputs, outputs)))
        made += Fragment(slots=begun.slots)
        return (*begun.nodes, Loop(axis, step.nodes, count))

    bold = min(BOLD_STEPS, steps // 2)
    nodes = loop("bold", problem.settings, q, bold) if bold else ()
    nodes += loop("strict", problem.strict.settings, slots["q"] if bold else q, steps - bold)
    found = [(port, port.name) for port in (q, residual)]
    last = [(port, port.name) for port in (slots["q"], slots["errors"])]
    end = part("end", lambda _, q, errors: (q, [sqrt(x) for x in errors]), last, found)
    memories = (*slots.values(), *layout.fixed, *made.slots, *end.slots)
    inputs = (q, *targets.values())
    return verify(Program("inverse_kinematics", inputs, (q, residual), (*nodes, *end.nodes), memories)), ()


def _port(name: str, task: Task, robot: Robot) -> Port:
    """Return the argument of a task's target."""
    if name == "pose":
        return Port(name, (4, 4))
    return Port(name, (robot.nq,) if isinstance(task, Posture) else (3,) * task.core)


def _target(name: str, task: Task, given: Scalars, robot: Robot) -> Scalars:
    """Return the numbers of a task's target that the steps read."""
    if isinstance(task, Posture):
        return tuple(given[single.q] for single in singles(robot))
    if name != "pose":
        return given
    return (*given[:3], *given[4:7], *given[8:11]) if isinstance(task, Orientation) else given[3:12:4]
