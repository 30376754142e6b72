"""Residuals of forward after inverse dynamics on robots that nobody here wrote; benchmarks/residuals.py prints them."""

from __future__ import annotations

import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import appell

WITHIN = 1e-6
"""The largest relative residual without a warning."""
SAMPLES = 20
PURE = Path(sysconfig.get_path("purelib"))
PACKAGES = {
    "example-robot-data": PURE / "cmeel.prefix" / "share" / "example-robot-data",
    "gymnasium": PURE / "gymnasium",
    "dm_control": PURE / "dm_control",
    "rtb-data": PURE / "rtbdata",
    "icub-models": PURE / "share" / "iCub",
}
OUTCOMES = ("right", "warned", "error", "no joint", "not loaded", "silent")


class Outcome(NamedTuple):
    """What became of a file: one of the outcomes, the relative residual, and the error or the warning."""

    name: str
    residual: float = 0.0
    reason: str = ""


def files(folder: Path) -> list[Path]:
    """Return the URDF and MJCF files of a folder, those that others include among them."""
    found = [*folder.rglob("*.urdf"), *folder.rglob("*.xml")]
    return sorted(path for path in found if path.suffix == ".urdf" or "<mujoco" in path.read_text(errors="replace"))


def outcome(path: Path, *, floating: bool, samples: int = SAMPLES) -> Outcome:
    """Return how far forward dynamics of inverse dynamics is from the accelerations it began with."""
    rng = np.random.default_rng(2018)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            robot = appell.load(path, floating=floating)
        except appell.AppellError as error:
            return Outcome("not loaded", reason=str(error))
        caught.clear()  # of what is odd in the file
        if not robot.nv:
            return Outcome("no joint")
        try:
            q, v = robot.random(rng, samples), rng.normal(size=(samples, robot.nv))
            a = rng.normal(size=(samples, len(robot.driven)))
            again = robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a))[:, : len(robot.driven)]
        except appell.AppellError as error:
            return Outcome("error", reason=str(error))
    residual = float(np.max(np.abs(again - a)) / np.max(np.abs(a)))
    told = [str(w.message) for w in caught if issubclass(w.category, appell.AppellWarning)]
    if told:
        return Outcome("warned", residual, told[0])
    return Outcome("right" if residual <= WITHIN else "silent", residual)


def outcomes(paths: Iterable[Path]) -> Iterator[tuple[Path, bool, Outcome]]:
    """Return the outcome of every file, on a fixed and on a floating base."""
    for path in paths:
        for floating in (False, True):
            yield path, floating, outcome(path, floating=floating)
