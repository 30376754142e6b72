"""Named configurations: group states of SRDF, keyframes of MJCF, the table of toml."""

from __future__ import annotations

import numpy as np
import pytest

import appell
from appell.errors import AppellWarning, InputError, ReadError
from appell.read import read_mjcf, read_toml


def srdf(*states: str, extra: str = "") -> str:
    return f"<robot name='arm'>{extra}{''.join(states)}</robot>"


def state(name: str, group: str = "arm", **joints: str) -> str:
    inside = "".join(f"<joint name='{joint}' value='{value}'/>" for joint, value in joints.items())
    return f"<group_state name='{name}' group='{group}'>{inside}</group_state>"


def test_states_of_one_name_are_told_apart_by_their_groups():
    text = srdf(state("up", joint1="1.5"), state("up", "hand", joint2="0.5"), state("down", joint1="-1.5"))
    found = appell.load("two-link", srdf=text).configurations
    assert {name: q.tolist() for name, q in found.items()} == {
        "arm/up": [1.5, 0.0],
        "hand/up": [0.0, 0.5],
        "down": [-1.5, 0.0],
    }


def test_a_virtual_joint_is_the_floating_base():
    base = "<virtual_joint name='world_joint' type='floating' parent_frame='world' child_link='base'/>"
    text = srdf(state("up", joint1="1.5", world_joint="1 2 3 0 0 1 0"), extra=base)
    floating, fixed = (appell.load("two-link", srdf=text, floating=floats) for floats in (True, False))
    assert floating.configurations["up"].tolist() == [1.0, 2.0, 3.0, 0.0, 0.0, 1.0, 0.0, 1.5, 0.0]
    assert fixed.configurations["up"].tolist() == [1.5, 0.0]


def test_joints_of_another_variant_are_remarked_and_left_out():
    with pytest.warns(AppellWarning, match="does not have are ignored: 'joint7'"):
        robot = appell.load("two-link", srdf=srdf(state("up", joint7="1.0", joint1="1.5")))
    assert robot.configurations["up"].tolist() == [1.5, 0.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<mujoco/>", "expected <robot> as the root element, got <mujoco>"),
        (srdf(state("up", joint1="1 2")), "group_state 'up', <joint value>: expected 1 number, got 2"),
        (srdf(state("up", joint1="nan")), "got NaN"),
        (srdf(state("up"), state("up")), "'arm/up': is defined twice"),
        (srdf("<group_state group='arm'/>"), "no attribute 'name'"),
        (srdf(state("up", joint1="")), "no attribute 'value'"),
    ],
)
def test_a_faulty_file_is_refused_by_line(text, message):
    with pytest.raises(ReadError, match=message):
        appell.load("two-link", srdf=text)


def test_a_spherical_robot_has_no_states():
    with pytest.raises(InputError, match="does not support srdf="):
        appell.load("agile-wrist", srdf=srdf(state("up")))


def test_keyframes_are_configurations():
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body name="b"><freejoint name="base"/><geom size="0.1" mass="1"/>
      <body name="c"><joint name="hinge" ref="0.3"/><geom size="0.1" mass="1"/></body></body></worldbody>
      <keyframe><key name="up" qpos="1 2 3 0 0 0 1 0.5"/><key qpos="0 0 0 1 0 0 0 0.7"/></keyframe></mujoco>"""
    with pytest.warns(AppellWarning):
        robot = appell.load(read_mjcf(text))
    q = robot.configurations["up"]
    assert list(robot.configurations) == ["up", "key1"]
    compiled = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(compiled)
    mujoco.mj_resetDataKeyframe(compiled, data, 0)
    mujoco.mj_forward(compiled, data)
    np.testing.assert_allclose(robot.pose(q, "c")[:3, :3], data.body("c").xmat.reshape(3, 3), atol=1e-12)
    np.testing.assert_allclose(robot.pose(q, "c")[:3, 3], data.body("c").xpos, atol=1e-12)


def test_configurations_go_to_a_file_and_back(tmp_path):
    robot = appell.load("two-link", floating=True, srdf=srdf(state("up: 1", joint1="1.5", root_joint="1 2 3 0 0 1 0")))
    back = appell.load(robot.save(tmp_path / "robot.toml"))
    assert back.configurations["up: 1"].tolist() == robot.configurations["up: 1"].tolist()
    with pytest.raises(ReadError, match=r"configurations\.up: no moving joint 'knee'"):
        read_toml("[[dh.rows]]\nmass = 1.0\n[configurations]\nup = { knee = 1.0 }\n")


def test_configurations_of_loops_are_closed():
    robot = appell.load("five-bar", srdf=srdf(state("left", mot1="2.2")))
    assert robot.closure_error(robot.configurations["left"]) < 1e-9
    assert "left" not in appell.load("five-bar").configurations


def test_edits_keep_configurations():
    robot = appell.load("two-link", srdf=srdf(state("up", joint1="1.5", joint2="0.5")))
    assert robot.locked(["joint1"]).configurations["up"].tolist() == [0.5]
    both = robot.attached(robot, "link2", prefix="b_")
    assert both.configurations["b_up"].tolist() == [0.0, 0.0, 1.5, 0.5]
    assert robot.with_payload("link2", 1.0).configurations["up"].tolist() == [1.5, 0.5]
