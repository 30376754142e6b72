"""The Coriolis matrix: its product with v, and Ṁ − 2C skew."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.model.model import Model
from appell.recursion import coriolis, gibbs, inertia_matrix
from tests.support.evaluation import agree, slope
from tests.support.kinds import apply

MODELS = st.from_type(Model)


def size(matrix, v):
    """Return what the entries of C are made of, even where they cancel."""
    return np.abs(matrix).max() * np.abs(v).max()


@given(model=MODELS)
def test_c_times_v_is_bias_less_gravity(model, state, evaluate):
    model = model.without_friction()
    q, v, _ = state(model)
    forces = evaluate(gibbs.bias, model, q, v) - evaluate(gibbs.gravity, model, q)
    product = evaluate(coriolis.coriolis_matrix, model, q, v) @ v
    largest = size(evaluate(inertia_matrix.mass_matrix_composite, model, q), v) * np.abs(v).max()
    np.testing.assert_allclose(product, forces, rtol=0, atol=1e-12 * largest)


@given(model=MODELS)
def test_the_rate_of_m_less_twice_c_is_skew(model, state, evaluate, differentiate):
    q, v, _ = state(model)
    rate = differentiate(inertia_matrix.mass_matrix_composite, model, q, by=0) @ v
    skew = rate - 2.0 * evaluate(coriolis.coriolis_matrix, model, q, v)
    largest = size(evaluate(inertia_matrix.mass_matrix_composite, model, q), v)
    np.testing.assert_allclose(skew + skew.T, 0.0, atol=1e-12 * largest)


def test_native_code_keeps_the_rate_of_m_less_twice_c_skew_to_rounding(state, differentiate):
    robot = appell.load("puma560")
    q, v, _ = state(robot)
    rate = differentiate(inertia_matrix.mass_matrix_composite, robot.model, q, by=0) @ v
    skew = rate - 2.0 * robot.coriolis_matrix(q, v)
    np.testing.assert_allclose(skew + skew.T, 0.0, atol=1e-13 * size(robot.mass_matrix(q), v))


# Native code


def test_the_change_of_the_mass_matrix_less_twice_coriolis_is_skew(robot, states):
    q, v = states.q, states.v
    rate = slope(lambda s: robot.mass_matrix(robot.integrate(q, s * v)))
    matrix = robot.coriolis_matrix(q, v)
    agree(matrix + np.swapaxes(matrix, -1, -2), rate, 1e-8, size=size(robot.mass_matrix(q), v))


def test_c_times_v_is_the_part_of_the_bias_that_is_quadratic_in_v(robot, states):
    # damping and friction are odd in v
    q, v = states.q, states.v
    even = 0.5 * (robot.bias(q, v) + robot.bias(q, -v)) - robot.gravity(q)
    agree(apply(robot.coriolis_matrix(q, v), v), even, 1e-11, size=size(robot.mass_matrix(q), v) * np.abs(v).max())
