"""A full disk and a folder that cannot be written to: one error, old files whole, no drafts; the cache does without."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app
from appell.errors import InputError
from appell.kernels.runtime import cache

OLD = "old content"
NAMES = ("run.npz", "run.csv", "run.png", "arm.toml", "arm.c", "arm.h", "log.mcap")


@pytest.fixture
def disk(tmp_path) -> Iterator[Callable[[str], Path]]:
    """Return a function that mounts a small disk, in memory, with options of mount; tests need the right to do so."""
    place = Path(tmp_path, "disk")
    place.mkdir()

    def mount(options: str) -> Any:
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(place)]
        if (
            sys.platform != "linux"
            or os.geteuid()
            or subprocess.run(command, capture_output=True, check=False).returncode
        ):
            pytest.skip("no right to mount a small disk")
        return place

    yield mount
    if place.is_mount():
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture(scope="module")
def run():
    return appell.simulate(appell.load("two-link"), [0.1, 0.2], [0.0, 0.0], 0.5)


WRITERS = {
    "run.npz": lambda run, place: run.save(place),
    "run.csv": lambda run, place: run.save(place),
    "run.png": lambda run, place: run.plot(place),
    "arm.toml": lambda run, place: run.robot.save(place),
    "arm.c": lambda run, place: run.robot.export("inverse_dynamics_derivatives", path=place),
    "log.mcap": lambda run, place: appell.logs.log.Log.from_arrays(run.t, run.q).save(place),
}


def prepared(folder: Path) -> None:
    for name in NAMES:
        (folder / name).write_text(OLD)


def is_untouched(folder: Path) -> bool:
    return {file.name: file.read_text() for file in folder.iterdir()} == dict.fromkeys(NAMES, OLD)


def test_on_a_full_disk_files_stay_as_they_were(disk, run):
    folder = disk("size=36k")
    prepared(folder)
    ballast = folder / "ballast"
    with pytest.raises(OSError, match="No space"):
        ballast.write_bytes(bytes(1 << 20))
    os.truncate(ballast, 4 * (ballast.stat().st_size // 4096 - 1) * 1024)  # one page is left for a draft
    for name, save in WRITERS.items():
        if name != "arm.toml":  # which is less than a page
            with pytest.raises(InputError, match=f"{name[:3]}.*: cannot be written: No space left on device"):
                save(run, folder / name)
    ballast.unlink()
    assert is_untouched(folder)


def test_a_folder_that_cannot_be_written_to_is_named(disk, run):
    folder = disk("size=64k")
    prepared(folder)
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    for name, save in WRITERS.items():
        with pytest.raises(InputError, match="cannot be written: Read-only file system"):
            save(run, folder / name)
    with pytest.raises(InputError, match="cannot be written: Read-only file system"):
        run.save(folder / "new" / "run.npz")
    assert is_untouched(folder)


def test_commands_name_a_folder_that_cannot_be_written_to(disk):
    folder = disk("ro")
    result = CliRunner().invoke(app, ["export", "two-link", "--verb", "gravity", "--out", str(folder / "arm.c")])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "cannot be written: Read-only file system" in result.stderr


@pytest.mark.parametrize("options", ["ro", "size=4k,mode=700"], ids=["read-only", "full"])
def test_a_cache_that_cannot_be_written_costs_only_time(disk, options, monkeypatch):
    folder = disk(options)
    monkeypatch.setenv("APPELL_CACHE", str(folder if options != "ro" else folder / "cache"))
    robot = appell.load("two-link", gravity=(0.0, 0.0, -1.0))
    a = robot.forward_dynamics([0.1, 0.2], [0.0, 0.0], [1.0, 0.0])
    assert np.allclose(robot.inverse_dynamics([0.1, 0.2], [0.0, 0.0], a), [1.0, 0.0])
    assert [file for file in folder.iterdir() if file.suffix != cache.SUFFIX] == []


FILE_LIMIT = """
import resource, sys
import appell
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
run = appell.simulate(appell.load("two-link"), [0.1, 0.2], [0.0, 0.0], 0.05)
try:
    run.save(sys.argv[1])
except appell.InputError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")
def test_a_file_above_the_limit_of_a_process_is_not_written(tmp_path):
    place = tmp_path / "run.csv"
    place.write_text(OLD)
    done = subprocess.run([sys.executable, "-c", FILE_LIMIT, str(place)], capture_output=True, text=True, check=True)
    assert done.stdout == f"{place}: cannot be written: File too large\n"
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("run.csv", OLD)]
