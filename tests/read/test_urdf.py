"""What a URDF says and what the model holds."""

from __future__ import annotations

import math
import sysconfig
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import appell
from appell.errors import AppellWarning, ReadError
from appell.model.model import WORLD, Limits, Model
from appell.read import read_urdf

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")

INERTIAL = (
    '<inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="2"/>'
    '<inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.2" iyz="0.03" izz="0.25"/></inertial>'
)


def pendulum(joint: str = "", rod: str = "", kind: str = "revolute", robot: str = "<robot name='p'>") -> Model:
    return read_urdf(
        f'{robot}<link name="base"/><link name="rod">{rod}</link>'
        f'<joint name="hinge" type="{kind}"><parent link="base"/><child link="rod"/>{joint}</joint></robot>'
    )


@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")
@pytest.mark.parametrize("path", sorted(ROBOTS.rglob("*.urdf")), ids=lambda path: path.stem)
def test_a_real_robot_has_pinocchios_axes_placements_and_inertias(path):
    pin = pytest.importorskip("pinocchio")
    try:
        model = read_urdf(path)
    except ReadError:
        with pytest.raises(ValueError, match="does not contain a valid URDF"):
            pin.buildModelFromUrdf(str(path))
        return
    peer = pin.buildModelFromUrdf(str(path))
    assert sorted(body.joint.name for body in model.bodies) == sorted(list(peer.names)[1:])
    for body in model.bodies:
        i = peer.getJointId(body.joint.name)
        parent = "universe" if body.parent == WORLD else model.bodies[body.parent].joint.name
        assert parent == peer.names[peer.parents[i]]
        subspace = peer.joints[i].createData().S.ravel()
        column = body.joint.columns[0]
        np.testing.assert_allclose([*column.linear, *column.angular], subspace, rtol=1e-12, atol=1e-14)
        placement = peer.jointPlacements[i]
        np.testing.assert_allclose(body.joint.placement.rotation, placement.rotation, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(body.joint.placement.position, placement.translation, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(
            body.inertia.parameters, peer.inertias[i].toDynamicParameters(), rtol=1e-12, atol=1e-14
        )


@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")
def test_a_real_robot_has_pinocchios_losses_and_limits(robots):
    pin = pytest.importorskip("pinocchio")
    path = robots / "double_pendulum_description" / "urdf" / "double_pendulum.urdf"
    model, peer = read_urdf(path), pin.buildModelFromUrdf(str(path))
    joints = [body.joint for body in model.bodies]
    np.testing.assert_array_equal([joint.damping for joint in joints], peer.damping)
    np.testing.assert_array_equal([joint.limits.upper for joint in joints], peer.upperPositionLimit)
    np.testing.assert_array_equal([joint.limits.velocity for joint in joints], peer.upperVelocityLimit)


def test_joints_stand_depth_first_in_file_order():
    links = "".join(f'<link name="{name}"/>' for name in "abcde")
    tree = [("z", "a", "b"), ("m", "a", "d"), ("y", "b", "c"), ("x", "d", "e")]
    joints = "".join(
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/></joint>'
        for name, parent, child in tree
    )
    model = read_urdf(f"<robot>{links}{joints}</robot>")
    assert [body.joint.name for body in model.bodies] == ["z", "y", "m", "x"]


def test_an_axis_left_out_is_x():
    assert pendulum().bodies[0].joint.axis == (1.0, 0.0, 0.0)


def test_an_axis_of_any_length_becomes_a_unit_vector():
    assert pendulum('<axis xyz="0 0 -0.7"/>').bodies[0].joint.axis == (0.0, 0.0, -1.0)
    assert math.hypot(*pendulum('<axis xyz="1 2 3"/>').bodies[0].joint.axis) == pytest.approx(1.0, abs=1e-15)


def test_an_origin_left_out_is_the_parents_frame():
    assert (
        pendulum().bodies[0].joint.placement == pendulum('<origin xyz="0 0 0" rpy="0 0 0"/>').bodies[0].joint.placement
    )


def test_a_quarter_turn_is_exact():
    rotation = pendulum('<origin rpy="1.5707963267948966 0 -3.141592653589793"/>').bodies[0].joint.placement.rotation
    assert rotation == ((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 0.0))


def test_roll_pitch_yaw_turn_the_inertia():
    inertia = pendulum(rod=INERTIAL).bodies[0].inertia
    c, s = np.cos, np.sin
    roll, pitch, yaw = 0.4, -0.5, 0.6
    rx = np.array([[1, 0, 0], [0, c(roll), -s(roll)], [0, s(roll), c(roll)]])
    ry = np.array([[c(pitch), 0, s(pitch)], [0, 1, 0], [-s(pitch), 0, c(pitch)]])
    rz = np.array([[c(yaw), -s(yaw), 0], [s(yaw), c(yaw), 0], [0, 0, 1]])
    rotation, centre = rz @ ry @ rx, np.array([0.1, 0.2, 0.3])
    own = np.array([[0.3, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.25]])
    about_origin = rotation @ own @ rotation.T + 2.0 * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    np.testing.assert_allclose(inertia.tensor, about_origin, atol=1e-15)


def test_a_link_without_inertial_is_massless():
    assert pendulum().bodies[0].inertia.parameters == (0.0,) * 10


def test_a_fixed_joint_merges_what_it_carries():
    text = (
        f'<robot><link name="base"/><link name="rod">{INERTIAL}</link><link name="tip">{INERTIAL}</link>'
        '<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/></joint>'
        '<joint name="weld" type="fixed"><parent link="rod"/><child link="tip"/><origin xyz="0 0 1"/></joint></robot>'
    )
    assert [body.inertia.mass for body in read_urdf(text).bodies] == [4.0]


def test_the_root_links_own_inertia_is_the_worlds():
    text = f'<robot><link name="base">{INERTIAL}</link></robot>'
    assert read_urdf(text).bodies == ()


def test_losses_and_rotor_inertia_are_read():
    joint = pendulum('<dynamics damping="0.5" friction="0.25" armature="0.125"/>').bodies[0].joint
    assert (joint.damping, joint.friction, joint.armature) == (0.5, 0.25, 0.125)


@pytest.mark.parametrize(
    ("kind", "limit", "expected"),
    [
        ("revolute", 'lower="-1" upper="2" velocity="3" effort="4"', Limits(-1.0, 2.0, 3.0, 4.0)),
        ("revolute", 'upper="2" velocity="3" effort="4"', Limits(0.0, 2.0, 3.0, 4.0)),
        ("revolute", 'velocity="3" effort="inf"', Limits(velocity=3.0)),
        ("continuous", 'lower="-1" upper="2" velocity="3" effort="4"', Limits(velocity=3.0, effort=4.0)),
    ],
    ids=["all", "lower left out", "no position", "continuous"],
)
def test_limits_are_what_the_joint_can_do(kind, limit, expected):
    assert pendulum(f"<limit {limit}/>", kind=kind).bodies[0].joint.limits == expected


@pytest.mark.parametrize(
    ("joint", "robot"),
    [
        ('<axis xyz="  0\t0   1 "/>', "<robot>"),
        ('<!-- z --><axis xyz="0 0 1"/><visual/><visual/>', "<robot>"),
        ('<axis xyz="0 0 1"/>', '<robot xmlns="http://www.ros.org">'),
        ('<axis xyz="0 0 1"/><g:axis xyz="1 0 0" xmlns:g="http://gazebo"/>', "<robot>"),
        ('<axis xyz="0 0 1"/><sensor:axis xyz="1 0 0"/>', "<robot>"),
        ('<axis xyz="0 0 1"/>', '<robot xmlns:xacro="http://wiki.ros.org/xacro">'),
        ('<axis xyz="0 0 1"/>', '<?xml version="1.0" encoding="utf-16"?><robot>'),
        ('<axis xyz="0 0 1"/>', "\ufeff<!-- made by hand --><robot>"),
    ],
    ids=["spaces", "comment", "namespace", "foreign", "undeclared", "xacro's mark", "declaration", "text before"],
)
def test_the_disorder_of_real_files_changes_nothing(joint, robot):
    assert pendulum(joint, robot=robot).bodies[0] == pendulum('<axis xyz="0 0 1"/>').bodies[0]


def test_joints_of_transmissions_and_simulators_are_not_the_robots():
    extra = '<transmission><joint name="hinge"/></transmission><gazebo><link name="x"/><joint name="hinge"/></gazebo>'
    assert pendulum(robot=f"<robot name='p'>{extra}") == pendulum()


def test_numbers_become_floats_of_python():
    joint = pendulum('<origin xyz="1 2 3"/><axis xyz="1 2 2"/>', INERTIAL).bodies[0].joint
    numbers = [*joint.axis, *joint.placement.position, *joint.placement.rotation[0]]
    assert {type(x) for x in numbers} == {float}


DECLARED = '<?xml version="1.0" encoding="iso-8859-1"?>\n<robot name="p">\n<link name="Fuß"/>\n</robot>\n'


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        (DECLARED.replace('"1.0"', '"0.0"'), 1, "has an invalid version"),
        ("\n \n" + DECLARED, 3, "follows white space"),
    ],
)
def test_a_declaration_that_is_not_quite_right_is_read_with_a_warning(tmp_path, text, line, fault):
    (tmp_path / "good.urdf").write_text(DECLARED, "latin-1")
    (tmp_path / "odd.urdf").write_text(text, "latin-1")
    with pytest.warns(AppellWarning, match=rf"odd.urdf:{line}: the XML declaration {fault}"):
        assert read_urdf(tmp_path / "odd.urdf").frames == read_urdf(tmp_path / "good.urdf").frames
    (tmp_path / "odd.urdf").write_text(text.replace("<link", "<joint/><link"), "latin-1")
    with pytest.warns(AppellWarning), pytest.raises(ReadError, match=rf"odd.urdf:{line + 2}: joint"):
        read_urdf(tmp_path / "odd.urdf")


REPEATED = """<robot name="p">
  <link name="base"/>
  <link name="rod"><inertial><mass value="1"/><mass  value="1"></mass>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/></joint>
  <link name="base"><!-- once more --></link>
  <joint name="hinge" type="continuous"><parent link="base"/> <child link="rod"/></joint>
</robot>"""


def test_elements_repeated_word_for_word_are_read_once_with_a_warning():
    with pytest.warns(AppellWarning) as caught:
        model = read_urdf(REPEATED, source="p.urdf")
    assert [body.inertia.mass for body in model.bodies] == [1.0]
    assert sorted(str(warning.message) for warning in caught) == [
        "p.urdf:3: <mass> duplicates that of line 3; ignored",
        "p.urdf:6: <link> 'base' duplicates that of line 2; ignored",
        "p.urdf:7: <joint> 'hinge' duplicates that of line 5; ignored",
    ]


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        ('<mass  value="1">', '<mass value="2">', "p.urdf:3: link 'rod': 2 elements <mass>; keep one"),
        ("<!-- once more -->", "<inertial/>", "defined twice"),
        ("/> <child", "/><dynamics/><child", "defined twice"),
    ],
)
def test_elements_repeated_in_other_words_are_refused(good, bad, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AppellWarning)
        with pytest.raises(ReadError, match=message):
            read_urdf(REPEATED.replace(good, bad), source="p.urdf")


HINGED = """<robot name="p"><link name="base"/>
<link name="rod">{inertial}</link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/></joint></robot>"""
WEIGHT = '<inertial>{mass}<inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/></inertial>'


INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
LIMITED = """<robot name="p"><link name="world"/>
<link name="rod"><inertial><origin xyz="0 0 1"/>
<mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial></link>
<joint name="hinge" type="revolute"><parent link="world"/><child link="rod"/><axis xyz="0 0.6 0.8"/>
<limit lower="-1" upper="1" effort="3"/>
<dynamics damping="0.5"/>
</joint></robot>"""
ZEROS = INERTIA.replace('"1"', '"0"')
IRREGULAR = {
    "no mass": (('<mass value="2"/>', ""), ('"2"/>', '"0"/>'), 2, "'rod': <inertial> has no <mass>; read as zero"),
    "no inertia": ((INERTIA, ""), (INERTIA, ZEROS), 2, "<inertial> has no <inertia>; read as zero"),
    "neither": (
        (f'<mass value="2"/>\n{INERTIA}', '<density value="500"/>\n'),
        (f'"2"/>\n{INERTIA}', f'"0"/>\n{ZEROS}'),
        2,
        "<inertial> has no <mass>, <inertia>; read as zero",
    ),
    "no products": (('ixy="0" ixz="0"', ""), None, 2, "<inertial> has no ixy, ixz; read as zero"),
    "two inertials": (
        ("</inertial>", '</inertial><inertial><mass value="7"/></inertial>'),
        None,
        2,
        "'rod': 2 elements <inertial>, the others in line 5; the first counts",
    ),
    "two limits": (
        ('effort="3"/>', 'effort="3"/><limit effort="9"/>'),
        None,
        7,
        "'hinge': 2 elements <limit>, the others in line 7; the first counts",
    ),
    "two dynamics": (
        ('"0.5"/>', '"0.5"/><dynamics damping="9"/>'),
        None,
        8,
        "'hinge': 2 elements <dynamics>, the others in line 8; the first counts",
    ),
    "no range": (
        ('lower="-1"', 'lower="3"'),
        ('lower="-1" upper="1"', ""),
        7,
        "'hinge': the lower limit 3 is above the upper limit 1; read as no limit",
    ),
    "no link world": (('<link name="world"/>', ""), None, 6, "'hinge': its parent link 'world' is not defined"),
    "commas": (('"0 0.6 0.8"', '"0, 0.6, 0.8"'), None, 6, "<axis xyz>: commas in '0, 0.6, 0.8' are ignored"),
    "hyphens": (("<inertial>", "<!-- a -- <b>\n --->\n<inertial>"), None, 2, "a comment contains '--'"),
    "nested comment": (("</joint>", "<!-- <!-- <axis/> --></joint>"), None, 9, "a comment contains '--'"),
    "xacro": (
        ("<mass", '<xacro:arg name="m"/><xacro:property name="n" value="${1}"/><mass'),
        None,
        3,
        "<xacro:arg>, <xacro:property>: ignored",
    ),
    "macro": (
        ("</robot>", '<xacro:macro name="m"><link name="${x}"/></xacro:macro></robot>'),
        None,
        9,
        "<xacro:macro>",
    ),
}


@pytest.mark.parametrize(("change", "meaning", "line", "message"), IRREGULAR.values(), ids=IRREGULAR.keys())
@pytest.mark.parametrize("head", ["<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'])
def test_what_other_readers_accept_is_read_with_a_warning(change, meaning, line, message, head):
    good, bad = change
    assert good in LIMITED
    regular = read_urdf(LIMITED.replace(*meaning) if meaning else LIMITED, source="p.urdf")
    with pytest.warns(AppellWarning) as caught:
        model = read_urdf(LIMITED.replace(good, bad, 1).replace("<robot", head), source="p.urdf")
    (warning,) = caught
    assert str(warning.message).startswith(f"p.urdf:{line}: ")
    assert message in str(warning.message)
    (body,), (expected,) = model.bodies, regular.bodies
    assert body.inertia == expected.inertia
    assert replace(body.joint, mimic=None) == replace(expected.joint, mimic=None)


def test_a_file_of_macros_alone_names_xacro():
    with (
        pytest.warns(AppellWarning),
        pytest.raises(ReadError, match=r"no <link> in <robot>; use the extension \.xacro"),
    ):
        read_urdf('<robot><xacro:macro name="m"><link name="a"/></xacro:macro></robot>')


def test_a_comment_in_character_data_is_kept():
    text = LIMITED.replace("</robot>", "<a><![CDATA[<!-- a -- ]]></a><!-- b --- --><a>--></a></robot>")
    with pytest.warns(AppellWarning, match="a comment contains"):
        assert len(read_urdf(text).bodies) == 1


QUATERNION_URDF = """<robot name="r" version="1.2"><link name="a"/>
<link name="b"><inertial><origin xyz="0.1 0 0" {rotation}/><mass value="2"/>
<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0 0 1" {rotation}/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" velocity="1" effort="1" acceleration="3" jerk="9"/></joint></robot>"""


def test_a_quaternion_is_the_same_as_its_angles(agree):
    angles, parts = (0.3, -0.4, 1.1), Rotation.from_euler("xyz", (0.3, -0.4, 1.1)).as_quat()
    texts = [f'rpy="{angles[0]} {angles[1]} {angles[2]}"', 'quat_xyzw="{} {} {} {}"'.format(*(2.0 * parts))]
    one, other = (appell.load(read_urdf(QUATERNION_URDF.format(rotation=text))) for text in texts)
    state = [0.5], [1.0], [2.0]
    agree(other.inverse_dynamics(*state), one.inverse_dynamics(*state), within=1e-14)
    agree(other.pose([0.5], "b"), one.pose([0.5], "b"), within=1e-14)


@pytest.mark.parametrize(
    ("rotation", "words"),
    [
        ('rpy="0 0 0" quat_xyzw="0 0 0 1"', "both rpy and quat_xyzw"),
        ('quat_xyzw="0 0 0 0"', "zero length"),
        ('quat_xyzw="0 0 1"', "quat_xyzw"),
    ],
)
def test_a_wrong_quaternion_is_one_error(rotation, words):
    with pytest.raises(ReadError, match=words):
        read_urdf(QUATERNION_URDF.format(rotation=rotation))
