"""Inverse dynamics on a microcontroller: freestanding C for a Cortex-M, its size and stack, and a check of it."""

from __future__ import annotations

import ctypes
import importlib.util
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np

import appell

CONTROLLER = Path(__file__).parent / "c" / "embedded.c"
FREESTANDING = ["-std=c99", "-O2", "-ffreestanding", "-Wall", "-Wextra", "-Werror", "-I."]
TARGET = ["-target", "thumb-freestanding-eabihf", "-fno-sanitize=undefined", "-fno-unwind-tables"]
PROCESSORS = {"Cortex-M7": "cortex_m7+fp_armv8d16", "Cortex-M4F": "cortex_m4+vfp4d16sp"}


class Drives(ctypes.Structure):
    """The memory that the controller and the drives share."""

    _fields_ = [(name, ctypes.c_float * 6) for name in ("q", "v", "goal_q", "goal_v", "goal_a", "tau")]


def main() -> None:
    """Export the PUMA 560, compile it for two processors, and compare the same C on this machine with Python."""
    robot = appell.load("puma560")
    robot.export("inverse_dynamics", path="arm.c", real="float", libm=False, prefix="arm")
    if importlib.util.find_spec("ziglang"):
        for name, processor in PROCESSORS.items():
            print(f"{name}: {measured([*TARGET, f'-mcpu={processor}'])}")
    else:
        print("pip install ziglang cross-compiles it for a Cortex-M here")
    print(f"largest error against Python in double precision: {checked(robot):.1e} of the largest torque")


def measured(target: list[str]) -> str:
    """Return the code size of the controller for a target and the stack of its functions, and link an image."""
    zig = [sys.executable, "-m", "ziglang", "cc", *target, *FREESTANDING]
    size, frames = 0, []
    for source in (str(CONTROLLER), "arm.c"):
        anew = f"-DRUN={time.time_ns()}"  # Zig's cache does not repeat warnings
        command = [*zig, "-Wno-error", "-Wframe-larger-than=1", anew, "-c", source, "-o", "part.o"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        frames += re.findall(r"stack frame size \((\d+)\).*?in (?:function )?'(\w+)'", done.stderr)
        parts = llvm.ObjectFileRef.from_path("part.o").sections()
        size += sum(part.size() for part in parts if (part.name() or b"").startswith((b".text", b".rodata")))
    subprocess.run([*zig, str(CONTROLLER), "arm.c", "-Wl,--entry=reset", "-o", "image.elf"], check=True)
    stack = ", ".join(f"{name} {frame}" for frame, name in frames if name != "reset")
    return f"{size} bytes of code and constants; stack [bytes]: {stack}"


def checked(robot: appell.Robot) -> float:
    """Return the largest relative error of the controller's torques, compiled for this machine without a C library."""
    compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    command = [compiler] if compiler else [sys.executable, "-m", "ziglang", "cc"]
    sources = ["-fPIC", "-shared", "-nostdlib", str(CONTROLLER), "arm.c", "-o", "./controller.so"]
    subprocess.run([*command, *FREESTANDING, *sources], check=True)
    library, drives = ctypes.CDLL("./controller.so"), Drives()
    q, v, goal_q, goal_v, goal_a = np.random.default_rng(0).uniform(-1.0, 1.0, size=(5, 6)).astype(np.float32)
    for name, values in (("q", q), ("v", v), ("goal_q", goal_q), ("goal_v", goal_v), ("goal_a", goal_a)):
        getattr(drives, name)[:] = values.tolist()
    library.control_period(ctypes.byref(drives))
    q, v, goal_q, goal_v, goal_a = (x.astype(float) for x in (q, v, goal_q, goal_v, goal_a))
    expected = robot.inverse_dynamics(q, v, goal_a + 40.0 * (goal_v - v) + 400.0 * (goal_q - q))
    return float(np.abs(np.array(drives.tau) - expected).max() / np.abs(expected).max())


if __name__ == "__main__":
    main()
