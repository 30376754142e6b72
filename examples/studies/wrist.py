"""Design of an Agile Wrist: dexterity, workspace and peak torque over the arcs of its links.

Each case is one geometry, evaluated in a thousand attitudes. The closed form of abedloo2014 runs on NumPy arrays, so
that no geometry is compiled:

    python examples/studies/wrist.py                  # 400 geometries, a plot: wrist.png
    python examples/studies/wrist.py 100 threads      # 100 x 100 geometries
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import appell
from appell.loops.spherical import programs
from appell.loops.spherical.agile_wrist import AgileWrist, arc
from appell.loops.spherical.leg import discriminant
from appell.spatial.inertia import Inertia
from appell.spatial.vector import IDENTITY

RADIUS, DENSITY = 0.1, 1.378  # [m], [kg/m]: those of abedloo2014's links
POSES = 1000


def design(alpha1: float, alpha2: float) -> dict[str, float]:
    """Return how good one geometry is, over attitudes within 30 degrees of home."""
    rng = np.random.default_rng(0)  # the same attitudes for every geometry
    q = tuple(rng.uniform(-np.pi / 6, np.pi / 6, size=(3, POSES)))
    v, a = tuple(rng.normal(size=(3, POSES))), tuple(rng.normal(size=(3, POSES)))
    links = (arc(RADIUS, DENSITY, alpha1),) * 3, (arc(0.9 * RADIUS, DENSITY, alpha2),) * 3
    platform = Inertia.from_centre(0.3, (0.0, 0.0, 0.05), tuple(tuple(2e-4 * x for x in row) for row in IDENTITY))
    wrist = AgileWrist((alpha1,) * 3, (alpha2,) * 3, links1=links[0], links2=links[1], platform=platform).mechanism()

    with np.errstate(invalid="ignore"):  # a leg out of reach gives NaN
        at = programs.posture(wrist, q)
        tau = np.array(programs.inverse_dynamics(wrist, q, v, a))
    reached = np.all([discriminant(leg, at.rotation) > 0.0 for leg in wrist.legs], axis=0)
    if not reached.any() or min(discriminant(leg, IDENTITY) for leg in wrist.legs) <= 0.0:
        return {"workspace": 0.0, "dexterity": 0.0, "peak": float("nan")}
    rows = np.array([[np.broadcast_to(x, POSES) for x in row] for row in at.motors])[:, :, reached]
    s = np.linalg.svd(np.moveaxis(rows, 2, 0), compute_uv=False)
    return {
        "workspace": float(reached.mean()),
        "dexterity": float((s[:, 2] / s[:, 0]).mean()),
        "peak": float(np.quantile(np.abs(tau[:, reached]).max(axis=0), 0.95)),
    }


def main(n: int = 20, engine: str = "threads") -> None:
    arcs = np.radians(np.linspace(40.0, 110.0, n))
    study = appell.sweep(design, {"alpha1": arcs, "alpha2": arcs}, engine=engine)
    print(study)
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    labels = {"workspace": "share of attitudes reached", "dexterity": "mean 1/condition", "peak": "torque [N·m], 95 %"}
    for axis, (name, label) in zip(axes, labels.items(), strict=True):
        values = study.values[name].reshape(n, n).T
        top = float(np.nanquantile(values, 0.9)) if name == "peak" else None
        image = axis.pcolormesh(np.degrees(arcs), np.degrees(arcs), values, vmax=top, rasterized=True)
        figure.colorbar(image, label=label)
        axis.set(xlabel="arc α₁ [°]", ylabel="arc α₂ [°]", title=name)
    figure.savefig("wrist.png", dpi=120)
    best = int(np.nanargmax(study.values["dexterity"] * study.values["workspace"]))
    print("best:", {name: round(float(np.degrees(x)), 1) for name, x in study.cases[best].items()})


if __name__ == "__main__":
    main(*(int(x) if x.isdigit() else x for x in sys.argv[1:]))
