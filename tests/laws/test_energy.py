"""Energy: its forms, its gradients, and the power that changes it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from appell.model.model import Model
from appell.recursion import articulated, energy, gibbs, inertia_matrix
from appell.recursion.joint_forces import joint_forces

MODELS = st.from_type(Model)


def total_energy(model, q, v):
    return energy.kinetic_energy(model, q, v) + energy.potential_energy(model, q)


def energy_rate(differentiate, model, q, v, a):
    return differentiate(total_energy, model, q, v, by=0) @ v + differentiate(total_energy, model, q, v, by=1) @ a


@given(model=MODELS)
def test_kinetic_energy_is_half_v_times_m_times_v(model, state, evaluate, agree):
    q, v, _ = state(model)
    matrix = evaluate(inertia_matrix.mass_matrix_composite, model, q)
    agree(evaluate(energy.kinetic_energy, model, q, v), 0.5 * v @ matrix @ v, 1e-13)


@given(model=MODELS)
def test_gravity_is_the_gradient_of_potential_energy(model, state, evaluate, differentiate):
    q, _, _ = state(model)
    gradient = differentiate(energy.potential_energy, model, q, by=0)
    weight = sum(body.inertia.mass for body in model.bodies) * np.linalg.norm(model.gravity)
    np.testing.assert_allclose(evaluate(gibbs.gravity, model, q), gradient, rtol=1e-12, atol=1e-13 * weight)


@given(model=MODELS)
def test_power_of_the_joint_forces_is_the_rate_of_energy(model, state, evaluate, differentiate):
    model = model.without_friction()
    q, v, a = state(model)
    tau = evaluate(gibbs.inverse_dynamics, model, q, v, a)
    size = np.abs(tau) @ np.abs(v)
    assert abs(energy_rate(differentiate, model, q, v, a) - tau @ v) <= 1e-12 * size


@given(model=MODELS)
def test_friction_takes_what_the_joint_forces_give_beyond_the_rate_of_energy(model, state, evaluate, differentiate):
    q, v, a = state(model)
    tau = evaluate(gibbs.inverse_dynamics, model, q, v, a)
    dissipated = np.array(joint_forces(model, v, 0.0 * a)) @ v
    size = np.abs(tau) @ np.abs(v)
    assert abs(tau @ v - dissipated - energy_rate(differentiate, model, q, v, a)) <= 1e-12 * size


@given(model=MODELS)
def test_energy_is_constant_without_friction_and_joint_forces(model, state, evaluate, differentiate):
    model = model.without_friction()
    q, v, _ = state(model)
    a = evaluate(articulated.forward_dynamics, model, q, v, np.zeros(model.nv))
    size = np.abs(evaluate(gibbs.bias, model, q, v)) @ np.abs(v)
    assert abs(energy_rate(differentiate, model, q, v, a)) <= 1e-10 * size
