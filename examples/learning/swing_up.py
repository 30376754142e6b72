"""Learn to swing up a two-link arm whose motors cannot lift it straight, and to hold it there.

    python examples/learning/swing_up.py            # about two minutes, a plot: swing_up_learning.png
    python examples/learning/swing_up.py 3          # three generations
"""

import sys

import numpy as np
from evolution import episode, figure, train

import appell
from appell.interop import gymnasium

ROD = {"mass": 1.0, "centre": [0.5, 0.0, 0.0], "inertia": [0.001, 0.083, 0.083], "damping": 0.05}


def main(generations: int = 300) -> None:
    arm = appell.from_dh([{"a": 0.0, **ROD}, {"a": 1.0, **ROD}], gravity=(0.0, -9.81, 0.0))
    task = gymnasium.swing_up(arm, effort=6.0, duration=5.0)  # 19.6 N·m would hold it level
    scale = np.array([1.0, 1.0, 1.0, 1.0, 4.0, 8.0])
    policy, curve, seconds = train(arm, task, generations, scale=scale)
    states = episode(arm, task, policy, copies=200)
    height = np.array([arm.potential_energy(state.q) for state in states])
    top = arm.potential_energy(gymnasium.upright(arm)) if hasattr(gymnasium, "upright") else height.max()
    print(top)
    drawn, axes = figure(curve, seconds)
    axes.plot(0.02 * np.arange(len(states)), height[:, :20], linewidth=0.8)
    axes.set(xlabel="time [s]", ylabel="potential energy [J]")
    drawn.savefig("swing_up_learning.png", dpi=120)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
