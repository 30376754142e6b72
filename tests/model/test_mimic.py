"""Joints that follow others: what a file may say of them, and what becomes of it."""

from __future__ import annotations

import math

import pytest

import appell
from appell.model.mimic import coupled
from appell.model.model import Mimic
from appell.read import read_toml, read_urdf

INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>'
    '<inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.2" iyz="0.03" izz="0.25"/></inertial>'
)


def chain(*mimics: str, kinds: str = "") -> str:
    """Return a URDF of joints j0, j1, … one a line from line 2, each with its <mimic>, if any."""
    names = kinds.split() or ["revolute"] * len(mimics)
    joints = "\n".join(
        f'<joint name="j{k}" type="{names[k]}"><parent link="l{k}"/><child link="l{k + 1}"/>{mimic}</joint>'
        for k, mimic in enumerate(mimics)
    )
    links = "".join(f'<link name="l{k}">{INERTIAL}</link>' for k in range(len(mimics) + 1))
    return f"<robot>{links}\n{joints}</robot>"


def follow(joint: str, **numbers: float) -> str:
    given = " ".join(f'{key}="{x}"' for key, x in numbers.items())
    return f'<mimic joint="{joint}" {given}/>'


def test_a_follower_moves_by_itself_until_it_is_bound():
    model = read_urdf(chain("", follow("j0", multiplier=2, offset=0.5)))
    assert model.bodies[1].joint.mimic == Mimic("j0", 2.0, 0.5)
    assert (model.independent.nv, coupled(model).independent.nv) == (2, 1)


def test_a_multiplier_left_out_is_one_and_an_offset_zero():
    assert read_urdf(chain("", follow("j0"))).bodies[1].joint.mimic == Mimic("j0", 1.0, 0.0)


def test_a_followers_follower_follows_the_first():
    text = chain("", follow("j0", multiplier=2, offset=0.5), follow("j1", multiplier=-3, offset=0.25))
    assert coupled(read_urdf(text)).bodies[2].joint.mimic == Mimic("j0", -6.0, -1.25)


def test_a_follower_may_stand_before_its_source():
    assert coupled(read_urdf(chain(follow("j1"), ""))).independent.bodies[0].joint.name == "j1"


def test_a_fixed_joint_with_a_mimic_is_fixed():
    assert coupled(read_urdf(chain("", follow("j0"), kinds="revolute fixed"))).nv == 1


def test_a_robot_without_followers_is_not_coupled():
    model = read_urdf(chain("", ""))
    assert coupled(model) == model


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        (chain("", follow("j7")), 3, "joint 'j1' follows joint 'j7', which is unknown or does not move"),
        (chain("", follow("j0"), kinds="fixed revolute"), 3, "which is unknown or does not move"),
        (chain(follow("j1"), follow("j2"), follow("j0")), 2, "cyclically ('j0' → 'j1' → 'j2' → 'j0')"),
        (chain(follow("j0")), 2, "cyclically ('j0' → 'j0')"),
        (chain("", follow("j0"), kinds="planar revolute"), 3, "'j0' is planar and has 3 coordinates"),
        (chain("", follow("j0"), kinds="revolute floating"), 3, "'j1' is free and has 7 coordinates"),
    ],
    ids=["unknown", "fixed", "circle", "itself", "planar source", "free follower"],
)
def test_what_cannot_be_followed_is_refused_with_file_and_line_when_it_is_bound(tmp_path, text, line, fault):
    file = tmp_path / "arm.urdf"
    file.write_text(text)
    assert appell.load(file).nv > 0
    with pytest.raises(appell.ReadError) as caught:
        appell.load(file, mimic=True)
    assert str(caught.value).startswith(f"{file}:{line}: ")
    assert fault in str(caught.value)


def test_a_circle_beyond_the_follower_is_found():
    with pytest.raises(appell.ReadError, match=r"cyclically \('j1' → 'j2' → 'j1'\)"):
        coupled(read_urdf(chain(follow("j1"), follow("j2"), follow("j1"))))


def test_toml_says_the_same_as_urdf():
    text = """
[[links]]
name = "a"
[[links]]
name = "b"
[[links]]
name = "c"
[[joints]]
name = "first"
kind = "prismatic"
parent = "a"
child = "b"
[[joints]]
name = "second"
kind = "revolute"
parent = "b"
child = "c"
mimic = { joint = "first", multiplier = 20.0, offset = "180 deg" }
"""
    mimic = read_toml(text).bodies[1].joint.mimic
    assert mimic is not None
    assert mimic == Mimic("first", 20.0, math.pi)
    with pytest.raises(appell.ReadError, match="unknown key 'multiply'"):
        read_toml(text.replace("multiplier", "multiply"))


def test_configurations_are_of_the_independent_joints(rng, tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(chain("", follow("j0", multiplier=2), ""))
    robot = appell.load(file, mimic=True, floating=True)
    assert (robot.joint_names, robot.nq, robot.nv) == (["root", "j0", "j2"], 9, 8)
    assert len(robot.link_names) == 4
    assert robot.parameters.shape == (40,)
    q = robot.random(rng, 3)
    assert robot.neutral().shape == (9,)
    motion = rng.normal(size=(3, 8))
    assert robot.difference(q, robot.integrate(q, motion)) == pytest.approx(motion)
    assert robot.regressor(q, motion, motion).shape == (3, 8, 40)
    with pytest.raises(appell.InputError, match="expected"):
        robot.mass_matrix([0.0] * 10)


def test_a_formulation_that_knows_no_followers_is_refused(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(chain("", follow("j0")))
    robot = appell.load(file, mimic=True)
    assert robot.operations("forward_dynamics", "composite").multiplications > 0
    with pytest.raises(appell.InputError, match="no formulation 'articulated'"):
        robot.operations("forward_dynamics", "articulated")
