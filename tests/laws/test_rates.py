"""The field of the equations of motion: its rates are how integrate() moves q, its accelerations forward dynamics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.model.joints import KINDS
from appell.model.mimic import coupled
from appell.model.model import Mimic
from appell.recursion.rates import coordinate_rates

SHAPE = [("free", 0), ("revolute", 0), ("ball", 0), ("prismatic", 2), ("planar", 1)]
"""A floating tree in which v is not q̇ thrice."""


@pytest.mark.parametrize("kind", KINDS)
def test_rates_are_the_derivative_of_integrate(kind, rng, tree, evaluate, agree):
    robot = appell.load(tree(rng, [(kind, 0)]))
    q, v = robot.random(rng, 5), rng.normal(size=(5, robot.nv))
    h = 1e-3
    # the central difference of fourth order: its error, h⁴/30 of a fifth derivative, is below the tolerance
    steps = {k: robot.integrate(q, k * h * v) for k in (-2, -1, 1, 2)}
    quotient = (8.0 * (steps[1] - steps[-1]) - (steps[2] - steps[-2])) / (12.0 * h)
    agree(evaluate(coordinate_rates, robot.model, q, v), quotient, 1e-10)


def test_motion_is_rates_and_forward_dynamics(rng, tree, evaluate, agree):
    robot = appell.load(tree(rng, SHAPE, has_friction=True))
    q, (v, tau) = robot.random(rng, 9), rng.normal(size=(2, 9, robot.nv))
    rate, a = robot.evaluate("motion", q, v, tau)
    agree(rate, evaluate(coordinate_rates, robot.model, q, v), 1e-14)
    agree(a, robot.forward_dynamics(q, v, tau), 1e-12)


def test_motion_of_one_state_takes_the_short_way_to_the_same_numbers(rng, tree):
    robot = appell.load(tree(rng, SHAPE))
    q, (v, tau) = robot.random(rng, 3), rng.normal(size=(2, 3, robot.nv))
    rates, a = robot.evaluate("motion", q, v, tau)
    one = robot.evaluate("motion", q[1], v[1], tau[1])
    assert np.array_equal(one[0], rates[1])
    assert np.array_equal(one[1], a[1])


def test_motion_does_not_feel_the_length_of_a_quaternion(rng, tree, agree):
    robot = appell.load(tree(rng, [("free", 0), ("revolute", 0)]))
    q, (v, tau) = robot.random(rng, 4), rng.normal(size=(2, 4, robot.nv))
    long = q * np.where((np.arange(robot.nq) >= 3) & (np.arange(robot.nq) < 7), 1.5, 1.0)
    (rate, a), (scaled, same) = (robot.evaluate("motion", x, v, tau) for x in (q, long))
    agree(same, a, 1e-12)
    agree(scaled[:, :3], rate[:, :3], 1e-14)
    agree(scaled[:, 3:7], 1.5 * rate[:, 3:7], 1e-14)  # ½ q ⊗ (ω, 0) is linear in q


def test_motion_of_a_coupled_robot_is_in_its_own_coordinates(rng, tree, agree):
    model = tree(rng, [("ball", 0), ("revolute", 0), ("revolute", 1)])
    last = model.bodies[2]
    follower = replace(last, joint=replace(last.joint, mimic=Mimic("joint1", -0.5, 0.2)))
    robot = appell.load(coupled(replace(model, bodies=(*model.bodies[:2], follower))))
    q, (v, tau) = robot.random(rng, 4), rng.normal(size=(2, 4, robot.nv))
    rate, a = robot.evaluate("motion", q, v, tau)
    assert rate.shape == (4, 5)
    agree(rate[:, 4], v[:, 3])
    agree(a, robot.forward_dynamics(q, v, tau), 1e-12)


def test_motion_of_a_long_robot(rng, agree):
    model = appell.random_chain(90, rng).model.floating()
    base, *links = model.bodies
    heavy = replace(base, inertia=links[0].inertia)  # without it the base and the first joint move nothing alone
    robot = appell.load(replace(model, bodies=(heavy, *links)))
    q, (v, tau) = robot.random(rng, 2), rng.normal(size=(2, 2, robot.nv))
    rate, a = robot.evaluate("motion", q, v, tau)
    agree(a, robot.forward_dynamics(q, v, tau))
    agree(rate[:, 7:], v[:, 6:])
