"""A URDF saved from a template: its text with other inertias, losses and limits, and nothing else changed."""

from __future__ import annotations

import re
import sysconfig
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import appell
from appell.model.model import Joint, Model
from appell.read import read_urdf
from appell.read.template import from_template
from appell.spatial.inertia import Inertia
from tests.support.evaluation import evaluate
from tests.support.kinds import program

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
FEW = ("ur5_robot", "panda", "solo12", "talos_reduced")
FILES = [
    pytest.param(path, id=f"{path.parts[-3]}-{path.stem}", marks=() if path.stem in FEW else pytest.mark.slow)
    for path in sorted(ROBOTS.rglob("*.urdf"))
    if path.name != "ur3.urdf"
]
NUMBERS = re.compile(rb"<(mass|inertia|dynamics|limit)\b[^>]*/?>|<origin\b[^>]*/?>")
ARM = """<?xml version='1.0'?>
<!-- an arm -->
<robot name="arm">
    <link name="base"/>
    <link name = 'upper' ><!-- heavy -->
        <visual><geometry><mesh filename="package://a/b.stl"/></geometry></visual>
        <inertial>
            <mass value="2.0"/> <origin rpy="0.1 0.2 0.3"   xyz=' 0.1  0 0'/>
            <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.25"/>
        </inertial>
    </link>
    <link name="plate"><inertial><mass value="0.5"/>
        <inertia izz="0.01" ixx="0.01" iyy="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <link name="hand" />
    <link name="tool"><collision/></link>
    <joint type="revolute" name="shoulder"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
        <limit effort="10" upper="1.0" lower="-1.0" velocity="2"/></joint>
    <joint name="weld" type="fixed"><parent link="upper"/><child link="plate"/><origin xyz="0 0 0.3"/></joint>
    <joint name="wrist" type="continuous">
        <parent link="plate"/>
        <child link="hand"/>
        <dynamics damping="0.5"/>
    </joint>
    <joint name="grip" type="fixed"><parent link="hand"/><child link="tool"/></joint>
</robot>
"""
pytestmark = pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    file = tmp_path / "arm.urdf"
    file.write_bytes(ARM.encode())
    return file


def changed(model: Model, factor: float = 1.5) -> Model:
    """Return a model with other inertias, losses and limits in every body and joint."""

    def joint(old: Joint) -> Joint:
        limits = replace(old.limits, effort=3.0, velocity=7.5)
        return replace(old, damping=old.damping + 0.125, friction=0.0625, armature=0.25, limits=limits)

    extra = Inertia.from_centre(0.7, (0.01, -0.02, 0.03), ((0.01, 0.001, 0.0), (0.001, 0.02, 0.0), (0.0, 0.0, 0.025)))
    bodies = [
        replace(
            b, joint=joint(b.joint), inertia=Inertia.from_parameters(tuple(factor * x for x in b.inertia.parameters))
        )
        for b in model.bodies
    ]
    return replace(model, bodies=tuple(replace(b, inertia=b.inertia.plus(extra)) for b in bodies))


def check_same(text: bytes, model: Model) -> None:
    """Check that a file holds a model: its bodies, joints and dynamics."""
    copy = read_urdf(text.decode(), gravity=model.gravity)
    copy = copy.floating() if model.bodies[0].joint.name == "root" else copy
    for body, other in zip(model.bodies, copy.bodies, strict=True):
        a, b = body.joint, other.joint
        assert (a.name, a.damping, a.friction, a.armature) == (b.name, b.damping, b.friction, b.armature)
        assert (a.limits, a.mimic) == (b.limits, b.mimic)
    q = appell.load(model).random(np.random.default_rng(3))
    v, faster = np.random.default_rng(4).normal(size=(2, model.nv))
    for verb, given in (("inverse_dynamics", (q, v, faster)), ("mass_matrix", (q,))):
        ours, theirs = (evaluate(program(verb), x, *given) for x in (model, copy))
        assert np.max(np.abs(ours - theirs)) <= 1e-12 * np.max(np.abs(ours))


@pytest.mark.parametrize("path", FILES)
def test_a_robot_that_has_not_changed_gives_the_bytes_of_its_file(path):
    model = read_urdf(path)
    assert from_template(model, path) == path.read_bytes()
    assert from_template(model.floating(), path) == path.read_bytes()


@pytest.mark.parametrize("path", FILES)
def test_only_numbers_change_and_they_are_the_robots(path):
    model = read_urdf(path)
    if not model.nv:
        pytest.skip("a file without joints")
    loose = changed(model.floating())
    first = replace(loose.bodies[0], joint=Joint("root", "free"))  # of whose losses URDF knows nothing
    for given in (changed(model), replace(loose, bodies=(first, *loose.bodies[1:]))):
        text = from_template(given, path)
        check_same(text, given)
        before, after = (re.sub(rb"\s+", b"", NUMBERS.sub(b"", x)) for x in (path.read_bytes(), text))
        empty = rb"<inertial></inertial>"
        assert _closed_tags(after.replace(empty, b"")) == _closed_tags(before.replace(empty, b""))


def _closed_tags(text: bytes) -> bytes:
    """Return XML in which no element stands as ``<a/>``."""
    return re.sub(rb"<(link|joint)([^<>]*)/>", rb"<\1\2></\1>", text)


def test_the_difference_goes_to_the_link_that_the_joint_carries(arm):
    model = read_urdf(arm)
    heavier = Inertia.from_centre(1.0, (0.0, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)))
    upper = replace(model.bodies[0], inertia=model.bodies[0].inertia.plus(heavier))
    text = from_template(replace(model, bodies=(upper, *model.bodies[1:])), arm).decode()
    assert '<mass value="3.0"/> <origin rpy="0.1 0.2 0.3"   xyz=\'' in text
    assert text[text.index('<link name="plate">') :] == ARM[ARM.index('<link name="plate">') :]
    assert text[: text.index("<inertial>")] == ARM[: ARM.index("<inertial>")]
    check_same(text.encode(), replace(model, bodies=(upper, *model.bodies[1:])))


def test_elements_that_are_not_there_are_added_in_the_style_of_the_file(arm):
    model = changed(read_urdf(arm))
    text = from_template(model, arm)
    check_same(text, model)
    assert b'    <link name="hand">\n        <inertial>\n            <origin xyz="0.0' in text
    assert b'"/>\n        </inertial>\n    </link>\n    <link name="tool">' in text
    assert b'<dynamics damping="0.625" friction="0.0625" armature="0.25"/>\n        <limit effort' in text
    assert b'<limit effort="3.0" upper="1.0" lower="-1.0" velocity="7.5"/>' in text
    arm.write_bytes(ARM.replace("\n", "\r\n").encode())
    text = from_template(model, arm)
    check_same(text, model)
    assert text.count(b"\n") == text.count(b"\r\n")


def test_a_link_that_could_not_hold_the_difference_takes_all_of_the_body(arm):
    model = read_urdf(arm)
    light = Inertia.from_centre(0.4, (0.0, 0.0, 0.0), ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1)))
    lighter = replace(model, bodies=(replace(model.bodies[0], inertia=light), *model.bodies[1:]))
    with pytest.warns(appell.AppellWarning, match="mass of links 'plate' was moved to the links"):
        text = from_template(lighter, arm)
    check_same(text, lighter)
    assert b'<link name="plate"><inertial><mass value="0.0"/>' in text


def test_a_robot_of_other_joints_is_refused_with_one_error(arm, tmp_path):
    robot = appell.load(arm)
    (other := tmp_path / "other.urdf").write_text(ARM.replace('"wrist"', '"elbow"'))
    with pytest.raises(appell.ModelError, match=r"only the robot has joints 'wrist'; only the file has joints 'elbow'"):
        robot.save(tmp_path / "new.urdf", template=other)
    other.write_text(ARM.replace('xyz="0 1 0"', 'xyz="0 0 1"'))
    with pytest.raises(appell.ModelError, match="joint 'shoulder' has another origin or axis; use the file that"):
        robot.save(tmp_path / "new.urdf", template=other)
    other.write_text(ARM.replace('type="continuous"', 'type="prismatic"'))
    with pytest.raises(appell.ModelError, match="joint 'wrist' is continuous in the robot, prismatic in the file"):
        robot.save(tmp_path / "new.urdf", template=other)
    other.write_text(ARM.replace('"tool"', '"claw"'))
    with pytest.raises(appell.ModelError, match="only the file has links or fixed joints 'claw'"):
        robot.save(tmp_path / "new.urdf", template=other)
    with pytest.raises(appell.InputError, match=r"a template is for .urdf files; 'new.toml' has another extension"):
        robot.save(tmp_path / "new.toml", template=arm)
    with pytest.raises(appell.ReadError, match="file not found"):
        robot.save(tmp_path / "new.urdf", template=tmp_path / "missing.urdf")
    assert not (tmp_path / "new.urdf").exists()


def test_a_template_of_another_encoding_is_kept_in_it_or_refused(arm):
    model = read_urdf(arm)
    latin = ARM.replace("version='1.0'", "version='1.0' encoding='ISO-8859-1'").replace("an arm", "ein schöner Arm")
    arm.write_bytes(latin.encode("latin-1"))
    assert from_template(model, arm) == latin.encode("latin-1")
    check_again = changed(model)
    assert "schöner" in from_template(check_again, arm).decode("latin-1")
    arm.write_bytes(ARM.replace("version='1.0'", "version='1.0' encoding='UTF-16'").encode("utf-16"))
    with pytest.raises(appell.ReadError, match="a template must be in UTF-8; convert it"):
        from_template(model, arm)


def test_a_frame_that_the_template_does_not_have_is_named(arm):
    model = read_urdf(arm)
    extra = replace(model, frames=(*model.frames, replace(model.frames[-1], name="lens")))
    with pytest.warns(appell.AppellWarning, match="frames 'lens' are not in the template"):
        assert from_template(extra, arm) == ARM.encode()


def test_an_identified_robot_is_saved_over_its_own_file(tmp_path):
    path = next(ROBOTS.rglob("ur5_robot.urdf"))
    robot = appell.load(path)
    heavier = robot.with_model(changed(robot.model))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file = heavier.save(tmp_path / "new.urdf", template=path)
    assert b"meshes" in file.read_bytes()
    np.testing.assert_allclose(appell.load(file).parameters, heavier.parameters, rtol=1e-11, atol=1e-13)
