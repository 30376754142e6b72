"""Saving and loading again gives the same robot, number for number."""

from __future__ import annotations

import sysconfig
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import appell
from appell.model.model import Joint, Limits, Mimic, Model
from appell.read import read, read_toml, read_urdf
from appell.read.outline import roll_pitch_yaw
from appell.read.save import save
from appell.read.values import rotation
from appell.read.write_toml import toml_text
from appell.read.write_urdf import urdf_text
from appell.recursion.gibbs import inverse_dynamics
from tests.support.pool import ALL, LONG, OF_EACH_KIND, pool
from tests.support.robots import PLAIN, models

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
FILES = [path for path in sorted(ROBOTS.rglob("*.urdf")) if path.name != "ur3.urdf"]
FORMATS = pytest.mark.parametrize("ending", [".urdf", ".toml"])


def again(model: Model, ending: str) -> Model:
    """Return the model after a way through a file's text; gravity, of which URDF knows nothing, is given to it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", appell.AppellWarning)
        if ending == ".toml":
            return read_toml(toml_text(model))
        return read_urdf(urdf_text(model), gravity=model.gravity)


def check(model: Model, ending: str, evaluate: Any, agree: Any) -> None:
    copy = again(model, ending)
    assert copy.name == model.name
    assert copy.gravity == model.gravity
    assert [body.name for body in copy.bodies] == [body.name for body in model.bodies]
    for ours, theirs in zip(model.bodies, copy.bodies, strict=True):
        a, b = ours.joint, theirs.joint
        assert (a.name, a.kind, a.limits, a.mimic) == (b.name, b.kind, b.limits, b.mimic)
        assert (a.damping, a.friction, a.armature, a.pitch) == (b.damping, b.friction, b.armature, b.pitch)
    agree(list(copy.base.inertia.parameters), list(model.base.inertia.parameters), 1e-14)
    assert set(model.frame_index) <= set(copy.frame_index)
    for name, frame in model.frame_index.items():
        other = copy.frame_index[name]
        assert other.body == frame.body
        agree(other.placement.rotation, frame.placement.rotation, 1e-14)
        agree(other.placement.position, frame.placement.position, 1e-14)
    if model.nv:
        q = appell.load(model).random(np.random.default_rng(3))
        v, a = np.random.default_rng(4).normal(size=(2, model.nv))
        agree(evaluate(inverse_dynamics, copy, q, v, a), evaluate(inverse_dynamics, model, q, v, a), 1e-12)


@FORMATS
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3].removesuffix('_description')}-{path.stem}")
@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")
def test_a_real_robot_comes_back(path, ending, evaluate, agree):
    model = read(path)
    check(model, ending, evaluate, agree)
    check(model.floating(), ending, evaluate, agree)


@FORMATS
@pytest.mark.parametrize("name", [name for name in appell.catalogue() if name not in ("agile-wrist", "sst")])
def test_a_robot_of_the_catalogue_comes_back(name, ending, evaluate, agree):
    check(appell.load(name, loops=False).model, ending, evaluate, agree)


def check_joints(model: Model, ending: str) -> None:
    """Check that bodies come back by the names of their joints, where these put them, with their inertias."""
    copy = {body.joint.name: body for body in again(model, ending).bodies}
    assert len(copy) == len(model.bodies)
    for body in model.bodies:
        other = copy[body.joint.name]
        q = tuple(np.random.default_rng(3).normal(size=body.joint.type.nq))
        ours, theirs = (x.placement.then(x.pose(q)) for x in (body.joint, other.joint))
        assert other.joint.offset == body.joint.offset or ending == ".urdf"
        np.testing.assert_allclose(theirs.rotation, ours.rotation, atol=1e-14)
        np.testing.assert_allclose(theirs.position, ours.position, atol=1e-14)
        np.testing.assert_allclose(other.inertia.parameters, body.inertia.parameters, rtol=1e-13, atol=1e-14)


@given(model=models(PLAIN))
def test_a_random_tree_comes_back_from_urdf_by_the_names_of_its_joints(model):
    check_joints(model, ".urdf")


@given(model=models())
def test_a_random_tree_of_every_joint_kind_comes_back_from_toml_by_the_names_of_its_joints(model):
    check_joints(model, ".toml")


@pytest.mark.parametrize("kind", ["ball", "helical", "cylindrical"])
def test_urdf_says_which_joint_it_cannot_hold_and_toml_holds_it(kind, evaluate, agree):
    model = with_joint(kind=kind, pitch=0.3 if kind == "helical" else 0.0)
    with pytest.raises(appell.ModelError, match=rf"joint 'joint1' is {kind}, which URDF does not support; save as"):
        urdf_text(model)
    check(model, ".toml", evaluate, agree)


@FORMATS
@pytest.mark.parametrize("kind", ["planar", "free", "continuous"])
def test_both_formats_hold_joints_of_several_coordinates(kind, ending, evaluate, agree):
    check(with_joint(kind=kind, axis=(0.0, 0.6, 0.8) if kind == "planar" else (0.0, 0.0, 1.0)), ending, evaluate, agree)


@FORMATS
@pytest.mark.parametrize(
    "limits",
    [Limits(), Limits(-1.5, 2.5, 3.0, 4.0), Limits(lower=-1.0), Limits(upper=0.1), Limits(velocity=2.0)],
    ids=["none", "all", "lower", "upper", "velocity"],
)
def test_limits_come_back(limits, ending):
    assert again(with_joint(limits=limits), ending).bodies[0].joint.limits == limits


@FORMATS
def test_losses_and_followers_come_back(ending):
    joint = again(with_joint(damping=0.1, friction=0.2, armature=0.3, mimic=Mimic("joint2", -0.1, 1e-17)), ending)
    assert (
        joint.bodies[0].joint
        == with_joint(damping=0.1, friction=0.2, armature=0.3, mimic=Mimic("joint2", -0.1, 1e-17)).bodies[0].joint
    )


def with_joint(**changes: Any) -> Model:
    """Return a robot of two joints with the first changed."""
    model = appell.load("stanford").model
    first, second = model.bodies[0], model.bodies[1]
    joint = replace(Joint("joint1", "revolute", placement=first.joint.placement), **changes)
    return replace(model, bodies=(replace(first, joint=joint), second), frames=())


@pytest.mark.parametrize("name", ["stanford", "rx90"])
def test_pinocchio_reads_what_is_saved(tmp_path, name):
    pin = pytest.importorskip("pinocchio")
    robot = appell.load(name)
    file = robot.save(tmp_path / "arm.urdf")
    model = pin.buildModelFromUrdf(str(file))
    assert list(model.names)[1:] == robot.joint_names
    assert sum(inertia.mass for inertia in model.inertias) == pytest.approx(robot.total_mass, rel=1e-14)


def test_urdf_warns_of_a_gravity_it_cannot_hold():
    with pytest.warns(appell.AppellWarning, match=r"pass gravity=\(0, 0, -1.62\) when loading"):
        urdf_text(replace(with_joint(), gravity=(0.0, 0.0, -1.62)))


def test_a_body_of_a_first_moment_and_no_mass_needs_toml():
    model = with_joint()
    inertia = model.bodies[0].inertia._replace(mass=0.0, first=(0.1, 0.0, 0.0))
    model = replace(model, bodies=(replace(model.bodies[0], inertia=inertia),))
    with pytest.raises(appell.ModelError, match="first moment and no mass"):
        urdf_text(model)
    assert again(model, ".toml").bodies[0].inertia.first == (0.1, 0.0, 0.0)


def test_a_name_of_any_characters_comes_back(evaluate, agree):
    for ending in (".urdf", ".toml"):
        check(with_joint(name='a "b" \\ <c> & é 😀'), ending, evaluate, agree)


def test_a_file_is_saved_by_its_ending_and_replaced_in_one_step(tmp_path):
    model = with_joint()
    file = tmp_path / "new" / "arm.toml"
    assert save(model, file) == file
    save(replace(model, name="other"), str(file))
    assert read(file).name == "other"
    assert [path.name for path in file.parent.iterdir()] == ["arm.toml"]
    with pytest.raises(
        appell.InputError, match=r"save: unknown extension of 'arm.stl'; known: '.urdf', '.toml', '.xml'"
    ):
        save(model, tmp_path / "arm.stl")
    with pytest.raises(appell.InputError, match="expected a path, got int"):
        save(model, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("pitch", [0.3, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, -np.pi / 2 + 3e-8])
def test_roll_pitch_yaw_turn_back_into_the_rotation_also_where_two_axes_meet(pitch, rng):
    for roll, yaw in rng.uniform(-3.0, 3.0, (50, 2)):
        given = rotation((float(roll), float(pitch), float(yaw)))
        np.testing.assert_allclose(rotation(roll_pitch_yaw(given)), given, atol=1e-15)


QUICK = (*OF_EACH_KIND, "disc", "catalogue puma560", "catalogue agile-wrist")
TOML = [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
    for name in (*ALL, LONG, *(f"catalogue {name}" for name in appell.catalogue()))
]


@pytest.mark.parametrize("name", TOML)
@pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")
def test_a_robot_of_every_kind_comes_back_whole_from_toml(name, tmp_path, agree):
    robot = appell.load(name.removeprefix("catalogue ")) if name.startswith("catalogue") else pool(name)
    copy = appell.load(robot.save(tmp_path / "copy.toml"))
    for what in ("name", "nq", "nv", "nu", "joint_names", "link_names", "independent", "actuators", "closure_names"):
        assert getattr(copy, what) == getattr(robot, what), what
    assert sorted(copy.frame_names) == sorted(robot.frame_names)
    ours, theirs = robot.model, copy.model
    assert (theirs.is_coupled, theirs.gravity, theirs.base.name) == (ours.is_coupled, ours.gravity, ours.base.name)
    assert [c.rows for c in theirs.closures] == [c.rows for c in ours.closures]
    assert [b.joint.mimic for b in theirs.bodies] == [b.joint.mimic for b in ours.bodies]
    for mine, yours in zip(robot.limits, copy.limits, strict=True):
        np.testing.assert_array_equal(mine, yours)
    agree(copy.parameters, robot.parameters, 1e-13)
    agree(copy.neutral(), robot.neutral(), 1e-9, size=1.0)
    for frame in ours.frames:
        other = theirs.frame_index[frame.name]
        assert other.body == frame.body
        agree(other.placement.rotation, frame.placement.rotation, 1e-14)
        agree(other.placement.position, frame.placement.position, 1e-14, size=1.0)


@pytest.mark.parametrize("mimic", [False, True])
def test_followers_of_a_real_hand_come_back_loose_or_bound(mimic, tmp_path):
    robot = appell.load(next(path for path in FILES if path.stem == "panda"), mimic=mimic)
    copy = appell.load(robot.save(tmp_path / "hand.toml"))
    assert (copy.nv, copy.model.is_coupled) == (robot.nv, mimic)


def test_whole_numbers_are_written_as_such(tmp_path):
    text = appell.load("agile-wrist").save(tmp_path / "wrist.toml").read_text()
    assert "motors = [1]\n" in text
    assert "branch = 1\n" in text
