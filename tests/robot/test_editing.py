"""Edits of robots: each equals the same change made in the robot's file, and holds for every kind of robot."""

from __future__ import annotations

import copy
import math
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

import appell
from appell.errors import AppellWarning, InputError, ModelError
from appell.model.model import Model
from appell.read import catalogue, read_toml, read_urdf

ARM, HUMANOID = "ur_description/urdf/ur5_robot.urdf", "talos_data/robots/talos_reduced.urdf"
LINKS = {ARM: "forearm_link", HUMANOID: "arm_left_4_link"}
FIXED = {ARM: "ee_link", HUMANOID: "imu_link"}
JOINTS = {ARM: "elbow_joint", HUMANOID: "leg_right_4_joint"}
TURN = 0.7
POSE = appell.planning.goal.pose([0.1, -0.2, 0.3], [0.4, 0.5, 0.6], "xyz")
ORIGIN = {"xyz": "0.1 -0.2 0.3", "rpy": "0.4 0.5 0.6"}
TENSOR = ((0.03, 0.001, 0.002), (0.001, 0.02, 0.003), (0.002, 0.003, 0.04))


def numbers(model: Model) -> dict[str, Any]:
    """Return all numbers of a model by what they are about; frames whatever their order."""
    found: dict[str, Any] = {"gravity": model.gravity, "base": model.base.inertia.parameters}
    for body in model.bodies:
        joint = body.joint
        found[body.name] = (body.parent, joint.axis, *body.inertia.parameters, joint.damping, joint.friction)
        found[f"{body.name} at"] = [*joint.placement.rotation, joint.placement.position, joint.axis]
        found[f"{body.name} with"] = (joint.armature, joint.offset, joint.limits.lower, joint.limits.upper)
        found[f"{body.name} up to"] = (joint.limits.velocity, joint.limits.effort)
    for frame in model.frames:
        found[f"frame {frame.name}"] = [*frame.placement.rotation, frame.placement.position, (frame.body,) * 3]
    return {name: np.hstack([np.ravel(x) for x in value]) for name, value in found.items()}


def same(one: Model, other: Model) -> None:
    """Assert that two models are equal to rounding: names, order, and every number."""
    assert [body.joint.name for body in one.bodies] == [body.joint.name for body in other.bodies]
    assert [body.name for body in one.bodies] == [body.name for body in other.bodies]
    assert one.actuators == other.actuators
    ours, theirs = numbers(one), numbers(other)
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        np.testing.assert_allclose(value, theirs[name], rtol=1e-12, atol=1e-13, err_msg=name)


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


def test_a_joint_is_changed_as_in_the_file(place, pick):
    name = pick(JOINTS)
    ours = loaded(place, place).with_joint(
        name, lower=-1.0, upper=1.5, velocity=2.0, effort=30.0, damping=0.4, friction=0.3, armature=0.2
    )

    def change(root: Any) -> None:
        joint = element(root, "joint", name)
        for tag in ("limit", "dynamics"):
            for own in joint.findall(tag):
                joint.remove(own)
        etree.SubElement(joint, "limit", lower="-1", upper="1.5", velocity="2", effort="30")
        etree.SubElement(joint, "dynamics", damping="0.4", friction="0.3", armature="0.2")

    same(ours.model, changed(place, change).model)
    record = ours.joints[name]
    assert (record.damping, record.friction, record.armature, record.limits.effort) == (0.4, 0.3, 0.2, 30.0)


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
        lambda robot: robot.with_joint("free2", damping=0.3, armature=0.01),
        lambda text: text.replace('name = "free2"\nkind', 'name = "free2"\ndamping = 0.3\narmature = 0.01\nkind'),
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


# Of every kind


def kinds(robots: Path) -> dict[str, Callable[[], appell.Robot]]:
    return {
        "serial": lambda: appell.load("puma600"),
        "tree": lambda: appell.load("shafei-tree"),
        "floating": lambda: appell.load("two-link", floating=True),
        "mimic": lambda: appell.load(robots / "panda_description/urdf/panda.urdf", mimic=True),
        "closed": lambda: appell.load("five-bar"),
        "rolling": lambda: appell.load("mobile-arm"),
        "spherical": lambda: appell.load("agile-wrist"),
        "long": lambda: appell.random_chain(90, np.random.default_rng(3)),
    }


@pytest.fixture(scope="module")
def state(robots):
    """Return a robot of a kind and a configuration, made once."""
    made: dict[str, tuple[appell.Robot, Any]] = {}

    def of(kind: str) -> tuple[appell.Robot, Any]:
        if kind not in made:
            robot = kinds(robots)[kind]().using("gibbs")  # no competition of formulations
            made[kind] = robot, robot.random(np.random.default_rng(1))
        return made[kind]

    return of


KINDS = list(kinds(Path()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_point_mass_adds_m_jacobian_squared_to_the_mass_matrix(kind, state):
    robot, q = state(kind)
    frame, mass, centre = robot.frame_names[-1], 1.5, (0.03, -0.02, 0.05)
    there = robot.with_frame("centre", frame, centre)
    linear = there.jacobian(q, "centre")[:3]
    before, after = robot.mass_matrix(q), there.with_payload(frame, mass, centre).mass_matrix(q)
    np.testing.assert_allclose(after - before, mass * linear.T @ linear, rtol=0, atol=1e-11 * np.abs(after).max())


@pytest.mark.parametrize("kind", KINDS)
def test_with_parameters_is_what_the_verbs_do_with_them(kind, state):
    robot, q = state(kind)
    pi = robot.parameters * np.random.default_rng(5).uniform(0.9, 1.1, robot.parameters.shape)
    if robot.model.has_friction:  # of a joint of several velocities they are the same for all
        pi[10 * len(robot.link_names) :] = 1.2 * robot.parameters[10 * len(robot.link_names) :]
    other = robot.with_parameters(pi)
    np.testing.assert_allclose(other.parameters, pi, rtol=1e-12, atol=1e-14)
    found, expected = other.mass_matrix(q), robot.mass_matrix(q, parameters=pi)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "spherical"])
def test_a_locked_robot_has_the_energy_of_the_robot_with_that_joint_at_rest(kind, state):
    robot, _ = state(kind)
    name = robot.actuators[-1]
    locked = robot.locked([name])
    assert locked.nv == robot.nv - len(robot.places("v")[name])
    q = locked.random(np.random.default_rng(2))
    v = np.random.default_rng(3).normal(size=locked.nv)
    whole, speeds = robot.neutral(), np.zeros(robot.facts.sizes["t"])
    for joint, places in locked.places("q").items():
        whole[robot.places("q")[joint]] = q[places]
    moving, at = (
        locked.tree_velocity(q, v),
        dict(zip(tree_joints(locked), np.cumsum([0, *sizes(locked)]), strict=False)),
    )
    for joint, start, n in zip(tree_joints(robot), np.cumsum([0, *sizes(robot)]), sizes(robot), strict=False):
        if joint in at:
            speeds[start : start + n] = moving[at[joint] : at[joint] + n]
    expected = robot.kinetic_energy(whole, robot.reduced(whole, speeds))
    assert locked.kinetic_energy(q, v) == pytest.approx(expected, rel=1e-9)
    weight = locked.potential_energy(q) - locked.potential_energy(locked.neutral())
    assert weight == pytest.approx(robot.potential_energy(whole) - robot.potential_energy(start_of(robot, locked)))


def tree_joints(robot: appell.Robot) -> list[str]:
    return [body.joint.name for body in robot.model.bodies]


def sizes(robot: appell.Robot) -> list[int]:
    return [body.joint.type.nv for body in robot.model.bodies]


def start_of(robot: appell.Robot, locked: appell.Robot) -> Any:
    """Return the neutral configuration of a locked robot as one of the whole."""
    q = robot.neutral()
    for joint, places in locked.places("q").items():
        q[robot.places("q")[joint]] = locked.neutral()[places]
    return q


@pytest.mark.parametrize("kind", KINDS)
def test_an_edited_robot_is_saved_and_pickled(kind, state, tmp_path):
    robot, _ = state(kind)
    frame = robot.frame_names[-1]
    edited = robot.with_frame("my_tool", frame, POSE).with_payload("my_tool", 1.0)
    for back in (pickle.loads(pickle.dumps(edited)), appell.load(edited.save(tmp_path / "robot.toml"))):
        assert "my_tool" in back.frame_names
        assert back.total_mass == pytest.approx(robot.total_mass + 1.0)
    assert copy.deepcopy(edited) is edited


def test_a_spherical_robot_in_closed_form_says_why_joints_cannot_change(state):
    robot, _ = state("spherical")
    arm = appell.load("two-link")
    for refused in (
        lambda: robot.locked([robot.actuators[0]]),
        lambda: robot.attached(arm, "platform"),
        lambda: arm.attached(robot, "link2"),
        lambda: robot.subtree("platform"),
    ):
        with pytest.raises(InputError, match="follow from the platform's Euler angles"):
            refused()
    with pytest.raises(InputError, match="neither limits nor friction"):
        robot.with_joint("theta1", damping=1.0)


# Robots put together


def test_a_closed_gripper_on_an_arm_moves_as_both(rng):
    arm, linkage = (appell.load(name).using("gibbs") for name in ("two-link", "five-bar"))
    both = arm.attached(linkage, "link2", POSE, prefix="grip_")
    assert both.actuators == [*arm.actuators, "grip_mot1", "grip_mot2"]
    assert both.total_mass == pytest.approx(arm.total_mass + linkage.total_mass)
    q, v = both.random(rng), rng.normal(size=both.nv)
    a = both.forward_dynamics(q, v, rng.normal(size=both.nu))
    tau = both.inverse_dynamics(q, v, a[: both.nu])
    np.testing.assert_allclose(both.forward_dynamics(q, v, tau), a, rtol=1e-6, atol=1e-8)
    # the arm at rest, the linkage moves as on a base that stands so
    still = np.concatenate([np.zeros(2), v[2:]])
    gravity = both.pose(q, "grip_base")[:3, :3].T @ np.array(both.model.gravity)
    alone = linkage.with_gravity(gravity)
    ours = both.inverse_dynamics(q, still, [0.0, 0.0, 0.3, 0.4])[2:]
    np.testing.assert_allclose(ours, alone.inverse_dynamics(q[2:], v[2:], [0.3, 0.4]), rtol=1e-8)


def test_the_order_of_an_attached_robot_survives_a_file(tmp_path):
    tree = appell.load("shafei-tree")
    both = tree.attached(appell.load("two-link"), tree.link_names[1], [0.1, 0.0, 0.0], prefix="tool_")
    back = appell.load(both.save(tmp_path / "both.toml"))
    assert back.joint_names == both.joint_names
    same(back.model, both.model)


def test_a_subtree_moves_as_in_the_robot_held_above_it(rng):
    robot = appell.load("puma560").using("gibbs")
    for name, above in (("joint4", 3), ("link3", 3), ("link4", 4)):
        part = robot.subtree(name)
        assert part.joint_names == robot.joint_names[above:]
        q = rng.normal(size=6)
        q[:above] = 0.0
        base = robot.pose(q, part.model.base.name)
        turned = part.with_gravity(base[:3, :3].T @ np.array(robot.model.gravity))
        v, a = (np.concatenate([np.zeros(above), rng.normal(size=6 - above)]) for _ in range(2))
        ours = turned.inverse_dynamics(q[above:], v[above:], a[above:])
        np.testing.assert_allclose(ours, robot.inverse_dynamics(q, v, a)[above:], rtol=1e-10, atol=1e-12)


def test_locking_a_joint_locks_those_that_follow_it(robots):
    file = robots / "panda_description/urdf/panda.urdf"
    bound, free = appell.load(file, mimic=True), appell.load(file)
    locked = bound.locked({"panda_finger_joint1": 0.02})
    fingers = free.locked({"panda_finger_joint1": 0.02, "panda_finger_joint2": 0.02})
    same(locked.model, fingers.model)
    with pytest.raises(InputError, match="lock that one"):
        bound.locked(["panda_finger_joint2"])
    alone = free.locked(["panda_finger_joint1"])
    assert alone.joints["panda_finger_joint2"].mimic is None


def test_a_loop_whose_joints_are_all_locked_holds_nothing(rng):
    arm = appell.load("two-link").attached(appell.load("five-bar"), "link2", prefix="grip_")
    rigid = arm.locked([name for name in arm.joint_names if name.startswith("grip_")])
    assert (rigid.nv, rigid.closure_names) == (2, [])
    with pytest.raises(InputError, match="open by"):
        arm.locked({name: 0.1 for name in arm.joint_names if name.startswith("grip_")})
    with pytest.raises(ModelError, match="no motion"):
        appell.load("five-bar").locked(["mot1", "free1"])


# Invalid input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.with_frame("tool", "wrist", np.eye(4)), "no frame 'wrist'; it has 'base'"),
        (lambda r: r.with_frame("link2", "link1", np.eye(4)), "has a frame 'link2' already"),
        (lambda r: r.with_frame("tool", "link1", np.ones((4, 4))), "expected a rotation"),
        (lambda r: r.with_frame("tool", "link1", np.ones((2, 4))), r"a pose \(4, 4\) or a position \(3,\)"),
        (lambda r: r.with_frame("tool", "link1", POSE.T), "expected the last row 0 0 0 1"),
        (lambda r: r.with_frame("", "link1", np.eye(4)), "expected text, got none"),
        (lambda r: r.with_payload("link2", "heavy"), "mass: expected a number"),
        (lambda r: r.with_payload("link2", -1.0), "mass of -1 kg"),
        (lambda r: r.with_payload("link2", 1.0, (1.0, 2.0)), "centre: expected 3 numbers, got 2"),
        (lambda r: r.with_payload("link2", 1.0, (0.0, 0.0, math.nan)), "centre.*nan"),
        (lambda r: r.with_link("link9", mass=1.0), "no link 'link9'; it has 'base', 'link1', 'link2'"),
        (lambda r: r.with_link("link1", mass=-1.0), "mass of -1 kg"),
        (lambda r: r.with_joint("joint9", damping=1.0), "no joint 'joint9'; it has 'joint1', 'joint2'"),
        (lambda r: r.with_joint("joint1", damping=-1.0), "negative damping"),
        (lambda r: r.with_joint("joint1", lower=2.0, upper=1.0), "lower limit 2 is above the upper limit 1"),
        (lambda r: r.with_parameters([1.0]), "expected .20,., got .1,."),
        (lambda r: r.with_parameters(math.nan * r.parameters), "finite"),
        (lambda r: r.with_gravity((0.0, 1.0)), "gravity must be three finite numbers"),
        (lambda r: r.with_gravity(None), "three finite numbers"),
        (lambda r: r.locked(["joint9"]), "no joint 'joint9'; it has 'joint1', 'joint2'"),
        (lambda r: r.locked("joint1"), "expected names of joints"),
        (lambda r: r.locked({"joint1": (0.0, 1.0)}), "expected 1 coordinate, got shape"),
        (lambda r: r.attached(r, "link2"), "both robots have joints 'joint1', 'joint2'; give a prefix"),
        (lambda r: r.attached(r.model, "link2"), "expected a robot, got Model"),
        (lambda r: r.attached(r, "flange", prefix="x_"), "no frame 'flange'"),
        (lambda r: r.subtree("arm"), "no link 'arm'"),
        (lambda r: r.joints["joint9"], "no joint 'joint9'; there are 'joint1', 'joint2'"),
        (lambda r: r.links["link9"], "no link 'link9'; there are 'base', 'link1', 'link2'"),
        (lambda r: r.configurations["home"], "no configuration 'home'; there are none"),
    ],
)
def test_an_edit_that_cannot_be_says_what_can(call, message):
    with pytest.raises(appell.AppellError, match=message):
        call(appell.load("two-link"))


def test_an_inertia_that_no_body_has_is_remarked():
    with pytest.warns(AppellWarning, match="triangle inequality"):
        appell.load("two-link").with_payload("link2", 1.0, (0.0, 0.0, 0.0), (1.0, 1.0, 5.0))


def test_joints_of_several_velocities_have_one_friction(rng):
    robot = appell.load("two-link", floating=True).with_joint("root", damping=0.1)
    pi = robot.parameters.copy()
    pi[-1] = 5.0
    robot.with_parameters(pi)
    pi[10 * 3 + 1] = 7.0  # damping of the first of six velocities
    with pytest.raises(InputError, match=r"joint 'root'.*parameters="):
        robot.with_parameters(pi)


def test_friction_and_rotors_are_left_out_one_by_one():
    whole = appell.load("puma560")
    assert appell.load("puma560", friction=False).joints["joint1"].armature == whole.joints["joint1"].armature > 0
    smooth, bare = appell.load("puma560", friction=False), appell.load("puma560", armature=False)
    assert {(j.damping, j.friction) for j in smooth.joints.values()} == {(0.0, 0.0)}
    assert {j.armature for j in bare.joints.values()} == {0.0}
    assert all(j.friction > 0 for j in bare.joints.values())
