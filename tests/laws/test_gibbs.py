"""The Gibbs function S: its gradient is the inverse dynamics, its Hessian the inertia matrix."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from appell.model.model import Model
from appell.recursion import gibbs, inertia_matrix, newton_euler, vector_form

MODELS = st.from_type(Model)


@given(model=MODELS)
def test_inverse_dynamics_is_the_gradient_of_the_gibbs_function(model, state, evaluate, differentiate, agree):
    q, v, a = state(model)
    gradient = differentiate(gibbs.gibbs, model, q, v, a, by=2)
    agree(evaluate(gibbs.inverse_dynamics, model, q, v, a), gradient, 1e-12)


@given(model=MODELS)
def test_the_vector_form_is_the_gradient_of_the_gibbs_function(model, state, evaluate, differentiate, agree):
    q, v, a = state(model)
    gradient = differentiate(gibbs.gibbs, model, q, v, a, by=2)
    agree(evaluate(vector_form.inverse_dynamics, model, q, v, a), gradient, 1e-12)


@given(model=MODELS)
def test_newton_and_euler_find_the_gradient_of_the_gibbs_function(model, state, evaluate, differentiate, agree):
    q, v, a = state(model)
    gradient = differentiate(gibbs.gibbs, model, q, v, a, by=2)
    agree(evaluate(newton_euler.inverse_dynamics, model, q, v, a), gradient, 1e-12)


@given(model=MODELS)
def test_the_gibbs_inertia_matrix_is_the_hessian_of_the_gibbs_function(model, state, evaluate, differentiate, agree):
    q, v, a = state(model)
    hessian = differentiate(gibbs.inverse_dynamics, model, q, v, a, by=2)
    agree(evaluate(inertia_matrix.mass_matrix_gibbs, model, q), hessian, 1e-12)


@given(model=MODELS)
def test_the_composite_inertia_matrix_is_the_hessian_of_the_gibbs_function(
    model, state, evaluate, differentiate, agree
):
    q, v, a = state(model)
    hessian = differentiate(gibbs.inverse_dynamics, model, q, v, a, by=2)
    agree(evaluate(inertia_matrix.mass_matrix_composite, model, q), hessian, 1e-12)


@given(model=MODELS)
def test_the_inertia_matrix_is_positive_definite(model, state, evaluate):
    q, _, _ = state(model, 20)
    assert (np.linalg.eigvalsh(evaluate(inertia_matrix.mass_matrix_composite, model, q)) > 0.0).all()


@given(model=MODELS)
def test_bias_is_the_gradient_of_the_gibbs_function_without_acceleration(model, state, evaluate, differentiate, agree):
    q, v, a = state(model)
    agree(evaluate(gibbs.bias, model, q, v), differentiate(gibbs.gibbs, model, q, v, 0.0 * a, by=2), 1e-12)
