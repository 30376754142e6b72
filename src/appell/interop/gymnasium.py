"""Gymnasium environments over native rollouts: many robots of any kind in one call, without contact.

An environment is a robot and a :class:`Task`: initial states, reward, and termination of episodes. States are arrays
with one row per environment, so that rewards and terminations are computed for all at once::

    from appell.interop import gymnasium
    env = gymnasium.VectorEnv(robot, gymnasium.swing_up(robot), num_envs=1024)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from appell.arguments import ABOVE_ZERO, choice, finite_array, number, whole
from appell.errors import InputError
from appell.extras import extra
from appell.interop.tasks import State, Task, efforts, reach, swing_up
from appell.robot.robot import Robot
from appell.simulation.callbacks import own, unchanged
from appell.simulation.rollout.rollout import advance
from appell.simulation.rollout.scheme import METHODS
from appell.spatial.scalar import Array

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
        one = self._started(rng, 1)
        size = self._observed(one).shape[1]
        self.single_observation_space = gym.spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.single_action_space = gym.spaces.Box(-1.0, 1.0, self._effort.shape, np.float64)
        self.observation_space = gym.vector.utils.batch_space(self.single_observation_space, self.num_envs)
        self.action_space = gym.vector.utils.batch_space(self.single_action_space, self.num_envs)
        self._state = self._started(rng, self.num_envs)
        self._parameters: Array | None = None
        self._is_over = np.zeros(self.num_envs, dtype=bool)
        self._random: np.random.Generator = rng

    @property
    def state(self) -> State:
        """Return the states of all environments."""
        return self._state

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
        return self._observed(self._state), {}

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
        before, fresh = self._state, self._is_over
        q, v, lasted = self._advance(before.q, before.v, tau, self._parameters)
        with np.errstate(invalid="ignore"):  # a state that diverges ends its episode
            is_lost = (lasted < self._substeps) | ~(np.abs(v) < FASTEST).all(axis=1)
        if is_lost.any():
            q, v = (np.where(is_lost[:, None], old, new) for old, new in ((before.q, q), (before.v, v)))
        else:
            q, v = q.copy(), v.copy()
        self._state = State(q, v, before.goal, before.t + self._dt * self._substeps)
        seen = State(*map(own, self._state))
        with unchanged("Task.reward"):
            rewards = np.array(self.task.reward(seen, own(tau)), dtype=float)
        with unchanged("Task.ended"):
            terminated = is_lost | (self.task.ended(seen) if self.task.ended else False)
        truncated = ~terminated & (self._state.t >= self.task.duration - 0.5 * self._dt)
        if fresh.any():
            self._restart(fresh)
            rewards[fresh], terminated[fresh], truncated[fresh] = 0.0, False, False
        self._is_over = terminated | truncated
        info = {"diverged": is_lost & ~fresh} if is_lost.any() else {}
        return self._observed(self._state), rewards, terminated, truncated, info

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
        fresh = self._started(rng, count)
        for old, new in zip(self._state, fresh, strict=True):
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
