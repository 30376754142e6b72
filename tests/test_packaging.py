"""The distributions: they build, a package index accepts them, and the wheel works in an empty environment."""

from __future__ import annotations

import email
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SUPPORTED = sorted(
    match[1] for line in PROJECT["classifiers"] if (match := re.fullmatch(r".*:: Python :: (3\.\d+)", line))
)
USE = """
import tempfile, pathlib, numpy as np, appell
robot = appell.load("rx90")
q, v, a = np.random.default_rng(0).normal(size=(3, 100, 6))
tau = robot.inverse_dynamics(q, v, a)
assert np.allclose(robot.forward_dynamics(q, v, tau), a)
folder = pathlib.Path(tempfile.mkdtemp())
run = appell.simulate(robot, q[0], v[0], 0.05)
run.save(folder / "run.npz")
robot.save(folder / "rx90.urdf")
assert np.allclose(appell.load(folder / "rx90.urdf").inverse_dynamics(q, v, a), tau)
assert robot.export("gravity", to="c", path=folder / "gravity.c").is_file()
"""


def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command that is to succeed; return its output."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sdist, and the wheel built from it."""
    for package in ("build", "hatchling", "hatch_fancy_pypi_readme", "twine"):
        pytest.importorskip(package, reason=f"{package} not installed; run make install")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


def metadata(dist: Path) -> email.message.Message:
    """Return the metadata of the wheel, its readme as payload."""
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(wheel.read(name))


def test_a_package_index_accepts_them(dist: Path) -> None:
    found = run(sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()), cwd=dist)
    assert found.count("PASSED") == 2


def test_links_of_the_readme_work_on_a_package_index(dist: Path) -> None:
    payload = metadata(dist).get_payload(decode=True)
    assert isinstance(payload, bytes)
    text = payload.decode()
    assert "# appell" in text
    assert "Documentation" in text or "documentation" in text
    assert [x for x in re.findall(r"\]\(([^)]*)\)", text) if not x.startswith(("http", "#"))] == []


def test_the_metadata_names_every_supported_python(dist: Path) -> None:
    assert SUPPORTED[0] == PROJECT["requires-python"].removeprefix(">=")
    minors = [int(version[2:]) for version in SUPPORTED]
    assert minors == list(range(minors[0], minors[-1] + 1))
    classifiers = metadata(dist).get_all("Classifier") or []
    assert [x for x in classifiers if re.search(r":: 3\.\d+$", x)] == [
        f"Programming Language :: Python :: {x}" for x in SUPPORTED
    ]


def test_the_wheel_has_the_package_and_nothing_else(dist: Path) -> None:
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    source = ROOT / "src" / "appell"
    files = {path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert names == {path.relative_to(source.parent).as_posix() for path in files}
    assert "appell/py.typed" in names


def unpacked(dist: Path, folder: Path) -> Path:
    """Return the folder of the sdist."""
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.iterdir())


def test_the_sdist_has_what_tests_and_documentation_read(dist: Path, tmp_path: Path) -> None:
    folder = unpacked(dist, tmp_path)
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split(
        "\n"
    )
    if tracked == [""]:
        pytest.skip("not a git repository")
    wanted = {
        x
        for x in tracked
        if x.startswith(("docs/", "src/", "tests/", "examples/", "benchmarks/")) and (ROOT / x).is_file()
    }
    assert not {x for x in wanted if not (folder / x).is_file()}


@pytest.mark.slow
def test_the_sdist_builds_its_documentation(dist: Path, tmp_path: Path) -> None:
    pytest.importorskip("furo", reason="furo not installed; run make docs")
    folder = unpacked(dist, tmp_path)
    run(sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", "docs", "out/site", cwd=folder)
    assert (folder / "out" / "site" / "searchindex.js").is_file()


def interpreter(version: str) -> str | None:
    """Return a Python of this machine: pyenv's, or one on the path."""
    ours = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    return str(ours[-1]) if ours else shutil.which(f"python{version}")


@pytest.mark.slow
@pytest.mark.parametrize("version", SUPPORTED)
def test_the_wheel_works_in_an_empty_environment(version: str, dist: Path, tmp_path: Path) -> None:
    """Installed without extras by every Python that this machine has."""
    python_here = interpreter(version)
    if python_here is None:
        pytest.skip(f"no Python {version} on this machine")
    run(python_here, "-m", "venv", tmp_path / "env", cwd=tmp_path)
    place = tmp_path / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    python = place / "python"
    tried = subprocess.run([python, "-m", "pip", "download", "-q", "--no-deps", "typer"], cwd=tmp_path, check=False)
    if tried.returncode:
        pytest.skip("no package index can be reached")
    run(python, "-m", "pip", "install", "-q", next(dist.glob("*.whl")), cwd=tmp_path)
    run(python, "-m", "pip", "check", cwd=tmp_path)
    run(python, "-I", "-W", "error", "-c", USE, cwd=tmp_path)
    assert run(place / "appell", "--version", cwd=tmp_path).split() == ["appell", PROJECT["version"]]
    assert "joint2" in run(place / "appell", "id", "puma560", "-q", "0,0.5,0,0,0,0", cwd=tmp_path)
