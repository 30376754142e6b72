"""Inverse kinematics by damped least squares, for any robot and any frame, many goals at once.

A step solves (JᵀJ + λ)δ = Jᵀe for the misfit e (K. Levenberg, D. Marquardt): λ grows where a step fails and shrinks
where it helps. δ is a motion of the independent velocities, so that loops stay closed; a step out of the workspace is
one that fails. A step is no longer than a cap; a joint at its limit that wants to go beyond is left out of the step.
Goals that are not reached start again from random configurations, and the nearest result stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.display import card, table
from appell.errors import AppellError, InputError
from appell.loops.load import load
from appell.planning.checks import Array, positive, real
from appell.planning.goal import checked_frame, checked_poses, misfit
from appell.robot.arguments import numbers, whole
from appell.robot.robot import Robot

_CAP = 0.5
"""The longest step of a joint [rad or m]: about as far as a tangent is worth anything."""
_STEPS = 100
"""Steps of one attempt; most that succeed take ten."""
_DRAWS = 16
"""Random configurations of which the nearest to the goal is where an attempt begins again."""
_POLISH = 400
"""More steps for what is not reached, where convergence is slower."""
_STUCK = 1e-13
"""A step shorter than this [rad or m] changes nothing more."""


@dataclass(frozen=True, eq=False)
class IKSolution:
    """Joints that bring a frame to its goals, or as near as they were found to come.

    `q` (..., nq); `error` (...) is the norm of what is left: metres, and radians times `length`. `position_error` [m]
    and `attitude_error` [rad] are its parts, the latter zero where only a position was asked for. `is_reached` says
    whether both are within the tolerance.

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

    def __repr__(self) -> str:
        worst = f", largest error {self.error.max():.3g}" if self.error.size else ""
        return f"<IKSolution: {int(self.is_reached.sum())} of {self.is_reached.size} goals reached{worst}>"

    def _repr_html_(self) -> str:
        each = (x.ravel().tolist() for x in (self.is_reached, self.position_error, self.attitude_error))
        q = (", ".join(f"{x:.4g}" for x in row) for row in self.q.reshape(-1, self.q.shape[-1]).tolist())
        rows = (("yes" if reached else "no", *errors, at) for reached, *errors, at in zip(*each, q, strict=True))
        columns = ("reached", "position error [m]", "attitude error [rad]", "q")
        return card(repr(self).strip("<>"), table(columns, rows, self.is_reached.size))


class _Task(NamedTuple):
    """What stays the same while goals are approached."""

    robot: Robot
    frame: str
    weights: Array
    tolerance: float
    joints: NDArray[np.int_]
    """The velocities, places in v, that are rates of one coordinate each."""
    places: NDArray[np.int_]
    """Those coordinates, places in q."""
    lower: Array
    upper: Array
    """Their limits."""


def inverse_kinematics(
    robot: Robot,
    goal: ArrayLike,
    frame: str | None = None,
    guess: ArrayLike | None = None,
    restarts: int = 20,
    tolerance: float = 1e-9,
    length: float = 1.0,
    seed: int = 0,
) -> IKSolution:
    """Return joints within their limits that bring a frame to poses (..., 4, 4) or to positions (..., 3).

    Loops stay closed, and limits are those of the independent joints; wheels may be set down anywhere on their plane.
    `frame` is the last of the robot's file unless named. `guess` (..., nq) is where the search begins, neutral unless
    given; what is not reached from there begins again from `restarts` random configurations, which `seed` determines.
    A goal counts as reached within `tolerance` [m, rad]. A goal out of reach gives the nearest pose that was found,
    where an attitude off by 1 rad counts as much as a position off by `length` [m], and is_reached is False there.

    >>> import appell
    >>> robot = appell.load("puma560")
    >>> goal = robot.pose([0.1, 0.7, -0.5, 0.3, 0.4, 0.2], "dh6")
    >>> bool(appell.inverse_kinematics(robot, goal, "dh6").is_reached)
    True
    >>> far = appell.inverse_kinematics(robot, [9.0, 0.0, 0.0], "dh6")
    >>> bool(far.is_reached), float(far.error.round(3))
    (False, 8.123)
    >>> robot = appell.load("stewart")
    >>> goal = robot.pose(robot.neutral(), "platform")
    >>> goal[2, 3] += 0.05
    >>> bool(appell.inverse_kinematics(robot, goal, "platform").is_reached)
    True
    """
    name = checked_frame(robot, frame)
    robot = _placed(robot)
    goals = _goals(goal)
    rows, axes = (6, 2) if goals.shape[-1] == 4 else (3, 1)
    near = None if guess is None else real("guess", guess, "joint coordinates")
    start = robot.assemble(None if near is None else numbers(robot.name, "guess", (robot.nq,), near))
    try:
        leading = np.broadcast_shapes(goals.shape[:-axes], start.shape[:-1])
    except ValueError:
        raise InputError(
            f"guess: its leading axes {start.shape[:-1]} do not broadcast with those of the goals, "
            f"{goals.shape[:-axes]}"
        ) from None
    weights = np.repeat([1.0, positive("length", length)], 3)[:rows]
    task = _Task(robot, name, weights, positive("tolerance", tolerance), *_limits(robot))
    flat = np.broadcast_to(goals, leading + goals.shape[-axes:]).reshape(-1, *goals.shape[-axes:])
    q = np.broadcast_to(start, (*leading, robot.nq)).reshape(-1, robot.nq)
    rng = np.random.default_rng(whole("seed", seed, 0))
    q = _search(task, flat, q, whole("restarts", restarts, 0), rng)
    left = misfit(robot.pose(q, name), flat)
    position, attitude = np.linalg.norm(left[:, :3], axis=-1), np.linalg.norm(left[:, 3:], axis=-1)
    return IKSolution(
        q.reshape(*leading, robot.nq),
        np.hypot(position, length * attitude).reshape(leading),
        position.reshape(leading),
        attitude.reshape(leading),
        (np.maximum(position, attitude) <= tolerance).reshape(leading),
    )


def polished(robot: Robot, frame: str, goals: Array, q: Array) -> Array:
    """Return joints that bring a frame from near its poses (..., 4, 4) onto them; limits are not looked at."""
    none = np.zeros(0, dtype=int)
    task = _Task(robot, frame, np.ones(6), 1e-12, none, none, np.zeros(0), np.zeros(0))
    return _approach(task, goals.reshape(-1, 4, 4), q.reshape(-1, robot.nq), _STEPS).reshape(q.shape)


def _placed(robot: Robot) -> Robot:
    """Return the robot whose wheels stand where they are put: rows that hold velocities alone do not count."""
    closures = [
        replace(c, rows=tuple(row for row in c.rows if row == "z")) if c.is_rolling else c for c in robot.model.closures
    ]
    if closures == list(robot.model.closures):
        return robot
    return load(replace(robot.model, closures=tuple(c for c in closures if c.rows)))


def _goals(goal: ArrayLike) -> Array:
    goals = real("goal", goal, "poses (..., 4, 4) or positions (..., 3)")
    if goals.ndim and goals.shape[-1] == 3:
        return goals
    return checked_poses(goals)


def _search(task: _Task, goals: Array, start: Array, restarts: int, rng: np.random.Generator) -> Array:
    q = _approach(task, goals, start, _STEPS)
    cost = _cost(task, goals, q)
    for _ in range(restarts):
        missed = np.flatnonzero(~_is_reached(task, goals, q))
        if not missed.size:
            return q
        again = _approach(task, goals[missed], _drawn(task, goals[missed], rng), _STEPS)
        found = _cost(task, goals[missed], again)
        is_better = found < cost[missed]
        q[missed[is_better]], cost[missed[is_better]] = again[is_better], found[is_better]
    missed = np.flatnonzero(~_is_reached(task, goals, q))
    if missed.size:
        q[missed] = _approach(task, goals[missed], q[missed], _POLISH)
    return q


def _drawn(task: _Task, goals: Array, rng: np.random.Generator) -> Array:
    """Return, for each goal, the nearest of some random configurations."""
    q = task.robot.random(rng, (len(goals), _DRAWS))
    cost = _cost(task, np.expand_dims(goals, 1), q)
    nearest: Array = q[np.arange(len(goals)), cost.argmin(axis=-1)]
    return nearest


def _approach(task: _Task, goals: Array, start: Array, steps: int) -> Array:
    """Return where damped steps lead from a start, each goal by itself until it is reached or stuck."""
    robot, frame, weights = task.robot, task.frame, task.weights
    q = _moved(task, start, np.zeros((len(start), robot.nv)))
    left = misfit(robot.pose(q, frame), goals)
    damping = np.full(len(q), 1e-3)
    live = np.flatnonzero(~_is_near(task, left))
    for _ in range(steps):
        if not live.size:
            break
        e = weights * left[live]
        J = weights[:, None] * robot.jacobian(q[live], frame)[:, : weights.size]
        downhill = (J.swapaxes(-1, -2) @ e[..., None])[..., 0]
        free = ~_is_blocked(task, q[live], downhill)
        J, downhill = J * free[:, None, :], downhill * free
        step = _damped_step(J, e, damping[live])
        step *= np.minimum(1.0, _CAP / np.maximum(np.abs(step).max(axis=-1, keepdims=True), 1e-300))
        trial, then = _tried(task, q[live], step, goals[live])
        # how much better it got, of the |e|² − |e − Jδ|² = 2δ·Jᵀe − |Jδ|² that the tangent promised
        gain = (e * e).sum(axis=-1) - ((weights * then) ** 2).sum(axis=-1)
        promise = 2.0 * (step * downhill).sum(axis=-1) - ((J @ step[..., None]) ** 2).sum(axis=(-2, -1))
        is_better = gain > 0.0
        q[live[is_better]], left[live[is_better]] = trial[is_better], then[is_better]
        change = np.where(gain > 0.75 * promise, 0.2, np.where(gain < 0.25 * promise, 4.0, 1.0))
        damping[live] = np.clip(damping[live] * change, 1e-14, 1e9)
        is_over = (np.abs(step).max(axis=-1) < _STUCK) | _is_near(task, left[live])
        live = live[~is_over]
    return q


def _damped_step(J: Array, e: Array, damping: Array) -> Array:
    """Return (JᵀJ + λ)⁻¹Jᵀe, which is Jᵀ(JJᵀ + λ)⁻¹e: by the smaller of the two systems."""
    transposed = J.swapaxes(-1, -2)
    rows, columns = J.shape[-2:]
    H = transposed @ J if columns <= rows else J @ transposed
    size = np.maximum(np.trace(H, axis1=-2, axis2=-1), 1e-12)  # so that damping has no unit
    damped = H + (damping * size)[:, None, None] * np.eye(len(H[0]))
    if columns <= rows:
        return np.linalg.solve(damped, transposed @ e[..., None])[..., 0]
    return (transposed @ np.linalg.solve(damped, e[..., None]))[..., 0]


def _tried(task: _Task, q: Array, step: Array, goals: Array) -> tuple[Array, Array]:
    """Return where steps lead and the misfits there, infinite where a step leads out of the workspace."""
    try:
        trial = _moved(task, q, step)
        return trial, misfit(task.robot.pose(trial, task.frame), goals)
    except AppellError:
        if len(q) == 1:
            return q, np.full((1, task.weights.size), np.inf)
    half = len(q) // 2
    parts = (_tried(task, q[s], step[s], goals[s]) for s in (slice(half), slice(half, None)))
    trials, misfits = zip(*parts, strict=True)
    return np.concatenate(trials), np.concatenate(misfits)


def _cost(task: _Task, goals: Array, q: Array) -> Array:
    e = task.weights * misfit(task.robot.pose(q, task.frame), goals)
    result: Array = (e * e).sum(axis=-1)
    return result


def _is_reached(task: _Task, goals: Array, q: Array) -> NDArray[np.bool_]:
    return _is_near(task, misfit(task.robot.pose(q, task.frame), goals))


def _is_near(task: _Task, left: Array) -> NDArray[np.bool_]:
    """Return which goals are reached with a margin, so that they count as reached when measured again."""
    parts = [np.linalg.norm(part, axis=-1) for part in (left[:, :3], left[:, 3:])]
    result: NDArray[np.bool_] = np.maximum(*parts) <= 0.5 * task.tolerance
    return result


# Limits


def _limits(robot: Robot) -> tuple[NDArray[np.int_], NDArray[np.int_], Array, Array]:
    places = robot.places("q")
    single = [k for k, name in enumerate(robot.independent) if len(places.get(name, ())) == 1]
    at = [places[robot.independent[k]][0] for k in single]
    return np.array(single, dtype=int), np.array(at, dtype=int), robot.limits.lower[at], robot.limits.upper[at]


def _moved(task: _Task, q: Array, step: Array) -> Array:
    """Return where steps lead, those of joints cut off at their limits."""
    step, at = step.copy(), q[:, task.places]
    step[:, task.joints] = np.clip(step[:, task.joints], task.lower - at, task.upper - at)
    result = task.robot.integrate(q, step)
    result[:, task.places] = np.clip(result[:, task.places], task.lower, task.upper)  # but for rounding they are
    return result


def _is_blocked(task: _Task, q: Array, downhill: Array) -> NDArray[np.bool_]:
    """Return which velocities are of joints at a limit that the way downhill leads beyond."""
    at, pull = q[:, task.places], downhill[:, task.joints]
    blocked = np.zeros(downhill.shape, dtype=bool)
    blocked[:, task.joints] = ((at <= task.lower) & (pull < 0.0)) | ((at >= task.upper) & (pull > 0.0))
    return blocked
