"""Faults of the cache: copied entries, folders of others, older versions, several processes, killed processes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import appell
from appell.errors import AppellWarning
from appell.files import DRAFT
from appell.kernels.runtime import cache

POSIX = pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
Q = np.full(2, 0.3)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Return the folder of a cache of this test's own, which does not exist yet."""
    place = tmp_path / "cache"
    monkeypatch.setenv("APPELL_CACHE", str(place))
    return place


def gravity(*gravity_vector: float):
    """Return the gravity torques of a robot that was not used before in this process."""
    return appell.load("two-link", gravity=gravity_vector or None).gravity(Q).tolist()


def entries(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.glob(f"*{cache.SUFFIX}")}


def test_the_entry_of_another_robot_under_this_robots_name_is_not_executed(folder):
    right = gravity()
    mine = entries(folder)
    gravity(0.0, -1.0, 0.0)
    others = [content for name, content in entries(folder).items() if name not in mine]
    assert others
    for other in others:
        for name in mine:
            (folder / name).write_bytes(other)
        assert gravity() == right


def test_an_entry_under_another_name_is_absent():
    cache.save("a", b"code")
    assert cache.load("a") == b"code"
    base = cache.folder()
    assert base is not None
    shutil.copyfile(base / f"a{cache.SUFFIX}", base / f"b{cache.SUFFIX}")
    assert cache.load("b") is None


@POSIX
def test_the_folder_is_made_for_this_user_alone(folder):
    before = os.umask(0)
    try:
        cache.save("a", b"code")
    finally:
        os.umask(before)
    assert folder.stat().st_mode & 0o777 == 0o700


@POSIX
@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_a_folder_that_others_can_write_to_is_not_used_and_there_is_one_warning(folder, mode):
    cache.save("a", b"code")
    before = entries(folder)
    folder.chmod(mode)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert cache.load("a") is None
        robot = appell.load("two-link")
        assert np.isfinite([robot.gravity(Q), robot.bias(Q, Q)]).all()
    assert [warning.category for warning in caught] == [AppellWarning]
    assert "can be written by other users; chmod go-w" in str(caught[0].message)
    assert entries(folder) == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_not_used_and_there_is_one_warning(folder):
    cache.save("a", b"code")
    os.chown(folder, 65534, 65534)
    with pytest.warns(AppellWarning, match="belongs to user 65534"):
        assert cache.load("a") is None
    cache.save("b", b"code")  # without another warning, which would be an error here
    assert cache.load("b") is None


@POSIX
def test_a_folder_that_others_can_read_is_used(folder):
    folder.mkdir(mode=0o755)
    cache.save("a", b"code")
    assert cache.load("a") == b"code"


def test_entries_of_an_older_version_are_not_executed_and_stay(folder, monkeypatch):
    right = gravity()
    with monkeypatch.context() as older:
        older.setattr(cache, "versions", lambda: "older")
        assert gravity() == right
    old = dict.fromkeys(entries(folder), b"code of an older version")
    for name, content in old.items():  # in a format of before the checksum
        (folder / name).write_bytes(cache.MAGIC + content)
    assert gravity() == right
    assert len(entries(folder)) == len(old)
    assert any(content.startswith(cache.MAGIC + b"code of") for content in entries(folder).values())


USE = """
import appell, numpy as np
robot = appell.load("two-link")
for verb in (robot.gravity, robot.mass_matrix):
    print(verb(np.full(2, 0.3)).tolist())
"""


def start() -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", USE], stdout=subprocess.PIPE, text=True)


def test_two_processes_on_one_cache_have_equal_results_and_leave_whole_entries(folder):
    results = {worker.communicate(timeout=120)[0] for worker in [start(), start()]}
    assert len(results) == 1
    assert results.pop().count("\n") == 2
    assert all(cache.load(Path(name).stem) is not None for name in entries(folder))
    assert not list(folder.glob(f"*{DRAFT}"))


# The worker that is killed has an entry half written; the pool's other workers and later ones go on.
POOL = """
import os, signal, sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
import numpy as np
import appell

def torque(victim):
    if victim:
        Path.replace = lambda draft, place: os.kill(os.getpid(), signal.SIGKILL)
    robot = appell.load("two-link")
    return robot.gravity(np.full(2, 0.3)).tolist()

if __name__ == "__main__":
    with ProcessPoolExecutor(2, get_context("fork")) as pool:
        try:
            pool.submit(torque, True).result()
            sys.exit("the worker was not killed")
        except BrokenProcessPool:
            pass
    assert not list(Path(os.environ["APPELL_CACHE"]).glob("*.appell"))
    with ProcessPoolExecutor(2, get_context("fork")) as pool:
        assert list(pool.map(torque, [False] * 4)) == [torque(False)] * 4
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9")
def test_after_a_worker_is_killed_in_the_middle_of_an_entry_others_go_on(folder, tmp_path):
    script = tmp_path / "pool.py"
    script.write_text(POOL)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert len(list(folder.glob(f"*{DRAFT}"))) == 1  # of the victim
    assert gravity() == gravity()
