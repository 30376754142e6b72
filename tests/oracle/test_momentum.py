"""Mass centre, momentum, frame motion and external wrenches against Pinocchio, on a floating humanoid and an arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import appell

pin = pytest.importorskip("pinocchio", reason="the peer 'pin' is not installed")

CASES = {
    "arm": ("ur_description/urdf/ur5_robot.urdf", False, "ee_link"),
    "dog": ("solo_description/robots/solo12.urdf", True, "FL_FOOT"),
}


@pytest.fixture(scope="module", params=CASES)
def pair(request: pytest.FixtureRequest, robots: Path) -> Any:
    """Return our robot, Pinocchio's model, indices from its order to ours, a frame and one state."""
    file, floating, frame = CASES[request.param]
    path = str(robots / file)
    robot = appell.load(path, floating=floating, friction=False, armature=False)
    model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(path)
    rng = np.random.default_rng(7)
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    perm: list[int] = []
    pq, at = pin.neutral(model), 0
    for name in robot.joint_names:
        joint = model.joints[model.getJointId("root_joint" if name == "root" else name)]
        pq[joint.idx_q : joint.idx_q + joint.nq] = q[at : at + joint.nq]
        perm += range(joint.idx_v, joint.idx_v + joint.nv)
        at += joint.nq
    back = np.argsort(perm)
    return robot, model, perm, frame, (q, v, a), (pq, v[back], a[back])


def test_mass_centre_and_momentum_are_pinocchios(pair: Any) -> None:
    """Centroidal momentum and its matrix, in world axes."""
    robot, model, perm, _, (q, v, _), (pq, pv, _) = pair
    data = model.createData()
    matrix = pin.computeCentroidalMap(model, data, pq)[:, perm]
    expected = pin.computeCentroidalMomentum(model, data, pq, pv).vector
    np.testing.assert_allclose(robot.centre_of_mass(q), pin.centerOfMass(model, data, pq), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(robot.momentum_matrix(q), matrix, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(robot.momentum(q, v), expected, rtol=1e-10, atol=1e-12)
    assert robot.total_mass == pytest.approx(pin.computeTotalMass(model), rel=1e-12)


def test_frame_motion_is_pinocchios(pair: Any) -> None:
    """Velocity and classical acceleration, world aligned."""
    robot, model, _, frame, (q, v, a), (pq, pv, pa) = pair
    data = model.createData()
    pin.forwardKinematics(model, data, pq, pv, pa)
    axes = pin.LOCAL_WORLD_ALIGNED
    index = model.getFrameId(frame)
    velocity = pin.getFrameVelocity(model, data, index, axes).vector
    acceleration = pin.getFrameClassicalAcceleration(model, data, index, axes).vector
    np.testing.assert_allclose(robot.velocity(q, v, frame), velocity, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(robot.acceleration(q, v, a, frame), acceleration, rtol=1e-10, atol=1e-10)


def test_wrenches_act_as_the_transposed_jacobian(pair: Any) -> None:
    """Inverse dynamics under a wrench is Pinocchio's with Jᵀw taken off, and forward dynamics undoes it."""
    robot, model, perm, frame, (q, v, a), (pq, pv, pa) = pair
    data = model.createData()
    wrench = np.random.default_rng(1).normal(size=6)
    pin.computeJointJacobians(model, data, pq)
    pin.updateFramePlacements(model, data)
    jacobian = pin.getFrameJacobian(model, data, model.getFrameId(frame), pin.LOCAL_WORLD_ALIGNED)
    expected = (pin.rnea(model, data, pq, pv, pa) - jacobian.T @ wrench)[perm]
    tau = robot.inverse_dynamics(q, v, a, wrenches={frame: wrench})
    np.testing.assert_allclose(tau, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau, wrenches={frame: wrench}), a, rtol=1e-8, atol=1e-8)


def test_a_wrench_on_an_unknown_frame_names_the_frames(pair: Any) -> None:
    """One clear error."""
    robot, _, _, _, (q, v, a), _ = pair
    with pytest.raises(appell.InputError, match="has no frame 'elbow'"):
        robot.inverse_dynamics(q, v, a, wrenches={"elbow": np.zeros(6)})
