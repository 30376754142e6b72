"""The control loop on an arm that differs from its model: integral action removes the steady-state error."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import appell
from appell.control import PUMA600, PointToPoint, SimulatedPlant, Tracking, integral_gains, perturbed, run_loop

START = np.array([0.1, -0.8, 2.6, 0.3, 0.9, 0.2])
GOAL = np.array([0.3, -0.7, 2.5, 0.2, 0.8, 0.3])


def still(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return GOAL, np.zeros(6), np.zeros(6)


def main(folder: str = "out") -> None:
    """Run two control laws at 200 Hz on a PUMA 20 % heavier than its model, with friction; then overheat a motor."""
    model = appell.load("puma600")
    arm = perturbed(model, masses=1.2, friction=[6.0, 6.0, 4.0, 0.8, 0.6, 0.2])
    kp, kd, ki = integral_gains(frequency=8.0, damping=1.0, integral=6.0)
    laws = {
        "point-to-point": PointToPoint(model, GOAL, kp, kd, limit=PUMA600.limit),
        "integral": Tracking(model, still, kp, kd, ki, limit=PUMA600.limit),
    }
    for name, law in laws.items():
        run = run_loop(SimulatedPlant(arm, q=START, delay=1e-3, step=2e-3), law, duration=2.5, rate=200.0)
        print(f"{name}: error left {np.abs(run.error[-1]).max():.4f} rad, saturated {run.saturation_time.max():.3f} s")
        run.plot(Path(folder, f"{name}.png"))

    run = run_loop(SimulatedPlant(arm, q=START, hot={1: 0.5}), laws["integral"], duration=1.0, rate=200.0)
    if run.stopped:
        print("stopped:", run.stopped.message)


if __name__ == "__main__":
    main(*sys.argv[1:2])
