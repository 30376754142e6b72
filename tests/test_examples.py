"""Every example runs, and says something."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = sorted(FOLDER.glob("[0-9]*.py"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_runs(file: Path, tmp_path: Path) -> None:
    """In an empty folder, as a reader would run it."""
    done = subprocess.run([sys.executable, str(file)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["swing_up", "time_optimal_puma", "stewart"])
def test_an_optimal_motion_is_found_and_plotted(name: str, tmp_path: Path) -> None:
    """By IPOPT, which raises an error where it does not converge."""
    pytest.importorskip("casadi")
    test_an_example_runs(FOLDER / "optimal" / f"{name}.py", tmp_path)
    assert (tmp_path / f"{name}.png").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["swing_up", "reach"])
def test_a_policy_improves(name: str, tmp_path: Path) -> None:
    """In a few generations, and its curve is plotted."""
    pytest.importorskip("cma")
    command = [sys.executable, str(FOLDER / "learning" / f"{name}.py"), "11"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    first, last = (float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("generation"))
    assert last > first
    assert (tmp_path / f"{name}_learning.png").exists()


def test_there_are_examples() -> None:
    """The folder is found."""
    assert EXAMPLES
