"""Compilers of this machine, exported C compiled by them, and Pinocchio compiled for this processor.

Pinocchio is compiled from the headers that the wheels of `pin` and `cmeel-eigen` bring, one library per verb and
compiler, stored in the folder that ``APPELL_NATIVE`` names, ``out/native`` without it: the first time takes minutes for
each. C is compiled without -std=c99, with which gcc would not contract products and sums.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

Array = NDArray[Any]
PREFIX = Path(sysconfig.get_path("purelib"), "cmeel.prefix")
SOURCE = Path(__file__).with_name("native") / "pinocchio_peer.cpp"
STORE = Path(os.environ.get("APPELL_NATIVE", "out/native"))
FLAGS = ("-O3", "-march=native")
SHARED = (*FLAGS, "-fPIC", "-shared", "-w")
EIGEN = PREFIX / "include" / "eigen3"


def compilers() -> dict[str, list[str]]:
    """Return the commands of gcc and clang, each for C and with ``++`` for C++; clang is that of ziglang if need be."""
    found = {name: [path] for name in ("gcc", "g++", "clang", "clang++") if (path := shutil.which(name))}
    if "clang" not in found and importlib.util.find_spec("ziglang"):
        zig = [sys.executable, "-m", "ziglang"]
        found |= {"clang": [*zig, "cc"], "clang++": [*zig, "c++"]}
    return found


def library(command: Sequence[str], arguments: Sequence[str], *sources: Path) -> ctypes.CDLL:
    """Return a library compiled from files, stored by what it was compiled from."""
    kept = [x for x in arguments if not x.startswith("-I")]
    text = repr((command[-2:], kept, [x.read_text() for x in sources], pin.__version__, _processor()))
    place = STORE.resolve() / f"{hashlib.sha256(text.encode()).hexdigest()[:20]}.so"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_suffix(f".{os.getpid()}")
        subprocess.run([*command, *SHARED, *arguments, *map(str, sources), "-o", str(part), "-lm"], check=True)
        part.replace(place)
    return ctypes.CDLL(str(place))


def _processor() -> str:
    """Return the instructions that this processor has."""
    cpuinfo = Path("/proc/cpuinfo")
    return next((x for x in cpuinfo.read_text().splitlines() if x.startswith("flags")), "") if cpuinfo.exists() else ""


class NativePinocchio:
    """One verb of Pinocchio's C++, instantiated with this processor's flags."""

    def __init__(self, model: Any, verb: str, compiler: str) -> None:
        arguments = ["-std=c++17", "-DNDEBUG", f"-Dverb_{verb}", "-fvisibility=hidden"]
        arguments += [f"-I{PREFIX / 'include'}", f"-I{EIGEN}"]
        arguments += ["-fno-gnu-unique"] if compiler == "g++" else []
        found = library(compilers()[compiler], arguments, SOURCE)
        found.load.restype, found.load.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
        self._timed = found.timed
        self._timed.restype = ctypes.c_double
        self._timed.argtypes = [ctypes.c_void_p, ctypes.c_long, *[ctypes.c_void_p] * 4, ctypes.c_long]
        self._robot = found.load(model_text(model).encode())
        if not self._robot:
            raise ValueError(f"{SOURCE.name} lacks a joint of {model.name}: {[j.shortname() for j in model.joints]}")

    def __call__(self, motion: Sequence[Array], size: int = 0) -> tuple[float, Array | None]:
        """Return the seconds that all samples of q, v and a (or τ) take; with a size, their results too."""
        n = len(motion[0])
        out = np.full((n, size), np.nan) if size else None
        places = [x.ctypes.data for x in motion]
        return self._timed(self._robot, n, *places, None if out is None else out.ctypes.data, size), out


def model_text(model: Any) -> str:
    """Return a model as the lines that the C++ reads: Eigen's types cannot be passed, they are aligned otherwise."""
    lines = []
    for k in range(1, model.njoints):
        joint, placement, inertia = model.joints[k], model.jointPlacements[k], model.inertias[k]
        axis = _axis(model, k) if "Unaligned" in joint.shortname() else np.zeros(3)
        tensor = inertia.inertia[np.triu_indices(3)]
        numbers = [*axis, *placement.rotation.ravel(), *placement.translation, inertia.mass, *inertia.lever, *tensor]
        lines.append(f"{model.parents[k]} {joint.shortname()} {' '.join(repr(float(x)) for x in numbers)}")
    return "\n".join(lines)


def _axis(model: Any, k: int) -> Array:
    """Return the axis of a sliding joint, which Python cannot read: the joint's Jacobian at the neutral position."""
    q = pin.neutral(model)
    column = pin.computeJointJacobian(model, model.createData(), q, k)[:, model.joints[k].idx_v]
    return np.asarray(column[:3])


LOOP = """#define _POSIX_C_SOURCE 199309L
#include "{verb}.h"
#include <time.h>

double timed(long n, long stride, {arguments})
{{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (long i = 0; i < n; i++)
        robot_{verb}({call});
    clock_gettime(CLOCK_MONOTONIC, &after);
    return (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}}
"""


class ExportedC:
    """An exported verb and a loop in another file that calls it once per sample: no vectors across samples."""

    def __init__(self, robot: Any, verb: str, compiler: str, folder: Path) -> None:
        file = robot.export(verb, path=folder / f"{verb}.c", prefix="robot", libm=False)  # its own sines are faster
        inputs, outputs = robot.verbs[verb].ports(robot.facts.sizes)
        sizes = [port.size for port in (*inputs, *outputs)]
        self.shapes = [port.shape for port in outputs]
        loop = folder / f"{verb}_loop.c"
        arguments = ", ".join(f"double *x{k}" for k in range(len(sizes)))
        call = ", ".join(f"x{k} + i * {size}{' * stride' * (k >= len(inputs))}" for k, size in enumerate(sizes))
        loop.write_text(LOOP.format(verb=verb, arguments=arguments, call=call))
        self._timed = library(compilers()[compiler], [f"-I{folder}"], file, loop).timed
        self._timed.restype = ctypes.c_double
        self._timed.argtypes = [ctypes.c_long, ctypes.c_long, *[ctypes.c_void_p] * len(sizes)]
        self._places = [np.empty(shape) for shape in self.shapes]

    def results(self, motion: Sequence[Array]) -> list[Array]:
        """Return the results of all samples."""
        found = [np.full((len(motion[0]), *shape), np.nan) for shape in self.shapes]
        self._timed(len(motion[0]), 1, *(x.ctypes.data for x in (*motion, *found)))
        return found

    def __call__(self, motion: Sequence[Array]) -> float:
        """Return the seconds that all samples take, each result written to the same place, as Pinocchio's are."""
        return float(self._timed(len(motion[0]), 0, *(x.ctypes.data for x in (*motion, *self._places))))
