"""Dynamics for a controller: the PUMA 560 as C99, and a loop at 1 kHz around it if there is a C compiler."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import appell

MAIN = Path(__file__).parent / "c" / "main.c"


def main() -> None:
    """Write puma560.c and puma560.h here; compile them with examples/c/main.c and run that for a second."""
    robot = appell.load("puma560")
    file = robot.export(["inverse_dynamics", "forward_dynamics"], path="puma560.c")
    print(f"{file}: {len(file.read_text().splitlines())} lines of C; its header begins")
    print("\n".join(file.with_suffix(".h").read_text().splitlines()[:4]))

    compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if compiler is None or sys.platform != "linux":  # the loop sleeps by clock_nanosleep
        print("no C compiler for Linux here: compile it where the controller runs")
        return
    command = [compiler, "-std=c99", "-O2", "-I.", str(MAIN), str(file), "-o", "controller", "-lm"]
    subprocess.run(command, check=True)
    subprocess.run(["./controller", "1.0"], check=True)


if __name__ == "__main__":
    main()
