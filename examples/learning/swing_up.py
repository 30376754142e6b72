"""Learn to swing up a two-link arm whose motors cannot lift it straight, and to hold it there.

python examples/learning/swing_up.py            # a few minutes, a plot: swing_up_learning.png
python examples/learning/swing_up.py 3          # three generations
"""

import sys
from dataclasses import replace

import numpy as np
from evolution import DT, episode, figure, train

import appell
from appell.interop import gymnasium

ROD = {"mass": 1.0, "centre": [0.5, 0.0, 0.0], "inertia": [0.001, 0.083, 0.083], "damping": 0.05}
UPRIGHT = np.array([0.5 * np.pi, 0.0])


def main(generations: int = 300) -> None:
    arm = appell.from_dh([{"a": 0.0, **ROD}, {"a": 1.0, **ROD}], gravity=(0.0, -9.81, 0.0))
    low, high = (arm.potential_energy(sign * UPRIGHT) for sign in (-1.0, 1.0))

    def reward(state: gymnasium.State, _: np.ndarray) -> np.ndarray:
        """Return up to 1 for the energy of the upright posture and up to 2 for being in it at rest."""
        energy = arm.kinetic_energy(state.q, state.v) + arm.potential_energy(state.q)
        far = (1.0 - np.cos(state.q - UPRIGHT)).sum(axis=1) + 0.05 * (state.v**2).sum(axis=1)
        return 1.0 - np.abs(high - energy) / (high - low) + 2.0 * np.exp(-far)

    # a reward for angles alone has a local optimum: to hold the arm as far up as the motors can
    task = replace(gymnasium.swing_up(arm, UPRIGHT, effort=6.0), reward=reward)  # 19.6 N·m would hold it level
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
