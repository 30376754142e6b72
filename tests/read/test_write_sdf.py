"""SDF files that are written: a reader of the format's own rules finds the robot in them."""

from __future__ import annotations

import sysconfig
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from lxml import etree
from numpy.typing import NDArray

import appell
from appell.model import manifold
from appell.model.build import Connection, Link, build
from appell.model.closure import KINDS, Closure
from appell.model.mimic import coupled
from appell.model.model import WORLD, Frame, Joint, Limits, Mimic, Model
from appell.read import read
from appell.read.values import pose as posed
from appell.read.write_sdf import sdf_text
from appell.recursion.kinematics import world_poses
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.vector import ZERO
from tests.support.evaluation import evaluate
from tests.support.kinds import program
from tests.support.pool import CLOSED, COUPLED, pool
from tests.support.robots import models

Array = NDArray[Any]
PACKAGES = Path(sysconfig.get_path("purelib"))
ROBOTS = PACKAGES / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
URDFS = [path for path in sorted(ROBOTS.rglob("*.urdf")) if path.name != "ur3.urdf"]
MJCFS = sorted((PACKAGES / "gymnasium/envs/mujoco/assets").glob("*.xml"))
FEW = ("ur5_robot", "panda", "solo12", "ant")
KINDS_OF_SDF = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "ball": "ball",
    "screw": "helical",
    "fixed": "fixed",
}
ONE = ("revolute", "continuous", "prismatic", "helical")
pytestmark = pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")


def numbers(parent: Any, path: str, default: str) -> list[float]:
    return [float(x) for x in (parent.findtext(path) or default).split()]


def pose_of(element: Any) -> Pose:
    x = numbers(element, "pose", "0 0 0 0 0 0")
    return posed((x[0], x[1], x[2]), (x[3], x[4], x[5]))


class Sdf:
    """A file, read by the rules of the format: poses of links in the model, joints at their children's frames."""

    def __init__(self, text: str) -> None:
        root: Any = etree.fromstring(text.encode())
        model = root.find("model")
        self.links = {link.get("name"): link for link in model.findall("link")}
        self.joints = model.findall("joint")
        self.frames = {
            frame.get("name"): self.pose(frame.get("attached_to", "")).then(pose_of(frame))
            for frame in model.findall("frame")
        }

    def pose(self, link: str) -> Pose:
        """Return where a link is drawn in the model."""
        if link in ("", "world"):
            return Pose()
        element = self.links[link]
        pose = element.find("pose")
        above = "" if pose is None else pose.get("relative_to", "")
        return self.pose(above).then(pose_of(element))

    def link(self, name: str) -> Link:
        inertial = self.links[name].find("inertial")
        keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        xx, xy, xz, yy, yz, zz = (numbers(inertial, f"inertia/{key}", "")[0] for key in keys)
        tensor = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        mass = numbers(inertial, "mass", "")[0]
        return Link(name, Inertia.from_centre(mass, ZERO, tensor).moved(pose_of(inertial)))

    def joint(self, element: Any) -> Connection:
        parent, child = element.findtext("parent"), element.findtext("child")
        kind = KINDS_OF_SDF[element.get("type")]
        assert element.find("pose") is None
        placement = self.pose(parent).inverse().then(self.pose(child))
        joint = Joint(element.get("name"), kind, placement=placement)
        if kind in ONE:
            axis = element.find("axis")
            x, y, z = numbers(axis, "xyz", "")
            mimic = axis.find("mimic")
            joint = replace(
                joint,
                axis=(x, y, z),
                limits=Limits(
                    numbers(axis, "limit/lower", "-inf")[0],
                    numbers(axis, "limit/upper", "inf")[0],
                    numbers(axis, "limit/velocity", "inf")[0],
                    numbers(axis, "limit/effort", "inf")[0],
                ),
                damping=numbers(axis, "dynamics/damping", "0")[0],
                friction=numbers(axis, "dynamics/friction", "0")[0],
                stiffness=numbers(axis, "dynamics/spring_stiffness", "0")[0],
                spring_reference=numbers(axis, "dynamics/spring_reference", "0")[0],
                pitch=numbers(element, "screw_thread_pitch", "0")[0] / (2.0 * np.pi),
                mimic=None
                if mimic is None
                else Mimic(mimic.get("joint"), numbers(mimic, "multiplier", "1")[0], numbers(mimic, "offset", "0")[0]),
            )
        return Connection(joint, parent, child)

    def model(self) -> Model:
        """Return the tree: the first parent of a link is its parent, and what has none is free in the world."""
        first: dict[str, Any] = {}
        for element in self.joints:
            first.setdefault(element.findtext("child"), element)
        links = [Link("world"), *(self.link(name) for name in self.links)]
        connections = [
            self.joint(first[name]) if name in first else Connection(Joint("root", "free"), "world", name)
            for name in self.links
        ]
        return build("copy", links, connections)


def copied(model: Model) -> Model:
    copy = replace(Sdf(sdf_text(model)).model(), gravity=model.gravity)
    return coupled(copy) if model.is_coupled else copy


def check(model: Model) -> None:
    """Check that the file has the joints of the model, its dynamics and its frames."""
    plain = [replace(b, joint=replace(b.joint, armature=0.0)) for b in model.bodies]
    kept = [  # what SDF has no place for
        replace(b, joint=replace(b.joint, damping=0.0, friction=0.0)) if b.joint.kind in ("ball", "free") else b
        for b in plain
    ]
    model = replace(model, bodies=tuple(kept))
    copy = copied(model)
    own = model.independent
    file = etree.fromstring(sdf_text(model).encode())
    taken = [element.get("name") for element in file.iter("link", "joint", "frame")]
    assert len({*taken}) == len(taken)
    others = {element.get("name") for element in file.iter("link", "frame")}
    for body, other in zip(own.bodies, copy.independent.bodies, strict=True):
        name = body.joint.name
        assert other.joint.name == name or (name in others and other.joint.name.startswith(f"{name}_joint"))
    for body, other in zip(own.bodies, copy.independent.bodies, strict=True):
        assert body.joint.limits == other.joint.limits
    rng = np.random.default_rng(12)
    q, (v, a) = manifold.random(own, rng, ()), rng.normal(size=(2, own.nv))
    for verb, arguments in (("inverse_dynamics", (q, v, a)), ("mass_matrix", (q,))):
        ours, theirs = (evaluate(program(verb), x, *arguments) for x in (model, copy))
        assert np.max(np.abs(ours - theirs)) <= 1e-12 * np.max(np.abs(ours))
    at_zero, frames = world_poses(model, tuple(_zero(model))), Sdf(sdf_text(model)).frames
    for name, pose in frames.items():
        frame = model.frame_index[name]
        here = at_zero[frame.body].then(frame.placement) if frame.body >= 0 else frame.placement
        np.testing.assert_allclose(pose.position, here.position, atol=1e-12)
        np.testing.assert_allclose(pose.rotation, here.rotation, atol=1e-12)
    grounded = {f.name: f.placement for f in model.frames if f.body == WORLD and f.name in Sdf(sdf_text(model)).links}
    for name, placement in grounded.items():  # links that are fixed to the world and have shapes
        there = copy.frame_index[name].placement
        np.testing.assert_allclose(there.position, placement.position, atol=1e-12)
        np.testing.assert_allclose(there.rotation, placement.rotation, atol=1e-12)
    assert {*frames, *grounded, *(b.name for b in model.bodies), *(b.joint.name for b in model.bodies)} >= {
        frame.name for frame in model.frames if frame.name != model.base.name
    }


def _zero(model: Model) -> Array:
    """Return every joint of the tree at zero, followers of a coupled model where they then are."""
    zero = manifold.neutral(model)
    for body, at in zip(model.bodies, model.q_slices, strict=True):
        if model.is_coupled and body.joint.mimic is not None:
            zero[at] = body.joint.mimic.offset
    return zero


FILES = [
    pytest.param(path, id=path.stem, marks=() if path.stem in FEW else pytest.mark.slow) for path in (*URDFS, *MJCFS)
]


@pytest.mark.parametrize("path", FILES)
def test_a_file_of_others_comes_back(path):
    model = read(path)
    if not model.nv:
        pytest.skip("a file without joints")
    check(model.floating() if path.stem == "solo12" else model)


@given(model=models(("revolute", "continuous", "prismatic", "helical", "ball", "universal")))
def test_a_random_tree_comes_back(model):
    check(model)


@pytest.mark.parametrize("name", COUPLED)
def test_followers_come_back(name):
    check(pool(name).model)


@pytest.mark.parametrize("kind", ["cylindrical", "planar", "free"])
def test_a_joint_that_sdf_does_not_have_comes_in_parts(kind, agree):
    model = appell.load("stanford").model
    first, second = model.bodies[:2]
    joint = Joint("slab", kind, (0.0, 0.6, 0.8) if kind != "free" else (0.0, 0.0, 1.0), second.joint.placement)
    model = replace(model, bodies=(first, replace(second, joint=joint)), frames=())
    model = replace(model, bodies=tuple(replace(b, joint=replace(b.joint, armature=0.0)) for b in model.bodies))
    copy = copied(model)
    assert copy.nq == model.nq
    q = manifold.random(model, np.random.default_rng(3), ())
    at = world_poses(model, tuple(q))[1], world_poses(copy, tuple(q))[-1]
    np.testing.assert_allclose(at[0].position, at[1].position, atol=1e-12)
    np.testing.assert_allclose(at[0].rotation, at[1].rotation, atol=1e-12)
    agree(*(evaluate(program("potential_energy"), x, q) for x in (model, copy)), 1e-12)


CLOSABLE = [name for name in (*CLOSED, "wrist", "star", "stewart") if name not in ("cart", "disc", "plate loop")]
QUICK = ("four-bar", "ball loop", "wrist")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CLOSABLE]
)
def test_a_closed_robot_is_drawn_closed_with_a_joint_per_loop(name):
    robot = appell.load(name) if name == "stewart" else pool(name)
    tree = robot.kind.as_tree()
    file = Sdf(sdf_text(tree))
    poses = dict(
        zip((b.name for b in tree.bodies), world_poses(tree, tuple(x for _, at in tree.home for x in at)), strict=True)
    )
    for link, pose in poses.items():
        np.testing.assert_allclose(file.pose(link).position, pose.position, atol=1e-12)
        np.testing.assert_allclose(file.pose(link).rotation, pose.rotation, atol=1e-12)
    loops = {element.get("name"): element for element in file.joints if element.get("name") in robot_closures(tree)}
    assert list(loops) == [closure.name for closure in tree.closures]
    for closure in tree.closures:
        ends = [_placed(poses, tree, tree.frame_index[x]) for x in (closure.first, closure.second)]
        element = loops[closure.name]
        at = file.pose(element.findtext("child")).then(pose_of(element))
        for end in ends:
            np.testing.assert_allclose(at.position, end.position, atol=1e-9)
            if element.get("type") == "continuous":
                np.testing.assert_allclose(np.array(at.rotation)[:, 2], np.array(end.rotation)[:, 2], atol=1e-9)


def robot_closures(model: Model) -> set[str]:
    return {closure.name for closure in model.closures}


def _placed(poses: dict[str, Pose], model: Model, frame: Frame) -> Pose:
    return frame.placement if frame.body < 0 else poses[model.bodies[frame.body].name].then(frame.placement)


@pytest.mark.filterwarnings("error")
def test_a_warning_names_what_sdf_does_not_hold():
    model = appell.load("puma560").model
    with pytest.warns(appell.AppellWarning, match="SDF cannot represent: rotor inertia of joints 'joint1', 'joint2'"):
        sdf_text(model)
    bare = model.without_friction()
    with pytest.warns(appell.AppellWarning, match=r"SDF has no gravity; pass gravity=\(0, 0, -1.62\)"):
        sdf_text(replace(bare, gravity=(0.0, 0.0, -1.62)))
    with pytest.warns(appell.AppellWarning, match="the choice of actuated joints 'joint1'"):
        sdf_text(replace(bare, actuators=("joint1",)))


def test_a_closure_that_sdf_does_not_have_is_refused_by_name():
    model = appell.load("stanford").model
    tie = Closure("tie", "joint1", "joint2", KINDS["planar"])
    with pytest.raises(
        appell.ModelError, match=r"no joint for closure 'tie', which is planar; it has 'point', 'frame'"
    ):
        sdf_text(replace(model, closures=(tie,)))
