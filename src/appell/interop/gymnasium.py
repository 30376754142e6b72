"""Gymnasium environments over native rollouts: many robots of any kind in one call, without contact.

States are arrays with one row per environment, so that rewards and terminations are computed for all at once.

An environment is a robot and a :class:`Task`: initial states, reward, and termination of episodes. States are arrays
with one row per environment, so that rewards and terminations are computed for all at once::

    from appell.interop import gymnasium
    env = gymnasium.VectorEnv(robot, gymnasium.swing_up(robot), num_envs=1024)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from appell.arguments import ABOVE_ZERO, choice, finite_array, number, whole
from appell.errors import InputError
from appell.extras import extra
from appell.robot.robot import Robot
from appell.simulation.callbacks import own, unchanged
from appell.simulation.rollout.rollout import advance
from appell.simulation.rollout.scheme import METHODS
from appell.spatial.scalar import Array

# Tasks: initial states, reward, and termination of episodes; and two examples


class State(NamedTuple):
    """The states of several environments, one row each; those that a :class:`Task` gets are read-only copies.

    Parameters
    ----------
    q, v : array
        Configurations (n, nq) and velocities (n, nv).
    goal : array, shape (n, m)
        Goals drawn by :attr:`Task.goal`.
    t : array, shape (n,)
        Time since the start of the episode [s].

    Examples
    --------
    >>> import numpy as np
    >>> State(np.zeros((8, 2)), np.zeros((8, 2)), np.zeros((8, 0)), np.zeros(8)).q.shape
    (8, 2)
    """

    q: Array
    """Configurations (n, nq)."""
    v: Array
    """Velocities (n, nv)."""
    goal: Array
    """Goals drawn by :attr:`Task.goal`, (n, m)."""
    t: Array
    """Time since the start of the episode [s], (n,)."""


Draw = Callable[[np.random.Generator, int], Any]


@dataclass(frozen=True)
class Task:
    """A task of an environment.

    Parameters
    ----------
    reward
        ``reward(state, tau)`` returns (n,), for the states after a step and the joint torques (n, nu) of the step.
    start
        ``start(rng, n)`` returns q (n, nq) and v (n, nv). Default: at rest at the neutral configuration.
    goal
        ``goal(rng, n)`` returns the goals of episodes, (n, m), which are part of the observation.
    ended
        ``ended(state)`` returns (n,) of bool: where an episode terminates. Episodes also end after `duration`
        (truncated), and where a state diverges or exceeds the speed :data:`FASTEST`.
    observe
        ``observe(state)`` returns the observations (n, k). Default: coordinates, with cosine and sine of unbounded
        angles, velocities and goal.
    parameters
        ``parameters(rng, n)`` returns π (n, p) in the layout of ``robot.parameters``, drawn at every start: domain
        randomisation.
    effort
        Torque of an action of 1 [N·m], a number or (nu,). Default: the robot's effort limits.
    duration
        Duration of an episode [s].

    Examples
    --------
    >>> Task(reward=lambda state, tau: -(state.q**2).sum(axis=1), duration=3.0).duration
    3.0
    """

    reward: Callable[[State, Array], Any]
    start: Draw | None = None
    goal: Draw | None = None
    ended: Callable[[State], Any] | None = None
    observe: Callable[[State], Any] | None = None
    parameters: Draw | None = None
    effort: Any = None
    duration: float = 5.0


def swing_up(robot: Robot, goal: Any = None, effort: Any = None, duration: float = 5.0) -> Task:
    """Return the task of swinging up from the lowest posture and balancing at a goal.

    The reward is up to 1 for the energy of the goal at rest, and up to 2 for being there. A reward for angles alone
    has a local optimum: to hold the robot as far up as its motors can.

    Parameters
    ----------
    robot
        An open robot without quaternions.
    goal
        The target configuration, (nq,). Default: the posture of highest potential energy.
    effort
        Largest torque [N·m]. Default: the robot's effort limits.
    duration
        Duration of an episode [s].

    Returns
    -------
    Task

    Raises
    ------
    InputError
        When the robot has quaternions or loops, or the goal has no more potential energy than the lowest posture.

    Examples
    --------
    >>> import appell
    >>> from appell.interop import gymnasium
    >>> gymnasium.swing_up(appell.load("two-link"), effort=2.0).duration
    5.0
    """
    low, high = _extremes(robot)
    top = high if goal is None else finite_array("swing_up: goal", goal)
    needed = float(robot.potential_energy(top))
    rise = needed - float(robot.potential_energy(low))
    if not rise > 0.0:
        raise InputError(
            f"swing_up: the goal of robot '{robot.name}' is {rise:.3g} J above its lowest posture; give gravity or "
            "another goal="
        )

    def reward(state: State, _: Array) -> Any:
        energy = robot.kinetic_energy(state.q, state.v) + robot.potential_energy(state.q)
        far = (1.0 - np.cos(state.q - top)).sum(axis=1) + 0.05 * (state.v**2).sum(axis=1)
        return 1.0 - np.abs(needed - energy) / rise + 2.0 * np.exp(-far)

    def start(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        return low + rng.normal(0.0, 0.1, size=(n, robot.nq)), rng.normal(0.0, 0.05, size=(n, robot.nv))

    task = Task(reward, start, effort=effort, duration=duration)
    efforts(robot, task)  # before the first step
    return task


def reach(robot: Robot, frame: str, reached: float = 0.05, effort: Any = None, duration: float = 2.0) -> Task:
    """Return the task of moving a frame to random reachable points.

    Parameters
    ----------
    robot
        Any robot with motors.
    frame
        The frame whose origin shall reach the goal.
    reached
        Distance below which the goal is reached [m].
    effort
        Largest torque [N·m]. Default: the robot's effort limits.
    duration
        Duration of an episode [s].

    Returns
    -------
    Task
        Goals are points (3,) in the world; the observation holds the vector from the frame to its goal.

    Examples
    --------
    >>> import appell
    >>> from appell.interop import gymnasium
    >>> robot = appell.load("puma560")
    >>> env = gymnasium.VectorEnv(robot, gymnasium.reach(robot, "link6", effort=50.0), num_envs=8)
    >>> env.reset(seed=1)[0].shape
    (8, 15)
    """

    def position(q: Array) -> Array:
        return np.asarray(robot.pose(q, frame))[..., :3, 3]

    def reward(state: State, tau: Array) -> Any:
        far = np.linalg.norm(position(state.q) - state.goal, axis=1)
        return (far < reached) - far - 0.01 * (state.v**2).mean(axis=1)

    def observe(state: State) -> Array:
        return np.concatenate([state.q, state.v, state.goal - position(state.q)], axis=1)

    def goal(rng: np.random.Generator, n: int) -> Array:
        return position(np.asarray(robot.random(rng, n)))

    return Task(reward, goal=goal, observe=observe, effort=effort, duration=duration)


def _extremes(robot: Robot) -> tuple[Array, Array]:
    """Return the configurations of lowest and highest potential energy among those with angles of 0 and ±π/2, π."""
    if robot.nq != robot.nv or robot.facts.closure_names:
        raise InputError(f"swing_up: robot '{robot.name}' has quaternions or loops; define your own Task")
    rng = np.random.default_rng(0)
    found = np.asarray(robot.neutral()) + np.concatenate(
        [rng.choice([0.0, 0.5 * np.pi, -0.5 * np.pi, np.pi], size=(4096, robot.nq)), np.zeros((1, robot.nq))]
    )
    energy = robot.potential_energy(found)
    return found[int(np.argmin(energy))], found[int(np.argmax(energy))]


def efforts(robot: Robot, task: Task) -> Array:
    """Return the torques of actions of 1, (nu,)."""
    count = robot.facts.sizes["u"]
    given = robot.facts.limits.effort if task.effort is None else finite_array("Task.effort", task.effort)
    effort = np.broadcast_to(np.asarray(given, dtype=float), (count,)).copy() if np.size(given) in (1, count) else None
    if effort is None or not np.isfinite(effort).all() or not (effort >= 0.0).all():
        raise InputError(
            f"Task: robot '{robot.name}' has no finite effort limit for every actuator; give effort=, a number or "
            f"({count},)"
        )
    return effort


# Environments

gym: Any = extra("gymnasium", "appell.interop.gymnasium needs")
vector: Any = extra("gymnasium.vector", "appell.interop.gymnasium needs")

FASTEST = 1e4
"""Velocity [rad/s, m/s] beyond which a state counts as diverged."""

__all__ = ["Env", "State", "Task", "VectorEnv", "reach", "swing_up"]


class VectorEnv(vector.VectorEnv):  # type: ignore[misc]  # an untyped package
    """Many copies of a robot with one task, stepped together in native code.

    Actions are in [−1, 1] per actuator, times the task's `effort`. A copy whose episode ended is reset by the next step
    (``AutoresetMode.NEXT_STEP``).

    Parameters
    ----------
    robot : Robot
        A robot of any kind, without walls and contact.
    task : Task
        The task.
    num_envs : int
        Number of copies.
    dt : float
        Integration step [s].
    substeps : int
        Integration steps per action.
    method : str
        Integration method, as in :func:`appell.rollout`.

    Raises
    ------
    InputError
        When the task does not match the robot.

    Examples
    --------
    >>> import appell, numpy as np
    >>> from appell.interop import gymnasium
    >>> robot = appell.load("two-link")
    >>> env = gymnasium.VectorEnv(robot, gymnasium.swing_up(robot, effort=5.0), num_envs=64)
    >>> observation, info = env.reset(seed=0)
    >>> observation, reward, terminated, truncated, info = env.step(np.zeros((64, 2)))
    >>> observation.shape, reward.shape
    ((64, 6), (64,))
    """

    def __init__(
        self,
        robot: Robot,
        task: Task,
        num_envs: int = 1,
        *,
        dt: float = 0.005,
        substeps: int = 4,
        method: str = "euler",
    ) -> None:
        if not isinstance(robot, Robot) or not isinstance(task, Task):
            raise InputError(
                f"VectorEnv: expected a robot and a Task, got {type(robot).__name__} and {type(task).__name__}"
            )
        self.robot, self.task = robot, task
        self.num_envs, self._substeps = whole("VectorEnv: num_envs", num_envs), whole("VectorEnv: substeps", substeps)
        self._dt = number("VectorEnv: dt must be a time above zero", dt, ABOVE_ZERO)
        choice("VectorEnv: no method", method, METHODS)
        self._advance = advance(robot, method, self._dt, self._substeps)
        self._effort = efforts(robot, task)
        self._is_angle = _angles(robot)
        self.metadata = {"autoreset_mode": vector.AutoresetMode.NEXT_STEP, "render_modes": []}
        rng = np.random.default_rng(0)
        size = self._observed(self._started(rng, 1)).shape[1]
        self.single_observation_space = gym.spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.single_action_space = gym.spaces.Box(-1.0, 1.0, self._effort.shape, np.float64)
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, self.num_envs)
        self.action_space = gym.vector.utils.batch_space(self.single_action_space, self.num_envs)
        self.state = self._started(rng, self.num_envs)
        self._parameters: Array | None = None
        self._is_over = np.zeros(self.num_envs, dtype=bool)
        self._random: np.random.Generator = rng

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start new episodes in all environments.

        Parameters
        ----------
        seed : int, optional
            Seed of initial states, goals and parameters. Default: the random numbers continue.
        options : dict, optional
            Not used.

        Returns
        -------
        observations : array, shape (num_envs, k)
            Observations.
        info : dict
            Empty.
        """
        super().reset(seed=seed, options=options)
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self._parameters = None
        self._restart(np.ones(self.num_envs, dtype=bool))
        return self._observed(self.state), {}

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Apply actions for `substeps` integration steps.

        Parameters
        ----------
        actions : array_like, shape (num_envs, nu)
            Actions, clipped to [−1, 1].

        Returns
        -------
        observations, rewards, terminated, truncated, info
            One row each per environment.
        """
        given = finite_array("actions", actions)
        if given.shape != (self.num_envs, *self._effort.shape):
            raise InputError(
                f"actions: expected ({self.num_envs}, {self._effort.size}), got {given.shape} for '{self.robot.name}'"
            )
        tau = np.clip(given, -1.0, 1.0) * self._effort
        before, fresh = self.state, self._is_over
        q, v, lasted = self._advance(before.q, before.v, tau, self._parameters)
        with np.errstate(invalid="ignore"):  # a state that diverges ends its episode
            is_lost = (lasted < self._substeps) | ~(np.abs(v) < FASTEST).all(axis=1)
        if is_lost.any():
            q, v = (np.where(is_lost[:, None], old, new) for old, new in ((before.q, q), (before.v, v)))
        else:
            q, v = q.copy(), v.copy()
        self.state = State(q, v, before.goal, before.t + self._dt * self._substeps)
        seen = State(*map(own, self.state))
        with unchanged("Task.reward"):
            rewards = np.array(self.task.reward(seen, own(tau)), dtype=float)
        with unchanged("Task.ended"):
            terminated = is_lost | (self.task.ended(seen) if self.task.ended else False)
        truncated = ~terminated & (self.state.t >= self.task.duration - 0.5 * self._dt)
        if fresh.any():
            self._restart(fresh)
            rewards[fresh], terminated[fresh], truncated[fresh] = 0.0, False, False
        self._is_over = terminated | truncated
        info = {"diverged": is_lost & ~fresh} if is_lost.any() else {}
        return self._observed(self.state), rewards, terminated, truncated, info

    def _started(self, rng: np.random.Generator, n: int) -> State:
        """Return states at the start of episodes."""
        robot, task = self.robot, self.task
        given = task.start(rng, n) if task.start else (np.tile(robot.neutral(), (n, 1)), np.zeros((n, robot.nv)))
        q, v = (finite_array(f"Task.start: {name}", x) for name, x in zip("qv", given, strict=True))
        goal = finite_array("Task.goal", task.goal(rng, n)) if task.goal else np.zeros((n, 0))
        for name, x, size in (("start: q", q, robot.nq), ("start: v", v, robot.nv), ("goal", goal, goal.shape[-1])):
            if x.shape != (n, size):
                raise InputError(f"Task.{name}: expected ({n}, {size}), got {x.shape} for robot '{robot.name}'")
        robot.configuration("Task.start: q", q)
        return State(q, v, goal, np.zeros(n))

    def _restart(self, which: Array) -> None:
        """Start new episodes in some environments."""
        count, rng = int(which.sum()), self._random
        for old, new in zip(self.state, self._started(rng, count), strict=True):
            old[which] = new
        if self.task.parameters is not None:
            drawn, size = finite_array("Task.parameters", self.task.parameters(rng, count)), self.robot.parameters.size
            if drawn.shape != (count, size):
                raise InputError(f"Task.parameters: expected ({count}, {size}), got {drawn.shape}")
            if self._parameters is None:
                self._parameters = np.empty((self.num_envs, drawn.shape[-1]))
            self._parameters[which] = drawn
        self._is_over = self._is_over & ~which

    def _observed(self, state: State) -> Array:
        if self.task.observe is not None:
            with unchanged("Task.observe"):
                return np.array(self.task.observe(State(*map(own, state))), dtype=float)
        q, is_angle = state.q, self._is_angle
        return np.concatenate(
            [q[:, ~is_angle], np.cos(q[:, is_angle]), np.sin(q[:, is_angle]), state.v, state.goal], axis=1
        )


class Env(gym.Env):  # type: ignore[misc]  # an untyped package
    """One robot with one task, for software that requires a single environment; :class:`VectorEnv` is much faster.

    Parameters
    ----------
    robot : Robot
        A robot of any kind.
    task : Task
        The task.
    **options
        Options of :class:`VectorEnv`: dt, substeps, method.

    Examples
    --------
    >>> import appell
    >>> from appell.interop import gymnasium
    >>> robot = appell.load("two-link")
    >>> env = gymnasium.Env(robot, gymnasium.swing_up(robot, effort=5.0))
    >>> observation, info = env.reset(seed=0)
    >>> observation.shape, len(env.step([0.0, 0.0]))
    ((6,), 5)
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  (Gymnasium's own attribute)

    def __init__(self, robot: Robot, task: Task, **options: Any) -> None:
        self._one = VectorEnv(robot, task, 1, **options)
        self.observation_space, self.action_space = self._one.single_observation_space, self._one.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start a new episode.

        Parameters
        ----------
        seed : int, optional
            Seed of the initial state, goal and parameters.
        options : dict, optional
            Not used.

        Returns
        -------
        observation : array, shape (k,)
            Observation.
        info : dict
            Empty.
        """
        super().reset(seed=seed, options=options)
        observations, info = self._one.reset(seed=seed)
        return observations[0], info

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Apply an action for `substeps` integration steps.

        Parameters
        ----------
        action : array_like, shape (nu,)
            Action, clipped to [−1, 1].

        Returns
        -------
        tuple
            Observation (k,), reward, terminated, truncated, info.
        """
        observations, rewards, ended, cut, _ = self._one.step(np.asarray(action)[None])
        return observations[0], float(rewards[0]), bool(ended[0]), bool(cut[0]), {}


def _angles(robot: Robot) -> Any:
    """Return which coordinates are unbounded angles, (nq,): observed by cosine and sine."""
    own = robot.model.independent
    if not own.nq == robot.nq == robot.nv:  # loops, quaternions, or platform coordinates
        return np.zeros(robot.nq, dtype=bool)
    is_turning = [
        body.joint.kind in ("revolute", "continuous") for body in own.bodies for _ in range(body.joint.type.nq)
    ]
    return np.isinf(robot.facts.limits.upper) & np.array(is_turning, dtype=bool)
