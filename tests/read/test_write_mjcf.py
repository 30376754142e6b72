"""MJCF files that are written: MuJoCo compiles them, computes what appell does, and reading them gives the robot."""

from __future__ import annotations

import functools
import sysconfig
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

import appell
from appell.model import manifold
from appell.model.closure import KINDS, Closure
from appell.model.mimic import coupled
from appell.model.model import WORLD, Joint, Limits, Mimic, Model
from appell.read import read, read_mjcf
from appell.read.parts import principal
from appell.read.write_mjcf import mjcf_text
from appell.spatial.pose import Pose
from tests.support.evaluation import evaluate
from tests.support.kinds import program
from tests.support.pool import CLOSED, COUPLED, DRAWINGS, SPHERICAL, pool
from tests.support.robots import models

mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed; run make install")

Array = NDArray[Any]
PACKAGES = Path(sysconfig.get_path("purelib"))
ROBOTS = PACKAGES / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
URDFS = [path for path in sorted(ROBOTS.rglob("*.urdf")) if path.name != "ur3.urdf"]
MJCFS = sorted((PACKAGES / "gymnasium/envs/mujoco/assets").glob("*.xml"))
FEW = ("ur5_robot", "panda", "solo12", "ant", "humanoid", "pusher_v5")
SAMPLES = 3
AGAIN, THEIRS = 1e-12, 1e-9
inverse_dynamics, mass_matrix = program("inverse_dynamics"), program("mass_matrix", "composite")
pytestmark = pytest.mark.filterwarnings("ignore::appell.errors.AppellWarning")


@functools.cache
def written(path: Path) -> Model:
    model = read(path)
    return model.floating() if path.suffix == ".urdf" and "solo" in path.name else model


def again(model: Model) -> Model:
    copy = read_mjcf(mjcf_text(model))
    return coupled(copy) if model.is_coupled or any(b.joint.kind == "helical" for b in model.bodies) else copy


def states(model: Model) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(12)
    own = model.independent
    return manifold.random(own, rng, (SAMPLES,)), *rng.normal(size=(2, SAMPLES, own.nv))


def relative(ours: Array, theirs: Array) -> float:
    return float(np.max(np.abs(ours - theirs)) / max(np.max(np.abs(ours)), 1e-300))


def turn(joint: Joint, q: Array, v: Array) -> tuple[Array, Array]:
    """Return T and ω with T·v the velocities of a joint's parts, T·(a + ω × v) their linear accelerations."""
    if joint.kind == "planar":
        return np.array([joint.type.rates(tuple(q), tuple(e)) for e in np.eye(3)]).T, v[2] * np.array(joint.axis)
    if joint.kind == "free":
        columns = [joint.type.rates(tuple(q), tuple(e))[:3] for e in np.eye(6)[:3]]
        return np.block([[np.array(columns).T, np.zeros((3, 3))], [np.zeros((3, 3)), np.eye(3)]]), v[3:]
    return np.eye(joint.type.nv), np.zeros(3)


def in_parts(model: Model, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """Return T, and velocities and accelerations of the joints' parts; free joints as MuJoCo has them stay."""
    own, size = model.independent, model.independent.nv
    total, moved, faster = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    for body, at, where in zip(own.bodies, own.q_slices, own.v_slices, strict=True):
        joint = body.joint
        if joint.kind == "free" and body.parent == WORLD and joint.placement == Pose():
            total[where, where], moved[where], faster[where] = np.eye(6), v[where], a[where]
            continue
        matrix, omega = turn(joint, q[at], v[where])
        extra = np.zeros(joint.type.nv)
        if joint.kind == "free":
            extra[:3] = np.cross(omega, v[where][:3])
        if joint.kind == "planar":
            extra[:2] = v[where][2] * np.array([-v[where][1], v[where][0]])
        total[where, where], moved[where], faster[where] = matrix, matrix @ v[where], matrix @ (a[where] + extra)
    return total, moved, faster


def bare(model: Model) -> Model:
    """Return a model without what MuJoCo solves for: Coulomb friction."""
    bodies = (replace(body, joint=replace(body.joint, friction=0.0)) for body in model.bodies)
    return replace(model, bodies=tuple(bodies))


def check_again(model: Model) -> None:
    """Check that the model read from the file has the dynamics of the model."""
    model = bare(model)
    copy = again(model)
    for q, v, a in zip(*states(model), strict=True):
        matrix, moved, faster = in_parts(model, q, v, a)
        ours, theirs = evaluate(inverse_dynamics, model, q, v, a), evaluate(inverse_dynamics, copy, q, moved, faster)
        assert relative(ours, matrix.T @ theirs) < AGAIN
        mine, yours = (evaluate(mass_matrix, x, q) for x in (model, copy))
        assert relative(mine, matrix.T @ yours @ matrix) < AGAIN


def check_mujoco(model: Model) -> None:
    """Check that MuJoCo's mj_inverse and mj_fullM of the file are appell's of the model."""
    robot = appell.load(replace(model, closures=()))
    compiled = mujoco.MjModel.from_xml_string(mjcf_text(model))
    compiled.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, there = mujoco.MjData(compiled), appell.interop.mujoco(robot, compiled)
    model = bare(model)
    for q, v, a in zip(*states(model), strict=True):
        data.qpos[:], data.qvel[:] = there.q(q), there.v(q, v)
        mujoco.mj_forward(compiled, data)
        data.qacc[:] = there.a(q, v, a)
        mujoco.mj_inverse(compiled, data)
        assert (
            relative(evaluate(inverse_dynamics, model, q, v, a), there.from_tau(data.qpos, data.qfrc_inverse)) < THEIRS
        )
        full, matrix = np.zeros((compiled.nv, compiled.nv)), there.matrix(q)
        mujoco.mj_fullM(compiled, data, full)
        assert relative(evaluate(mass_matrix, model, q), matrix.T @ full @ matrix) < THEIRS


FILES = [
    pytest.param(path, id=path.stem, marks=() if path.stem in FEW else pytest.mark.slow) for path in (*URDFS, *MJCFS)
]


@pytest.mark.parametrize("path", FILES)
def test_a_file_of_others_comes_back_and_mujoco_computes_the_same(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its remarks into a file where it runs
    model = written(path)
    if not model.nv:
        pytest.skip("a file without joints")
    if any(principal(body.inertia) is None for body in model.bodies):
        with pytest.raises(appell.ModelError, match="triangle inequality"):
            mjcf_text(model)
        return
    check_again(model)
    check_mujoco(model)


@given(model=models())
def test_a_random_tree_of_every_kind_of_joint_comes_back(model):
    check_again(model)


@pytest.mark.parametrize("name", [*DRAWINGS, *COUPLED])
def test_a_robot_of_the_pool_comes_back(name):
    check_again(pool(name).model)


LOOPS = [name for name in (*CLOSED, *SPHERICAL, "delta") if name not in ("cart", "disc", "plate loop")]
QUICK = ("four-bar", "ball loop", "wrist")


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in LOOPS]
)
def test_mujoco_holds_a_closed_robot_as_appell_does(name):
    robot = appell.load(name) if name == "delta" else pool(name)
    tree = robot.kind.as_tree()
    compiled = mujoco.MjModel.from_xml_string(mjcf_text(tree))
    compiled.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data = mujoco.MjData(compiled)
    at_home = [x for _, values in tree.home for x in values]
    if not any(body.joint.kind == "helical" for body in tree.bodies):
        there = appell.interop.mujoco(appell.load(replace(tree, closures=())), compiled)
        np.testing.assert_allclose(compiled.key_qpos[0], there.q(at_home), atol=1e-15)
    mujoco.mj_resetDataKeyframe(compiled, data, 0)
    mujoco.mj_forward(compiled, data)
    held = data.ne
    assert np.max(np.abs(data.efc_pos[:held])) < 1e-9
    rows = data.efc_J.reshape(-1, compiled.nv)
    # what the constraints leave free is what the robot's velocities are
    assert compiled.nv - np.linalg.matrix_rank(rows[:held], tol=1e-6) == robot.nv


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four-bar", "floating four-bar"])
def test_a_closed_robot_comes_back_with_its_loops(name, agree):
    own = pool(name)
    copy = appell.load(read_mjcf(mjcf_text(own.kind.as_tree())))
    assert (copy.nv, copy.actuators) == (own.nv, own.actuators)
    q = own.random(np.random.default_rng(4), 3)
    v, a = np.random.default_rng(5).normal(size=(2, 3, own.nv))
    moved = copy.reduced(q, own.tree_velocity(q, v))
    faster = copy.reduced(q, own.tree_acceleration(q, v, a))
    agree(own.inverse_dynamics(q, v, a[:, : own.nu]), copy.inverse_dynamics(q, moved, faster[:, : copy.nu]), 1e-9)


def with_joints(**changes: Any) -> Model:
    """Return a robot of two joints with the first changed."""
    model = appell.load("stanford").model
    first, second = model.bodies[0], model.bodies[1]
    joint = replace(Joint("joint1", "revolute", placement=first.joint.placement), **changes)
    return replace(model, bodies=(replace(first, joint=joint), second), frames=())


@pytest.mark.parametrize(
    "limits", [Limits(-1.5, 2.5, effort=4.0), Limits(lower=-1.0), Limits(upper=0.1)], ids=["all", "lower", "upper"]
)
def test_limits_losses_and_offsets_come_back(limits):
    given = with_joints(limits=limits, damping=0.1, friction=0.2, armature=0.3, offset=0.4)
    joint = again(given).bodies[0].joint
    assert joint.limits == limits
    assert (joint.damping, joint.friction, joint.armature, joint.offset) == (0.1, 0.2, 0.3, 0.4)


def test_a_follower_is_tied_as_it_follows():
    model = with_joints(mimic=Mimic("joint2", -0.5, 0.25), offset=0.3)
    compiled = mujoco.MjModel.from_xml_string(mjcf_text(model))
    data = mujoco.MjData(compiled)
    data.qpos[:] = [-0.5 * 0.7 + 0.25, 0.7]
    mujoco.mj_forward(compiled, data)
    assert abs(data.efc_pos[0]) < 1e-15
    mimic = read_mjcf(mjcf_text(model)).bodies[0].joint.mimic
    assert mimic is not None
    assert (mimic.joint, mimic.multiplier) == ("joint2", -0.5)
    assert mimic.offset == pytest.approx(0.25, abs=1e-15)


def test_motors_are_those_of_the_robot_with_its_efforts():
    compiled = mujoco.MjModel.from_xml_string(mjcf_text(appell.load("puma600", floating=True).model))
    assert [compiled.actuator(k).name for k in range(compiled.nu)] == appell.load("puma600").joint_names
    ball = mujoco.MjModel.from_xml_string(mjcf_text(with_joints(kind="ball", limits=Limits(effort=3.0))))
    assert [ball.actuator(k).name for k in range(ball.nu)] == ["joint1[0]", "joint1[1]", "joint1[2]", "joint2"]
    assert ball.actuator_ctrlrange[0].tolist() == [-3.0, 3.0]


def test_limits_that_mujoco_refuses_are_left_out():
    compiled = mujoco.MjModel.from_xml_string(mjcf_text(with_joints(limits=Limits(0.5, 0.5, effort=0.0))))
    assert not compiled.jnt_limited[0]
    assert not compiled.jnt_actfrclimited[0]


@pytest.mark.filterwarnings("error")
def test_a_warning_names_what_mjcf_does_not_hold():
    with pytest.warns(appell.AppellWarning, match="velocity limits of joints 'joint1'$"):
        mjcf_text(with_joints(limits=Limits(velocity=1.0)))
    with pytest.warns(appell.AppellWarning, match="limits of zero range or zero effort of joints 'joint1'$"):
        mjcf_text(with_joints(limits=Limits(0.5, 0.5)))
    with pytest.warns(appell.AppellWarning, match="the axes of Coulomb friction .* of joints 'joint1'$"):
        mjcf_text(with_joints(kind="planar", friction=1.0))


def test_a_closure_that_mjcf_does_not_have_is_refused_by_name():
    with pytest.raises(
        appell.ModelError, match=r"closure '\w+', which is rolling; it has 'point', 'frame', 'revolute'"
    ):
        mjcf_text(pool("disc").model)
    tie = Closure("tie", "joint1", "joint2", KINDS["planar"])
    with pytest.raises(appell.ModelError, match="closure 'tie', which is planar"):
        mjcf_text(replace(with_joints(), closures=(tie,)))


def test_an_inertia_that_mujoco_refuses_is_refused_by_name():
    with pytest.raises(appell.ModelError, match=r"bodies 'link1'.*; correct them, or save as \.toml"):
        mjcf_text(appell.load("puma560").model)
    model = with_joints()
    inertia = model.bodies[0].inertia._replace(mass=0.0, first=(0.1, 0.0, 0.0))
    with pytest.raises(appell.ModelError, match="first moment and no mass, which MJCF cannot represent"):
        mjcf_text(replace(model, bodies=(replace(model.bodies[0], inertia=inertia),)))
    with pytest.raises(appell.ModelError, match="a body is named 'world', a reserved name of MuJoCo"):
        mjcf_text(replace(model, bodies=(replace(model.bodies[0], name="world"),)))


def test_named_configurations_are_keyframes(tmp_path):
    text = """
    name = "two"
    configurations = { folded = { hinge = 2.5 }, straight = { hinge = 0.0, slide = 0.1 } }
    [[links]]
    name = "base"
    [[links]]
    name = "a"
    mass = 1.0
    inertia = [0.1, 0.1, 0.1]
    [[links]]
    name = "b"
    mass = 1.0
    inertia = [0.1, 0.1, 0.1]
    [[joints]]
    name = "hinge"
    kind = "revolute"
    parent = "base"
    child = "a"
    [[joints]]
    name = "slide"
    kind = "prismatic"
    parent = "a"
    child = "b"
    """
    (tmp_path / "two.toml").write_text(text)
    robot = appell.load(tmp_path / "two.toml")
    back = appell.load(robot.save(tmp_path / "two.xml"))
    assert {name: list(q) for name, q in back.configurations.items()} == {"folded": [2.5, 0.0], "straight": [0.0, 0.1]}
