"""A quadruped with a floating base from a generated file: load, integrate, push, and check the momentum."""

from __future__ import annotations

import numpy as np

import appell
from appell.model.build import Connection, Link, build
from appell.model.model import Joint
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose

TRUNK = Inertia.from_centre(10.0, (0.0, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.35)))
LEG = Inertia.from_centre(1.0, (0.0, 0.0, -0.1), ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.001)))


def quadruped() -> appell.Robot:
    """Return a trunk with four legs of two joints each, with a floating base."""
    links, joints = [Link("trunk", TRUNK)], []
    for leg, (x, y) in {"fl": (0.2, 0.1), "fr": (0.2, -0.1), "rl": (-0.2, 0.1), "rr": (-0.2, -0.1)}.items():
        links += [Link(f"{leg}_thigh", LEG), Link(f"{leg}_shank", LEG)]
        hip = Joint(f"{leg}_hip", "revolute", (0.0, 1.0, 0.0), Pose(position=(x, y, 0.0)))
        knee = Joint(f"{leg}_knee", "revolute", (0.0, 1.0, 0.0), Pose(position=(0.0, 0.0, -0.2)))
        joints += [Connection(hip, "trunk", f"{leg}_thigh"), Connection(knee, f"{leg}_thigh", f"{leg}_shank")]
    return appell.load(build("quadruped", links, joints), floating=True)


def main() -> None:
    """Simulate a fall without torques under a lateral push at one foot, and compare the momentum with the impulse."""
    robot = quadruped()
    q, v, dt, steps = robot.neutral(), np.zeros(robot.nv), 1e-4, 1000
    push = {"fl_shank": np.array([0.0, 5.0, 0.0, 0.0, 0.0, 0.0])}
    for _ in range(steps):
        v = v + dt * robot.forward_dynamics(q, v, np.zeros(robot.nv), wrenches=push)
        q = robot.integrate(q, dt * v)
    expected = dt * steps * np.array([0.0, 5.0, -9.81 * robot.total_mass])
    print("linear momentum:", robot.momentum(q, v)[:3].round(3), "impulse:", expected.round(3))


if __name__ == "__main__":
    main()
