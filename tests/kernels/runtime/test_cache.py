"""The cache of compiled code: found again, never trusted when broken, never in the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import appell
from appell.kernels.runtime import cache
from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.trace.tape import Port, Tape, trace

INPUTS, OUTPUTS = (Port("x", (2,)),), (Port("y", (1,)),)


def spec(make=None, fingerprint="x₀·x₁ + 1"):
    return ProgramSpec("program", INPUTS, OUTPUTS, fingerprint, make or product)


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
    Kernel(spec())
    assert works(Kernel(spec(never)))


def test_a_kernel_of_another_program_is_not_taken_for_it():
    Kernel(spec())
    with pytest.raises(AssertionError, match="traced again"):
        Kernel(spec(never, fingerprint="x₀·x₁ + 2"))


def test_a_kernel_of_another_compiler_is_not_taken(monkeypatch):
    Kernel(spec())
    monkeypatch.setattr(cache, "versions", lambda: "another")
    with pytest.raises(AssertionError, match="traced again"):
        Kernel(spec(never))


def test_single_precision_is_found_again_too():
    Kernel(spec())(np.ones(2, np.float32))
    assert Kernel(spec(never))(np.ones(2, np.float32)) == [2.0]


BREAKAGE = {
    "cut off": lambda content: content[:-7],
    "cut to its head": lambda content: content[:20],
    "empty": lambda content: b"",
    "a bit flipped": lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
    "something else": lambda content: b"not code at all" * 99,
}


@pytest.mark.parametrize("how", BREAKAGE)
def test_a_broken_entry_is_made_anew(folder, how):
    Kernel(spec())
    (file,) = entries(folder)
    whole = file.read_bytes()
    file.write_bytes(BREAKAGE[how](whole))
    assert works(Kernel(spec()))
    assert file.read_bytes()[:8] == whole[:8]
    assert works(Kernel(spec(never)))


def test_no_draft_is_left_behind(folder):
    Kernel(spec())
    assert [file.suffix for file in entries(folder)] == [cache.SUFFIX]


def start(script: str) -> subprocess.Popen[bytes]:
    """Start a process of its own, with this test's cache."""
    return subprocess.Popen([sys.executable, "-c", script])


ROBOT = """
import appell, numpy as np
assert np.isfinite(appell.load("two-link").gravity(np.zeros(2))).all()
"""


def test_two_processes_writing_at_once_leave_the_whole_code_and_the_choice_of_its_formulation(folder):
    workers = [start(ROBOT) for _ in range(2)]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    choice, code = sorted(filter(None, (cache.load(file.stem) for file in entries(folder))), key=len)
    assert len(entries(folder)) == 2
    assert choice.decode().split("\n")[0] in appell.load("two-link").formulations("gravity")
    assert b"ELF" in code[:16] or sys.platform != "linux"


SAVING = """
import appell
from appell.kernels.runtime import cache
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
    assert works(Kernel(spec()))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_costs_only_time(folder):
    folder.mkdir(mode=0o500)
    assert works(Kernel(spec()))
    assert entries(folder) == []


@pytest.mark.parametrize("word", ["off", "OFF", "0", "none", ""])
def test_the_cache_can_be_switched_off(folder, monkeypatch, word):
    monkeypatch.setenv("APPELL_CACHE", word)
    assert cache.folder() is None
    assert works(Kernel(spec()))
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
    Kernel(spec())(np.ones(2, np.float32))
    sizes = [file.stat().st_size for file in entries(folder)]
    assert cache.clear() == (2, sum(sizes))
    assert entries(folder) == []


def test_clearing_leaves_other_files_alone(folder):
    Kernel(spec())
    (folder / "notes.txt").write_text("mine")
    cache.clear()
    assert [file.name for file in entries(folder)] == ["notes.txt"]


def test_clearing_a_cache_that_is_not_there_removes_nothing():
    assert cache.clear() == (0, 0)


def test_the_name_of_an_entry_keeps_its_parts_apart():
    assert cache.digest("a") != cache.digest("b")
    assert cache.digest("a", "b") != cache.digest("ab")


CHANGES = {
    "a module is added": lambda package: (package / "simulation" / "added.py").touch(),
    "a package is added": lambda package: shutil.copytree(package / "trace", package / "added"),
    "a module is removed": lambda package: (package / "loops" / "rank.py").unlink(),
    "an LLVM text is changed": lambda package: (package / "kernels" / "llvm" / "functions" / "reduce.ll").write_text(
        ""
    ),
    "a line is added": lambda package: (package / "errors.py").write_text("ADDED = 1"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_a_module_is_another_compiler(change, tmp_path):
    package = shutil.copytree(cache.PACKAGE, tmp_path / "appell", ignore=shutil.ignore_patterns("__pycache__"))
    assert cache.versions(package) == cache.versions()
    CHANGES[change](package)
    cache.versions.cache_clear()
    assert cache.versions(package) != cache.versions()
