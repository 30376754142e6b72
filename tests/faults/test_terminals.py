"""Every command on terminals of narrow encodings and on closed, full and abandoned outputs: no traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs fork and /dev/full")

SCENARIO = """
robot = "two-link"
duration = 0.02
"""

# One process imports appell and forks the commands, which is faster than starting an interpreter for each. A child has
# the streams that Python would have made of its descriptors, and flushes them last, as Python does.
SCRIPT = """
import io, json, os, sys, traceback
from pathlib import Path
import typer
from appell.cli import app

folder, results = Path(sys.argv[1]), []
names = [command.name for command in app.registered_commands]
commands = [[], ["--help"], ["--version"], ["nonsense"], *([name, "--help"] for name in names)]
commands += [
    ["info", "two-link"], ["info", "two-link", "--json"], ["info"], ["id", "two-link", "-q", "0.1,0.2"],
    ["fd", "two-link", "-q", "0.1,0.2"], ["ops", "two-link", "gravity"], ["cache"], ["id", "two-link", "-q", "x"],
    ["simulate", str(folder / "run.toml"), "--out", str(folder / "run.npz")],
    ["export", "two-link", "--verb", "gravity", "--out", str(folder / "arm.c")],
    ["export", "two-link", "--verb", "gravity", "--to", "jax", "--out", "/dev/stdout"],
]


def gone():
    read, write = os.pipe()
    os.close(read)
    return write


def stream(descriptor, encoding):
    try:
        os.fstat(descriptor)
    except OSError:
        return None
    return io.TextIOWrapper(open(descriptor, "wb", closefd=False), encoding, "strict", line_buffering=descriptor == 2)


# name: (descriptor, what it becomes, encoding); what it becomes is a function that opens it, or None for closed
FAULTS = {
    "none": (1, lambda: os.open(folder / "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "utf-8"),
    "ascii": (1, lambda: os.open(folder / "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "ascii"),
    "cp1252": (1, lambda: os.open(folder / "out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "cp1252"),
    "full": (1, lambda: os.open("/dev/full", os.O_WRONLY), "utf-8"),
    "closed": (1, None, "utf-8"),
    "gone": (1, gone, "utf-8"),
    "error stream full": (2, lambda: os.open("/dev/full", os.O_WRONLY), "utf-8"),
    "error stream closed": (2, None, "utf-8"),
}


def run(arguments, fault):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    descriptor, opened, encoding = FAULTS[fault]
    if opened is None:
        os.close(descriptor)
    else:
        os.dup2(opened(), descriptor)
    sys.stdout, sys.stderr = stream(1, encoding), stream(2, encoding)
    code = 99
    try:
        command(arguments, prog_name="appell")
    except SystemExit as end:
        code = end.code
    except BaseException:
        (folder / "err").write_text(traceback.format_exc())
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        code = 120
    os._exit(code)


command, own = typer.main.get_command(app), (sys.stdout, sys.stderr)
for arguments in commands:
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    try:  # once in this process, so that children find modules loaded and robots compiled
        command(arguments, prog_name="appell")
    except SystemExit:
        pass
    sys.stdout, sys.stderr = own
    for fault in ("none", "ascii", "full") if "--help" in arguments[1:] else FAULTS:
        code = run(arguments, fault)
        out = (folder / "out").read_bytes().decode(FAULTS[fault][2], "replace")
        results.append((" ".join(arguments), fault, code, out, (folder / "err").read_text("utf-8", "replace")))
Path(folder, "results.json").write_text(json.dumps(results))
"""
BROKEN = ("full", "closed")
PRINTED_ELSEWHERE = ("nonsense", "export two-link --verb gravity --out", "id two-link -q x")
"""Commands whose words are on the error stream alone."""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("terminals")
    (folder / "run.toml").write_text(SCENARIO)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "results.json").read_text())


def of(results, *faults):
    return {(command, fault): rest for command, fault, *rest in results if fault in faults}


def test_no_command_ends_in_a_traceback(results):
    assert len(results) > 120
    assert [(command, fault, err) for command, fault, code, _, err in results if "Traceback" in err or code > 141] == []


def test_narrow_encodings_change_no_exit_code(results):
    expected = {command: code for (command, _), (code, *_) in of(results, "none").items()}
    assert {expected[command] for command in ("info two-link", "ops two-link gravity", "cache --help")} == {0}
    narrow = of(results, "ascii", "cp1252", "error stream closed")
    assert {key: code for key, (code, *_) in narrow.items() if code != expected[key[0]]} == {}


def test_symbols_are_spelled_where_the_encoding_has_none(results):
    assert "m/s2" in of(results, "ascii")["info two-link", "ascii"][1]
    assert "m/s²" in of(results, "cp1252")["info two-link", "cp1252"][1]
    wide, narrow = (json.loads(of(results, x)["info two-link --json", x][1]) for x in ("none", "ascii"))
    assert narrow == wide


def test_an_output_that_cannot_be_written_is_one_line_and_exit_code_2(results):
    for (command, fault), (code, _, err) in of(results, *BROKEN).items():
        if command and not command.startswith(PRINTED_ELSEWHERE):
            assert code == 2, (command, fault, code, err)
            last = [line for line in err.splitlines() if not line.startswith("written:")]
            assert len(last) == 1, (command, fault, err)
            assert "cannot be written: " in last[0]


def test_a_reader_that_is_gone_ends_a_command_in_silence(results):
    for (command, _), (code, _, err) in of(results, "gone").items():
        if command and not command.startswith(PRINTED_ELSEWHERE) and "stdout" not in command:
            assert code == 141, (command, code, err)
            assert not [line for line in err.splitlines() if not line.startswith("written:")], command


def test_a_shell_sees_the_same():
    shell = f"{sys.executable} -c 'from appell.cli import main; main()' info two-link >&-"
    done = subprocess.run(shell, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
