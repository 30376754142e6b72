"""Robots made of Pinocchio's models have Pinocchio's numbers, in Pinocchio's own coordinates."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import appell
from appell import interop
from appell.errors import InputError
from appell.model.model import WORLD
from appell.recursion.kinematics import world_poses
from appell.spatial.pose import Pose

pin = pytest.importorskip("pinocchio")

SAMPLES = 4
WITHIN = 1e-10
ROBOTS = [
    "ur_description/urdf/ur5_robot.urdf",
    "panda_description/urdf/panda.urdf",
    "kinova_description/robots/kinova.urdf",  # continuous joints
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "tiago_description/robots/tiago.urdf",  # wheels that turn without end
    "solo_description/robots/solo12.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "go2_description/urdf/go2.urdf",
    "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "romeo_description/urdf/romeo.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "baxter_description/urdf/baxter.urdf",
    "icub_description/robots/icub.urdf",
]


def full(upper):
    return np.triu(upper) + np.triu(upper, 1).T


def quietly(make, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", appell.AppellWarning)  # of inertias that no body has: real files do it
        return make(*arguments, **options)


def states(model, robot, convention):
    """Return states in Pinocchio's coordinates, and the same ones in ours."""
    rng = np.random.default_rng(5)
    pin.seed(3)
    large = np.full(model.nq, 2.0)
    q = np.array([pin.randomConfiguration(model, -large, large) for _ in range(SAMPLES)])
    v, a = rng.normal(size=(2, SAMPLES, model.nv))
    ours = convention.from_q(q), convention.from_v(q, v), convention.from_a(q, v, a)
    return SimpleNamespace(q=q, v=v, a=a, ours=ours)


def check(model, robot, ask, agree):
    """Compare inverse dynamics, mass matrix, forward dynamics and every frame in some random states."""
    convention, data = interop.pinocchio(robot, model), model.createData()
    there = states(model, robot, convention)
    q, v, a = there.ours
    theirs = zip(there.q, there.v, there.a, strict=True)
    tau = np.array([pin.rnea(model, data, *sample) for sample in theirs])
    agree(convention.tau(q, ask(robot, "inverse_dynamics", q, v, a)), tau, WITHIN)
    M = np.array([full(pin.crba(model, data, x)) for x in there.q])
    T = convention.matrix(q)
    agree(T @ ask(robot, "mass_matrix", q) @ T.swapaxes(1, 2), M, WITHIN)
    well = np.linalg.cond(M) < 1e5
    if not model.mimicking_joints and well.any():
        found = ask(robot, "forward_dynamics", q, v, convention.from_tau(there.q, tau))
        agree(convention.a(q, v, found)[well], there.a[well], 1e-8)
    pin.framesForwardKinematics(model, data, there.q[0])
    for name in {frame.name for frame in model.frames}:
        chosen = model.getBodyId(name) if model.existBodyName(name) else model.getFrameId(name)
        agree(place(robot.model, q[0], name), data.oMf[chosen].homogeneous, WITHIN, size=1.0)


def place(model, q, frame):
    """Return a frame's pose, without compiling one kernel per frame."""
    own, followers = model.frame_index[frame], model.bodies
    whole = np.concatenate([coordinates(model, body.joint, q) for body in followers])
    above = world_poses(model.tree, tuple(whole))[own.body] if own.body != WORLD else Pose()
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = (above.then(own.placement).rotation, above.then(own.placement).position)
    return result


def coordinates(model, joint, q):
    mimic = joint.mimic if model.is_coupled else None
    names = [body.joint.name for body in model.independent.bodies]
    at = model.independent.q_slices[names.index(mimic.joint if mimic else joint.name)]
    return mimic.multiplier * q[at] + mimic.offset if mimic else q[at]


@pytest.mark.parametrize("free", [False, True], ids=["fixed", "free"])
@pytest.mark.parametrize("file", ROBOTS, ids=lambda file: file.split("/")[-1].removesuffix(".urdf"))
def test_a_model_of_a_file_has_pinocchios_numbers(file, free, robots, ask, agree):
    base = (pin.JointModelFreeFlyer(),) if free else ()
    model = pin.buildModelFromUrdf(str(robots / file), *base)
    check(model, quietly(interop.from_pinocchio, model, losses=False), ask, agree)


@pytest.mark.parametrize("file", ["panda_description/urdf/panda.urdf"])
def test_mimic_joints_stay_bound(file, robots, ask, agree):
    model = pin.buildModelFromUrdf(str(robots / file), True)
    robot = quietly(interop.from_pinocchio, model, losses=False)
    assert robot.nv == model.nv < len(robot.link_names)
    check(model, robot, ask, agree)


def composite():
    joint = pin.JointModelComposite(pin.JointModelRX(), pin.SE3.Random())
    joint.addJoint(pin.JointModelRUBY(), pin.SE3.Random())
    joint.addJoint(pin.JointModelPZ(), pin.SE3.Random())
    return joint


def continuous():
    """Return a continuous joint about an oblique axis: a class of Pinocchio's that has no attribute axis."""
    links, ends = '<link name="a"/><link name="b"/>', '<parent link="a"/><child link="b"/><axis xyz="0 0.6 0.8"/>'
    text = f'<robot name="r">{links}<joint name="j" type="continuous">{ends}</joint></robot>'
    return pin.buildModelFromXML(text).joints[1]


AXIS = np.array([0.0, 0.6, 0.8])
JOINTS = {
    "continuous": continuous,
    **{f"{way}{axis}": getattr(pin, f"JointModel{way}{axis}") for way in ("R", "P", "RUB") for axis in "XYZ"},
    **{f"H{axis}": (lambda axis=axis: getattr(pin, f"JointModelH{axis}")(0.3)) for axis in "XYZ"},
    "revolute": lambda: pin.JointModelRevoluteUnaligned(AXIS),
    "prismatic": lambda: pin.JointModelPrismaticUnaligned(AXIS),
    "helical": lambda: pin.JointModelHelicalUnaligned(AXIS, 0.2),
    "spherical": pin.JointModelSpherical,
    "spherical zyx": pin.JointModelSphericalZYX,
    "translation": pin.JointModelTranslation,
    "planar": pin.JointModelPlanar,
    "free flyer": pin.JointModelFreeFlyer,
    "universal": lambda: pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), AXIS),
    "composite": composite,
}
TURNING = {
    "free flyer": lambda v: np.hstack([np.cross(v[:, 3:], v[:, :3]), 0.0 * v[:, 3:]]),
    "planar": lambda v: np.stack([-v[:, 2] * v[:, 1], v[:, 2] * v[:, 0], 0.0 * v[:, 2]], axis=1),
}
"""Joints whose linear velocities turn with the child, and ω × v."""


def chain(*joints, armature=0.0):
    """Return a model of joints in a row with random placements and inertias, the last on the first's side branch."""
    pin.seed(7)
    model = pin.Model()
    model.name = "row"
    for k, joint in enumerate(joints):
        i = model.addJoint(k if k < 2 else 1, joint, pin.SE3.Random(), f"joint{k}")
        model.appendBodyToJoint(i, pin.Inertia.FromEllipsoid(1.0 + k, 0.1, 0.2, 0.4), pin.SE3.Random())
        model.addBodyFrame(f"shell{k}", i, pin.SE3.Random(), model.nframes - 1)
    model.armature = np.full(model.nv, armature)
    return model


@pytest.mark.parametrize("kind", JOINTS)
def test_every_kind_of_joint_has_pinocchios_numbers(kind, ask, agree):
    model = chain(pin.JointModelRZ(), JOINTS[kind](), pin.JointModelRUBX(), armature=0.3)
    if kind in TURNING:
        model.armature[1:-1] = 0.0
    check(model, interop.from_pinocchio(model), ask, agree)


@pytest.mark.parametrize("kind", TURNING)
def test_rotors_of_joints_that_turn_with_their_axes_have_the_term_that_pinocchio_leaves_out(kind, agree):
    model = chain(JOINTS[kind](), armature=0.3)
    with pytest.warns(appell.AppellWarning, match=r"joint 'joint0' has rotor inertia .* armature to zero there"):
        robot = interop.from_pinocchio(model)
    convention, data = interop.pinocchio(robot, model), model.createData()
    there = states(model, robot, convention)
    q, v, a = there.ours
    theirs = np.array([pin.rnea(model, data, *sample) for sample in zip(there.q, there.v, there.a, strict=True)])
    theirs += 0.3 * TURNING[kind](v)
    agree(robot.inverse_dynamics(q, v, a), theirs, WITHIN)
    agree(robot.forward_dynamics(q, v, theirs), a, WITHIN)


def test_gravity_is_the_models(agree):
    model = chain(pin.JointModelRZ(), pin.JointModelRX())
    model.gravity.linear = np.array([1.0, -2.0, 3.0])
    q = np.array([0.3, -0.4])
    theirs = pin.computeGeneralizedGravity(model, model.createData(), q)
    agree(interop.from_pinocchio(model).gravity(q), theirs, WITHIN)


def test_losses_and_limits_are_the_models():
    model = chain(pin.JointModelRZ(), pin.JointModelPX(), armature=0.1)
    model.damping, model.upperDryFrictionLimit = np.array([0.2, 0.3]), np.array([0.4, 0.5])
    model.lowerPositionLimit, model.upperPositionLimit = np.array([-1.0, -2.0]), np.array([3.0, 4.0])
    joint = interop.from_pinocchio(model).model.bodies[1].joint
    assert (joint.armature, joint.damping, joint.friction) == (0.1, 0.3, 0.5)
    assert (joint.limits.lower, joint.limits.upper) == (-2.0, 4.0)
    assert interop.from_pinocchio(model, losses=False).model.bodies[1].joint.damping == 0.0


def test_a_robot_of_the_file_is_the_robot_of_the_model(robots, agree):
    path = robots / "ur_description" / "urdf" / "ur5_robot.urdf"
    model, robot = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()), appell.load(path, floating=True)
    there = interop.pinocchio(robot, model)  # the base is 'root' here and 'root_joint' there
    agree(there.q(robot.neutral()), pin.neutral(model), WITHIN)


@pytest.mark.parametrize(
    ("joint", "told"),
    [
        (lambda: pin.JointModelEllipsoid(0.1, 0.2, 0.3), "joint 'joint0' of type JointModelEllipsoid"),
        (pin.JointModelSpherical, "joint 'joint0' has another armature per velocity"),
    ],
)
def test_what_has_no_equal_is_told_by_name(joint, told):
    model = chain(joint())
    model.armature = np.arange(float(model.nv))
    with pytest.raises(InputError, match=told):
        interop.from_pinocchio(model)


def test_another_robots_model_is_told(robots):
    model = chain(pin.JointModelRZ())
    with pytest.raises(InputError, match="pinocchio: the given joints lack 'joint1', 'joint2'"):
        interop.pinocchio(appell.load("two-link"), model)
    with pytest.raises(InputError, match=r"expected a pinocchio\.Model, got str"):
        interop.from_pinocchio("robot.urdf")


def test_other_coordinates_are_told():
    robot = interop.from_pinocchio(chain(pin.JointModelRZ()))
    with pytest.raises(InputError, match="joint 'joint0' has 2 coordinates there, but 1 as a revolute joint"):
        interop.pinocchio(robot, chain(pin.JointModelRUBZ()))
