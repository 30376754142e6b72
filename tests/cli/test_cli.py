"""The command: every command answers, tells its example, and tells a mistake in one line with exit code 2."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app
from docs.command_page import commands

COMMANDS = list(commands())


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments], prog_name="appell")


def answer(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def told(*arguments):
    """Return the one line of a mistake."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("appell: ")
    return lines[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    assert f"Example: appell {command}" in answer(command, "--help")


def test_version_is_the_packages():
    assert answer("--version").strip() == f"appell {appell.__version__}"


def test_the_installed_command_runs_and_fails_in_one_line():
    script = Path(sys.executable).with_name("appell")
    for command in ([script], [sys.executable, "-m", "appell"]):
        good = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
        assert (good.returncode, good.stdout.strip()) == (0, f"appell {appell.__version__}")
    bad = subprocess.run([script, "info", "no-such-robot"], capture_output=True, text=True, check=False)
    assert bad.returncode == 2
    assert len(bad.stderr.splitlines()) == 1
    assert "puma560" in bad.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nonsense"], "nonsense"),
        (["id"], "ROBOT"),
        (["info", "missing.urdf"], "missing.urdf"),
        (["info", "robot.step"], ".step"),
        (["info", "puma560", "--speed"], "--speed"),
        (["info", "puma560", "--gravity", "0,0"], "--gravity: expected 3 numbers"),
        (["id", "two-link"], "-q: expected 2 numbers"),
        (["id", "two-link", "-q", "0,x"], "got 'x'"),
        (["id", "two-link", "-q", "0,nan"], "-q: expected finite numbers, got 'nan'"),
        (["fd", "two-link", "-q", "0,1e400"], "-q: expected finite numbers, got '1e400'"),
        (["id", "two-link", "-q", "0,0,0"], "expected 2 numbers separated by commas, got 3"),
        (["id", "two-link", "-q", "0,0", "--out", "a.txt"], "a.txt"),
        (["fd", "two-link", "-q", "0,0", "--tau", "1"], "--tau: expected 2"),
        (["fd", "two-link", "-q", "0,0", "--in", "a.csv"], "not both"),
        (["fd", "two-link", "--in", "missing.csv"], "missing.csv: file not found"),
        (["ops", "two-link", "flying"], "inverse_dynamics"),
        (["ops", "two-link", "mass_matrix", "--formulation", "flying"], "composite"),
        (["ops", "two-link", "--formulation", "flying"], "articulated"),
        (["reproduce", "mata1902"], "mata2002"),
        (["reproduce", "mata2002", "--out", "/dev/null/a"], "--out: /dev/null/a: cannot be created"),
        (["bench", "two-link", "two-link"], "two robots of one name"),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments, expected):
    assert expected in told(*arguments)


def test_a_broken_urdf_is_told_with_its_line(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text('<robot name="r">\n<link name="a"/>\n<joint name="j" type="revolute"/>\n</robot>\n')
    assert f"{file}:3" in told("info", file)


# info


def test_info_tells_joints_bodies_gravity_and_frames():
    text = answer("info", "puma560")
    for word in (
        "puma560",
        "joint1",
        "revolute",
        "gravity 0 0 -9.81",
        "23.45 kg",
        "link6",
        "frames:",
        "warnings: none",
    ):
        assert word in text


def test_info_as_json_is_the_model():
    robot = appell.load("puma560")
    read = json.loads(answer("info", "puma560", "--json"))
    assert read["nq"] == 6
    assert [joint["name"] for joint in read["joints"]] == robot.joint_names
    assert read["joints"][0]["damping"] == robot.model.bodies[0].joint.damping
    assert read["joints"][0]["effort"] is None  # unlimited: JSON has no infinity
    assert read["mass"] == pytest.approx(sum(body.inertia.mass for body in robot.model.bodies))


def test_info_lists_what_is_odd_about_a_file(tmp_path):
    file = tmp_path / "odd.urdf"
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/>'
    file.write_text(
        f'<robot name="odd"><link name="a"/><link name="b"><inertial><mass value="1"/>{inertia}</inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    assert len(json.loads(answer("info", file, "--json"))["warnings"]) == 1
    assert "warnings: 1" in answer("info", file)


# id and fd


def test_id_is_inverse_dynamics_and_what_is_left_out_is_zero():
    robot = appell.load("puma560")
    q, v = [0.0, -0.5, 1.0, 0.0, 0.3, 0.0], [0.1, 0.0, 0.0, -2.0, 0.0, 0.0]
    read = json.loads(answer("id", "puma560", "-q", "0,-0.5,1,0,0.3,0", "-v", "0.1,0,0,-2,0,0", "--json"))
    np.testing.assert_allclose(read["tau"], robot.inverse_dynamics(q, v, [0.0] * 6), rtol=1e-14)
    assert read["a"] == [0.0] * 6
    assert read["joints"] == robot.joint_names


def test_id_takes_negative_numbers_first_and_prints_a_table():
    text = answer("id", "two-link", "-q", "-0.5,1")
    assert "joint1" in text
    assert "tau" in text


def test_options_of_the_robot_reach_the_dynamics():
    free = json.loads(answer("id", "puma560", "-q", "0,0,0,0,0,0", "--gravity", "0,0,0", "--no-friction", "--json"))
    np.testing.assert_allclose(free["tau"], np.zeros(6), atol=1e-14)


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
def test_fd_undoes_id_through_files(tmp_path, rng, suffix):
    robot = appell.load("puma560", friction=False)
    q, v, a = rng.normal(size=(3, 5, 6))
    first = tmp_path / "motion.npz"
    np.savez(first, q=q, v=v, a=a, t=np.arange(5.0))
    forces, back = tmp_path / f"forces{suffix}", tmp_path / "back.npz"
    answer("id", "puma560", "--no-friction", "--in", first, "--out", forces)
    answer("fd", "puma560", "--no-friction", "--in", forces, "--out", back)
    with np.load(back) as read:
        np.testing.assert_allclose(read["tau"], robot.inverse_dynamics(q, v, a), rtol=1e-14)
        np.testing.assert_allclose(read["a"], a, rtol=1e-9, atol=1e-10)
        np.testing.assert_array_equal(read["t"], np.arange(5.0))
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(["motion.npz", forces.name, "back.npz"])


@pytest.mark.parametrize("name", ["five-bar", "stewart", "agile-wrist"])
def test_forces_of_every_kind_of_robot_bring_back_its_accelerations(name, tmp_path, rng):
    robot = appell.load(name)
    q, v, a = robot.random(rng, 3), rng.normal(size=(3, robot.nv)), rng.normal(size=(3, robot.nu))
    np.savez(tmp_path / "motion.npz", q=q, v=v, a=a)
    answer("id", name, "--in", tmp_path / "motion.npz", "--out", tmp_path / "forces.csv")
    head = (tmp_path / "forces.csv").read_text().splitlines()[0].split(",")
    assert head[-robot.nu :] == [f"tau.{motor}" for motor in robot.actuators]
    assert head[: robot.nq] == [f"q.{joint}" for joint in robot.joint_names]
    answer("fd", name, "--in", tmp_path / "forces.csv", "--out", tmp_path / "back.npz")
    with np.load(tmp_path / "back.npz") as back:
        np.testing.assert_allclose(back["a"][:, : robot.nu], a, atol=1e-6 * np.abs(a).max())


def test_csv_columns_go_by_number_or_by_joint_in_any_order(tmp_path):
    by_number, by_joint = tmp_path / "number.csv", tmp_path / "joint.csv"
    by_number.write_text("q2,q1,v1,v2\n0.2,0.1,1,2\n\n0.4,0.3,3,4\n")
    by_joint.write_text("v.joint2,q.joint1,q.joint2,v.joint1\n2,0.1,0.2,1\n4,0.3,0.4,3\n")
    shown = answer("id", "two-link", "--in", by_number)
    assert shown == answer("id", "two-link", "--in", by_joint)
    rows = np.array([[float(x) for x in line.split(",")] for line in shown.splitlines()[1:]])
    expected = appell.load("two-link").inverse_dynamics([[0.1, 0.2], [0.3, 0.4]], [[1, 2], [3, 4]], np.zeros((2, 2)))
    np.testing.assert_allclose(rows[:, -2:], expected, rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("q1,q2\n0,0\n0,x\n", ":3: column 'q2': expected a finite number"),
        ("q1,q2\n0,0\n0,nan\n", ":3: column 'q2': expected a finite number"),
        ("q1,q2\n0,0\n0\n", ":3: 1 field, expected 2"),
        ("q1,v1,v2\n0,0,0\n", ": misses 'q2'"),
        ("q1,q2,speed\n0,0,0\n", ": unknown column 'speed'"),
        ("q1,q1\n0,0\n", ": column 'q1' occurs twice"),
        ("q1,q2,q.joint1,q.joint2\n0,0,0,0\n", ": has q twice"),
        ("v1,v2\n0,0\n", "no configuration columns"),
        ("q1,q2\n", "has no rows"),
        ("", "has no rows"),
    ],
)
def test_a_wrong_csv_is_told_with_its_line(tmp_path, text, expected):
    file = tmp_path / "log.csv"
    file.write_text(text)
    line = told("id", "two-link", "--in", file)
    assert f"{file}" in line
    assert expected in line


def test_a_csv_that_is_no_text_is_told(tmp_path):
    file = tmp_path / "log.csv"
    file.write_bytes(b"q1,q2\n\xff\xfe\x00,1\n")
    assert "log.csv: has NUL bytes" in told("id", "two-link", "--in", file)


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"q": np.zeros((4, 3))}, "unknown column 'q3'"),
        ({"q": np.zeros((4, 2)), "v": np.zeros((3, 2))}, "v: expected 4 rows"),
        ({"q": np.zeros((4, 2)), "speed": np.zeros(4)}, "unknown column 'speed'"),
        ({"v": np.zeros((4, 2))}, "no configuration columns"),
        ({"q": np.array([[0.0, 0.0], [0.0, np.inf]])}, ": row 1: column 'q2': expected a finite number"),
        ({"q": np.array([["a", "b"]])}, "no configuration columns"),
    ],
)
def test_a_wrong_npz_is_told(tmp_path, arrays, expected):
    file = tmp_path / "log.npz"
    np.savez(file, **arrays)
    assert expected in told("fd", "two-link", "--in", file)


def test_an_npz_that_is_none_is_told(tmp_path):
    file = tmp_path / "log.npz"
    file.write_bytes(b"not a zip file")
    assert "incomplete or damaged .npz file" in told("fd", "two-link", "--in", file)


def test_a_place_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("in the way")
    line = told("id", "two-link", "-q", "0,0", "--out", tmp_path / "file" / "a.csv")
    assert "cannot be written" in line


# ops, cache, bench


def test_ops_are_the_robots_operations():
    robot = appell.load("puma560", friction=False)
    read = json.loads(answer("ops", "puma560", "inverse_dynamics", "--no-friction", "--json"))
    rows = {row["formulation"]: row for row in read["rows"]}
    assert rows["gibbs"]["multiplications"] == robot.operations("inverse_dynamics", "gibbs").multiplications
    assert rows["compiled"]["additions"] == robot.operations("inverse_dynamics").additions
    papers = {"mata2002", "lagrange", "vector-merged"}
    assert set(rows) == {"compiled", "gibbs", "vector", "mixed", "newton-euler", *papers}


@pytest.mark.parametrize("name", ["puma560", "five-bar", "agile-wrist"])
def test_ops_of_every_kind_say_which_program_won(name):
    robot = appell.load(name)
    read = json.loads(answer("ops", name, "inverse_dynamics", "--json"))
    rows = {row["formulation"]: row for row in read["rows"]}
    assert set(rows) == {"compiled", *robot.formulations("inverse_dynamics")}
    won = robot.operations("inverse_dynamics")
    assert rows["compiled"]["program"] == f"{won.formulation}, {won.variant}"
    assert rows["gibbs"]["program"] == "gibbs, file"


def test_ops_without_a_verb_lists_all_that_have_the_formulation():
    read = json.loads(answer("ops", "two-link", "--formulation", "composite", "--json"))
    derivatives = ["forward_dynamics_derivatives", "inverse_dynamics_derivatives"]
    assert sorted(row["verb"] for row in read["rows"]) == ["forward_dynamics", *derivatives, "mass_matrix"]
    assert "kinetic_energy" in answer("ops", "two-link")


def test_cache_shows_its_folder_and_clears_it(tmp_path, monkeypatch):
    monkeypatch.setenv("APPELL_CACHE", str(tmp_path))
    answer("id", "two-link", "-q", "0,0")
    before = json.loads(answer("cache", "--json"))
    assert before["folder"] == str(tmp_path)
    assert before["entries"] == 2  # the code, and which formulation it has
    assert before["bytes"] > 0
    after = json.loads(answer("cache", "--clear", "--json"))
    assert (after["entries"], after["removed"], after["freed"]) == (0, 2, before["bytes"])
    monkeypatch.setenv("APPELL_CACHE", "off")
    assert "off" in answer("cache")


def test_bench_measures_and_names_no_machine(tmp_path):
    out = tmp_path / "bench.json"
    options = ("--batch", 64, "--seconds", 0, "--out", out, "--plot", tmp_path / "bench.svg")
    read = json.loads(answer("bench", "two-link", *options, "--json"))
    assert read == json.loads(out.read_text())
    whats = {row["what"] for row in read["measurements"]}
    assert whats == {"batch of 64", "batch of 64, float32", "single call", "compile, cold", "compile, cached"}
    assert all(row["appell"] > 0 for row in read["measurements"])
    differences = [row["difference"] for row in read["measurements"] if row["difference"] is not None]
    assert all(difference < 1e-9 for difference in differences)
    assert str(Path.home()) not in out.read_text()
    assert (tmp_path / "bench.svg").read_text().startswith("<?xml")


def test_id_of_a_floating_robot_names_every_number() -> None:
    """Coordinates and velocities differ in number: two tables, numbered names, and the weight on the base."""
    q = "0,0,0,0,0,0,1" + ",0" * 6
    result = run("id", "puma560", "--floating", "-q", q, "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.output)
    assert len(answer["q"]) == 13
    assert len(answer["tau"]) == 12
    table = run("id", "puma560", "--floating", "-q", q)
    assert "root[6]" in table.output
    assert "root[5]" in table.output
