"""Located impacts: the tree of shafei2018 in its circle, and a humanoid dropped into a sphere.

Prints the time of each simulation after compilation, and its invariants: energy, gaps, momentum. heyoka locates events
of ordinary differential equations too, but has no multibody impacts; the paper reports about 40 hours for the first.
"""

from __future__ import annotations

import sysconfig
import time
from pathlib import Path

import numpy as np

import appell
from appell.simulation.contact.points import Points, resolve

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
HUMANOID = ROBOTS / "g1_description" / "urdf" / "g1_29dof_rev_1_0.urdf"


def tree() -> None:
    robot, points = appell.load("shafei-tree"), [f"O{k}" for k in range(1, 12)]
    from appell.papers.shafei2018 import START  # noqa: PLC0415  # a paper's data, for this case alone

    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        run = appell.simulate(
            robot, START, np.zeros(12), 2.0, walls=[appell.walls.Circle(2.5)], points=points, rtol=1e-12, atol=1e-13
        )
        best = min(best, time.perf_counter() - start)
    drift = np.ptp(run.energy) / abs(run.energy[0])
    print(f"shafei-tree, 2 s, {len(run.impacts)} impacts: {best:.3f} s, energy drift {drift:.1e} (paper: about 40 h)")


def humanoid() -> None:
    robot, wall = appell.load(HUMANOID, floating=True), appell.walls.Sphere(1.6)
    options = {
        "walls": [wall],
        "restitution": 0.6,
        "friction": 0.4,
        "impact_law": "poisson",
        "rtol": 1e-9,
        "atol": 1e-11,
    }
    appell.simulate(robot, robot.neutral(), np.zeros(robot.nv), 0.45, **options)  # compiles
    start = time.perf_counter()
    run = appell.simulate(robot, robot.neutral(), np.zeros(robot.nv), 2.0, **options)
    took = time.perf_counter() - start
    points = Points(robot, resolve(robot, None))
    q, _ = run.at(np.linspace(0.0, run.t[-1], 20_001))
    gap = min(float(wall.gap(points.positions(x)).min()) for x in (q, run.q))
    worst = 0.0
    for impact in run.impacts:
        where = run.at(impact.time)[0]
        rows = points.jacobians(where)[[points.names.index(name) for name in impact.points]]
        total = impact.impulse[:, None] * impact.normals + impact.friction
        gained = robot.mass_matrix(where) @ (impact.v_after - impact.v_before)
        worst = max(worst, float(np.abs(gained - np.einsum("kij,ki->j", rows, total)).max()))
    rise = float(np.diff(run.energy).max())
    print(f"G1 into a sphere, {run.t[-1]:.3f} s, {len(run.impacts)} impacts, {len(run.rests)} rests: {took:.1f} s")
    print(f"  deepest {-min(gap, 0.0):.1e} m, energy rises by at most {rise:.1e} J, momentum balance {worst:.1e}")
    print(f"  {run.ended_early or 'ran to its end'}")


if __name__ == "__main__":
    tree()
    humanoid()
