"""Time-optimal timing of a path of the PUMA 560 beside toppra, in one run: durations, times, limits between samples.

toppra gets the same path, as many samples, limits imposed at both ends of each interval, and appell's inverse dynamics
for its torques. The share of the limits is that of the finished trajectory of each, at 20000 moments.

    .venv/bin/python benchmarks/time_optimal.py
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import toppra

import appell

TORQUE = np.array([97.6, 186.4, 89.4, 24.2, 20.1, 21.3])
LIMITS: list[dict[str, Any]] = [{"torque": TORQUE}, {"velocity": 0.7, "acceleration": 1.5}]
POINTS = [[0.0] * 6, [0.8, 0.5, -0.6, 1.0, -0.4, 0.3], [0.2, 0.9, -0.3, 0.2, 0.5, 1.1]]
SAMPLES, TURNS = 1001, 5


def main() -> None:
    warnings.simplefilter("ignore")
    toppra.setup_logging("ERROR")
    robot = appell.load("puma560", friction=False)
    spline = appell.trajectory.Spline([0.0, 1.0, 2.5], POINTS, v0=[1.0] * 6, v1=[0.5] * 6)
    times = np.linspace(0.0, spline.duration, 401)
    path = toppra.SplineInterpolator(times, spline(times).q)

    def theirs(limits: dict[str, Any]) -> Any:
        both, ends = np.tile([-1.0, 1.0], (6, 1)), toppra.constraint.DiscretizationType.Interpolation
        made: dict[str, Any] = {
            "torque": lambda x: toppra.constraint.JointTorqueConstraint(
                robot.inverse_dynamics, x[:, None] * both, np.zeros(6), discretization_scheme=ends
            ),
            "velocity": lambda x: toppra.constraint.JointVelocityConstraint(x * both),
            "acceleration": lambda x: toppra.constraint.JointAccelerationConstraint(
                x * both, discretization_scheme=ends
            ),
        }
        given = [made[name](x) for name, x in limits.items()]
        grid = np.linspace(0.0, spline.duration, SAMPLES)
        found = toppra.algorithm.TOPPRA(given, path, gridpoints=grid, solver_wrapper="seidel")
        motion = found.compute_trajectory(0.0, 0.0)
        return motion.duration, lambda t: (motion(t), motion(t, 1), motion(t, 2))

    def ours(limits: dict[str, Any]) -> Any:
        motion = appell.trajectory.time_scaling(robot, spline, samples=SAMPLES, optimal=True, **limits).trajectory
        return motion.duration, motion

    print(f"{'limits':24} {'':8} duration [s]   time [ms]   largest share of a limit")
    for limits in LIMITS:
        for name, solve in (("toppra", theirs), ("appell", ours)):
            best = np.inf
            for _ in range(TURNS):
                start = time.perf_counter()
                duration, motion = solve(limits)
                best = min(best, time.perf_counter() - start)
            q, v, a = motion(np.linspace(0.0, duration, 20001)[1:-1])
            values = {"velocity": v, "acceleration": a, "torque": robot.inverse_dynamics(q, v, a)}
            share = max(float((np.abs(values[limit]) / x).max()) for limit, x in limits.items())
            print(f"{', '.join(limits):24} {name:8} {duration:12.4f} {1e3 * best:11.1f} {share:26.4f}")


if __name__ == "__main__":
    main()
