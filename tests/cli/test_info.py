"""What `appell info` finds odd about a robot, and how it draws it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def answer(*arguments):
    result = CliRunner().invoke(app, ["info", *map(str, arguments)], prog_name="appell")
    assert result.exit_code == 0, result.output
    return result.stdout


def arm(folder, *, tip=INERTIAL, joint="", extra=""):
    """Return the file of an arm of two joints in which one thing is odd."""
    file = folder / "arm.urdf"
    limit = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
    file.write_text(
        f'<robot name="arm"><link name="base"/><link name="a">{INERTIAL}</link><link name="b">{tip}</link>'
        f'<joint name="first" type="revolute"><parent link="base"/><child link="a"/>{limit}</joint>'
        f'<joint name="second" type="revolute"><parent link="a"/><child link="b"/><origin xyz="1 0 0"/>'
        f"{joint or limit}{extra}</joint></robot>"
    )
    return file


def remarks(*arguments):
    return json.loads(answer(*arguments, "--json"))["warnings"]


def test_a_robot_with_nothing_odd_has_no_warning(tmp_path):
    assert remarks(arm(tmp_path)) == []


@pytest.mark.parametrize(
    ("change", "remark"),
    [
        ({"tip": ""}, "joints 'second' move no inertia: the mass matrix is singular"),
        ({"tip": INERTIAL.replace('"1" ', '"0" ').replace('izz="1"', 'izz="0"')}, "joints 'second' move no inertia"),
        ({"tip": f"{INERTIAL.replace('1', '900').replace('900', '1', 1)}"}, "an inertia too large for their mass"),
        ({"joint": '<limit velocity="1" effort="1"/>'}, "joints 'second' have no position limits"),
        ({"joint": '<limit lower="1" upper="1" velocity="1" effort="1"/>'}, "have equal lower and upper limits"),
        ({"joint": '<limit lower="0" upper="1" velocity="0" effort="1"/>'}, "a velocity limit of zero or less"),
        ({"joint": '<limit lower="0" upper="1" velocity="1" effort="0"/>'}, "an effort limit of zero or less"),
        ({"extra": '<mimic joint="first"/>'}, "('second → first') are not coupled; mimic=True (--mimic) couples them"),
        ({"extra": '<mimic joint="third"/>'}, "('second → third') name no moving joint"),
    ],
    ids=["massless", "no inertia", "units", "no limits", "one point", "velocity", "effort", "follower", "bad follower"],
)
def test_one_odd_thing_is_one_warning_that_says_what_to_do(tmp_path, change, remark):
    (found,) = remarks(arm(tmp_path, **change))
    assert remark in found


def test_points_and_empty_bodies_are_told(tmp_path):
    point = '<inertial><origin xyz="0 0.5 0"/><mass value="1"/>' + INERTIAL.split("/>", 1)[1].replace('"1"', '"0"')
    (found,) = remarks(arm(tmp_path, tip=point))
    assert found.startswith("bodies 'b' are point masses")
    knot, empty = remarks(arm(tmp_path), "--floating")
    assert knot.startswith("joints 'root', 'first' can move together without moving an inertia")
    assert empty.startswith("bodies 'base' have no mass and no inertia")


@pytest.mark.parametrize(
    ("gravity", "remark"),
    [
        ("0,0,0", "gravity is zero"),
        ("0,0,-1.62", "gravity is 1.62 m/s², not that of Earth"),
        ("0,-9.81,0", "gravity does not point along −z but along (0, -9.81, 0)"),
    ],
)
def test_an_odd_gravity_is_told(tmp_path, gravity, remark):
    (found,) = remarks(arm(tmp_path), "--gravity", gravity)
    assert found.startswith(remark)


def test_a_bound_follower_is_no_warning_and_has_no_number(tmp_path):
    file = arm(tmp_path, extra='<mimic joint="first" multiplier="2"/>')
    told = json.loads(answer(file, "--mimic", "--json"))
    assert (told["nv"], told["warnings"], told["is_coupled"]) == (1, [], True)
    assert told["joints"][1]["mimic"] == {"joint": "first", "multiplier": 2.0, "offset": 0.0}
    text = answer(file, "--mimic")
    assert "second (revolute, mimics first)" in text
    assert "2 · first + 0" in text


def test_the_tree_stands_as_bodies_hang(tmp_path):
    lines = answer(arm(tmp_path)).splitlines()
    top = lines.index("base, fixed to the world")
    assert lines[top + 1] == "└── a, 1 kg, joint first (revolute)"
    assert lines[top + 2] == "    └── b, 1 kg, joint second (revolute)"


@pytest.mark.parametrize("name", ["puma560", "five-bar", "mobile-arm", "agile-wrist", "sst"])
def test_every_kind_of_robot_is_described_alike(name):
    robot, told = appell.load(name), json.loads(answer(name, "--json"))
    assert (told["nq"], told["nv"], told["nu"]) == (robot.nq, robot.nv, robot.nu)
    assert (told["coordinates"], told["independent"]) == (robot.joint_names, robot.independent)
    assert told["actuators"] == robot.actuators
    assert [body["name"] for body in told["bodies"]] == robot.link_names
    assert [closure["name"] for closure in told["closures"]] == robot.closure_names
    assert told["home"] == pytest.approx(robot.neutral())
    assert told["mass"] == pytest.approx(robot.total_mass)


def test_motors_and_angles_are_told_where_they_are_not_the_joints():
    assert "actuators: mot1, mot2" in answer("five-bar")
    assert "phi: Euler angle about y [rad]" in answer("sst")
    assert "gamma3" in answer("sst").split("Motors, in the order of tau:")[1]
    assert "actuators" not in answer("puma560")


def test_joints_that_loops_bind_are_not_taken_for_weightless():
    """The stewart platform's tree ends in legs without a load of their own; what counts is M of the robot."""
    assert not any("singular" in told for told in remarks("stewart"))
