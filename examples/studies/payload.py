"""The torques of a PUMA 560 along random motions, for payloads and speeds of a study; see payload.toml."""

import numpy as np


def peak(robot, mass, speed, rng):
    """Peak torques with a point mass at the wrist, over a thousand random states."""
    q = robot.random(rng, 1000)
    v = rng.uniform(-speed, speed, size=(1000, robot.nv))
    wrist = robot.frame_names[-1]
    weight = np.broadcast_to([0.0, 0.0, -9.81 * mass, 0.0, 0.0, 0.0], (1000, 6))
    tau = robot.inverse_dynamics(q, v, np.zeros_like(v), wrenches={wrist: weight})
    return {"peak": np.abs(tau).max(axis=0), "power": float(np.abs(tau * v).sum(axis=1).max())}
