"""The command convert: it writes what robot.save writes."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app


def run(*arguments):
    return CliRunner().invoke(app, ["convert", *map(str, arguments)], prog_name="appell")


@pytest.mark.parametrize("ending", [".xml", ".sdf", ".urdf", ".toml"])
def test_the_command_writes_what_the_robot_saves(ending, tmp_path):
    done = run("puma600", tmp_path / f"arm{ending}", "--floating")
    assert done.exit_code == 0, done.output
    same = appell.load("puma600", floating=True).save(tmp_path / "again" / f"arm{ending}")
    assert (tmp_path / f"arm{ending}").read_text() == same.read_text()
    assert done.stderr == f"written: {tmp_path / f'arm{ending}'}\n"


@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")
def test_a_template_is_changed_where_the_robot_differs(tmp_path):
    old = appell.load("puma560").save(tmp_path / "old.urdf")
    assert run(old, tmp_path / "same.urdf", "--template", old).exit_code == 0
    assert (tmp_path / "same.urdf").read_bytes() == old.read_bytes()
    assert run(old, tmp_path / "bare.urdf", "--no-friction", "--template", old).exit_code == 0
    assert not any(body.joint.friction for body in appell.load(tmp_path / "bare.urdf").model.bodies)


def test_what_is_left_out_is_a_warning_and_what_cannot_be_held_one_line(tmp_path):
    done = run("puma560", tmp_path / "arm.sdf")
    assert done.exit_code == 0
    assert "SDF cannot represent: rotor inertia of joints" in done.stderr
    for name, why in (("delta", "URDF cannot represent its loops"), ("rx90", "unknown extension")):
        done = run(name, tmp_path / ("arm.urdf" if name == "delta" else "arm.step"))
        assert done.exit_code == 2
        assert len(done.stderr.splitlines()) == 1
        assert why in done.stderr
