"""The regressor: the inverse dynamics is linear in the parameters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.model.model import Model
from appell.model.parameters import parameters
from appell.recursion import gibbs, regressor
from tests.support.evaluation import agree
from tests.support.kinds import random_states, regressor_forces
from tests.support.pool import ALL, LONG, OF_EACH_KIND, pool

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


def test_there_are_four_more_parameters_per_velocity_with_friction(tree, rng):
    robot = appell.load(tree(rng, 4, has_friction=True))
    assert robot.parameters.shape == (10 * len(robot.link_names) + 4 * robot.nv,)


@pytest.mark.parametrize("name", [name for name in OF_EACH_KIND if name != LONG])
def test_the_base_regressor_times_the_base_parameters_is_tau(name):
    robot = pool(name)
    q, v, a, _ = random_states(robot, 6)
    out = np.full((len(q), *robot.regressor(q[0], v[0], a[0], base=True).shape), np.nan)
    agree(robot.regressor(q, v, a, base=True, out=out) @ robot.base_parameters, regressor_forces(robot, q, v, a), 1e-10)
    pi, whole = robot.parameters * np.linspace(0.5, 2.0, len(robot.parameters)), robot.regressor(q, v, a)
    agree(out @ (robot.base_matrix @ pi), whole @ pi, 1e-10)
    assert len(robot.base_parameters) == np.linalg.matrix_rank(robot.base_matrix) < len(pi)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ALL if name not in OF_EACH_KIND])
def test_the_base_regressor_of_others_times_the_base_parameters_is_tau(name):
    test_the_base_regressor_times_the_base_parameters_is_tau(name)


@pytest.mark.parametrize("name", ["screws", "wrist"])
def test_the_columns_of_the_base_regressor_are_independent_in_both_precisions(name):
    robot = pool(name)
    states = random_states(robot, 3 * len(robot.parameters))[:3]
    rows = robot.regressor(*states, base=True)
    single = robot.regressor(*(x.astype(np.float32) for x in states), base=True)
    assert single.dtype == np.float32
    agree(single, rows, 1e-4)
    stack = rows.reshape(-1, rows.shape[-1])
    assert np.linalg.matrix_rank(stack / np.linalg.norm(stack, axis=0), tol=1e-6) == rows.shape[-1]


def test_the_base_regressor_of_many_bodies_is_some_columns_of_the_regressor():
    robot = appell.random_chain(85, np.random.default_rng(0))
    q, v, a = 0.1 * np.random.default_rng(1).normal(size=(3, 2, robot.nv))
    kept = (3, 40, 841)
    found = robot._call("base_regressor", (q, v, a), {}, kept)  # which columns are a base's takes long to find
    np.testing.assert_array_equal(found, robot.regressor(q, v, a)[..., kept])


def test_base_is_true_or_false(tree, rng):
    robot = appell.load(tree(rng, 2))
    zeros = [0.0] * robot.nv
    with pytest.raises(appell.AppellError, match="base must be True or False, got 'yes'"):
        robot.regressor(robot.neutral(), zeros, zeros, base="yes")  # type: ignore[arg-type]
