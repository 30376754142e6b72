"""Robots with followers, loops or wheels move as their trees do, at the velocities that follow from their own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import appell
from tests.support.evaluation import agree, slope
from tests.support.kinds import following, random_states, tree_of
from tests.support.pool import COUPLED, pool
from tests.support.robots import coupled_drawings

SAMPLES = 6


def test_tree_velocities_are_the_rates_of_the_tree_along_a_motion(reduced):
    q, v, _, _ = random_states(reduced, SAMPLES)
    tree = tree_of(reduced)
    whole = reduced.tree_configuration(q)
    rate = slope(lambda s: tree.difference(whole, reduced.tree_configuration(reduced.integrate(q, s * v))))
    agree(reduced.tree_velocity(q, v), rate, 1e-9)


def test_tree_accelerations_are_the_rates_of_tree_velocities(reduced):
    q, v, a, _ = random_states(reduced, SAMPLES)
    rate = slope(lambda s: reduced.tree_velocity(reduced.integrate(q, s * v), v + s * a))
    agree(reduced.tree_acceleration(q, v, a), rate, 1e-8)


def test_energies_and_the_gibbs_function_are_those_of_the_tree(reduced):
    q, v, a, _ = random_states(reduced, SAMPLES)
    tree = tree_of(reduced)
    motion = reduced.tree_configuration(q), reduced.tree_velocity(q, v), reduced.tree_acceleration(q, v, a)
    agree(reduced.kinetic_energy(q, v), tree.kinetic_energy(*motion[:2]), 1e-12)
    agree(reduced.potential_energy(q), tree.potential_energy(motion[0]), 1e-12)
    agree(reduced.gibbs(q, v, a), tree.gibbs(*motion), 1e-12)


def test_loops_stay_closed_along_a_motion(closed_robot):
    q, v, _, _ = random_states(closed_robot, SAMPLES)
    assert (closed_robot.closure_error(q) < 1e-9).all()
    assert (closed_robot.closure_error(closed_robot.integrate(q, 0.05 * v)) < 1e-12).all()


def test_virtual_power_of_the_tree_is_that_of_the_robot(reduced):
    # τ·w = τ_tree·w_tree for any velocities w
    q, v, a, _ = random_states(reduced, SAMPLES)
    tree = tree_of(reduced)
    motion = reduced.tree_configuration(q), reduced.tree_velocity(q, v), reduced.tree_acceleration(q, v, a)
    w = np.random.default_rng(5).normal(size=v.shape)
    loads = tree.inverse_dynamics(*motion)
    virtual = reduced.tree_velocity(q, w)
    ours = (w * reduced.generalised_forces(q, v, a)).sum(axis=-1)
    agree(ours, (loads * virtual).sum(axis=-1), 1e-11, size=(np.abs(loads) * np.abs(virtual)).sum(axis=-1).max())


@pytest.fixture(scope="session", params=COUPLED)
def coupled_robot(request):
    return pool(request.param)


def test_followers_move_as_the_equations_of_their_file_say(coupled_robot):
    q, v, a, _ = random_states(coupled_robot, SAMPLES)
    D, d, G = following(coupled_robot.model)
    agree(coupled_robot.tree_configuration(q), q @ D.T + d, 1e-15)
    agree(coupled_robot.tree_velocity(q, v), v @ G.T, 1e-15)
    agree(coupled_robot.tree_acceleration(q, v, a), a @ G.T, 1e-15)


@given(drawing=coupled_drawings(most=4))
@settings(max_examples=8)
def test_the_kinetic_energy_of_a_robot_with_random_followers_is_that_of_its_tree(drawing):
    robot = appell.load(drawing.coupled)
    q, v, _, _ = random_states(robot, SAMPLES)
    assert robot.nv < drawing.model.nv
    D, d, G = following(robot.model)
    whole = tree_of(robot).kinetic_energy(q @ D.T + d, v @ G.T)
    agree(robot.kinetic_energy(q, v), whole, 1e-12)
