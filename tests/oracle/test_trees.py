"""Random robots against Pinocchio: trees of every joint kind, followers, general chains and long ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import appell
from appell.recursion import gibbs, inertia_matrix
from tests.support.kinds import following, random_states
from tests.support.pool import COUPLED, DRAWINGS, pool
from tests.support.robots import coupled_drawings, drawings


@given(drawing=drawings())
def test_inverse_dynamics_of_random_trees_is_pinocchios(drawing, state, evaluate, peer, agree):
    q, v, a = state(drawing.model)
    other = peer(drawing)
    agree(evaluate(gibbs.inverse_dynamics, drawing.model, q, v, a), other.torque(q, v, a) + other.loss(v, a), 1e-12)


@given(drawing=drawings())
def test_mass_matrix_of_random_trees_is_pinocchios(drawing, state, evaluate, peer, agree):
    q, _, _ = state(drawing.model)
    other = peer(drawing)
    expected = other.mass_matrix(q) + np.diag(other.armature)
    agree(evaluate(inertia_matrix.mass_matrix_gibbs, drawing.model, q), expected, 1e-12)


@pytest.mark.parametrize("name", DRAWINGS)
def test_native_dynamics_of_trees_of_every_joint_kind_is_pinocchios(name, peer, agree):
    robot, other = pool(name), peer(DRAWINGS[name]())
    q, v, a, _ = random_states(robot, 10)
    expected = [other.torque(*sample) + other.loss(*sample[1:]) for sample in zip(q, v, a, strict=True)]
    agree(robot.inverse_dynamics(q, v, a), expected, 1e-12)
    agree(robot.mass_matrix(q), [other.mass_matrix(x) + np.diag(other.armature) for x in q], 1e-12)


def check_followers(robot, drawing, other, agree):
    """Check a robot with followers against the numbers of its tree in Pinocchio: Gᵀτ and GᵀMG."""
    q, v, a, _ = random_states(robot, 5)
    D, d, G = following(drawing.model)
    whole = q @ D.T + d
    motions = list(zip(whole, v @ G.T, a @ G.T, strict=True))
    agree(robot.inverse_dynamics(q, v, a), [G.T @ (other.torque(*x) + other.loss(*x[1:])) for x in motions], 1e-12)
    matrices = [G.T @ (other.mass_matrix(x) + np.diag(other.armature)) @ G for x in whole]
    agree(robot.mass_matrix(q), matrices, 1e-12)


@pytest.mark.parametrize("name", COUPLED)
def test_native_dynamics_of_followers_is_pinocchios_reduced_by_g(name, peer, agree):
    check_followers(pool(name), COUPLED[name](), peer(COUPLED[name]()), agree)


@given(drawing=coupled_drawings(most=4))
@settings(max_examples=8)
def test_native_dynamics_of_random_followers_is_pinocchios_reduced_by_g(drawing, peer, agree):
    check_followers(appell.load(drawing.coupled), drawing, peer(drawing), agree)


@pytest.mark.parametrize("n", [1, 2, 10, 30])
def test_native_inverse_dynamics_of_chains_is_pinocchios(n, rng, state, peer, agree):
    robot = appell.random_chain(n, rng)
    q, v, a = state(robot, 20)
    other = peer(robot.model)
    agree(robot.inverse_dynamics(q, v, a), [other.torque(*sample) for sample in zip(q, v, a, strict=True)], 1e-11)


def test_a_chain_of_a_hundred_joints_compiles_and_has_pinocchios_torques(rng, state, peer, agree):
    robot = appell.random_chain(100, rng)
    q, v, a = state(robot, 20)
    other = peer(robot.model)
    agree(robot.inverse_dynamics(q, v, a), [other.torque(*sample) for sample in zip(q, v, a, strict=True)])


def test_native_forward_dynamics_of_a_chain_gives_pinocchios_torques_back(rng, state, peer, agree):
    robot = appell.random_chain(10, rng)
    q, v, a = state(robot, 20)
    other = peer(robot.model)
    tau = np.array([other.torque(*sample) for sample in zip(q, v, a, strict=True)])
    agree(robot.forward_dynamics(q, v, tau), a, 1e-9)
