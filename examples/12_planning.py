"""From a shelf of poses to a motion: batched inverse kinematics with a posture, the fastest motion, a moving goal."""

from __future__ import annotations

import numpy as np

import appell


def main() -> None:
    """Solve 500 poses at once, go through three of them as fast as the torques allow, then follow a moving goal."""
    robot, rng = appell.load("rx90"), np.random.default_rng(0)
    rest = np.array([0.0, 0.4, -0.8, 0.0, 0.6, 0.0])
    poses = robot.pose(rest + 0.5 * rng.normal(size=(500, 6)), "dh6")
    found = appell.inverse_kinematics(robot, poses, "dh6", guess=rest, tasks=[appell.tasks.Posture(rest)])
    print(f"{found.is_reached.mean():.0%} reached, {np.median(found.iterations):.0f} steps each")

    points = np.array([rest, *found.q[found.is_reached][:3], rest])
    path = appell.trajectory.Spline(np.arange(5.0), points)
    torque = 4.0 * np.abs(robot.gravity(robot.random(rng, 1000))).max(axis=0) + 20.0
    whole = appell.trajectory.time_scaling(robot, path, torque=torque)
    best = appell.trajectory.time_scaling(robot, path, torque=torque, optimal=True)
    print(f"scaled as a whole {whole.trajectory.duration:.2f} s, with the best timing {best.trajectory.duration:.2f} s")

    try:
        online = appell.trajectory.OnlineTrajectory(rest, 0.002, velocity=1.5, acceleration=6.0, jerk=60.0)
    except appell.InputError as error:  # ruckig is an extra
        print(error)
        return
    for k in range(500):
        state = online.step(rest + 0.3 * np.sin(0.004 * k))  # the goal moves on at every step
    print(f"behind the moving goal by {np.abs(state.q - rest - 0.3 * np.sin(0.004 * k)).max():.3f} rad")


if __name__ == "__main__":
    main()
