"""Target that is the command line: every command with damaged arguments and files, in this process and in another."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from pathlib import Path
from random import Random
from typing import Any

from typer.testing import CliRunner

from appell.cli import app
from appell.errors import AppellError
from appell.logs import table
from appell.read.catalogue import file_text
from tests.fuzz import structures as form
from tests.fuzz.engine import Input, Target, ensure
from tests.fuzz.examples import text_logs, valid
from tests.fuzz.files import ABOUT, columns
from tests.fuzz.mutators import NUMBERS, OF_BYTES, OF_TEXT, WORDS, mutated

LINES = (
    "info two-link", "info two-link --json", "info FILE.urdf --floating", "info FILE.urdf --mimic --json",
    "info FILE.xml",
    "info FILE.toml --gravity 0,0,-1", "info legs.urdf --loops FILE.yaml", "id two-link -q 0,0 -v 1,1 -a 0,0",
    "id two-link -q 0.1,0.2 --json", "fd two-link -q 0,0 --tau 1,2", "id two-link --in FILE.csv",
    "id two-link --in FILE.npz --out out.csv",
    "fd two-link --in FILE.csv --out out.npz", "simulate FILE.scenario.toml --out out.npz",
    "simulate FILE.scenario.toml --json",
    "simulate FILE.scenario.toml --out out.csv --speed 2", "export two-link --verb gravity --out out.c",
    "ops two-link", "ops puma560 --verb mass_matrix",
    "export two-link --verb gravity --to casadi --out out.py --prefix p",
    "export two-link --controller tracking --frequency 10 --out out.c",
    "export FILE.urdf --verb pose --frame tool --out out.c --real float --no-libm",
    "identify two-link FILE.csv --out out.toml",
    "identify two-link FILE.csv --map t=0,q=1:3,v=3:5,tau=5:7 --method ols --folds 2",
    "identify two-link FILE.npz --gains 1,2 --friction none",
    "view FILE.broken", "compare FILE.urdf --samples 2", "compare two-link --samples 1 --out out.md", "cache",
    "reproduce nobody", "bench nothing", "",
)  # fmt: skip
"""Command lines; FILE is a damaged file, whatever is named out.* is written."""
OPTIONS = (
    "--json", "--floating", "--mimic", "--gravity", "0,0,nan", "--no-friction", "--loops", "--in", "--out", "-q", "-v",
    "--help", "--version", "--x",
    "out.npz", "folder/out.csv", "/dev/null", "/proc/x", "--verb", "gravity", "--method", "ols", "--folds", "-3", "99",
    "--cutoff", "--frame", "--",
)  # fmt: skip


def _files() -> dict[str, list[bytes]]:
    return {
        **{ending: list(valid(ending).values()) for ending in (".urdf", ".xml", ".scenario.toml", ".yaml")},
        ".toml": [file_text("two-link").encode(), file_text("agile-wrist").encode()],
        ".csv": text_logs(columns()),
        ".npz": [table.npz_bytes(columns(), ABOUT)],
        ".broken": [b"", b"x"],
    }


def draw(rng: Random) -> Input:
    """Return a command line with its file as JSON: arguments dropped, doubled or replaced, the file mutated."""
    words = rng.choice(LINES).split()
    faults, name, data = 0, "", b""
    for k, word in enumerate(words):
        if word.startswith("FILE"):
            name = f"file{word[4:]}"
            words[k] = name
            data = rng.choice(_files()[word[4:]])
            if rng.random() < 0.6:
                groups: Any = (OF_BYTES, OF_TEXT) if word != "FILE.npz" else (OF_BYTES, (form.npz_member,))
                data, count = mutated(rng, data, rng.choice(groups))
                faults += count
    for _ in range(rng.choice((0, 1, 1, 2)) if words else 0):
        faults += 1
        place = rng.randrange(len(words))
        change = rng.randrange(5)
        if change == 0:
            del words[place]
        elif change == 1:
            words.insert(place, words[rng.randrange(len(words))])
        elif change == 2:
            words.insert(place + 1, rng.choice(OPTIONS))
        else:
            words[place] = rng.choice(WORDS if change == 3 else NUMBERS)
        if not words:
            break
    # these start a server or take minutes: of a good robot, or of all that are installed
    if words and (words[0] in ("view", "bench", "reproduce") or (words[0] == "compare" and words[1:2] != [name])):
        words[1:2] = ["no.robot"]
    case = {"words": words, "name": name, "data": data.decode("latin-1")}
    return Input(json.dumps(case).encode(), faults)


def call(path: Path) -> None:
    """Run a command line: exit codes 0, 1 and 2, no traceback, no draft left, no output where the code is 2."""
    case = json.loads(path.read_text(encoding="utf-8"))
    words = [str(word) for word in case["words"]]
    path.with_name("legs.urdf").write_bytes(valid(".urdf")["legs"])
    if case["name"]:
        path.with_name(case["name"]).write_bytes(case["data"].encode("latin-1"))
    given = {x.name for x in path.parent.iterdir()}
    if zlib.crc32(path.read_bytes()) % 100 == 0 and not any("\x00" in word for word in words):
        code, said = _process(words)
    else:
        result = CliRunner().invoke(app, words)
        code, said = result.exit_code, result.output
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
    ensure(code in (0, 1, 2), f"exit code {code}: {said[-200:]}")
    ensure("Traceback" not in said, f"a traceback: {said[-200:]}")
    made = {x.name for x in path.parent.iterdir()} - given
    ensure(not any(name.endswith(".draft") for name in made), f"a draft is left: {made}")
    ensure(code != 2 or not made, f"refused, and wrote {made}")
    for name in ({"legs.urdf", case["name"]} | made) - {"", path.name}:
        _remove(path.with_name(name))
    if code == 2:
        raise AppellError(said)


def _process(words: list[str]) -> tuple[int, str]:
    """Return the exit code and the output of a process of its own."""
    code = "import sys; from appell.cli import main; sys.argv[0] = 'appell'; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, check=False, timeout=60, text=True, errors="replace"
    )
    return done.returncode, done.stdout + done.stderr


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for inner in path.iterdir():
            _remove(inner)
        path.rmdir()
    else:
        path.unlink()


COMMANDS = [Target("command", ".json", draw, call, 0.3, 25)]
