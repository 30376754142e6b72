"""How good an exciting trajectory can be: the condition of its regressor over duration and number of harmonics.

python examples/studies/excitation.py          # 6 designs of the two-link arm, a plot: excitation.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import appell

robot = appell.load("two-link")
LIMITS = {"lower": -2.0, "upper": 2.0, "velocity": 3.0, "acceleration": 10.0}


def designed(harmonics: int, duration: float) -> dict[str, float]:
    """Return the condition number of the best trajectory found."""
    found = appell.excite(robot, LIMITS, harmonics=harmonics, duration=duration)
    return {"condition": float(found.condition)}


def main(engine: str = "threads") -> None:
    harmonics, durations = [2, 3, 5], [4.0, 8.0]
    study = appell.sweep(designed, {"harmonics": harmonics, "duration": durations}, engine=engine)
    print(study, study.failed[:1])
    figure, axis = plt.subplots(figsize=(5, 3.5), layout="constrained")
    for k, duration in enumerate(durations):
        axis.plot(harmonics, study.values["condition"].reshape(3, 2)[:, k], "o-", label=f"{duration:g} s")
    axis.set(xlabel="harmonics", ylabel="condition number", title=f"Exciting trajectories of {robot.name}")
    axis.legend(title="duration")
    figure.savefig("excitation.png", dpi=120)
    print("least condition:", f"{np.nanmin(study.values['condition']):.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
