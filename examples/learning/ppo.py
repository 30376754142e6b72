"""Learn the swing-up of `swing_up.py` by PPO of stable-baselines3, on many copies of the robot at once.

python examples/learning/ppo.py              # some minutes, a plot: ppo_learning.png
python examples/learning/ppo.py 20000        # so many steps of the environments

The package needs PyTorch; its build for the CPU will do.
"""

import sys
from time import perf_counter
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv
from swing_up import UPRIGHT, arm_of_two

from appell.interop import gymnasium

COPIES, STEPS = 64, 1_500_000


class Copies(VecEnv):
    """A vector environment as stable-baselines3 has it: a copy that ends begins anew in the same step."""

    def __init__(self, env: gymnasium.VectorEnv) -> None:
        assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
        self.env = env
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self) -> np.ndarray:
        """Return the first observations."""
        return self.env.reset(seed=1)[0].astype(np.float32)

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions."""
        self.actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Return observations, rewards, ends, and the last observation of each copy that ended."""
        observation, reward, ended, truncated, _ = self.env.step(self.actions)
        done, infos = ended | truncated, [{} for _ in range(self.num_envs)]
        if done.all():  # all copies begin together, and the task ends by time alone
            for info, last in zip(infos, observation, strict=True):
                info.update({"terminal_observation": last.astype(np.float32), "TimeLimit.truncated": True})
            observation = self.env.reset()[0]
        return observation.astype(np.float32), reward.astype(np.float32), done, infos

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the copies."""
        return [getattr(self.env, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: the copies share one environment."""
        raise NotImplementedError

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **options: Any) -> list[Any]:
        """Refuse: the copies share one environment."""
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return that no copy is wrapped."""
        return [False] * self.num_envs


class Curve(BaseCallback):
    """The mean reward of every round of steps, and the seconds passed."""

    def __init__(self) -> None:
        super().__init__()
        self.begin, self.rewards, self.seconds = perf_counter(), [], []

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self.rewards.append(float(self.model.rollout_buffer.rewards.mean()))
        self.seconds.append(perf_counter() - self.begin)


def main(steps: int = STEPS) -> None:
    torch.set_num_threads(1)
    arm = arm_of_two()
    task = gymnasium.swing_up(arm, UPRIGHT, effort=6.0)
    env, curve = Copies(gymnasium.VectorEnv(arm, task, COPIES)), Curve()
    learner = PPO(
        "MlpPolicy", env, n_steps=125, batch_size=2000, n_epochs=5, learning_rate=1e-3, gamma=0.99, ent_coef=0.0, seed=1
    )
    learner.learn(steps, callback=curve)
    observation, states = env.env.reset(seed=12345)[0], []
    for _ in range(round(task.duration / 0.02) - 1):
        action, _ = learner.predict(observation.astype(np.float32), deterministic=True)
        observation, *_ = env.env.step(action)
        states.append(env.env.state.q.copy())
    error = np.abs(np.angle(np.exp(1j * (np.array(states) - UPRIGHT)))).max(axis=2)
    is_up = error[-50:].max(axis=0) < 0.3
    print(f"{steps} steps in {curve.seconds[-1]:.0f} s, reward per step {curve.rewards[-1]:.2f} of at most 3;", end=" ")
    print(f"{is_up.mean():.0%} of {is_up.size} new starts stay upright for the last second")
    figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
    axes.plot(curve.seconds, curve.rewards)
    axes.set(xlabel="wall time [s]", ylabel="reward per step")
    figure.savefig("ppo_learning.png", dpi=120)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
