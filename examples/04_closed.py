"""A closed-loop robot: from actuator accelerations to motor forces, and back, without multipliers."""

from __future__ import annotations

import numpy as np

import appell


def main() -> None:
    """Print the leg forces of a Stewart platform for one and for a thousand postures, and the closure error."""
    robot = appell.load("stewart")
    print(f"{robot.model.nv} joints in the tree, {robot.nv} independent: {', '.join(robot.independent)}")
    q, still = robot.neutral(), np.zeros(6)
    print("forces that hold it [N]:", robot.inverse_dynamics(q, still, still).round(2))

    rng = np.random.default_rng(0)
    q, v, a = robot.random(rng, 1000), rng.normal(size=(1000, 6)), rng.normal(size=(1000, 6))
    tau = robot.inverse_dynamics(q, v, a)
    error = np.abs(robot.forward_dynamics(q, v, tau) - a).max()
    print(f"forward of inverse dynamics, {len(q)} postures: {error:.1e} m/s² apart")

    run = appell.rollout(robot, q[:4], still, None, 1e-3, steps=100)
    print(f"four of them let go for 0.1 s: loops open by {robot.closure_error(run.q).max():.0e} m at most")


if __name__ == "__main__":
    main()
