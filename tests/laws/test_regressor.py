"""The regressor: the inverse dynamics is linear in the parameters."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.model.model import Model
from appell.recursion import gibbs, regressor

MODELS = st.from_type(Model)


@given(model=MODELS)
def test_y_times_pi_is_tau(model, state, evaluate, agree):
    q, v, a = state(model)
    product = evaluate(regressor.regressor, model, q, v, a) @ np.array(regressor.parameters(model))
    agree(product, evaluate(gibbs.inverse_dynamics, model, q, v, a), 1e-12)


def test_native_y_times_pi_is_native_tau_with_friction(tree, rng, state, agree):
    robot = appell.Robot(tree(rng, 4, has_friction=True))
    q, v, a = state(robot, 50)
    agree(robot.regressor(q, v, a) @ robot.parameters, robot.inverse_dynamics(q, v, a), 1e-12)


def test_native_y_times_pi_is_native_tau_without_friction(tree, rng, state, agree):
    robot = appell.Robot(tree(rng, 4))
    q, v, a = state(robot, 50)
    agree(robot.regressor(q, v, a) @ robot.parameters, robot.inverse_dynamics(q, v, a), 1e-12)


def test_there_are_ten_parameters_a_body_without_friction(tree, rng):
    robot = appell.Robot(tree(rng, 4))
    assert robot.parameters.shape == (10 * len(robot.link_names),)


def test_there_are_three_more_parameters_a_joint_with_friction(tree, rng):
    robot = appell.Robot(tree(rng, 4, has_friction=True))
    assert robot.parameters.shape == (10 * len(robot.link_names) + 3 * robot.nv,)
