"""Residuals of forward after inverse dynamics on robots that nobody here wrote.

``python -m tests.support.residuals`` prints the table of docs/robustness.md for the packages that are installed;
``python -m tests.support.residuals folder …`` that of other folders.
"""

from __future__ import annotations

import re
import sys
import sysconfig
import time
import warnings
from collections import Counter
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
            a = rng.normal(size=(samples, robot.nu))
            again = robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a))[:, : robot.nu]
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


def main(folders: dict[str, Path]) -> int:
    """Print a table of folders, then the errors; return how many are wrong."""
    rows, refused, wrong = [], Counter[str](), 0
    for name, folder in folders.items():
        paths, counts, worst, start = files(folder), Counter[str](), 0.0, time.perf_counter()
        for path, floating, (what, residual, reason) in outcomes(paths):
            counts[what] += 1
            worst = max(worst, residual if what == "right" else 0.0)
            line = f"{path.relative_to(folder)}{' floating' if floating else ''}: {what} {residual:.1e} {reason}"
            print(line, file=sys.stderr, flush=True)
            if what in {"not loaded", "error"}:
                refused[re.sub(r"'[^']*'|[-+\w./]*/[-+\w./]*|\d+", "…", reason)[:110]] += 1
        wrong += counts["silent"]
        rows.append([name, len(paths), *(counts[what] for what in OUTCOMES), f"{worst:.0e}"])
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    for row in (["package", "files", *OUTCOMES, "worst"], ["---"] * 9, *rows):
        print("| " + " | ".join(map(str, row)) + " |")
    for reason, count in refused.most_common():
        print(f"{count:4d} × {reason}")
    return wrong


if __name__ == "__main__":
    given = {Path(folder).name: Path(folder) for folder in sys.argv[1:]}
    sys.exit(main(given or {name: folder for name, folder in PACKAGES.items() if folder.is_dir()}) > 0)
