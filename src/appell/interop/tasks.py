"""Tasks of environments: initial states, reward, and termination of episodes; and two examples.

States are arrays with one row per environment, so that rewards and terminations are computed for all at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from appell.arguments import finite_array
from appell.errors import InputError
from appell.robot.robot import Robot
from appell.spatial.scalar import Array


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
