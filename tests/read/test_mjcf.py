"""What an MJCF file says and what the model holds; its numbers are compared with MuJoCo's in tests/oracle."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import AppellWarning, ReadError
from appell.model.mimic import coupled
from appell.model.model import WORLD, Limits, Model
from appell.read import read, read_mjcf
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed; run make install")

MASS = '<inertial pos="0 0 0" mass="2" diaginertia="0.1 0.2 0.3"/>'
ARM = f'<body name="arm"><joint name="elbow" axis="0 1 0"/>{MASS}</body>'


def world(bodies: str, rest: str = "") -> str:
    return f"<mujoco>{rest}<worldbody>{bodies}</worldbody></mujoco>"


def said(bodies: str, rest: str = "") -> list[str]:
    """Return what reading warns of, without the name of the file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_mjcf(world(bodies, rest))
    assert all(warning.category is AppellWarning for warning in caught)
    return [str(warning.message).removeprefix("<text>: ") for warning in caught]


def joint_names(model: Model) -> list[str]:
    return [body.joint.name for body in model.bodies]


# Files


@pytest.mark.parametrize("name", ["arm.xml", "arm.mjcf", "arm.XML"])
def test_a_file_is_loaded_by_its_name_and_outermost_element(tmp_path, name):
    path = tmp_path / name
    path.write_text(f"<?xml version='1.0'?>\n<!-- an arm -->\n{world(ARM)}")
    robot = appell.load(path)
    assert (robot.name, robot.joint_names, robot.link_names) == ("arm", ["elbow"], ["arm"])


def test_an_xml_file_may_be_a_urdf(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text('<robot name="r"><link name="a"/></robot>')
    assert read(path).name == "r"


def test_a_model_keeps_its_own_name():
    assert read_mjcf(f'<mujoco model="crane"><worldbody>{ARM}</worldbody></mujoco>').name == "crane"
    assert read_mjcf(world(ARM)).name == "robot"


def test_included_files_stand_beside_the_file_that_includes_them(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(f"<mujocoinclude>{ARM}</mujocoinclude>")
    (tmp_path / "robot.xml").write_text(world('<include file="parts/arm.xml"/>'))
    assert joint_names(read(tmp_path / "robot.xml")) == ["elbow"]


def test_mujoco_is_asked_for_where_it_is_absent(tmp_path, monkeypatch):
    path = tmp_path / "arm.xml"
    path.write_text(world(ARM))
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ReadError, match=r"arm\.xml: .* not installed; pip install 'appell\[mjcf\]'$"):
        appell.load(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '<mujoco>\n<worldbody>\n<body><joint type="x"/></body></worldbody></mujoco>',
            "arm:3: mujoco: XML Error: .*'x'",
        ),
        ("<mujoco>\n<worldbody><body><joint/></body></worldbody></mujoco>", "arm:2: mujoco: .*mass and inertia"),
        ("<mujoco>\n<worldbody>", "arm:2: mujoco: XML parse error"),
        ('<mujoco>\n<include file="absent.xml"/></mujoco>', "arm: mujoco: .*absent.xml"),
    ],
)
def test_an_error_has_mujocos_words_on_one_line(text, message):
    with pytest.raises(ReadError, match=f"^{message}") as caught:
        read_mjcf(text, source="arm")
    assert "\n" not in str(caught.value)


def test_an_absent_file_is_named(tmp_path):
    with pytest.raises(ReadError, match=r"absent\.mjcf: file not found"):
        read(tmp_path / "absent.mjcf")


# Bodies, joints, frames


def test_joints_of_one_body_carry_links_without_mass():
    model = read_mjcf(
        world(
            '<body name="hip"><joint name="x" type="slide"/><joint name="y" axis="0 1 0"/><joint name="z"/>'
            f"{MASS}</body>"
        )
    )
    assert [(body.name, body.parent) for body in model.bodies] == [("hip_x", WORLD), ("hip_y", 0), ("hip", 1)]
    assert [body.inertia.mass for body in model.bodies] == [0.0, 0.0, 2.0]
    assert joint_names(model) == ["x", "y", "z"]


def test_a_bodys_frame_is_mujocos_and_its_joints_is_at_the_anchor():
    text = f'<body name="rod" pos="0 0 1"><joint name="hinge" pos="0 0 0.5" axis="0 1 0"/>{MASS}</body>'
    model = read_mjcf(world(text))
    assert model.bodies[0].joint.placement.position == (0.0, 0.0, 1.5)
    assert model.bodies[0].inertia.centre == (0.0, 0.0, -0.5)
    assert model.frame_index["rod"].placement.position == (0.0, 0.0, -0.5)
    assert model.frame_index["hinge"].placement == model.frame_index["rod_hinge"].placement == Pose()
    np.testing.assert_allclose(appell.load(model).pose([0.0], "rod")[:3, 3], [0.0, 0.0, 1.0])


def test_bodies_without_joints_are_part_of_what_carries_them():
    inner = f'<body name="plate" pos="1 0 0" quat="1 0 0 1">{MASS}<site name="hole" pos="0 2 0"/></body>'
    model = read_mjcf(
        world(f'<body name="post" pos="0 0 3">{MASS}</body><body name="arm"><joint/>{MASS}{inner}</body>')
    )
    assert [(body.name, body.inertia.mass) for body in model.bodies] == [("arm", 4.0)]
    assert (model.base.name, model.base.inertia.mass) == ("world", 2.0)
    assert model.frame_index["post"].body == WORLD
    assert model.frame_index["plate"].placement == Pose(
        ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)), (1.0, 0.0, 0.0)
    )
    assert model.frame_index["hole"].placement.position == (-1.0, 0.0, 0.0)


def test_what_has_no_name_gets_one_that_nothing_else_has():
    inner = f'<body><joint name="body2_joint"/>{MASS}<site/></body>'
    outer = f'<body name="body2"><joint/><joint axis="1 0 0"/>{MASS}{inner}</body>'
    model = read_mjcf(world(f'{outer}<body name="body22"><freejoint/>{MASS}</body>'))
    assert joint_names(model) == ["body2_joint2", "body2_joint3", "body2_joint", "body22_joint"]
    assert [body.name for body in model.bodies] == ["body2_body2_joint2", "body2", "body23", "body22"]
    assert len(model.frame_index) == len(model.frames) == 4 + 4 + 1 + 1  # bodies, joints, a site, a link between joints


def test_a_name_goes_to_the_body_then_to_the_joint_then_to_the_site():
    text = f'<body name="hip"><joint name="hip"/><site name="hip" pos="0 1 0"/>{MASS}</body>'
    model = read_mjcf(world(text))
    assert [frame.name for frame in model.frames] == ["world", "hip_joint", "hip", "hip_site"]
    assert joint_names(model) == ["hip"]


def test_limits_are_those_of_the_file():
    text = (
        '<body><joint name="a" range="-90 180"/><joint name="b" axis="0 1 0"/>'
        '<joint name="c" type="slide" range="-1 2" actuatorfrcrange="-5 5"/>'
        '<joint name="d" axis="1 0 0" range="0 1" limited="false"/>'
        f"{MASS}</body>"
    )
    joints = {body.joint.name: body.joint for body in read_mjcf(world(text)).bodies}
    assert joints["a"].limits == Limits(-math.pi / 2, math.pi)
    assert joints["c"].limits == Limits(-1.0, 2.0, effort=5.0)
    assert joints["b"].limits == joints["d"].limits == Limits()
    assert [joints[name].kind for name in "abcd"] == ["revolute", "continuous", "prismatic", "continuous"]


def test_losses_are_those_of_the_file_unless_a_flag_says_otherwise():
    text = f'<body><joint damping="1" frictionloss="2" armature="3"/>{MASS}</body>'

    def losses(flags: str = "") -> tuple[float, float, float]:
        joint = read_mjcf(world(text, f"<option><flag {flags}/></option>")).bodies[0].joint
        return joint.damping, joint.friction, joint.armature

    assert losses() == (1.0, 2.0, 3.0)
    assert losses('frictionloss="disable"') == losses('constraint="disable"') == (1.0, 0.0, 3.0)
    assert losses('damper="disable"') == (0.0, 2.0, 3.0)


def test_gravity_is_the_callers_then_the_files():
    option = '<option gravity="0 0 -1.6"/>'
    assert read_mjcf(world(ARM)).gravity == (0.0, 0.0, -9.81)
    assert read_mjcf(world(ARM, option)).gravity == (0.0, 0.0, -1.6)
    assert read_mjcf(world(ARM, option), gravity=(1, 2, 3)).gravity == (1.0, 2.0, 3.0)
    assert read_mjcf(world(ARM, '<option><flag gravity="disable"/></option>')).gravity == (0.0, 0.0, 0.0)


def test_quarter_turns_are_exact():
    model = read_mjcf(world(f'<body euler="90 0 90"><joint/>{MASS}</body>'))
    assert {abs(x) for row in model.bodies[0].joint.placement.rotation for x in row} == {0.0, 1.0}


def test_a_world_without_joints_is_a_robot_without_joints():
    model = read_mjcf("<mujoco/>")
    assert (model.nv, model.base.inertia) == (0, Inertia())


# Joints that follow others

TWO = (
    f'<body><joint name="lead" ref="20"/>{MASS}</body><body><joint name="follow" axis="0 1 0" ref="-50"/>{MASS}</body>'
)


def equality(*ties: str) -> str:
    return "<equality>" + "".join(f"<joint {tie}/>" for tie in ties) + "</equality>"


def test_a_linear_equality_of_joints_is_a_mimic_that_meets_mujocos_constraint():
    text = world(TWO, equality('joint1="follow" joint2="lead" polycoef="0.3 -2 0 0 0"'))
    bound = coupled(read_mjcf(text))
    assert bound.independent.nv == 1
    mimic = bound.bodies[1].joint.mimic
    assert mimic is not None
    compiled: Any = mujoco.MjModel.from_xml_string(text)
    data: Any = mujoco.MjData(compiled)
    data.qpos[:] = [0.7, mimic.multiplier * 0.7 + mimic.offset]
    mujoco.mj_forward(compiled, data)
    assert data.nefc == 1
    np.testing.assert_allclose(data.efc_pos, 0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("ties", "warned"),
    [
        (['joint1="follow" joint2="lead"'], []),
        (['joint1="follow" joint2="lead" active="false"'], []),
        (['joint1="follow"'], ["not supported and ignored: 1 × <equality><joint>"]),
        (
            ['joint1="follow" joint2="lead" polycoef="0 1 2 0 0"'],
            ["not supported and ignored: 1 × <equality><joint>"],
        ),
        (
            ['joint1="follow" joint2="lead"', 'joint1="lead" joint2="follow"'],
            ["not supported and ignored: 1 × <equality><joint>"],
        ),
    ],
)
def test_what_no_mimic_can_say_is_in_the_warning(ties, warned):
    assert said(TWO, equality(*ties)) == warned


# What is left out

SHAPE = '<geom name="g" size="0.1"/>'
SITES = '<site name="s1"/><site name="s2" pos="1 0 0"/>'
SPATIAL = '<spatial name="t"><site site="s1"/><site site="s2"/></spatial>'
FIXED = '<fixed name="t" frictionloss="1"><joint joint="elbow" coef="1"/></fixed>'
GEARED = '<fixed armature="1"><joint joint="elbow" coef="1"/></fixed>'


@pytest.mark.parametrize(
    ("bodies", "rest", "what"),
    [
        (f'<body><joint type="ball" stiffness="2"/>{MASS}</body>', "", '1 × <joint type="ball" stiffness>'),
        (f'<body><joint type="ball" range="0 60"/>{MASS}</body>', "", '1 × <joint type="ball" range>'),
        (f'<body><joint type="free" frictionloss="1"/>{MASS}</body>', "", '1 × <joint type="free" frictionloss>'),
        (
            f'<body><joint actuatorfrcrange="-1 2"/>{MASS}</body>',
            "",
            "1 × <joint actuatorfrcrange> with unequal bounds",
        ),
        (f'<body gravcomp="1"><joint/>{MASS}</body>', "", "1 × <body gravcomp>"),
        (f'<body mocap="true">{MASS}</body>', "", "1 × <body mocap>"),
        (
            ARM,
            '<option density="1.2" viscosity="2e-5"/>',
            "1 × <option density> (fluid forces), 1 × <option viscosity>",
        ),
        (ARM, f"<tendon>{FIXED}</tendon>", "1 × <tendon><fixed> with frictionloss"),
        (ARM + SITES, f"<tendon>{SPATIAL}</tendon>", "1 × <tendon><spatial>"),
        (ARM, f"<tendon>{GEARED}</tendon>", "1 × <tendon><fixed> with armature"),
        (
            ARM,
            '<actuator><position joint="elbow"/></actuator>',
            "1 × <actuator> <position>, <velocity> or another servo",
        ),
        (
            ARM + SITES,
            f'<tendon>{SPATIAL}</tendon><actuator><muscle tendon="t" lengthrange="0 1"/></actuator>',
            "1 × <actuator> <muscle>",
        ),
        (ARM + SITES, '<actuator><motor site="s1"/></actuator>', "1 × <actuator> with trntype site"),
        (
            ARM + '<body name="hand" mocap="true"/>',
            '<equality><weld body1="arm" body2="hand"/></equality>',
            "1 × <equality><weld>",
        ),
        (f"<body><joint/>{SHAPE}</body><geom size='1 1 1' type='plane'/>", "", "2 × <geom> that can touch"),
    ],
)
def test_what_a_tree_cannot_hold_is_named_once_with_its_count(bodies, rest, what):
    (warning,) = said(bodies, rest)
    assert warning.startswith(f"not supported and ignored: {what}") or f", {what}" in warning


@pytest.mark.parametrize(
    ("bodies", "rest"),
    [
        (ARM, '<actuator><motor joint="elbow" gear="5"/></actuator>'),
        (f"<body><joint/>{SHAPE}</body>", ""),
        (f"<body><joint/>{SHAPE}</body><geom size='1' contype='0' conaffinity='0'/>", ""),
        (f"<body><joint/>{SHAPE}</body><geom size='1'/>", '<option><flag contact="disable"/></option>'),
        (f'<body><joint stiffness="2"/>{MASS}</body>', '<option><flag spring="disable"/></option>'),
        (ARM, '<equality><weld body1="arm"/></equality><option><flag equality="disable"/></option>'),
        (f'<body gravcomp="1"><joint/>{MASS}</body>', '<option><flag gravity="disable"/></option>'),
    ],
)
def test_what_does_not_act_is_not_warned_of(bodies, rest):
    assert said(bodies, rest) == []


def test_everything_left_out_is_in_one_warning():
    wrist = f'<body><joint type="ball" stiffness="1"/>{MASS}</body>'
    text = f'<body><joint name="elbow"/>{SHAPE}{wrist}</body><geom size="1"/>'
    (warning,) = said(text, f'<tendon>{FIXED}</tendon><option density="1"/>')
    assert warning.split(": ", 1)[1] == (
        '1 × <joint type="ball" stiffness>, 1 × <option density> (fluid forces), '
        "1 × <tendon><fixed> with frictionloss, 2 × <geom> that can touch (contact forces)"
    )


def test_mujocos_own_remarks_are_passed_on_and_leave_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (warning,) = said(ARM, '<compiler settotalmass="5"/>')
    assert warning.startswith("mujoco: ")
    assert "settotalmass" in warning
    assert list(Path().iterdir()) == []
