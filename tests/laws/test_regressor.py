"""The regressor: the inverse dynamics is linear in the parameters."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.model.model import Model
from appell.model.parameters import parameters
from appell.recursion import gibbs, regressor
from tests.support.evaluation import agree
from tests.support.kinds import regressor_forces

MODELS = st.from_type(Model)


@given(model=MODELS)
def test_y_times_pi_is_tau(model, state, evaluate):
    q, v, a = state(model)
    product = evaluate(regressor.regressor, model, q, v, a) @ np.array(parameters(model))
    agree(product, evaluate(gibbs.inverse_dynamics, model, q, v, a), 1e-12)


def test_native_y_times_pi_is_native_tau(robot, states):
    q, v, a, _ = states
    agree(robot.regressor(q, v, a) @ robot.parameters, regressor_forces(robot, q, v, a), 1e-11)


def test_there_are_ten_parameters_a_body_without_friction(tree, rng):
    robot = appell.load(tree(rng, 4))
    assert robot.parameters.shape == (10 * len(robot.link_names),)


def test_there_are_three_more_parameters_a_joint_with_friction(tree, rng):
    robot = appell.load(tree(rng, 4, has_friction=True))
    assert robot.parameters.shape == (10 * len(robot.link_names) + 4 * robot.nv,)
