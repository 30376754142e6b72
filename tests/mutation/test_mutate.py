"""The mutation run catches a mutant that a test notices and reports one that none does."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.mutation import sites

ROOT = Path(__file__).resolve().parents[2]
SOURCE = '''
"""A module."""

from __future__ import annotations

LIMIT = 7.0
SIDES = [2.0]


def area(width: float, height: float) -> float:
    """Return an area: 1 + 1 in a docstring is no arithmetic."""
    if not width:
        raise ValueError(f"a width of {width - 1.0}")
    return width * height


def perimeter(width: float, height: float) -> float:
    total = width
    total += height
    return SIDES[0] * total
'''
TEST = """
from toy.shapes.area import area, perimeter


def test_an_area():
    perimeter(2.0, 3.0)
    assert area(2.0, 3.0) == 6.0
"""


@pytest.fixture
def project(tmp_path):
    """A package of one module, and a test that reaches all of it and checks a part."""
    for name, text in {
        "src/toy/__init__.py": "",
        "src/toy/shapes/__init__.py": "",
        "src/toy/shapes/area.py": SOURCE,
        "tests/shapes/test_area.py": TEST,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
    return tmp_path


def changes(project: Path) -> list[str]:
    """Return the changes of all mutants."""
    _, mutants = sites.all_mutants(project / "src" / "toy", ["shapes"])
    return [one.key.rpartition(": ")[2] for one in mutants]


def test_mutants_are_of_arithmetic_alone(project):
    assert sorted(changes(project)) == sorted(
        [
            "2.0 → 4.0",
            "0 → 1",
            "not width → width",
            "width * height → width / height",
            "total += height → total -= height",
            "SIDES[0] * total → SIDES[0] / total",
        ]
    )


def test_a_mutant_that_no_test_checks_is_reported(project):
    command = [
        sys.executable,
        "-m",
        "tests.mutation.mutate",
        "--project",
        str(project),
        "--rooms",
        "shapes",
        "--jobs",
        "1",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = json.loads((project / "out" / "mutation" / "report.json").read_text())
    verdicts = {row["mutant"].rpartition(": ")[2]: row["verdict"] for row in rows}
    assert {change for change, verdict in verdicts.items() if verdict == "killed"} == {
        "not width → width",
        "width * height → width / height",
        "0 → 1",
    }
    assert {change for change, verdict in verdicts.items() if verdict == "survived"} == {
        "2.0 → 4.0",  # reached by the import alone
        "total += height → total -= height",
        "SIDES[0] * total → SIDES[0] / total",
    }
    assert "survived: shapes/area.py: perimeter: total += height" in done.stdout
