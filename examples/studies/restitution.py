"""Where the falling tree of shafei2018 ends after 1.5 seconds, over restitution and initial angle: a sensitivity map.

python examples/studies/restitution.py         # 8 x 8 cases, a plot: restitution.png
python examples/studies/restitution.py 60 processes
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import appell
from appell.papers.shafei2018 import POINTS, START

robot = appell.load("shafei-tree")


def fall(restitution: float, angle: float) -> dict[str, object]:
    """Return the energy that impacts take, their number, and where the tree's links end."""
    q = np.array(START)
    q[8] += angle
    options = {"walls": [appell.walls.Circle(2.5)], "points": POINTS, "restitution": restitution, "max_steps": 20_000}
    run = appell.simulate(robot, q, np.zeros(robot.nv), 1.5, **options)
    return {"lost": float(run.energy[0] - run.energy[-1]), "impacts": len(run.impacts), "end": run.q[-1]}


def main(n: int = 8, engine: str = "threads") -> None:
    e, angles = np.linspace(0.4, 1.0, n), np.radians(np.linspace(-2.0, 2.0, n))
    study = appell.sweep(fall, {"restitution": e, "angle": angles}, engine=engine)
    print(study)
    end = study.values["end"].reshape(n, n, -1)
    slope = np.linalg.norm(np.gradient(end, angles, axis=1), axis=2)  # rad of the end per rad of the start
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    maps = {
        "impacts": study.values["impacts"].reshape(n, n),
        "energy lost [J]": study.values["lost"].reshape(n, n),
        "log₁₀ sensitivity to the initial angle": np.log10(slope),
    }
    for axis, (label, values) in zip(axes, maps.items(), strict=True):
        figure.colorbar(axis.pcolormesh(e, np.degrees(angles), values.T, rasterized=True), label=label)
        axis.set(xlabel="restitution", ylabel="initial angle [°]")
    figure.savefig("restitution.png", dpi=120)
    print(f"sensitivity: median {np.nanmedian(slope):.3g}, largest {np.nanmax(slope):.3g} rad per rad")


if __name__ == "__main__":
    main(*(int(x) if x.isdigit() else x for x in sys.argv[1:]))
