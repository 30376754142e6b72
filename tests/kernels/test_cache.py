"""The cache of compiled code: found again, never trusted when broken, never in the way."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from appell.kernels import cache
from appell.kernels.kernel import Kernel
from appell.kernels.recipe import Recipe
from appell.trace.tape import Port, Tape, trace

INPUTS, OUTPUTS = (Port("x", (2,)),), (Port("y", (1,)),)


def recipe(make=None, fingerprint="x₀·x₁ + 1"):
    return Recipe("program", INPUTS, OUTPUTS, fingerprint, make or product)


def product() -> Tape:
    return trace("program", lambda x: (x[0] * x[1] + 1.0,), INPUTS, OUTPUTS)


def never() -> Tape:
    raise AssertionError("the program was traced again")


def works(kernel):
    return kernel([2.0, 3.0]) == [7.0]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Return a cache of this test's own."""
    monkeypatch.setenv("APPELL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*"))


def test_a_kernel_in_the_cache_is_not_traced_again():
    Kernel(recipe())
    assert works(Kernel(recipe(never)))


def test_a_kernel_of_another_program_is_not_taken_for_it():
    Kernel(recipe())
    with pytest.raises(AssertionError, match="traced again"):
        Kernel(recipe(never, fingerprint="x₀·x₁ + 2"))


def test_a_kernel_of_another_compiler_is_not_taken(monkeypatch):
    Kernel(recipe())
    monkeypatch.setattr(cache, "versions", lambda: "another")
    with pytest.raises(AssertionError, match="traced again"):
        Kernel(recipe(never))


def test_single_precision_is_found_again_too():
    Kernel(recipe())(np.ones(2, np.float32))
    assert Kernel(recipe(never))(np.ones(2, np.float32)) == [2.0]


BREAKAGE = {
    "cut off": lambda content: content[:-7],
    "cut to its head": lambda content: content[:20],
    "empty": lambda content: b"",
    "a bit flipped": lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
    "something else": lambda content: b"not code at all" * 99,
}


@pytest.mark.parametrize("how", BREAKAGE)
def test_a_broken_entry_is_made_anew(folder, how):
    Kernel(recipe())
    (file,) = entries(folder)
    whole = file.read_bytes()
    file.write_bytes(BREAKAGE[how](whole))
    assert works(Kernel(recipe()))
    assert file.read_bytes()[:8] == whole[:8]
    assert works(Kernel(recipe(never)))


def test_no_draft_is_left_behind(folder):
    Kernel(recipe())
    assert [file.suffix for file in entries(folder)] == [cache.SUFFIX]


def start(script: str) -> subprocess.Popen[bytes]:
    """Start a process of its own, with this test's cache."""
    return subprocess.Popen([sys.executable, "-c", script])


ROBOT = """
import appell, numpy as np
assert np.isfinite(appell.load("two-link").gravity(np.zeros(2))).all()
"""


def test_two_processes_writing_at_once_leave_one_whole_entry(folder):
    workers = [start(ROBOT) for _ in range(2)]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    (file,) = entries(folder)
    assert cache.load(file.stem)


SAVING = """
from appell.kernels import cache
for _ in range(50):
    cache.save("name", bytes([{0}]) * 200_000)
"""


def test_writers_of_one_name_leave_one_whole_text(folder):
    texts = [bytes([k]) * 200_000 for k in range(4)]
    workers = [start(SAVING.format(k)) for k in range(4)]
    seen = set()
    while any(worker.poll() is None for worker in workers):
        seen.add(cache.load("name"))
    assert [worker.returncode for worker in workers] == [0] * 4
    assert seen <= {None, *texts}
    assert cache.load("name") in texts


def test_a_folder_that_cannot_be_made_costs_only_time(folder):
    folder.write_text("a file where the folder should be")
    assert works(Kernel(recipe()))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_costs_only_time(folder):
    folder.mkdir(mode=0o500)
    assert works(Kernel(recipe()))
    assert entries(folder) == []


@pytest.mark.parametrize("word", ["off", "OFF", "0", "none", ""])
def test_the_cache_can_be_switched_off(folder, monkeypatch, word):
    monkeypatch.setenv("APPELL_CACHE", word)
    assert cache.folder() is None
    assert works(Kernel(recipe()))
    assert not folder.exists()


def test_without_the_variable_the_cache_is_in_the_users_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("APPELL_CACHE")
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    found = cache.folder()
    assert found is not None
    assert tmp_path in found.parents
    assert "appell" in found.parts


def test_clearing_counts_and_removes_every_entry(folder):
    Kernel(recipe())(np.ones(2, np.float32))
    sizes = [file.stat().st_size for file in entries(folder)]
    assert cache.clear() == (2, sum(sizes))
    assert entries(folder) == []


def test_clearing_leaves_other_files_alone(folder):
    Kernel(recipe())
    (folder / "notes.txt").write_text("mine")
    cache.clear()
    assert [file.name for file in entries(folder)] == ["notes.txt"]


def test_clearing_a_cache_that_is_not_there_removes_nothing():
    assert cache.clear() == (0, 0)


def test_the_compilers_version_follows_the_packages_code():
    assert cache.digest("a") != cache.digest("b")
    assert cache.digest("a", "b") != cache.digest("ab")


def test_every_file_that_makes_programs_is_part_of_the_name():
    """A file outside the rooms that count as a whole, if it traces or fills a recipe, counts too; two kinds aside.

    Those of papers only ask verbs for their tapes, which are in such rooms; laws for export are written as C, which no
    cache keeps.
    """
    package = Path(cache.__file__).parent.parent
    assert all((package / place).exists() for place in cache.SHAPING)
    makes = re.compile(r"(?<![.\w])(Recipe|Route|trace)\(")
    for file in package.rglob("*.py"):
        place = file.relative_to(package).as_posix()
        if not place.startswith(("papers/", "control/export.py")) and makes.search(file.read_text(encoding="utf-8")):
            assert place in cache.SHAPING or place.partition("/")[0] in cache.SHAPING, place
