"""Poses and Jacobians: the Jacobian is the derivative of the pose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.model.model import WORLD, Frame, Model
from appell.recursion import kinematics
from tests.support.evaluation import agree, slope
from tests.support.kinds import apply

MODELS = st.from_type(Model)


def tip_pose(model, q):
    return kinematics.pose(model, q, "tip")


def tip_jacobian(model, q):
    return kinematics.jacobian(model, q, "tip")


def axial(spin):
    """Return ω of ω~ = Ṙ Rᵀ."""
    return np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)


@given(model=MODELS)
def test_the_linear_jacobian_is_the_derivative_of_the_position(model, state, evaluate, differentiate):
    q, _, _ = state(model)
    found = differentiate(tip_pose, model, q, by=0)[:3, 3]
    np.testing.assert_allclose(evaluate(tip_jacobian, model, q)[:3], found, atol=1e-12)


@given(model=MODELS)
def test_the_angular_jacobian_is_the_derivative_of_the_rotation(model, state, evaluate, differentiate):
    q, _, _ = state(model)
    change = np.moveaxis(differentiate(tip_pose, model, q, by=0)[:3, :3], -1, 0)
    spin = change @ evaluate(tip_pose, model, q)[:3, :3].T
    np.testing.assert_allclose(evaluate(tip_jacobian, model, q)[3:], axial(spin).T, atol=1e-12)


@given(model=MODELS)
def test_the_rotation_of_a_pose_is_one(model, state, evaluate):
    q, _, _ = state(model)
    rotation = evaluate(tip_pose, model, q)[:3, :3]
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)


def test_a_frame_of_the_world_does_not_move(tree, rng):
    model = tree(rng, 3)
    shelf = Frame("shelf", WORLD, model.frames[-1].placement)
    robot = appell.load(replace(model, frames=(*model.frames, shelf)))
    assert not robot.jacobian([0.3, 0.2, 0.1], "shelf").any()


# Native code


def test_the_jacobian_of_a_frame_is_the_difference_of_its_poses(robot, states):
    frame = robot.link_names[-1]
    q = states.q[:, None, :]
    change = slope(lambda s: robot.pose(robot.integrate(q, s * np.eye(robot.nv)), frame))
    rotation = robot.pose(q, frame)[..., :3, :3]
    turned = axial(change[..., :3, :3] @ np.swapaxes(rotation, -1, -2))
    expected = np.swapaxes(np.concatenate([change[..., :3, 3], turned], axis=-1), -1, -2)
    agree(robot.jacobian(states.q, frame), expected, 1e-9)


def test_a_frames_velocity_is_its_jacobian_times_v(robot, states):
    q, v = states.q, states.v
    frame = robot.link_names[-1]
    agree(robot.velocity(q, v, frame), apply(robot.jacobian(q, frame), v), 1e-12)


def test_a_frames_acceleration_is_the_rate_of_its_velocity(robot, states):
    q, v, a, _ = states
    frame = robot.link_names[-1]
    rate = slope(lambda s: robot.velocity(robot.integrate(q, s * v), v + s * a, frame))
    agree(robot.acceleration(q, v, a, frame), rate, 1e-8)
