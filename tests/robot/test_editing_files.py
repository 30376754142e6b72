"""Edits of robots against their files: each equals the same change made in the file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

import appell
from appell.errors import InputError
from appell.model.model import Model
from appell.read import catalogue, read_toml, read_urdf
from tests.support.same import same

ARM, HUMANOID = "ur_description/urdf/ur5_robot.urdf", "talos_data/robots/talos_reduced.urdf"
LINKS = {ARM: "forearm_link", HUMANOID: "arm_left_4_link"}
FIXED = {ARM: "ee_link", HUMANOID: "imu_link"}
JOINTS = {ARM: "elbow_joint", HUMANOID: "leg_right_4_joint"}
TURN = 0.7
SPRING = {"stiffness": 12.0, "spring_reference": -0.25}
POSE = appell.planning.goal.pose([0.1, -0.2, 0.3], [0.4, 0.5, 0.6], "xyz")
ORIGIN = {"xyz": "0.1 -0.2 0.3", "rpy": "0.4 0.5 0.6"}
TENSOR = ((0.03, 0.001, 0.002), (0.001, 0.02, 0.003), (0.002, 0.003, 0.04))


@pytest.fixture(params=[ARM, HUMANOID], ids=["arm", "humanoid"])
def place(request: pytest.FixtureRequest, robots: Path) -> Path:
    """Return a URDF file of a fixed arm or of a humanoid."""
    return robots / str(request.param)


@pytest.fixture
def pick(place: Path) -> Callable[[dict[str, str]], str]:
    """Return what is chosen for this file in a table."""
    return lambda table: next(value for key, value in table.items() if str(place).endswith(key))


def changed(path: Path, change: Callable[[Any], None]) -> appell.Robot:
    """Return the robot of a file with a change made in it; a humanoid floats."""
    root = etree.fromstring(path.read_bytes())
    change(root)
    return loaded(read_urdf(etree.tostring(root, encoding="unicode")), path)


def loaded(source: Any, path: Path) -> appell.Robot:
    return appell.load(source, floating=str(path).endswith(HUMANOID))


def element(root: Any, tag: str, name: str) -> Any:
    (found,) = [e for e in root if e.tag == tag and e.get("name") == name]
    return found


def fix(root: Any, name: str, parent: str, *inside: Any) -> None:
    """Add a link to a URDF that a fixed joint carries."""
    link = etree.SubElement(root, "link", name=name)
    link.extend(inside)
    joint = etree.SubElement(root, "joint", name=f"{name}_weld", type="fixed")
    for tag, attributes in (("parent", {"link": parent}), ("child", {"link": name}), ("origin", ORIGIN)):
        etree.SubElement(joint, tag, attributes)


def inertial(mass: float, centre: Any, tensor: Any) -> Any:
    found = etree.Element("inertial")
    etree.SubElement(found, "origin", xyz=" ".join(map(repr, centre)))
    etree.SubElement(found, "mass", value=repr(mass))
    keys = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    etree.SubElement(found, "inertia", {key: repr(tensor[i][j]) for key, (i, j) in keys.items()})
    return found


# Against the file


def test_a_frame_is_a_link_without_mass_fixed_in_the_file(place, pick):
    parent = pick(FIXED)
    ours = loaded(place, place).with_frame("tool_weld", parent, POSE).with_frame("tool", "tool_weld", np.eye(4))
    same(ours.model, changed(place, lambda root: fix(root, "tool", parent)).model)


def test_a_payload_is_a_link_fixed_in_the_file(place, pick):
    parent, centre = pick(FIXED), (0.01, 0.02, 0.03)
    told = loaded(place, place).with_frame("tool_weld", parent, POSE).with_frame("tool", parent, POSE)
    ours = told.with_payload("tool", 2.5, centre, TENSOR)
    theirs = changed(place, lambda root: fix(root, "tool", parent, inertial(2.5, centre, TENSOR)))
    same(ours.model, theirs.model)


@pytest.mark.parametrize("table", [LINKS, FIXED], ids=["moving", "fixed"])
@pytest.mark.parametrize("what", [("mass",), ("centre", "inertia"), ("mass", "centre", "inertia")], ids=" ".join)
def test_a_link_is_changed_as_in_the_file(place, pick, table, what):
    name = pick(table)
    values: dict[str, Any] = {"mass": 3.25, "centre": (0.01, -0.02, 0.05), "inertia": TENSOR}
    robot = loaded(place, place)
    old = robot.links[name]
    ours = robot.with_link(name, **{key: values[key] for key in what})

    def change(root: Any) -> None:
        link = element(root, "link", name)
        for own in link.findall("inertial"):
            link.remove(own)
        new = {"mass": old.mass, "centre": old.centre, "inertia": old.inertia} | {key: values[key] for key in what}
        link.append(inertial(new["mass"], new["centre"], new["inertia"]))

    same(ours.model, changed(place, change).model)


def test_records_of_links_are_those_of_the_file(place):
    links = loaded(place, place).links
    root: Any = etree.fromstring(place.read_bytes())
    for link in root.iterfind("link"):
        mass = link.find("inertial/mass")
        expected = 0.0 if mass is None else float(mass.get("value"))
        assert links[link.get("name")].mass == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_fixed_links_keep_their_inertias_in_a_saved_file(place, pick, tmp_path):
    fixed = pick(FIXED)
    robot = loaded(place, place).with_link(fixed, mass=0.4, centre=(0.0, 0.1, 0.0), inertia=TENSOR)
    again = appell.load(robot.save(tmp_path / "robot.toml"))
    for name in robot.links:
        assert again.links[name].mass == pytest.approx(robot.links[name].mass, rel=1e-12, abs=1e-15)
    same(again.with_link(fixed, mass=2.0).model, robot.with_link(fixed, mass=2.0).model)


def test_a_joint_is_changed_as_in_the_file(place, pick):
    name = pick(JOINTS)
    ours = loaded(place, place).with_joint(
        name, lower=-1.0, upper=1.5, velocity=2.0, effort=30.0, damping=0.4, friction=0.3, armature=0.2, **SPRING
    )

    def change(root: Any) -> None:
        joint = element(root, "joint", name)
        for tag in ("limit", "dynamics"):
            for own in joint.findall(tag):
                joint.remove(own)
        etree.SubElement(joint, "limit", lower="-1", upper="1.5", velocity="2", effort="30")
        own = {"damping": 0.4, "friction": 0.3, "armature": 0.2, **SPRING}
        etree.SubElement(joint, "dynamics", {key: str(x) for key, x in own.items()})

    same(ours.model, changed(place, change).model)
    record = ours.joints[name]
    assert (record.damping, record.friction, record.armature, record.limits.effort) == (0.4, 0.3, 0.2, 30.0)
    assert {key: getattr(record, key) for key in SPRING} == SPRING


def test_a_locked_joint_is_a_fixed_one_in_the_file(place, pick):
    name = pick(JOINTS)
    robot = loaded(place, place)
    ours = robot.locked({name: TURN})

    def change(root: Any) -> None:
        joint = element(root, "joint", name)
        joint.set("type", "fixed")
        origin = joint.find("origin")
        turn = np.linalg.inv(at_zero) @ at_turn
        here = appell.planning.goal.pose(
            [float(x) for x in origin.get("xyz", "0 0 0").split()],
            [float(x) for x in origin.get("rpy", "0 0 0").split()],
            "xyz",
        )
        there = here @ turn
        rpy = (
            math.atan2(there[2, 1], there[2, 2]),
            math.atan2(-there[2, 0], math.hypot(there[0, 0], there[1, 0])),
            math.atan2(there[1, 0], there[0, 0]),
        )
        origin.set("xyz", " ".join(map(repr, map(float, there[:3, 3]))))
        origin.set("rpy", " ".join(map(repr, rpy)))

    body = next(body for body in robot.model.bodies if body.joint.name == name)
    at_zero, at_turn = (matrix(body.joint.pose((x,))) for x in (0.0, TURN))
    theirs = changed(place, change)
    same(ours.model, theirs.model)
    assert {name: link.mass for name, link in ours.links.items()} == pytest.approx(
        {name: link.mass for name, link in theirs.links.items()}, rel=1e-12, abs=1e-12
    )


def matrix(pose: Any) -> Any:
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = pose
    return found


def test_an_attached_robot_is_in_the_same_file(place, pick, robots):
    tool = robots / ARM
    parent = pick(FIXED)
    with pytest.raises(InputError, match="prefix='tool_'"):
        loaded(tool, tool).attached(appell.load(tool), "ee_link", POSE)
    ours = loaded(place, place).attached(appell.load(tool), parent, POSE, prefix="t_")

    def change(root: Any) -> None:
        other = etree.fromstring(tool.read_bytes())
        for each in other.iter("link", "joint", "parent", "child"):
            for key in ("name", "link"):
                if key in each.attrib:
                    each.set(key, f"t_{each.get(key)}")
        root.extend([each for each in other if each.tag in ("link", "joint")])
        joint = etree.SubElement(root, "joint", name="mount", type="fixed")
        for tag, at in (("parent", {"link": parent}), ("child", {"link": "t_world"}), ("origin", ORIGIN)):
            etree.SubElement(joint, tag, at)

    theirs = changed(place, change).model
    if str(place).endswith(HUMANOID):  # the frame's link carries others besides, in whose midst the file has the tool
        assert {body.name for body in ours.model.bodies} == {body.name for body in theirs.bodies}
        return
    mount = [frame for frame in theirs.frames if frame.name != "mount"]
    same(ours.model, type(theirs)(**{**vars_of(theirs), "frames": tuple(mount)}))


def vars_of(model: Model) -> dict[str, Any]:
    return {name: getattr(model, name) for name in model.__dataclass_fields__}


def five_bar(change: Callable[[str], str]) -> appell.Robot:
    return appell.load(read_toml(change(catalogue.file_text("five-bar")), source="five-bar"))


EDITS: dict[str, tuple[Callable[[appell.Robot], appell.Robot], Callable[[str], str]]] = {
    "payload": (
        lambda robot: robot.with_payload("tip", 0.5, (0.0, 0.0, 0.0)),
        lambda text: text.replace('name = "tip"\nmass = 0.4', 'name = "tip"\nmass = 0.9'),
    ),
    "fixed link": (
        lambda robot: robot.with_link("tip", mass=0.9),
        lambda text: text.replace('name = "tip"\nmass = 0.4', 'name = "tip"\nmass = 0.9'),
    ),
    "link": (
        lambda robot: robot.with_link("prox2", mass=0.7, centre=(0.12, 0.0, 0.0)),
        lambda text: text.replace("mass = 0.55\ncentre = [0.11", "mass = 0.7\ncentre = [0.12"),
    ),
    "gravity": (
        lambda robot: robot.with_gravity((0.0, 0.0, -9.81)),
        lambda text: text.replace("gravity = [0.0, -9.81, 0.0]", "gravity = [0.0, 0.0, -9.81]"),
    ),
    "joint": (
        lambda robot: robot.with_joint("free2", damping=0.3, stiffness=4.0, spring_reference=0.2),
        lambda text: text.replace(
            'name = "free2"\nkind', 'name = "free2"\ndamping = 0.3\nstiffness = 4.0\nspring_reference = 0.2\nkind'
        ),
    ),
    "locked": (
        lambda robot: robot.locked({"mot2": 0.9}),
        lambda text: re.sub(
            r'name = "mot2"\nkind = "revolute"(.*?)xyz = \[0.1, 0.0, 0.0\]',
            r'name = "mot2"\nkind = "fixed"\1xyz = [0.1, 0.0, 0.0], rpy = [0.0, 0.0, 0.9]',
            text.replace('"mot1", "mot2"', '"mot1"').replace("mot2 = 0.9, ", ""),
            flags=re.DOTALL,
        ),
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_closed_robot_is_edited_as_in_its_file(edit):
    on_robot, on_text = EDITS[edit]
    ours, theirs = on_robot(appell.load("five-bar")), five_bar(on_text)
    same(ours.model, theirs.model)
    assert (ours.independent, ours.actuators) == (theirs.independent, theirs.actuators)
    if edit in ("fixed link", "locked"):  # of the others the model is all that changes
        q = theirs.assemble(ours.neutral())
        v, a = np.full(ours.nv, 0.3), np.full(ours.nu, 0.7)
        tau = theirs.inverse_dynamics(q, v, a, formulation="gibbs")
        np.testing.assert_allclose(ours.inverse_dynamics(q, v, a, formulation="gibbs"), tau, rtol=1e-9)
