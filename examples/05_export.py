"""A controller as C99: computed torque for the PUMA 560, and a 1 kHz loop around it if a C compiler is available."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import appell
from appell.control import Tracking, integral_gains

MAIN = Path(__file__).parent / "c" / "main.c"
LIMIT = [97.0, 186.0, 89.0, 24.0, 20.0, 21.0]


def main() -> None:
    """Write the control law and the arm's dynamics; compile them with examples/c/main.c and run it for 1.5 s."""
    robot = appell.load("puma560")
    here, still = robot.neutral(), [0.0] * 6
    # the reference is an argument of the C function: any trajectory works here
    law = Tracking(robot, lambda _: (here, still, still), *integral_gains(20.0, 1.0, 8.0), limit=LIMIT)
    control = law.export("control.c")
    arm = robot.export("forward_dynamics", path="puma560.c")
    print(f"{control}: {len(control.read_text().splitlines())} lines of C; its header declares")
    text = control.with_suffix(".h").read_text()
    print(text[text.index("void ") : text.index(");") + 2])

    compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if compiler is None or sys.platform != "linux":  # the loop uses clock_nanosleep
        print("no C compiler for Linux here: compile it where the controller runs")
        return
    command = [compiler, "-std=c99", "-O2", "-I.", str(MAIN), str(control), str(arm), "-o", "controller", "-lm"]
    subprocess.run(command, check=True)
    subprocess.run(["./controller", "1.5"], check=True)


if __name__ == "__main__":
    main()
