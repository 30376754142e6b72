"""Learn to move the tip of a planar arm to random points within its reach, from torques alone.

python examples/learning/reach.py            # a few minutes, a plot: reach_learning.png
python examples/learning/reach.py 3          # three generations
"""

import sys
from dataclasses import replace

import numpy as np
from evolution import DT, episode, figure, train

import appell
from appell.interop import gymnasium

ROD = {"a": 0.5, "mass": 1.0, "centre": [-0.25, 0.0, 0.0], "inertia": [0.001, 0.021, 0.021], "damping": 0.2}


def main(generations: int = 200) -> None:
    arm = appell.from_dh([ROD, ROD], modified=False)
    task = gymnasium.reach(arm, "dh2", effort=5.0)

    def seen(state: gymnasium.State) -> np.ndarray:
        """Return the goal as a camera at the tip sees it, the elbow's cosine and sine, and the velocities."""
        tip = arm.pose(state.q, "dh2")
        goal = np.einsum("nij,ni->nj", tip[:, :3, :2], state.goal - tip[:, :3, 3])
        return np.column_stack([goal, np.cos(state.q[:, 1]), np.sin(state.q[:, 1]), state.v])

    task = replace(task, observe=seen)
    scale = np.array([0.5, 0.5, 1.0, 1.0, 4.0, 4.0])
    policy, curve, seconds = train(arm, task, generations, scale)
    states = episode(arm, task, policy, copies=200)
    distance = np.array([np.linalg.norm(arm.pose(s.q, "dh2")[:, :3, 3] - s.goal, axis=1) for s in states])
    print(f"{np.median(distance[-1]) * 100:.1f} cm from new goals after {task.duration:.0f} s (median),", end=" ")
    print(f"{(distance[-1] < 0.05).mean():.0%} of {distance.shape[1]} within 5 cm")
    drawn, axes = figure(curve, seconds)
    axes.plot(DT * np.arange(len(states)), 100.0 * distance[:, :20], linewidth=0.8)
    axes.set(xlabel="time [s]", ylabel="distance to the goal, twenty episodes [cm]", ylim=(0.0, None))
    drawn.savefig("reach_learning.png", dpi=120)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
