"""Joint torques of an arm, for one state and for ten thousand."""

from __future__ import annotations

import numpy as np

import appell


def main() -> None:
    """Print the torques that hold a PUMA 560, and check forward against inverse dynamics on a batch."""
    robot = appell.load("puma560")
    still = np.zeros(robot.nv)
    print("torques that hold it:", robot.inverse_dynamics(still, still, still).round(2))

    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 10_000, robot.nv))
    tau = robot.inverse_dynamics(q, v, a)
    error = np.abs(robot.forward_dynamics(q, v, tau) - a).max()
    print(f"forward of inverse dynamics, {len(tau)} states: {error:.1e} rad/s² apart")


if __name__ == "__main__":
    main()
