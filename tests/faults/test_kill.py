"""kill -9 while a file is written: the file is the old one or the new one, and no process after it is disturbed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks processes")

# One process imports appell and forks writers, which is faster than starting an interpreter per writer. A writer is
# killed at a step that goes round: in the draft, before or after the rename of the first or second file; and at any
# moment by another process.
SCRIPT = """
import os, random, signal, sys, time
from pathlib import Path
from appell import files

folder, kills = Path(sys.argv[1]), int(sys.argv[2])
single, pair = folder / "run.npz", [folder / "arm.h", folder / "arm.c"]
OLD, NEW = b"old" * 40_000, b"new!" * 50_000
random.seed(14)
HOOKS = ("draft", "fsync", "before", "after")


def killed(hook, number, contents):
    # Return how a writer ended that kills itself at a step of its file `number`.
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    seen, replace, fsync = [], Path.replace, os.fsync

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    class Half:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.file.close()

        def write(self, data):
            self.file.write(data[: len(data) // 2])
            self.file.flush()
            die()

    def opened(path, mode, open_=Path.open):
        seen.append(path)
        return Half(open_(path, mode)) if hook == "draft" and len(seen) == number else open_(path, mode)

    def synced(descriptor):
        fsync(descriptor)
        if hook == "fsync" and len(seen) == number:
            die()

    def moved(draft, place, moves=[]):
        moves.append(place)
        if hook == "before" and len(moves) == number:
            die()
        replace(draft, place)
        if hook == "after" and len(moves) == number:
            die()

    Path.open, Path.replace, os.fsync = opened, moved, synced
    files.write_together(contents)
    os._exit(0)


results = {}
for k in range(kills):
    hook, places = HOOKS[k % 4], [single] if k % 3 else pair
    number = 1 if len(places) == 1 else 1 + k // 4 % 2
    for place in places:
        place.write_bytes(OLD)
    code = killed(hook, number, {place: NEW for place in places})
    found = [place.read_bytes() for place in places]
    assert code == -signal.SIGKILL, (hook, code)
    assert set(found) <= {OLD, NEW}, (hook, "a part of a file")
    moved = hook == "after" or (hook == "before" and number == 2)
    assert found == [NEW if moved and j < number - (hook == "before") else OLD for j in range(len(places))], hook
    results[hook] = results.get(hook, 0) + 1

for k in range(kills // 4):
    single.write_bytes(NEW)
    child = os.fork()
    if not child:
        while True:
            files.write(single, OLD)
            files.write(single, NEW)
    time.sleep(random.uniform(0.0, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert single.read_bytes() in (OLD, NEW), "a part of a file"

left = [entry for entry in folder.iterdir() if entry.name.endswith(files.DRAFT)]
assert left and all(entry.name.startswith(".") for entry in left)
for entry in left:
    os.utime(entry, (0, 0))
files.write(single, NEW)
assert sorted(entry.name for entry in folder.iterdir()) == ["arm.c", "arm.h", "run.npz"]
print(sum(results.values()), sorted(results))
"""


@pytest.mark.parametrize("kills", [24, pytest.param(1000, marks=pytest.mark.slow)])
def test_after_a_kill_the_file_is_old_or_new_and_drafts_are_removed(kills, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), str(kills)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == str(kills)
