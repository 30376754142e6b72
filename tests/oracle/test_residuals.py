"""Forward dynamics of inverse dynamics on robots that nobody here wrote: right, or warned of, or an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.residuals import PACKAGES, Outcome, files, outcome

QUICK = {
    "example-robot-data": ("robots/double_pendulum_description/urdf/double_pendulum.urdf",),
    "gymnasium": ("envs/mujoco/assets/inverted_pendulum.xml",),
    "dm_control": ("suite/pendulum.xml",),
}
"""A few files that compile in no time; the world of MJCF files is a base without mass."""
CASES = [(package, folder / name) for package, folder in PACKAGES.items() for name in QUICK.get(package, ())]
ALL = [path for folder in PACKAGES.values() if folder.is_dir() for path in files(folder)]


def told(found: Outcome) -> str:
    return f"residual {found.residual:.1e}, {found.reason or 'and no warning'}"


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize(("package", "path"), CASES, ids=[package for package, _ in CASES])
def test_residuals_are_small_or_warned_of(package: str, path: Path, floating: bool) -> None:
    if not path.is_file():
        pytest.skip(f"{package} is not installed")
    found = outcome(path, floating=floating, samples=5)
    is_singular = floating and path.suffix == ".xml"
    assert found.name == ("warned" if is_singular else "right"), told(found)


@pytest.mark.slow
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_no_residual_of_any_file_is_large_without_a_warning(path: Path, floating: bool) -> None:
    found = outcome(path, floating=floating)
    assert found.name != "silent", told(found)
