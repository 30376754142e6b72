"""View a run in the browser: the tree of ten rods inside a circular wall.

At a terminal the page stays open until Ctrl-C; otherwise, as in a test, the example prints its address and ends.
"""

import sys

import numpy as np

import appell
from appell.papers.shafei2018 import RADIUS, START


def main() -> None:
    robot = appell.load("shafei-tree")
    run = appell.simulate(robot, START, np.zeros(robot.nv), 2.0, walls=[appell.walls.Circle(RADIUS)])
    print(f"{len(run.impacts)} impacts in {run.t[-1]:g} s")
    if sys.stdout.isatty():
        appell.view(run)
        return
    with appell.view(run, browser=False, block=False) as viewer:
        viewer.seek(run.impacts[0].time)
        print(f"the page was at {viewer.url}")


if __name__ == "__main__":
    main()
