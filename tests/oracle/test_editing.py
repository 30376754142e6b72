"""Edits of robots against Pinocchio's: reduced models, appended models, other inertias, reference configurations."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appell
from appell.cli.compare import random_states

pin = pytest.importorskip("pinocchio")

ARM, HUMANOID = "panda_description/urdf/panda.urdf", "talos_data/robots/talos_reduced.urdf"
LOCKED = {
    ARM: {"panda_joint3": 0.4, "panda_joint6": 1.2, "panda_finger_joint1": 0.03},
    HUMANOID: {"leg_left_4_joint": 0.8, "arm_right_2_joint": -0.5, "torso_1_joint": 0.2, "head_2_joint": 0.1},
}
FRAMES = {ARM: "panda_hand", HUMANOID: "gripper_left_base_link"}
STATES = [  # file, SRDF, whether it floats
    ("talos_data/robots/talos_reduced.urdf", "talos_data/srdf/talos.srdf", True),
    ("go2_description/urdf/go2.urdf", "go2_description/srdf/go2.srdf", True),
    ("go2_description/urdf/go2.urdf", "go2_description/srdf/go2.srdf", False),
    ("panda_description/urdf/panda.urdf", "panda_description/srdf/panda.srdf", False),
    ("kinova_description/robots/kinova.urdf", "kinova_description/srdf/kinova.srdf", False),
    ("xarm_description/urdf/xarm7.urdf", "xarm_description/srdf/xarm7.srdf", False),
]
POSE = appell.planning.goal.pose([0.1, -0.2, 0.3], [0.4, 0.5, 0.6], "xyz")


@pytest.fixture(params=[ARM, HUMANOID], ids=["arm", "humanoid"])
def both(request: pytest.FixtureRequest, robots: Path) -> tuple[str, appell.Robot, Any]:
    """Return a robot without friction, and Pinocchio's model of it."""
    floats = request.param == HUMANOID
    robot = appell.load(robots / request.param, floating=floats, friction=False, armature=False)
    root = [pin.JointModelFreeFlyer()] if floats else []
    return request.param, robot, pin.buildModelFromUrdf(str(robots / request.param), *root)


def agree(robot: appell.Robot, model: Any) -> None:
    """Assert equal torques, mass matrices and poses of all frames in random states."""
    states = random_states(pin, model, robot, 3, np.random.default_rng(2018))
    order = states.order
    tau = states.peer(pin.rnea, "q", "v", "a")[:, order]
    np.testing.assert_allclose(states.result("inverse_dynamics"), tau, rtol=1e-9, atol=1e-10 * np.abs(tau).max())
    mass = states.peer(pin.crba, "q")
    mass = np.triu(mass) + np.swapaxes(np.triu(mass, 1), 1, 2)
    np.testing.assert_allclose(
        states.result("mass_matrix"), mass[:, order][:, :, order], rtol=1e-9, atol=1e-10 * np.abs(mass).max()
    )
    data, shared = model.createData(), [frame.name for frame in model.frames if frame.name in robot.frame_names]
    pin.framesForwardKinematics(model, data, states.theirs["q"][0])
    assert len(shared) > len(robot.joint_names)
    for name in itertools.islice(shared, 0, None, 5):
        found = states.result("pose", name)[0]
        np.testing.assert_allclose(found, data.oMf[model.getFrameId(name)].homogeneous, atol=1e-10, err_msg=name)


def test_locked_is_buildReducedModel(both):  # noqa: N802 (Pinocchio's own name)
    file, robot, model = both
    q = pin.neutral(model)
    for name, value in LOCKED[file].items():
        q[model.joints[model.getJointId(name)].idx_q] = value
    reduced = pin.buildReducedModel(model, [model.getJointId(name) for name in LOCKED[file]], q)
    ours = robot.locked(LOCKED[file])
    assert ours.nv == reduced.nv
    agree(ours, reduced)


def test_attached_is_appendModel(both, robots):  # noqa: N802 (Pinocchio's own name)
    file, robot, model = both
    place = robots / "kinova_description/robots/kinova.urdf"
    tool = pin.buildModelFromUrdf(str(place))
    appended = pin.appendModel(model, tool, model.getFrameId(FRAMES[file]), pin.SE3(POSE))
    ours = robot.attached(appell.load(place, friction=False, armature=False), FRAMES[file], POSE)
    assert ours.nv == appended.nv
    agree(ours, appended)


def test_payload_adds_to_the_inertia_of_its_joint(both):
    file, robot, model = both
    frame = model.frames[model.getFrameId(FRAMES[file])]
    centre, tensor = np.array([0.02, 0.03, 0.1]), np.diag([0.02, 0.03, 0.04])
    payload = pin.Inertia(3.0, centre, tensor)
    joint = frame.parentJoint
    model.inertias[joint] = model.inertias[joint] + frame.placement.act(payload)
    agree(robot.with_payload(FRAMES[file], 3.0, centre, tensor), model)


@pytest.mark.parametrize("case", STATES, ids=lambda case: Path(case[1]).stem)
def test_configurations_are_loadReferenceConfigurations(case, robots):  # noqa: N802 (Pinocchio's own name)
    file, srdf, floats = case
    model = pin.buildModelFromUrdf(str(robots / file), *([pin.JointModelFreeFlyer()] if floats else []))
    pin.loadReferenceConfigurations(model, str(robots / srdf), False)
    robot = appell.load(robots / file, floating=floats, srdf=robots / srdf)
    theirs = {entry.key(): np.array(entry.data()) for entry in model.referenceConfigurations}
    assert theirs
    assert robot.configurations.keys() == theirs.keys()
    there = appell.interop.pinocchio(robot, model)
    for name, q in robot.configurations.items():
        np.testing.assert_allclose(q, there.from_q(theirs[name]), atol=1e-12)
