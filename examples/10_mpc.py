"""Model-predictive control in C at 1 kHz: the PUMA 560 between two goals under torque limits, with a plot: mpc.png.

The exported step and its derivatives go into examples/c/mpc.c, a Gauss–Newton controller of fixed size.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import appell

MAIN = Path(__file__).parent / "c" / "mpc.c"
VERBS = ["step", "step_derivatives", "step_rk4", "gravity", "inverse_dynamics"]


def main() -> None:
    """Write arm.c here, compile it with examples/c/mpc.c, run two seconds of control and plot them."""
    model = appell.load("puma560").model
    # Coulomb friction is not differentiable at zero velocity; the controller estimates the model error
    bodies = tuple(replace(body, joint=replace(body.joint, friction=0.0)) for body in model.bodies)
    robot = appell.load(replace(model, bodies=bodies))
    arm = robot.export(VERBS, path="arm.c", prefix="arm")
    print(f"{arm}: {len(arm.read_text().splitlines())} lines of C")

    compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if compiler is None or sys.platform == "win32":  # the clock is a POSIX clock
        print("no C compiler here: compile it where the controller runs")
        return
    subprocess.run([compiler, "-std=c99", "-O2", "-I.", str(MAIN), str(arm), "-o", "mpc", "-lm"], check=True)
    print(subprocess.run(["./mpc"], check=True, capture_output=True, text=True).stdout, end="")

    t, *columns = np.loadtxt("mpc.csv", delimiter=",", unpack=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for name, q, goal, used in zip(robot.joint_names, columns[0::3], columns[1::3], columns[2::3], strict=True):
        (line,) = left.plot(t, np.degrees(q), label=name)
        left.plot(t, np.degrees(goal), ":", color=line.get_color(), linewidth=0.8)
        right.plot(t, used, linewidth=0.9)
    left.set(xlabel="time [s]", ylabel="angle, goal dotted [°]", ylim=(-150.0, 95.0))
    right.set(xlabel="time [s]", ylabel="torque / limit", ylim=(-1.05, 1.05))
    left.legend(fontsize="small", ncols=3, loc="lower left")
    figure.savefig("mpc.png", dpi=120)


if __name__ == "__main__":
    main()
