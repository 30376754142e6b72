"""Files that cannot be read, on the command line: one line on stderr and exit code 2."""

from __future__ import annotations

import os

import pytest
from typer.testing import CliRunner

from appell.cli import app

NAMES = ["a" * 5000, "a" * 5000 + ".urdf", "a\x07b.urdf", "\udcff.urdf", "a\nb.toml", ""]


def fails(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    *progress, line = result.stderr.splitlines()
    assert line.startswith("appell: ")
    assert len(line) < 2100
    assert not any(each.startswith(("appell: ", "Traceback")) for each in progress)
    return line


@pytest.mark.parametrize("name", NAMES, ids=lambda name: repr(name)[:20])
@pytest.mark.parametrize("command", [("info",), ("id", "-q", "0"), ("view", "--no-open"), ("identify", "two-link")])
def test_names_that_no_file_has_are_one_line(command, name):
    fails(*command, name)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.urdf", b"<robot"),
        ("a.xml", b"\0\0\0"),
        ("a.toml", b"a." * 1000 + b"a = 1"),
        ("a.toml", b"\xff\xfe"),
        ("a.mjcf", b"<mujoco><option gravity='0 0 nan'/><worldbody/></mujoco>"),
    ],
)
def test_robots_that_cannot_be_read_are_one_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert name in fails("info", str(tmp_path / name))


@pytest.mark.parametrize("name", ["log.npz", "log.mcap", "log.parquet", "log.csv"])
def test_logs_that_cannot_be_read_are_one_line(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x93PK\x03\x04\0\xff" * 10)
    assert name in fails("identify", "two-link", str(tmp_path / name))


def test_runs_and_loops_and_scenarios_that_cannot_be_read_are_one_line(tmp_path):
    for name in ("run.npz", "loops.yaml", "scene.toml"):
        (tmp_path / name).write_bytes(b"a: &a [*a]")
    assert "run.npz" in fails("view", "--no-open", str(tmp_path / "run.npz"))
    assert "loops.yaml" in fails("info", "two-link", "--loops", str(tmp_path / "loops.yaml"))
    assert "scene.toml" in fails("simulate", str(tmp_path / "scene.toml"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system here")
def test_a_pipe_is_one_line(tmp_path):
    for name in ("a.urdf", "a.npz", "a.csv"):
        os.mkfifo(tmp_path / name)
    assert "a pipe or a device" in fails("info", str(tmp_path / "a.urdf"))
    assert "a pipe or a device" in fails("view", "--no-open", str(tmp_path / "a.npz"))
    assert "a pipe or a device" in fails("id", "two-link", "--in", str(tmp_path / "a.csv"))
