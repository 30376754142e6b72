"""Output files: links stay, devices and pipes are written to, pairs are whole, drafts do not stay."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import appell
from appell import files
from appell.errors import InputError
from appell.files import DRAFT, extension, write, write_together

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, devices and pipes of POSIX")


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


@pytest.fixture(scope="module")
def run():
    return appell.simulate(appell.load("two-link", gravity=(0.0, 0.0, -9.81)), [0.0, 0.0], [0.0, 0.0], 0.01)


WRITERS = {
    "run.csv": lambda run, place: run.save(place),
    "run.npz": lambda run, place: run.save(place),
    "run.png": lambda run, place: run.plot(place),
    "run.gif": lambda run, place: run.animate(place),
    "arm.urdf": lambda run, place: run.robot.save(place),
    "arm.toml": lambda run, place: run.robot.save(place),
    "arm.c": lambda run, place: run.robot.export("gravity", path=place),
    "arm.py": lambda run, place: run.robot.export("gravity", to="jax", path=place),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_link_stays_and_its_target_is_written(run, name, tmp_path):
    (tmp_path / "target").write_text("old")
    link = tmp_path / name
    link.symlink_to("target")
    WRITERS[name](run, link)
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() not in (b"old", b"")


def test_links_to_links_and_to_nothing_yet_are_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to(tmp_path / "folder" / "c")
    write(tmp_path / "a", "new")
    assert (tmp_path / "folder" / "c").read_text() == "new"
    assert names(tmp_path) == ["a", "b", "folder"]
    assert names(tmp_path / "folder") == ["c"]


def test_a_link_to_itself_is_refused_and_stays(tmp_path):
    (tmp_path / "a").symlink_to("a")
    with pytest.raises(InputError, match="cannot be written"):
        write(tmp_path / "a", "new")
    assert (tmp_path / "a").is_symlink()


def test_a_device_is_written_to_and_stays(run):
    before = Path("/dev/null").stat()
    for place in (run.save("/dev/null"), run.robot.save("/dev/null"), write("/dev/null", "text")):
        assert place == Path("/dev/null")
    assert Path("/dev/null").stat() == before
    assert stat.S_ISCHR(before.st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_device_is_named(run):
    with pytest.raises(InputError, match=r"^/dev/full: cannot be written: No space left on device$"):
        run.save("/dev/full")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


@pytest.mark.parametrize("name", ["run.csv", "pipe"])
def test_a_pipe_is_written_to_and_stays(run, name, tmp_path):
    pipe = tmp_path / name
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    run.save(pipe)
    reader.join(10.0)
    assert read[0].startswith(b"t,q0" if name == "run.csv" else b"PK")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="there is no /dev/stdout")
def test_standard_output_gets_the_file_after_what_was_printed_before(tmp_path):
    script = "from appell.files import write; print('before'); write('/dev/stdout', 'file\\n'); print('after')"
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "before\nfile\nafter\n"


def test_devices_and_pipes_without_an_extension_have_the_first(tmp_path):
    assert extension("save", "/dev/null", (".npz", ".csv")) == ".npz"
    with pytest.raises(InputError, match=r"save: unknown extension of 'null'; known: '\.npz', '\.csv'"):
        extension("save", tmp_path / "null", (".npz", ".csv"))


@pytest.mark.parametrize("path", [None, 3, b"run.npz", ["run.npz"]])
def test_what_is_no_path_is_refused(run, path):
    for save in (run.save, run.plot, run.robot.save):
        if path is not None or save != run.plot:
            with pytest.raises(InputError, match="expected a path, got"):
                save(path)


def test_a_pair_of_c_files_is_refused_where_there_is_room_for_one(run):
    with pytest.raises(InputError, match=r"'c' needs a file name with extension '\.c', got /dev/null"):
        run.robot.export("gravity", path="/dev/null")


@pytest.mark.parametrize("blocked", ["arm.c", "arm.h"])
def test_where_one_of_a_pair_cannot_be_written_the_other_is_not(run, blocked, tmp_path):
    other = tmp_path / ({"arm.c", "arm.h"} - {blocked}).pop()
    other.write_text("old")
    (tmp_path / blocked).mkdir()
    with pytest.raises(InputError, match=f"{blocked}: cannot be written: Is a directory"):
        run.robot.export("gravity", path=tmp_path / "arm.c")
    assert other.read_text() == "old"
    assert names(tmp_path) == ["arm.c", "arm.h"]


@pytest.mark.parametrize("there", [True, False], ids=["replaced", "new"])
def test_where_the_last_step_fails_the_first_is_undone(there, tmp_path, monkeypatch):
    pair = {tmp_path / "a.h": "new", tmp_path / "a.c": "new"}
    for place in pair:
        if there:
            place.write_text("old")
    steps, replace = [], Path.replace

    def fails_second(draft: Path, place: Path) -> Path:
        steps.append(place)
        if len(steps) == 2:
            raise PermissionError(13, "Permission denied")
        return replace(draft, place)

    monkeypatch.setattr(Path, "replace", fails_second)
    with pytest.raises(InputError, match=r"a\.c: cannot be written: Permission denied"):
        write_together(pair)
    assert {place.name: place.read_text() for place in tmp_path.iterdir()} == (
        {"a.h": "old", "a.c": "old"} if there else {}
    )


def test_the_rights_of_a_file_stay_and_those_of_a_new_one_follow_the_mask(tmp_path):
    (tmp_path / "old").touch(mode=0o600)
    for name in ("old", "new"):
        write(tmp_path / name, "text")
    mask = os.umask(0o022)
    os.umask(mask)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("old", "new")] == [0o600, 0o666 & ~mask]


def test_a_name_of_full_length_can_be_written(tmp_path):
    assert write(tmp_path / ("x" * 251 + ".csv"), "text").read_text() == "text"


def test_the_draft_of_a_killed_process_is_removed_an_hour_later(tmp_path):
    for name, age in (("old", 2.0 * files.STALE), ("young", 0.0)):
        draft = tmp_path / f".{name}{DRAFT}"
        draft.touch()
        os.utime(draft, times=(draft.stat().st_atime, draft.stat().st_mtime - age))
    write(tmp_path / "a", "text")
    assert names(tmp_path) == [f".young{DRAFT}", "a"]


def test_a_zero_byte_in_a_path_is_refused(run):
    with pytest.raises(InputError, match="cannot be written"):
        run.save("a\0b.csv")


def test_capital_letters_in_an_extension_are_known(run, tmp_path):
    assert np.array_equal(appell.Run.load(run.save(tmp_path / "run.NPZ")).t, run.t)
