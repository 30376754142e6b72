"""The virtual work of enferadi2010 on a star-triangle of general shape."""

from __future__ import annotations

import math

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.loops.spherical.chains import chains_of
from appell.loops.spherical.kind import Spherical
from appell.loops.spherical.sst import StarTriangle
from appell.robot.robot import Robot
from tests.support.robots import random_inertia


@pytest.fixture(scope="module")
def star() -> Robot:
    """Return a star-triangle of general shape and inertias, with gravity."""
    rng = np.random.default_rng(2010)
    bodies = [random_inertia(rng) for _ in range(7)]
    corners = ((1.0, 0.1, 0.0), (-0.1, 1.0, 0.2), (0.0, -0.1, 1.0))
    first, second = (bodies[0], bodies[1], bodies[2]), (bodies[3], bodies[4], bodies[5])
    shape = StarTriangle(corners, (2.0, 2.2, 2.0 * math.pi - 4.2), first, second, bodies[6])
    return Robot(Spherical(shape.mechanism(gravity=(1.0, -2.0, -9.0))))


def test_virtual_work_gives_the_torques_of_the_gibbs_function(star, rng, agree):
    state = star.random(rng, 20), rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    found = star.inverse_dynamics(*state, formulation="virtual-work")
    agree(found, star.inverse_dynamics(*state, formulation="closed-form"), 1e-12)
    closed = appell.load(chains_of(star.kind.mechanism))
    tree = star.tree_configuration(state[0])
    moving, speeding = star.tree_velocity(*state[:2]), star.tree_acceleration(*state)
    agree(found, closed.inverse_dynamics(tree, closed.reduced(tree, moving), closed.reduced(tree, speeding)), 1e-9)


def test_a_wrench_on_the_star_is_felt_by_virtual_work(star, rng, agree):
    state = star.random(rng, 5), rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    load = {"platform": rng.normal(size=(5, 6))}
    one, other = (star.inverse_dynamics(*state, wrenches=load, formulation=x) for x in ("virtual-work", "closed-form"))
    agree(one, other, 1e-12)


def test_the_matrices_of_virtual_work_are_those_of_the_motion(star, rng, agree):
    """J γ̇ + K ω = 0 (25), J γ̈ + K ω̇ + M γ̇ + N = 0 (37), and the link Jacobians give the links' velocities."""
    q, v, a = star.random(rng, 8), rng.normal(size=(8, 3)), rng.normal(size=(8, 3))
    J, K, M, N, J_a, J_ipl = star.evaluate("virtual_work_matrices", q, v)
    omega, alpha = star.velocity(q, v, "platform")[:, 3:], star.acceleration(q, v, a, "platform")[:, 3:]
    moving, speeding = star.tree_velocity(q, v), star.tree_acceleration(q, v, a)
    gamma, gamma2 = (x[:, star.facts.actuated] for x in (moving, speeding))

    def product(m, x):
        return np.einsum("...ij,...j->...i", m, x)

    agree(product(J, gamma), -product(K, omega), 1e-12)
    agree(product(J, gamma2), -product(K, alpha) - product(M, gamma) - N, 1e-11)
    for k in range(3):
        for jacobian, name in ((J_a, f"leg{k + 1}_link1"), (J_ipl, f"leg{k + 1}_link2")):
            turning = np.swapaxes(star.pose(q, name)[:, :3, :3], -1, -2)
            agree(product(jacobian[:, k], omega), product(turning, star.velocity(q, v, name)[:, 3:]), 1e-12)


def test_virtual_work_is_of_right_angled_legs_alone():
    wrist = appell.load("agile-wrist")
    with pytest.raises(InputError, match="no formulation 'virtual-work' for robot 'agile-wrist'"):
        wrist.inverse_dynamics(wrist.neutral(), np.zeros(3), np.zeros(3), formulation="virtual-work")
    with pytest.raises(InputError, match="no verb 'virtual_work_matrices'"):
        wrist.evaluate("virtual_work_matrices", wrist.neutral(), np.zeros(3))
