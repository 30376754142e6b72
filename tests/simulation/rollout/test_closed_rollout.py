"""Rollouts of closed robots: the robot's own field, step by step, and back to closed loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import appell
from appell.errors import AppellWarning

Array = NDArray[Any]


def by_hand(robot: Any, q: Array, v: Array, tau: Array, dt: float) -> tuple[Array, Array]:
    """Return the states after each step of Runge and Kutta's, closed by the robot's own projection."""
    for row in tau:
        rates = [robot.evaluate("motion", q, v, row)]
        for ahead in (0.5, 0.5, 1.0):
            rate, a = rates[-1]
            rates.append(robot.evaluate("motion", q + ahead * dt * rate, v + ahead * dt * a, row))
        weights = dt * np.array([1.0, 2.0, 2.0, 1.0]) / 6.0
        q = q + sum(w * rate for w, (rate, _) in zip(weights, rates, strict=True))
        v = v + sum(w * a for w, (_, a) in zip(weights, rates, strict=True))
        q = robot.project(q)
    return q, v


@pytest.mark.parametrize("name", ["five-bar", "mobile-arm", "rssr"])
def test_a_rollout_is_the_steps_of_its_field_projected(name, closed, rng, agree):
    robot = closed(name)
    q, v = robot.random(rng, 3), 0.3 * rng.normal(size=(3, robot.nv))
    tau = rng.normal(size=(3, 20, len(robot.actuators)))
    run = appell.rollout(robot, q, v, tau, 1e-3)
    assert robot.closure_error(run.q).max() < 1e-12
    for k in range(3):
        there = by_hand(robot, q[k], v[k], tau[k], 1e-3)
        agree(run.q[k, -1], there[0], within=1e-9)
        agree(run.v[k, -1], there[1], within=1e-9)


def test_a_closed_robot_keeps_its_energy(agree):
    robot = appell.load("five-bar").with_independent(["mot1", "free1"])
    q, v = robot.neutral(), np.zeros(2)
    run = appell.rollout(robot, q, v, None, 2e-4, steps=500, save_every=100)
    energy = robot.kinetic_energy(run.q, run.v) + robot.potential_energy(run.q)
    agree(energy, np.full(len(energy), energy[0]), within=1e-9, size=float(robot.kinetic_energy(run.q, run.v).max()))


def test_the_first_order_method_converges_to_the_fourth_order_one(agree):
    robot = appell.load("five-bar")
    q, v = robot.neutral(), np.zeros(2)
    best = appell.rollout(robot, q, v, None, 1e-3, steps=50).q[-1]
    errors = [
        np.abs(appell.rollout(robot, q, v, None, 0.05 / n, steps=n, method="euler").q[-1] - best).max()
        for n in (100, 200)
    ]
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.1)


def test_a_rollout_through_a_singularity_is_said():
    # let go, the five-bar stretches its distal rods at step 174, where its motors no longer say how it moves
    robot = appell.load("five-bar")
    tau = np.stack([np.zeros(2), robot.gravity(robot.neutral())])
    with pytest.warns(
        AppellWarning, match=r"1 of 2 robots 'five-bar' have reached a singularity .*before stored state 18"
    ):
        appell.rollout(robot, robot.neutral(), np.zeros(2), tau[:, None], 1e-3, steps=200, save_every=10)


@pytest.mark.parametrize("name", ["five-bar", "stewart", "mobile-arm", "agile-wrist"])
def test_robots_with_other_parameters_roll_as_robots_made_of_them(name, rng, agree):
    robot = appell.load(name)
    pi = robot.parameters * np.array([[1.0], [1.3]])
    q, v = robot.random(rng, 2), 0.1 * rng.normal(size=(2, robot.nv))
    run = appell.rollout(robot, q, v, np.ones(robot.nu), 1e-3, steps=10, parameters=pi)
    plain = appell.rollout(robot, q[0], v[0], np.ones(robot.nu), 1e-3, steps=10)
    # forces and inertias 1.3 times as large move the robot alike
    scaled = appell.rollout(robot, q[1], v[1], np.ones(robot.nu) / 1.3, 1e-3, steps=10)
    agree(run.q[0], plain.q, within=1e-10)
    agree(run.q[1], scaled.q, within=1e-10)
