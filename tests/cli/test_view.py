"""``appell view``: prints its address, serves until Ctrl-C, ends cleanly."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app

pytest.importorskip("viser")


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another thing there")
@pytest.mark.parametrize("kind", ["robot", "run"])
def test_the_address_is_printed_and_ctrl_c_ends_it(kind: str, tmp_path: Path) -> None:
    shown = ["two-link", "--reference", "0.1,0.2", "--drag", "link2"]
    if kind == "run":
        run = appell.simulate(appell.load("two-link"), [0.0, 0.0], [0.0, 0.0], 0.1)
        saved = str(run.save(tmp_path / "run.npz"))
        shown = [saved, "--reference", saved, "--trace", "link2"]
    command = [sys.executable, "-c", "from appell.cli import main; main()", "view", *shown, "--no-open"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with urllib.request.urlopen(url) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert url.startswith("http://127.0.0.1:")
    assert process.returncode == 0
    assert out == ""
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nobody"], "neither a file nor in the catalogue"),
        (["two-link", "-q", "1"], "expected 2 numbers"),
        (["two-link", "--port", "99999"], "65535"),
        (["two-link", "--packages", "gone"], "no such folder"),
        (["gone.npz"], "file not found"),
        (["two-link", "--reference", "gone.npz"], "file not found"),
        (["two-link", "--reference", "1"], "expected 2 numbers"),
        (["two-link", "--trace", "hand"], "has no frame 'hand'"),
        (["two-link", "--drag", "hand"], "has no frame 'hand'"),
    ],
)
def test_bad_input_is_one_line_and_code_2(arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(app, ["view", *arguments, "--no-open"])
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
