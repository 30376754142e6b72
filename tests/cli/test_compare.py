"""`appell compare`: the table of robots against Pinocchio."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app, compare
from appell.cli.compare import Agreement

pytest.importorskip("pinocchio")

ARM = """<robot name="arm"><link name="base"><inertial><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="a"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="first" type="continuous"><parent link="base"/><child link="a"/></joint></robot>"""


def run(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments)], prog_name="appell")


@pytest.fixture
def folder(tmp_path):
    """Return a folder of a robot, of one whose base alone can move, and of a file that is none."""
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "deep" / "urdf").mkdir(parents=True)
    (tmp_path / "deep" / "urdf" / "still.urdf").write_text(ARM.replace("continuous", "fixed"))
    (tmp_path / "nothing.urdf").write_text("<robot/>")
    return tmp_path


def test_a_folder_becomes_a_table_with_a_verdict_a_row(folder):
    out = folder / "out" / "table.md"
    result = run(folder, "--samples", 3, "--out", out)
    assert result.exit_code == 0, result.output
    text = out.read_text()
    assert "3 agree within 1e-09, 0 do not, 2 are refused, 1 have no moving joint" in text
    assert "refused, line 1: no &lt;link> in &lt;robot>" in text
    assert "| deep/still.urdf | Pinocchio | fixed | 0 | 0 |" in text


def test_json_has_the_same_rows(folder):
    told = json.loads(run(folder / "arm.urdf", "--samples", 2, "--json").stdout)
    assert [(row["base"], row["nv"], row["verdict"]) for row in told["rows"]] == [
        ("fixed", 1, "agrees"),
        ("floating", 7, "agrees"),
    ]


def test_a_wrong_number_is_found_and_fails(folder, monkeypatch):
    true = compare.on_arrays
    monkeypatch.setattr(compare, "on_arrays", lambda robot, verb, *rest: true(robot, verb, *rest) * (1.0 + 1e-8))
    result = run(folder / "arm.urdf", "--samples", 2)
    assert result.exit_code == 1
    assert "0 agree within 1e-09, 2 do not" in result.stdout


def test_what_is_no_number_does_not_agree():
    row = Agreement(Path("arm.urdf"), False, 1, 1, {"tau": float("nan")})
    assert row.worst == np.inf
    assert compare.tabulated([row], 1e-9, 1).rows[0][-1] == "differs"


def test_joints_that_move_nothing_are_told(tmp_path):
    file = tmp_path / "light.urdf"
    heavy, light = ARM.split('<link name="a">')
    file.write_text(heavy + '<link name="a">' + light.replace('"1"', '"0"'))
    row = json.loads(run(file, "--samples", 2, "--json").stdout)["rows"][0]
    assert (row["verdict"], row["residual"]) == ("agrees, singular mass matrix: 'first' move no inertia", None)
    file.write_text(heavy.replace('"2"', '"0"').replace('"1"', '"0"') + '<link name="a">' + light)
    row = json.loads(run(file, "--samples", 2, "--json").stdout)["rows"][1]
    assert (row["verdict"], row["residual"]) == (
        "agrees, singular mass matrix: 'root', 'first' together move no inertia",
        None,
    )


@pytest.mark.parametrize(("place", "fault"), [("missing", "neither a file nor a folder"), ("", "has no robot files")])
def test_a_place_without_robots_is_told_in_one_line(tmp_path, place, fault):
    result = run(tmp_path / place if place else tmp_path)
    assert result.exit_code == 2
    assert fault in result.stderr


def test_a_verb_on_arrays_is_the_compiled_one(rng, agree):
    robot = appell.load("stanford")
    q, (v, a) = robot.random(rng, 5), rng.normal(size=(2, 5, 6))
    agree(compare.on_arrays(robot, "inverse_dynamics", [q, v, a]), robot.inverse_dynamics(q, v, a), 1e-12)
    agree(compare.on_arrays(robot, "jacobian", [q], "link6"), robot.jacobian(q, "link6"), 1e-12)


MJCF = """<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint name="f"/><inertial pos="0.1 0 0" mass="2"
diaginertia="0.1 0.2 0.15"/><body name="b" pos="0.3 0 0"><joint name="j" axis="0 1 0" pos="0 0 0.1" damping="0.2"
armature="0.05" stiffness="3" frictionloss="0.4"/><inertial pos="0 0.1 0" mass="1" diaginertia="0.1 0.1 0.1"/></body>
</body></worldbody></mujoco>"""
SDF = """<sdf version="1.9"><model name="m">
<link name="rod"><inertial><pose>0 0 0.5 0.3 0 0</pose><mass>2</mass></inertial>
</link><joint name="hinge" type="revolute"><parent>world</parent><child>rod</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>"""


def test_files_of_every_format_are_compared_with_their_peer(tmp_path):
    pytest.importorskip("mujoco")
    pytest.importorskip("xacro")
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "arm.xml").write_text(MJCF)
    (tmp_path / "part.xml").write_text("<mujocoinclude><body/></mujocoinclude>")
    (tmp_path / "package.xml").write_text("<package/>")
    (tmp_path / "robot.xml").write_text("<robot><device/></robot>")
    (tmp_path / "m.sdf").write_text(SDF)
    (tmp_path / "arm.xacro").write_text(ARM.replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'))
    told = json.loads(run(tmp_path, "--samples", 3, "--json").stdout)
    rows = {(Path(row["robot"]).name, row["base"]): (row["peer"], row["verdict"]) for row in told["rows"]}
    assert {key: peer for key, (peer, _) in rows.items()} == {
        ("arm.urdf", "fixed"): "Pinocchio",
        ("arm.urdf", "floating"): "Pinocchio",
        ("arm.xacro", "fixed"): "Pinocchio",
        ("arm.xacro", "floating"): "Pinocchio",
        ("arm.xml", "file"): "MuJoCo",
        ("m.sdf", "fixed"): "Pinocchio",
        ("m.sdf", "floating"): "Pinocchio",
        ("part.xml", "file"): "MuJoCo",
    }
    assert rows["part.xml", "file"][1].startswith("no robot, line 1: is an MJCF fragment")
    assert all(verdict.startswith("agrees") for (name, _), (_, verdict) in rows.items() if name != "part.xml")
    assert all(float(row["largest"]) < 1e-12 for row in told["rows"] if row["largest"])


def test_a_wrong_number_of_an_mjcf_file_is_found(tmp_path, monkeypatch):
    pytest.importorskip("mujoco")
    (tmp_path / "arm.xml").write_text(MJCF)
    true = compare.on_arrays
    monkeypatch.setattr(compare, "on_arrays", lambda robot, verb, *rest: true(robot, verb, *rest) * (1 + 1e-8))
    result = run(tmp_path, "--samples", 2)
    assert result.exit_code == 1
    assert "0 agree within 1e-09, 1 do not" in result.stdout
