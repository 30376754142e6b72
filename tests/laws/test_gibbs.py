"""The Gibbs function S: its gradient is the inverse dynamics, its Hessian the inertia matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appell.model.model import Model
from appell.recursion import gibbs, inertia_matrix, lagrange, mass_centres, mixed, newton_euler, vector_form
from tests.support.evaluation import agree
from tests.support.kinds import apply

MODELS = st.from_type(Model)
FORMULATIONS = {
    "tensors": gibbs.inverse_dynamics,
    "vectors": vector_form.inverse_dynamics,
    "vectors, merged": vector_form.inverse_dynamics_merged,
    "mixed": mixed.inverse_dynamics,
    "Newton and Euler": newton_euler.inverse_dynamics,
    "mass centres": mass_centres.inverse_dynamics,
    "Lagrange": lagrange.inverse_dynamics,
}
MATRICES = {
    "gibbs": inertia_matrix.mass_matrix_gibbs,
    "mixed": mixed.mass_matrix,
    "composite": inertia_matrix.mass_matrix_composite,
    "Lagrange": lagrange.mass_matrix,
}


@pytest.mark.parametrize("formulation", FORMULATIONS)
@given(model=MODELS)
def test_inverse_dynamics_is_the_gradient_of_the_gibbs_function(formulation, model, state, evaluate, differentiate):
    q, v, a = state(model)
    gradient = differentiate(gibbs.gibbs, model, q, v, a, by=2)
    agree(evaluate(FORMULATIONS[formulation], model, q, v, a), gradient, 1e-12)


@pytest.mark.parametrize("formulation", MATRICES)
@given(model=MODELS)
def test_the_inertia_matrix_is_the_hessian_of_the_gibbs_function(formulation, model, state, evaluate, differentiate):
    q, v, a = state(model)
    hessian = differentiate(gibbs.inverse_dynamics, model, q, v, a, by=2)
    agree(evaluate(MATRICES[formulation], model, q), hessian, 1e-12)


@given(model=MODELS)
def test_the_inertia_matrix_is_positive_definite(model, state, evaluate):
    q, _, _ = state(model, 20)
    assert (np.linalg.eigvalsh(evaluate(inertia_matrix.mass_matrix_composite, model, q)) > 0.0).all()


@given(model=MODELS)
def test_bias_is_the_gradient_of_the_gibbs_function_without_acceleration(model, state, evaluate, differentiate):
    q, v, a = state(model)
    agree(evaluate(gibbs.bias, model, q, v), differentiate(gibbs.gibbs, model, q, v, 0.0 * a, by=2), 1e-12)


# Native code


def test_forces_are_the_gradient_of_the_gibbs_function(robot, states):
    # S is quadratic in a, so that its central difference of any width is its gradient
    q, v, a = (x[:, None, :] for x in states[:3])
    ahead, behind = (robot.gibbs(q, v, a + s * np.eye(robot.nv)) for s in (1.0, -1.0))
    agree(robot.generalised_forces(*states[:3]), (ahead - behind) / 2.0, 1e-11, size=np.abs(ahead).max())


def test_generalised_forces_are_mass_times_acceleration_and_bias(robot, states):
    q, v, a, _ = states
    terms = apply(robot.mass_matrix(q), a), robot.bias(q, v)
    agree(robot.generalised_forces(q, v, a), sum(terms), 1e-11, size=max(np.abs(x).max() for x in terms))


def test_the_mass_matrix_is_the_hessian_of_the_gibbs_function(robot, states):
    q, v, a = (x[:, None, None, :] for x in states[:3])
    e = np.eye(robot.nv)
    near, far = (
        robot.gibbs(q, v, a + e[:, None] + s * e) - robot.gibbs(q, v, a - e[:, None] + s * e) for s in (1.0, -1.0)
    )
    agree(robot.mass_matrix(states.q), (near - far) / 4.0, 1e-11, size=np.abs(near).max())


def test_the_mass_matrix_is_symmetric_and_positive_definite(robot, states):
    matrix = robot.mass_matrix(states.q)
    agree(np.swapaxes(matrix, -1, -2), matrix, 1e-14)
    assert (np.linalg.eigvalsh(matrix) > 0.0).all()
