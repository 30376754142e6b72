"""The command export: it writes what robot.export writes, for robots of every kind."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app


def run(*arguments):
    return CliRunner().invoke(app, ["export", *map(str, arguments)], prog_name="appell")


@pytest.mark.parametrize("name", ["two-link", "five-bar", "agile-wrist"])
def test_the_command_writes_what_the_robot_exports(name, tmp_path):
    out = tmp_path / "arm.c"
    done = run(name, "--verb", "gravity", "--verb", "mass_matrix", "--out", out, "--real", "float", "--no-libm")
    assert done.exit_code == 0, done.output
    assert str(out.with_suffix(".h")) in done.stderr
    verbs = ["gravity", "mass_matrix"]
    same = appell.load(name).export(verbs, path=tmp_path / "again" / "arm.c", real="float", libm=False)
    assert out.read_text() == same.read_text()
    assert out.with_suffix(".h").read_text() == same.with_suffix(".h").read_text()


def test_a_frame_is_named_by_an_option(tmp_path):
    out = tmp_path / "arm.c"
    frame = appell.load("two-link").frame_names[-1]
    assert run("two-link", "--verb", "pose", "--frame", frame, "--out", out).exit_code == 0
    assert f"two_link_pose_{frame}(" in out.read_text()


def test_a_mistake_is_one_line(tmp_path):
    done = run("two-link", "--verb", "torques", "--out", tmp_path / "arm.c")
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    assert "no verb 'torques'" in done.stderr


@pytest.mark.parametrize("to", ["casadi", "jax"])
def test_python_is_written_by_its_name(to, tmp_path):
    out = tmp_path / "arm.py"
    done = run("two-link", "--verb", "gravity", "--to", to, "--out", out)
    assert done.exit_code == 0, done.output
    assert done.stderr.strip() == f"written: {out}"
    same = appell.load("two-link").export("gravity", to=to, path=tmp_path / "again.py")
    assert out.read_text() == same.read_text()
