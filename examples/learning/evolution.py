"""Train a small neural network as a policy by CMA-ES: the candidates share one environment.

The copies of :class:`appell.interop.gymnasium.VectorEnv` are divided among the candidates, so that a generation is one
episode of native rollouts. All candidates meet the same starts and goals. The learner is the package `cma`.
"""

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import cma
import matplotlib.pyplot as plt
import numpy as np

import appell
from appell.interop import gymnasium

HIDDEN, SEED = 16, 1
DT = 0.02
"""The time between actions [s], that of the environment's own options."""
Policy = Callable[[np.ndarray], np.ndarray]


class Network:
    """Tanh networks with one hidden layer, one per row of weights."""

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        self.shapes = (inputs, hidden), (hidden,), (hidden, outputs), (outputs,)
        self.size = sum(int(np.prod(shape)) for shape in self.shapes)

    def __call__(self, weights: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the actions (n, copies, outputs) of n networks for observations (n, copies, inputs)."""
        sizes = [int(np.prod(shape)) for shape in self.shapes]
        parts = np.split(weights, np.cumsum(sizes)[:-1], axis=1)
        w1, b1, w2, b2 = (part.reshape(-1, *shape) for part, shape in zip(parts, self.shapes, strict=True))
        return np.tanh(np.tanh(x @ w1 + b1[:, None]) @ w2 + b2[:, None])


def repeated(draw: Callable[..., Any], times: int) -> Callable[..., Any]:
    """Return a draw whose numbers are the same for every candidate."""

    def drawn(rng: np.random.Generator, n: int) -> Any:
        made = draw(rng, max(n // times, 1))
        is_pair = isinstance(made, tuple)
        full = [np.resize(x, (n, x.shape[1])) for x in (made if is_pair else (made,))]
        return tuple(full) if is_pair else full[0]

    return drawn


def train(
    robot: appell.Robot, task: gymnasium.Task, generations: int, scale: Any, candidates: int = 32, copies: int = 16
) -> tuple[Policy, np.ndarray, np.ndarray]:
    """Return the policy, the mean reward per step of each generation's candidates, and the seconds passed.

    `scale` divides the observations, so that the weights are of the order of 1.
    """
    same = {name: repeated(draw, candidates) for name in ("start", "goal") if (draw := getattr(task, name))}
    env = gymnasium.VectorEnv(robot, replace(task, **same), candidates * copies)
    inputs, steps = env.single_observation_space.shape[0], round(task.duration / DT)
    network = Network(inputs, HIDDEN, env.single_action_space.shape[0])
    options = {"popsize": candidates, "seed": SEED, "verbose": -9}
    search = cma.CMAEvolutionStrategy(np.zeros(network.size), 0.5, options)
    begin, curve, seconds = perf_counter(), [], []
    for generation in range(generations):
        weights = np.array(search.ask())
        observation, _ = env.reset(seed=SEED + generation)
        total = np.zeros(candidates)
        for _ in range(steps):
            actions = network(weights, observation.reshape(candidates, copies, inputs) / scale)
            observation, reward, *_ = env.step(actions.reshape(candidates * copies, -1))
            total += reward.reshape(candidates, copies).mean(axis=1) / steps
        search.tell(list(weights), list(-total))
        curve.append(total)
        seconds.append(perf_counter() - begin)
        if generation % 20 == 0 or generation == generations - 1:
            print(
                f"generation {generation:4d}, {seconds[-1]:5.0f} s: reward per step {np.median(total):.3f}", flush=True
            )
    mean = np.array(search.result.xfavorite)[None]
    return (lambda x: network(mean, x[None] / scale)[0]), np.array(curve), np.array(seconds)


def episode(robot: appell.Robot, task: gymnasium.Task, policy: Policy, copies: int) -> list[gymnasium.State]:
    """Return the states of one episode with starts and goals that training has not seen."""
    env = gymnasium.VectorEnv(robot, task, copies)
    observation, _ = env.reset(seed=12345)
    states = []
    for _ in range(round(task.duration / DT)):
        states.append(gymnasium.State(*(x.copy() for x in env.state)))
        observation, *_ = env.step(policy(observation))
    return [*states, gymnasium.State(*(x.copy() for x in env.state))]


def figure(curve: np.ndarray, seconds: np.ndarray) -> tuple[Any, Any]:
    """Return a figure with the learning curve, and its second axes for what was learned."""
    drawn, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    left.fill_between(seconds, *np.quantile(curve, [0.1, 0.9], axis=1), alpha=0.3, label="middle 80 % of candidates")
    left.plot(seconds, np.median(curve, axis=1), label="median")
    left.set(xlabel="wall time [s]", ylabel="reward per step")
    left.legend(loc="lower right")
    return drawn, right
