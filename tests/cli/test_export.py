"""The command export: it writes what robot.export writes, for robots of every kind."""

from __future__ import annotations

import numpy as np
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


def test_a_controller_is_what_its_law_exports(tmp_path):
    out, limits = tmp_path / "arm.c", [60.0, 20.0]
    done = run(
        *("two-link", "--controller", "tracking", "--frequency", 10, "--damping", 0.7, "--integral", 5),
        *("--limit", "60,20", "-o", out, "--prefix", "arm"),
    )
    assert done.exit_code == 0, done.output
    gains = appell.control.integral_gains(10.0, 0.7, 5.0)
    law = appell.control.Tracking(appell.load("two-link"), lambda t: ([t, t],) * 3, *gains, limit=limits)
    same = law.export(tmp_path / "again" / "arm.c", prefix="arm")
    assert out.read_text() == same.read_text()
    assert out.with_suffix(".h").read_text() == same.with_suffix(".h").read_text()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "give --verb or --controller"),
        (("--verb", "gravity", "--controller", "tracking"), "or in a rollout"),
        (("--verb", "gravity", "--frequency", 10), "require --controller"),
        (("--controller", "tracking"), "--frequency 10"),
        (("--controller", "pid", "--frequency", 10), "no controller 'pid'; known: 'tracking', 'point-to-point'"),
        (("--controller", "point-to-point", "--frequency", 10, "--integral", 1), "only tracking has integral action"),
        (("--controller", "tracking", "--frequency", 10, "--limit", "1,2,3"), "expected 2 numbers"),
        (("--controller", "tracking", "--frequency", -1), "frequency: expected numbers > 0"),
        (("--controller", "tracking", "--frequency", 10, "--frame", "link1"), "--frame does not apply to --controller"),
        (
            ("--controller", "tracking", "--frequency", 10, "--parametric"),
            "--parametric does not apply to --controller",
        ),
    ],
)
def test_what_does_not_fit_a_controller_is_one_line(options, told, tmp_path):
    done = run("two-link", "-o", tmp_path / "arm.c", *options)
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1
    assert told in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["five-bar", "agile-wrist"])
def test_every_kind_of_robot_has_a_controller(name, tmp_path):
    robot = appell.load(name)
    limits = [5.0] * len(robot.actuators)
    listed = ",".join(map(str, limits))
    done = run(name, "-o", tmp_path / "arm.c", "--controller", "tracking", "--frequency", 10, "--limit", listed)
    assert done.exit_code == 0, done.output
    still = np.zeros(robot.nv)
    law = appell.control.Tracking(
        robot, lambda _: (robot.neutral(), still, still), *appell.control.gains(10.0, 1.0), limit=limits
    )
    assert (tmp_path / "arm.c").read_text() == law.export(tmp_path / "again" / "arm.c").read_text()


@pytest.mark.parametrize("name", ["two-link", "five-bar", "agile-wrist"])
def test_parameters_are_the_last_argument_where_asked(name, tmp_path):
    done = run(name, "--verb", "gravity", "--out", tmp_path / "arm.c", "--parametric")
    assert done.exit_code == 0, done.output
    again = appell.load(name).export(["gravity"], path=tmp_path / "again" / "arm.c", parametric=True)
    assert (tmp_path / "arm.c").read_text() == again.read_text()
    assert "parameters[" in (tmp_path / "arm.h").read_text()


@pytest.mark.parametrize("to", ["casadi", "jax"])
def test_python_is_written_by_its_name(to, tmp_path):
    out = tmp_path / "arm.py"
    done = run("two-link", "--verb", "gravity", "--to", to, "--out", out)
    assert done.exit_code == 0, done.output
    assert done.stderr.strip() == f"written: {out}"
    same = appell.load("two-link").export("gravity", to=to, path=tmp_path / "again.py")
    assert out.read_text() == same.read_text()


def test_rollouts_and_inverse_kinematics_are_verbs_of_the_command(tmp_path):
    robot, out = appell.load("two-link"), tmp_path / "arm.c"
    done = run("two-link", "--verb", "rollout", "--controller", "tracking", "--frequency", 10, "-o", out)
    assert done.exit_code == 0, done.output
    law = appell.control.Tracking(robot, lambda t: ([t, t],) * 3, *appell.control.gains(10.0))
    assert out.read_text() == robot.export("rollout", path=tmp_path / "again" / "arm.c", control=law).read_text()
    frame = robot.frame_names[-1]
    done = run("two-link", "--verb", "inverse_kinematics", "--frame", frame, "--steps", 20, "-o", out)
    assert done.exit_code == 0, done.output
    same = robot.export("inverse_kinematics", path=tmp_path / "again" / "arm.c", frame=frame, steps=20)
    assert out.read_text() == same.read_text()
