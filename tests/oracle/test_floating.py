"""Every robot of example-robot-data has Pinocchio's numbers on a free base too."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from appell.cli.compare import QUANTITIES, agreement

pin = pytest.importorskip("pinocchio")

FOLDER = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
FILES = sorted(FOLDER.rglob("*.urdf"))
NO_ROBOT = ("ur3.urdf",)
"""Files that hold no link."""


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            path,
            marks=() if k % 3 == 1 else pytest.mark.slow,  # make test-full has them all
            id=f"{path.parts[-3].removesuffix('_description')}-{path.stem}",
        )
        for k, path in enumerate(FILES)
    ],
)
def test_a_free_base_has_pinocchios_numbers(path):
    row = agreement(pin, path, is_floating=True, samples=10, most=3)
    assert row.is_refused == (path.name in NO_ROBOT), row.note
    assert row.worst <= 1e-10
    if not row.is_refused:
        assert set(row.errors) == set(QUANTITIES) - ({"residual"} if "singular" in row.note else set())


@pytest.mark.parametrize("is_floating", [False, True], ids=["fixed", "free"])
def test_the_trees_of_parallel_robots_have_pinocchios_numbers(shared, is_floating):
    files = sorted((shared / "data" / "parallel-robots").glob("*/robot.urdf"))
    assert len(files) >= 12
    for path in files:
        row = agreement(pin, path, is_floating=is_floating, samples=5, most=3)
        assert row.nv, path
        assert not row.is_refused, row.note
        assert row.worst <= 1e-10, path
