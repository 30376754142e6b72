"""Learn to swing up a two-link arm whose motors cannot lift it straight, and to hold it there.

python examples/learning/swing_up.py            # a few minutes, a plot: swing_up_learning.png
python examples/learning/swing_up.py 3          # three generations
"""

import sys

import numpy as np
from evolution import DT, episode, figure, train

import appell
from appell.interop import gymnasium

ROD = {"mass": 1.0, "centre": [0.5, 0.0, 0.0], "inertia": [0.001, 0.083, 0.083], "damping": 0.05}
UPRIGHT = np.array([0.5 * np.pi, 0.0])


def arm_of_two() -> appell.Robot:
    """Return two links of 1 kg and 1 m in a vertical plane."""
    return appell.from_dh([{"a": 0.0, **ROD}, {"a": 1.0, **ROD}], gravity=(0.0, -9.81, 0.0))


def main(generations: int = 300) -> None:
    arm = arm_of_two()
    task = gymnasium.swing_up(arm, UPRIGHT, effort=6.0)  # 19.6 N·m would hold it level
    scale = np.array([1.0, 1.0, 1.0, 1.0, 4.0, 8.0])
    policy, curve, seconds = train(arm, task, generations, scale)
    states = episode(arm, task, policy, copies=200)
    q = np.array([state.q for state in states])
    error = np.abs(np.angle(np.exp(1j * (q - UPRIGHT)))).max(axis=2)  # the larger of both angles to upright
    is_up = error[-round(1.0 / DT) :].max(axis=0) < 0.3
    print(f"{is_up.mean():.0%} of {is_up.size} new starts end upright and stay there for the last second")
    drawn, axes = figure(curve, seconds)
    axes.plot(DT * np.arange(len(states)), np.degrees(error[:, :20]), linewidth=0.8)
    axes.set(xlabel="time [s]", ylabel="angle to upright, twenty starts [°]")
    drawn.savefig("swing_up_learning.png", dpi=120)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
