"""Random robots against Pinocchio: general chains, long ones, and trees with special geometry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.model.model import Model
from appell.recursion import gibbs, inertia_matrix


@given(model=st.from_type(Model))
def test_inverse_dynamics_of_random_trees_is_pinocchios(model, state, evaluate, peer, agree):
    model = model.without_friction()
    q, v, a = state(model)
    agree(evaluate(gibbs.inverse_dynamics, model, q, v, a), peer(model).torque(q, v, a), 1e-12)


@given(model=st.from_type(Model))
def test_mass_matrix_of_random_trees_is_pinocchios(model, state, evaluate, peer, agree):
    model = model.without_friction()
    q, _, _ = state(model)
    agree(evaluate(inertia_matrix.mass_matrix_gibbs, model, q), peer(model).mass_matrix(q), 1e-12)


@pytest.mark.parametrize("n", [1, 2, 10, 30])
def test_native_inverse_dynamics_of_chains_is_pinocchios(n, rng, state, peer, agree):
    robot = appell.chain(n, rng)
    q, v, a = state(robot, 20)
    other = peer(robot.model)
    agree(robot.inverse_dynamics(q, v, a), [other.torque(*sample) for sample in zip(q, v, a, strict=True)], 1e-11)


def test_a_chain_of_a_hundred_joints_compiles_and_has_pinocchios_torques(rng, state, peer, agree):
    robot = appell.chain(100, rng)
    q, v, a = state(robot, 20)
    other = peer(robot.model)
    agree(robot.inverse_dynamics(q, v, a), [other.torque(*sample) for sample in zip(q, v, a, strict=True)])


def test_native_forward_dynamics_of_a_chain_gives_pinocchios_torques_back(rng, state, peer, agree):
    robot = appell.chain(10, rng)
    q, v, a = state(robot, 20)
    other = peer(robot.model)
    tau = np.array([other.torque(*sample) for sample in zip(q, v, a, strict=True)])
    agree(robot.forward_dynamics(q, v, tau), a, 1e-9)
