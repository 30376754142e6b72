"""Inverse kinematics of weighted tasks, for any robot, many targets at once.

Damped Gauss–Newton steps run in native code, several per call (:mod:`appell.planning.descent`); samples that are done
leave the batch between calls. A step moves the independent velocities, so that loops stay closed. Targets that are not
reached start again from random configurations, and the nearest result stands. Preferences, such as a posture, take part
until the steps are small; then they are dropped, so that the other tasks are reached exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.arguments import numbers, whole
from appell.display import card, table
from appell.errors import AppellError, InputError
from appell.loading import load
from appell.once import once
from appell.planning.descent import START, Descent, DescentSettings, DescentSolver, TaskOutline, singles, solver
from appell.planning.goal import positive, real
from appell.planning.tasks import Orientation, Position, Posture, Task, all_tasks
from appell.robot.robot import Robot, checked_robot
from appell.spatial.scalar import Array


@dataclass(frozen=True, eq=False)
class IKSolution:
    """Configurations that reach their targets, or come as near as was found.

    Attributes
    ----------
    q : ndarray
        Configurations (..., nq), within the joint limits.
    error : ndarray
        Norm (...) of the weighted residuals of all tasks that are no preferences.
    position_error, attitude_error : ndarray
        The largest residual (...) of the positions [m] and of the orientations [rad]; 0 where there are none.
    is_reached : ndarray
        Whether (...) the residual of every task is within its tolerance.
    residuals : ndarray
        Norms (..., tasks) of the unweighted residuals [m, rad]: those of the goal first (position, then orientation),
        then in the order of the tasks. Axes of weight 0 do not count.
    iterations : ndarray
        Steps taken (...) until the tolerances were met, over all attempts.

    Examples
    --------
    >>> import appell
    >>> found = appell.inverse_kinematics(appell.load("rx90"), [[0.5, 0.1, 0.3], [0.0, 0.0, 2.0]])
    >>> found.is_reached.tolist(), found.q.shape, found.error.round(6).tolist()
    ([True, False], (2, 6), [0.0, 1.1])
    """

    q: Array
    error: Array
    position_error: Array
    attitude_error: Array
    is_reached: NDArray[np.bool_]
    residuals: Array
    iterations: NDArray[np.int_]

    def __repr__(self) -> str:
        worst = f", largest error {self.error.max():.3g}" if self.error.size else ""
        return f"<IKSolution: {int(self.is_reached.sum())} of {self.is_reached.size} goals reached{worst}>"

    def _repr_html_(self) -> str:
        each = (x.ravel().tolist() for x in (self.is_reached, self.position_error, self.attitude_error))
        q = (", ".join(f"{x:.4g}" for x in row) for row in self.q.reshape(-1, self.q.shape[-1]).tolist())
        rows = (("yes" if reached else "no", *errors, at) for reached, *errors, at in zip(*each, q, strict=True))
        columns = ("reached", "position error [m]", "attitude error [rad]", "q")
        return card(repr(self).strip("<>"), table(columns, rows, self.is_reached.size))


_BOLD = 0.5
"""Damping of bold steps: λ is this share of |e|²."""
BOLD_STEPS = 32
"""Bold steps of one attempt; most targets need a dozen."""
_BLOCK = 16
"""Steps of one native call, after which finished samples leave."""
STEPS = 100
"""Steps after those that must lower the cost."""
_POLISH = 400
"""More steps for targets that are not reached, where convergence is slower."""
_DRAWS = 16
"""Random configurations of which the one of least cost begins another attempt."""
_STUCK = 1e-13
"""Steps [rad or m] below which nothing changes any more."""
_SETTLED = 1e-2
"""Steps [rad or m] below which preferences have settled."""
_WIDTH = 64
"""Samples that a round of restarts has at least, by several starts per target."""


@dataclass(frozen=True, eq=False)
class IKProblem:
    """The tasks as the program reads them: one row of targets per sample, settings shared by all."""

    solver: DescentSolver
    goals: Array
    settings: DescentSettings
    wanted: NDArray[np.bool_]
    """Which weights belong to tasks that are no preferences."""

    @cached_property
    def _row(self) -> Array:
        return np.concatenate(self.settings)

    def run(self, rows: NDArray[np.int_], q: Array, damping: Array, steps: int) -> Descent:
        """Return where steps lead from configurations of some samples."""
        return self.solver(np.ascontiguousarray(q), damping, self.goals[rows], self._row, steps)

    @cached_property
    def strict(self) -> IKProblem:
        """Return the problem without its preferences, whose steps must lower the cost."""
        weight = np.where(self.wanted, self.settings.weight, 0.0)
        return replace(self, settings=self.settings._replace(weight=weight, bold=np.zeros(1)))

    @cached_property
    def prefers(self) -> bool:
        """Return whether preferences take part."""
        return bool((self.settings.weight[~self.wanted] > 0.0).any())

    def is_reached(self, residuals: Array, share: float = 1.0) -> NDArray[np.bool_]:
        """Return which samples (..., tasks) are within a share of their tolerances."""
        return np.asarray((residuals <= share * self.settings.tolerance).all(axis=-1))


def inverse_kinematics(  # noqa: PLR0913  (what is optional is named in the call)
    robot: Robot,
    goal: ArrayLike | None = None,
    frame: str | None = None,
    guess: ArrayLike | None = None,
    restarts: int = 20,
    tolerance: float = 1e-9,
    length: float = 1.0,
    seed: int = 0,
    *,
    tasks: Sequence[Task] = (),
) -> IKSolution:
    """Return configurations within the joint limits that bring a frame to poses, or fulfil weighted tasks.

    Many targets are solved at once, in native code: leading axes of targets and guesses broadcast.

    Parameters
    ----------
    robot : Robot
        A robot of any kind. Loops stay closed; limits are those of the independent joints; wheels may be set down
        anywhere on their plane.
    goal : array_like, optional
        Poses (..., 4, 4) or positions (..., 3) [m] of the frame. It may be left out where there are tasks.
    frame : str, optional
        The frame that the goal is about; the last of the robot's file unless named.
    guess : array_like, optional
        Where the search begins, (..., nq); the neutral configuration unless given.
    restarts : int
        Targets that are not reached begin again from so many random configurations.
    tolerance : float
        Residual [m, rad] up to which a task counts as reached.
    length : float
        An orientation off by 1 rad counts as much as a position off by this length [m].
    seed : int
        Determines the random configurations.
    tasks : sequence of tasks
        Of :mod:`appell.tasks`: Position, Orientation, CentreOfMass, Posture, each with its weight. They are added to
        the goal, if there is one. Preferences, tasks of infinite tolerance, are optimised together with the others
        until the steps are small; the others are then reached without them.

    Returns
    -------
    IKSolution
        Configurations, residuals, iterations and whether each target is reached. A target out of reach gives the
        configuration of least cost that was found, and `is_reached` is False there.

    Raises
    ------
    InputError
        For targets that are not finite or no poses, unknown frames, and shapes that do not fit.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("puma560")
    >>> goal = robot.pose([0.1, 0.7, -0.5, 0.3, 0.4, 0.2], "dh6")
    >>> bool(appell.inverse_kinematics(robot, goal, "dh6").is_reached)
    True
    >>> far = appell.inverse_kinematics(robot, [9.0, 0.0, 0.0], "dh6")
    >>> bool(far.is_reached), float(far.error.round(3))
    (False, 8.123)

    A redundant arm, near a posture:

    >>> robot = appell.load("puma560")
    >>> rest = appell.tasks.Posture([0.0, 0.8, -1.0, 0.0, 0.5, 0.0])
    >>> found = appell.inverse_kinematics(robot, goal[:3, 3], "dh6", tasks=[rest])
    >>> bool(found.is_reached), found.residuals.shape
    (True, (2,))

    A closed robot:

    >>> robot = appell.load("stewart")
    >>> goal = robot.pose(robot.neutral(), "platform")
    >>> goal[2, 3] += 0.05
    >>> bool(appell.inverse_kinematics(robot, goal, "platform").is_reached)
    True
    """
    robot = placed(checked_robot("robot", robot))
    if not robot.nv:
        raise InputError(f"robot: '{robot.name}' has no joint that moves")
    given = all_tasks(robot, goal, frame, length, tasks)
    tolerance = positive("tolerance", tolerance)
    near = None if guess is None else real("guess", guess, "joint coordinates")
    start = robot.assemble(None if near is None else numbers(robot.name, "guess", (robot.nq,), near))
    leading = _leading(given, start)
    problem = problem_of(robot, given, tolerance, leading)
    q = np.broadcast_to(start, (*leading, robot.nq)).reshape(-1, robot.nq)
    rng = np.random.default_rng(whole("seed", seed, 0))
    q, count = _search(problem, _within(robot, q), whole("restarts", restarts, 0), rng)
    return _solution(problem, given, q, count, leading)


def polished(robot: Robot, frame: str, goals: Array, q: Array) -> Array:
    """Return joints that bring a frame from near its poses (..., 4, 4) onto them; limits do not count."""
    problem = problem_of(robot, all_tasks(robot, goals, frame, 1.0, ()), 1e-12, goals.shape[:-2])
    endless = np.full_like(problem.settings.upper, np.inf)
    problem = replace(problem, settings=problem.settings._replace(lower=-endless, upper=endless))
    return _approach(problem, np.arange(len(problem.goals)), q.reshape(-1, robot.nq), STEPS)[0].reshape(q.shape)


# Tasks


def placed(robot: Robot) -> Robot:
    """Return the robot whose wheels stand where they are put: rows that hold velocities alone do not count."""
    closures = [
        replace(c, rows=tuple(row for row in c.rows if row == "z")) if c.is_rolling else c for c in robot.model.closures
    ]
    if closures == list(robot.model.closures):
        return robot
    model = replace(robot.model, closures=tuple(c for c in closures if c.rows))
    return once(robot, placed, lambda: load(model))


def _leading(tasks: Sequence[Task], start: Array) -> tuple[int, ...]:
    shapes = {"guess": start.shape[:-1]}
    for k, task in enumerate(tasks):
        target = np.asarray(task.target)
        shapes[f"task {k}, {type(task).__name__}"] = target.shape[: target.ndim - task.core]
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise InputError(f"inverse_kinematics: the leading axes of targets do not broadcast: {listed}") from None


def problem_of(robot: Robot, tasks: Sequence[Task], tolerance: float, leading: tuple[int, ...]) -> IKProblem:
    """Return checked tasks as the program reads them, for samples with some leading axes."""
    own = singles(robot)
    places, velocities = [x.q for x in own], [x.v for x in own]
    goals, weights, wanted, tolerances = [], [], [], []
    for task in tasks:
        target, weight = np.asarray(task.target), np.asarray(task.weight)
        if isinstance(task, Posture):
            target, weight = target[..., places], weight[velocities]
        shape = target.shape[target.ndim - task.core :]
        goals.append(np.broadcast_to(target, (*leading, *shape)).reshape(-1, math.prod(shape)))
        weights.append(weight)
        tolerances.append(tolerance if task.tolerance is None else task.tolerance)
        wanted.append(np.full(len(weight), math.isfinite(tolerances[-1])))
    weight = np.concatenate(weights)
    outline = TaskOutline(tuple((type(task).__name__, task.frame) for task in tasks))
    limits = robot.limits.lower[places], robot.limits.upper[places]
    settings = DescentSettings(weight, (weight > 0.0).astype(float), np.array(tolerances), *limits, np.array([_BOLD]))
    return IKProblem(solver(robot, outline), np.concatenate(goals, axis=-1), settings, np.concatenate(wanted))


def _within(robot: Robot, q: Array) -> Array:
    """Return configurations whose independent joints are within their limits; NaN where loops do not close there."""
    own = singles(robot)
    places, step = [x.q for x in own], np.zeros((len(q), robot.nv))
    limits = robot.limits.lower[places], robot.limits.upper[places]
    step[:, [x.v for x in own]] = np.clip(q[:, places], *limits) - q[:, places]
    beyond = step.any(axis=-1)
    if beyond.any():
        q = q.copy()
        q[beyond] = _moved(robot, q[beyond], step[beyond])
        q[:, places] = np.clip(q[:, places], *limits)  # but for rounding they are
    return q


def _moved(robot: Robot, q: Array, step: Array) -> Array:
    """Return where steps lead; NaN where loops do not close."""
    try:
        return robot.integrate(q, step)
    except AppellError:
        if len(q) == 1:
            return np.full_like(q, np.nan)
    half = len(q) // 2
    return np.concatenate([_moved(robot, q[s], step[s]) for s in (slice(half), slice(half, None))])


# The search


class _Found(NamedTuple):
    """Where some steps led: configurations, steps taken, cost, and norms of the residuals."""

    q: Array
    taken: NDArray[np.int_]
    cost: Array
    residuals: Array


def _search(
    problem: IKProblem, start: Array, restarts: int, rng: np.random.Generator
) -> tuple[Array, NDArray[np.int_]]:
    """Return the configurations of least cost and the steps taken."""
    q, count, cost, residuals = _attempt(problem, np.arange(len(start)), start)
    is_reached = problem.is_reached(residuals)
    while restarts and not is_reached.all():
        missed = np.flatnonzero(~is_reached)
        starts = min(restarts, max(1, _WIDTH // len(missed)))
        rows = np.repeat(missed, starts)
        again = _attempt(problem, rows, _drawn(problem, rows, rng))
        best = again.cost.reshape(-1, starts).argmin(axis=-1) + starts * np.arange(len(missed))
        count[missed] += again.taken.reshape(-1, starts).sum(axis=-1)
        better = again.cost[best] < cost[missed]
        at, best = missed[better], best[better]
        q[at], cost[at] = again.q[best], again.cost[best]
        is_reached[at] = problem.is_reached(again.residuals[best])
        restarts -= starts
    missed = np.flatnonzero(~is_reached)
    if missed.size:
        last = _approach(problem.strict, missed, q[missed], _POLISH)
        q[missed] = last.q
        count[missed] += last.taken
    return q, count


def _attempt(problem: IKProblem, rows: NDArray[np.int_], start: Array) -> _Found:
    """Return where a start leads: by bold steps, then by steps that lower the cost of all but the preferences."""
    found = _approach(problem, rows, start, BOLD_STEPS)
    is_near = problem.is_reached(found.residuals, 0.5)
    found.cost[is_near] = 0.0
    far = np.flatnonzero(~is_near)
    if far.size:
        later = _approach(problem.strict, rows[far], found.q[far], STEPS)
        found.taken[far] += later.taken
        found.q[far], found.cost[far], found.residuals[far] = later.q, later.cost, later.residuals
    return found


def _approach(problem: IKProblem, rows: NDArray[np.int_], start: Array, steps: int) -> _Found:
    """Return where damped steps lead, each sample until it is done."""
    n = len(rows)
    found = _Found(
        start.copy(), np.zeros(n, dtype=int), np.full(n, np.inf), np.full((n, len(problem.settings.tolerance)), np.inf)
    )
    damping, live, left = np.full(n, START), np.arange(n), steps
    while live.size and left > 0:
        now = problem.run(rows[live], found.q[live], damping[live], _BLOCK)
        found.q[live], found.cost[live], found.residuals[live] = now.q, now.cost, now.residuals
        found.taken[live] += now.taken
        damping[live] = now.damping
        left -= _BLOCK
        # preferences keep the others off their targets by a little; a margin, so that those count as reached later
        is_done = now.step < (_SETTLED if problem.prefers else _STUCK)
        if not problem.prefers:
            is_done |= problem.is_reached(now.residuals, 0.5)
        live = live[~is_done]
    return found


def _drawn(problem: IKProblem, rows: NDArray[np.int_], rng: np.random.Generator) -> Array:
    """Return, for each sample, the random configuration of least cost."""
    robot, each = problem.solver.robot, np.repeat(rows, _DRAWS)
    q = _within(robot, robot.random(rng, len(each)))
    cost = problem.run(each, q, np.full(len(each), START), 1).cost.reshape(-1, _DRAWS)
    return q.reshape(len(rows), _DRAWS, -1)[np.arange(len(rows)), cost.argmin(axis=-1)]


def _solution(
    problem: IKProblem, tasks: Sequence[Task], q: Array, count: NDArray[np.int_], leading: tuple[int, ...]
) -> IKSolution:
    found = problem.strict.run(np.arange(len(q)), q, np.full(len(q), START), 1)
    residuals, nothing = found.residuals, np.zeros((len(q), 1))

    def largest(kind: type) -> Array:
        own = [k for k, task in enumerate(tasks) if isinstance(task, kind)]
        worst: Array = np.concatenate([residuals[:, own], nothing], axis=-1).max(axis=-1)
        return worst.reshape(leading)

    return IKSolution(
        q.reshape(*leading, q.shape[-1]),
        np.sqrt(found.cost).reshape(leading),
        largest(Position),
        largest(Orientation),
        problem.is_reached(residuals).reshape(leading),
        residuals.reshape(*leading, len(tasks)),
        count.reshape(leading),
    )
