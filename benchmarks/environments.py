"""Steps per second of the vector environment and of Gymnasium's MuJoCo Reacher and Pusher, one thread, one run.

    python benchmarks/environments.py

Reacher is a planar arm of two links, Pusher an arm of seven joints; both have contact, which appell's environments do
not. A step is one action: 2 and 5 integration steps in MuJoCo, 5 here.
"""

import time

import gymnasium
import numpy as np

import appell
from appell.interop import gymnasium as environments

REPEATS = 5


def rate(step, count):
    """Return calls per second, the best of some repeats."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(count):
            step()
        seconds.append(time.perf_counter() - start)
    return count / min(seconds)


def peer(name):
    env = gymnasium.make(name)
    env.reset(seed=0)
    action = env.action_space.sample()

    def step():
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()

    return rate(step, 500)


def ours(name, frame, count):
    robot = appell.load(name)
    env = environments.VectorEnv(robot, environments.reach(robot, frame, effort=1.0), count, substeps=5)
    env.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, size=(count, robot.nv))
    return count * rate(lambda: env.step(actions), max(20, 500 // count))


def main():
    appell.threads(1)
    print(f"{'environment':28s} {'copies':>6s} {'steps/s':>10s} {'ratio':>6s}")
    for theirs, (name, frame) in {"Reacher-v5": ("two-link", "link2"), "Pusher-v5": ("puma560", "link6")}.items():
        base = peer(theirs)
        print(f"{theirs:28s} {1:6d} {base:10.0f}")
        for count in (1, 64, 1024):
            found = ours(name, frame, count)
            print(f"{name + ', reach':28s} {count:6d} {found:10.0f} {found / base:6.1f}")


if __name__ == "__main__":
    main()
