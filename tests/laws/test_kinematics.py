"""Poses and Jacobians: the Jacobian is the derivative of the pose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.model.model import WORLD, Frame, Model
from appell.recursion import kinematics

MODELS = st.from_type(Model)


def tip_pose(model, q):
    return kinematics.pose(model, q, "tip")


def tip_jacobian(model, q):
    return kinematics.jacobian(model, q, "tip")


@given(model=MODELS)
def test_the_linear_jacobian_is_the_derivative_of_the_position(model, state, evaluate, differentiate):
    q, _, _ = state(model)
    slope = differentiate(tip_pose, model, q, by=0)[:3, 3]
    np.testing.assert_allclose(evaluate(tip_jacobian, model, q)[:3], slope, atol=1e-12)


@given(model=MODELS)
def test_the_angular_jacobian_is_the_derivative_of_the_rotation(model, state, evaluate, differentiate):
    q, _, _ = state(model)
    slope = np.moveaxis(differentiate(tip_pose, model, q, by=0)[:3, :3], -1, 0)
    spin = slope @ evaluate(tip_pose, model, q)[:3, :3].T  # Ṙ Rᵀ = ω~
    axial = np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]])
    np.testing.assert_allclose(evaluate(tip_jacobian, model, q)[3:], axial, atol=1e-12)


@given(model=MODELS)
def test_the_rotation_of_a_pose_is_one(model, state, evaluate):
    q, _, _ = state(model)
    rotation = evaluate(tip_pose, model, q)[:3, :3]
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-12)


def test_native_poses_and_jacobians_are_the_recursions(tree, rng, state, evaluate):
    robot = appell.Robot(tree(rng, 6))
    q, _, _ = state(robot, 11)
    np.testing.assert_allclose(robot.pose(q, "tip"), evaluate(tip_pose, robot.model, q), atol=1e-13)
    np.testing.assert_allclose(robot.jacobian(q, "tip"), evaluate(tip_jacobian, robot.model, q), atol=1e-13)


def test_a_frame_of_the_world_does_not_move(tree, rng):
    model = tree(rng, 3)
    shelf = Frame("shelf", WORLD, model.frames[-1].placement)
    robot = appell.Robot(replace(model, frames=(*model.frames, shelf)))
    assert not robot.jacobian([0.3, 0.2, 0.1], "shelf").any()
