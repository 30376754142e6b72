"""Energy: its forms, its gradients, and the power that changes it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import appell
from appell.model.model import Model
from appell.recursion import articulated, energy, gibbs, inertia_matrix
from appell.recursion.joint_forces import joint_forces
from tests.support.closed import linkages
from tests.support.evaluation import agree, slope
from tests.support.kinds import apply, dissipation, motor_speeds, random_states

MODELS = st.from_type(Model)


def total_energy(model, q, v):
    return energy.kinetic_energy(model, q, v) + energy.potential_energy(model, q)


def energy_rate(differentiate, model, q, v, a):
    return differentiate(total_energy, model, q, v, by=0) @ v + differentiate(total_energy, model, q, v, by=1) @ a


@given(model=MODELS)
def test_kinetic_energy_is_half_v_times_m_times_v(model, state, evaluate):
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
    dissipated = np.array(joint_forces(model.without("stiffness"), q, v, 0.0 * a)) @ v
    size = np.abs(tau) @ np.abs(v)
    assert abs(tau @ v - dissipated - energy_rate(differentiate, model, q, v, a)) <= 1e-12 * size


@given(model=MODELS)
def test_energy_is_constant_without_friction_and_joint_forces(model, state, evaluate, differentiate):
    model = model.without_friction()
    q, v, _ = state(model)
    a = evaluate(articulated.forward_dynamics, model, q, v, np.zeros(model.nv))
    size = np.abs(evaluate(gibbs.bias, model, q, v)) @ np.abs(v)
    assert abs(energy_rate(differentiate, model, q, v, a)) <= 1e-10 * size


# Native code


def native_energy_rate(robot, q, v, a):
    """Return d(T + V)/dt at the start of a motion with velocities v and accelerations a."""

    def total(s):
        there = robot.integrate(q, s * v)
        return robot.kinetic_energy(there, v + s * a) + robot.potential_energy(there)

    return slope(total)


def largest_power(robot, q, v, a):
    return (np.abs(robot.generalised_forces(q, v, a)) * np.abs(v)).sum(axis=-1).max()


def test_kinetic_energy_is_half_the_mass_matrix_between_velocities(robot, states):
    q, v = states.q, states.v
    agree(robot.kinetic_energy(q, v), 0.5 * (v * apply(robot.mass_matrix(q), v)).sum(axis=-1), 1e-13)


def test_native_gravity_is_the_gradient_of_native_potential_energy(robot, states):
    q = states.q[:, None, :]
    gradient = slope(lambda s: robot.potential_energy(robot.integrate(q, s * np.eye(robot.nv))))
    agree(robot.gravity(states.q), gradient, 1e-9, size=np.abs(robot.potential_energy(states.q)).max())


def test_power_of_the_forces_is_the_rate_of_energy_and_what_friction_takes(robot, states):
    q, v, a, _ = states
    power = (v * robot.generalised_forces(q, v, a)).sum(axis=-1)
    rate = native_energy_rate(robot, q, v, a)
    agree(power - dissipation(robot, q, v), rate, 1e-9, size=largest_power(robot, q, v, a))


def check_power_of_the_actuators(robot, states):
    q, v, _, tau = states
    a = robot.forward_dynamics(q, v, tau)
    power = (motor_speeds(robot, q, v) * tau).sum(axis=-1)
    rate = native_energy_rate(robot, q, v, a)
    agree(power - dissipation(robot, q, v), rate, 1e-8, size=largest_power(robot, q, v, a))


def test_power_of_the_actuators_is_the_rate_of_energy_and_what_friction_takes(robot, states):
    check_power_of_the_actuators(robot, states)


@given(model=linkages())
@settings(max_examples=8)
def test_power_of_the_actuators_balances_in_random_linkages_and_wheels(model):
    robot = appell.load(model)
    check_power_of_the_actuators(robot, random_states(robot, 6))
