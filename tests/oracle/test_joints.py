"""Joints of every kind, as files give them, have Pinocchio's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import appell
from appell.model.model import Model
from appell.read import read_toml, read_urdf
from appell.recursion import gibbs, inertia_matrix, kinematics

pin = pytest.importorskip("pinocchio")

Array = NDArray[Any]
AXIS, AXIS2, PITCH = np.array([2.0, -1.0, 2.0]) / 3.0, np.array([0.0, 0.6, 0.8]), 0.37
PLANE = np.array([0.0, 0.0, 1.0])

TOML = """name = "kinds"
[[links]]
name = "base"
[[links]]
name = "a"
mass = 2.0
centre = [0.1, 0.2, 0.3]
inertia = [[0.3, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.25]]
[[links]]
name = "b"
mass = 1.5
centre = [-0.1, 0.2, 0.1]
inertia = [0.1, 0.2, 0.15]
[[joints]]
name = "first"
kind = "{kind}"
parent = "base"
child = "a"
axis = {axis}
origin = {{ xyz = [0.1, -0.2, 0.3], rpy = [0.4, 0.5, -0.6] }}
{extra}
[[joints]]
name = "second"
kind = "revolute"
parent = "a"
child = "b"
axis = [0.0, 1.0, 0.0]
origin = {{ xyz = [0.3, 0.1, -0.2], rpy = [-0.1, 0.2, 0.3] }}
"""


def cylinder() -> Any:
    joint = pin.JointModelComposite(pin.JointModelRevoluteUnaligned(AXIS))
    joint.addJoint(pin.JointModelPrismaticUnaligned(AXIS))
    return joint


KINDS: dict[str, tuple[Array, str, Any]] = {
    "helical": (AXIS, f"pitch = {PITCH}", lambda: pin.JointModelHelicalUnaligned(AXIS, PITCH)),
    "universal": (AXIS, f"axis2 = {AXIS2.tolist()}", lambda: pin.JointModelUniversal(AXIS, AXIS2)),
    "cylindrical": (AXIS, "", cylinder),
    "planar": (PLANE, "", pin.JointModelPlanar),
    "ball": (PLANE, "", pin.JointModelSpherical),
    "free": (PLANE, "", pin.JointModelFreeFlyer),
    "prismatic": (AXIS, "", lambda: pin.JointModelPrismaticUnaligned(AXIS)),
    "continuous": (AXIS, "", lambda: pin.JointModelRevoluteUnaligned(AXIS)),
}


def peer(joint: Any) -> Any:
    """Return Pinocchio's model of the two links above, the first on a joint of its own."""
    model, last = pin.Model(), 0
    places = [([0.1, -0.2, 0.3], [0.4, 0.5, -0.6]), ([0.3, 0.1, -0.2], [-0.1, 0.2, 0.3])]
    tensors = [np.array([[0.3, 0.01, 0.02], [0.01, 0.2, 0.03], [0.02, 0.03, 0.25]]), np.diag([0.1, 0.2, 0.15])]
    masses, centres = [2.0, 1.5], [np.array([0.1, 0.2, 0.3]), np.array([-0.1, 0.2, 0.1])]
    for k, kind in enumerate([joint, pin.JointModelRY()]):
        seat = pin.SE3(pin.rpy.rpyToMatrix(*places[k][1]), np.array(places[k][0]))
        last = model.addJoint(last, kind, seat, f"joint{k}")
        model.appendBodyToJoint(last, pin.Inertia(masses[k], centres[k], tensors[k]), pin.SE3.Identity())
    return model


def their_q(model: Any, q: Array) -> Array:
    if model.nq == len(q):
        return q
    return np.array([q[0], q[1], np.cos(q[2]), np.sin(q[2]), q[3]])  # planar


def compare(model: Model, theirs: Any, evaluate: Any, agree: Any) -> None:
    rng, data = np.random.default_rng(5), theirs.createData()
    robot = appell.load(model)
    assert model.nv == theirs.nv
    for _ in range(5):
        q, (v, a) = robot.random(rng), rng.normal(size=(2, model.nv))
        x = their_q(theirs, q)
        agree(evaluate(gibbs.inverse_dynamics, model, q, v, a), pin.rnea(theirs, data, x, v, a), 1e-12)
        upper = np.triu(pin.crba(theirs, data, x))
        agree(evaluate(inertia_matrix.mass_matrix_composite, model, q), upper + np.triu(upper, 1).T, 1e-12)
        pin.forwardKinematics(theirs, data, x)
        pose = evaluate(lambda m, q: kinematics.pose(m, q, "b"), model, q)
        agree(pose, data.oMi[theirs.njoints - 1].homogeneous, 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_of_toml_is_pinocchios(kind, evaluate, agree):
    axis, extra, joint = KINDS[kind]
    model = read_toml(TOML.format(kind=kind, axis=axis.tolist(), extra=extra))
    compare(model, peer(joint()), evaluate, agree)


URDF = """<robot name="kinds"><link name="base"/>
<link name="a"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>
<inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.2" iyz="0.03" izz="0.25"/></inertial></link>
<link name="b"><inertial><origin xyz="-0.1 0.2 0.1"/><mass value="1.5"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial></link>
<joint name="first" type="{kind}"><parent link="base"/><child link="a"/><axis xyz="{axis}"/>
<origin xyz="0.1 -0.2 0.3" rpy="0.4 0.5 -0.6"/></joint>
<joint name="second" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<origin xyz="0.3 0.1 -0.2" rpy="-0.1 0.2 0.3"/></joint></robot>"""


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_a_joint_of_urdf_is_pinocchios(kind, evaluate, agree):
    text = URDF.format(kind=kind, axis="0 0 1")
    model, theirs = read_urdf(text), pin.buildModelFromXML(text)
    assert theirs.joints[1].shortname() == ("JointModelFreeFlyer" if kind == "floating" else "JointModelPlanar")
    compare(model, peer(theirs.joints[1]), evaluate, agree)


def test_a_floating_joint_takes_any_axis():
    assert read_urdf(URDF.format(kind="floating", axis="0 0 0")) == read_urdf(
        URDF.format(kind="floating", axis="1 0 0")
    )


def test_a_planar_joint_moves_at_right_angles_to_its_axis(rng, evaluate):
    """Pinocchio's own plane is always that of x and y, so the axis is tested by what a plane is."""
    axis = np.array([0.6, 0.0, 0.8])
    model = read_urdf(URDF.format(kind="planar", axis="0.6 0 0.8"))
    frame: Array = np.array(model.bodies[0].joint.placement.rotation)
    for q in rng.normal(size=(10, 4)):
        pose = evaluate(lambda m, q: kinematics.pose(m, q, "a"), model, q)
        away = frame.T @ (pose[:3, 3] - np.array([0.1, -0.2, 0.3]))
        np.testing.assert_allclose(axis @ away, 0.0, atol=1e-14)
        np.testing.assert_allclose(np.linalg.norm(away), np.hypot(q[0], q[1]), rtol=1e-13)
        np.testing.assert_allclose(frame.T @ pose[:3, :3] @ axis, axis, atol=1e-14)


def test_a_universal_joint_is_two_joints_and_a_cross():
    model = read_toml(TOML.format(kind="universal", axis=[1, 0, 0], extra="axis2 = [0, 1, 0]\ndamping = 0.5"))
    assert [body.joint.name for body in model.bodies] == ["first/1", "first/2", "second"]
    assert [body.name for body in model.bodies] == ["first/cross", "a", "b"]
    assert [body.joint.damping for body in model.bodies] == [0.5, 0.5, 0.0]
    assert model.bodies[0].inertia.parameters == (0.0,) * 10


@pytest.mark.parametrize(
    ("kind", "extra", "fault"),
    [
        ("universal", "", r"joints\[0\]: a universal joint needs 'axis2'; add it"),
        ("universal", "axis2 = [2, 0, 0]", "joint 'first' has two axes that are parallel or of zero length"),
        ("universal", "axis2 = [0, 1, 0]\noffset = 1.0", r"joints\[0\].offset: a universal joint has two coordinates"),
        ("universal", "axis2 = [0, 1, 0]\nmimic = { joint = 'second' }", "a universal joint has two coordinates"),
        ("helical", "", "a helical joint needs 'pitch'; add it"),
        ("revolute", "pitch = 1.0", "unknown key 'pitch'"),
        (
            "ball",
            "offset = 1.0",
            "joint 'first' is ball and has an offset; only joints with one coordinate may have one",
        ),
        ("hinge", "", "unknown kind 'hinge'; known: 'revolute', .*'universal', 'fixed'"),
    ],
    ids=["no second axis", "parallel", "offset", "mimic", "no pitch", "foreign key", "offset of a ball", "unknown"],
)
def test_what_a_kind_does_not_have_is_refused(kind, extra, fault):
    with pytest.raises(appell.ReadError, match=fault):
        read_toml(TOML.format(kind=kind, axis=[1, 0, 0], extra=extra))


def test_urdf_knows_its_own_kinds_alone():
    with pytest.raises(appell.ReadError, match="joint 'first': unknown type 'helical'; known: 'revolute'"):
        read_urdf(URDF.format(kind="helical", axis="0 0 1"))


@pytest.mark.parametrize("axis", ["1e-8 1 0", "1 0 -1.4e-8", "3e-9 -1e-8 1"])
def test_axes_a_hair_from_a_coordinate_axis_are_kept(axis: str, rng: np.random.Generator) -> None:
    links = "".join(
        f'<link name="l{k}"><inertial><origin xyz="0.1 {0.1 * k} 0.2"/><mass value="2"/>'
        '<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0.02" iyz="-0.01"/></inertial></link>'
        for k in range(4)
    )
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="{axis}"/>'
        f'<origin xyz="0.3 0.1 {0.1 * k}" rpy="0 1e-8 {-1e-8 * k}"/></joint>'
        for k in range(3)
    )
    text = f"<robot name='hair'>{links}{joints}</robot>"
    robot, model = appell.load(read_urdf(text)), pin.buildModelFromXML(text)
    data = model.createData()
    q, v, a = rng.normal(size=(3, 3))
    theirs = np.concatenate([[np.cos(x), np.sin(x)] for x in q])
    torque = pin.rnea(model, data, theirs, v, a)
    pin.framesForwardKinematics(model, data, theirs)
    pose = data.oMf[model.getFrameId("l3")].homogeneous
    np.testing.assert_allclose(robot.pose(q, "l3"), pose, rtol=0.0, atol=4e-15)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, a), torque, rtol=1e-14, atol=1e-13)
