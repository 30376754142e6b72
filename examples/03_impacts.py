"""A tree of ten rods falls inside a circle: located impacts, simultaneous ones solved together."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import appell
from appell.papers.shafei2018 import POINTS, START


def main(folder: str = "out") -> None:
    """Simulate the motion of shafei2018, print its impacts, and write plots and an animation."""
    robot = appell.load("shafei-tree")
    walls = [appell.walls.Circle(2.5)]
    run = appell.simulate(robot, START, np.zeros(robot.nv), 2.0, walls=walls, points=POINTS, rtol=1e-12, atol=1e-13)
    for impact in run.impacts:
        impulses = ", ".join(
            f"{name} {impulse:.6f}" for name, impulse in zip(impact.points, impact.impulse, strict=True)
        )
        print(f"{impact.time:.9f} s: impulses [N·s] {impulses}")
    print(f"energy {run.energy[0]:.9f} J, varies by {np.ptp(run.energy):.1e} J")

    q, _ = run.at(1.5)
    print("at 1.5 s the head is at", robot.pose(q, "O9")[:2, 3].round(6))

    run.plot(Path(folder, "tree.png"))
    print("written to", run.animate(Path(folder, "tree.gif"), fps=15, speed=0.5))


if __name__ == "__main__":
    main(*sys.argv[1:2])
