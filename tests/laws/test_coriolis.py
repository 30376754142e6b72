"""The Coriolis matrix: its product with v, and Ṁ − 2C skew."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.model.model import Model
from appell.recursion import coriolis, gibbs, inertia_matrix

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


def test_native_code_keeps_the_rate_of_m_less_twice_c_skew(state, differentiate):
    robot = appell.load("puma560")
    q, v, _ = state(robot)
    rate = differentiate(inertia_matrix.mass_matrix_composite, robot.model, q, by=0) @ v
    skew = rate - 2.0 * robot.coriolis_matrix(q, v)
    np.testing.assert_allclose(skew + skew.T, 0.0, atol=1e-13 * size(robot.mass_matrix(q), v))
