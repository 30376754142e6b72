"""Simulation of robots with loops: closed to rounding, energy kept, through singularities of the motors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import simpson

import appell


@pytest.fixture(scope="module")
def five_bar():
    return appell.load("five-bar")


def test_a_released_five_bar_stays_closed_and_keeps_its_energy(five_bar):
    """It falls through configurations where its motors do not determine the motion, in other coordinates there."""
    run = appell.simulate(five_bar, five_bar.neutral(), np.zeros(2), 3.0, rtol=1e-10, atol=1e-11)
    assert not run.ended_early
    assert np.abs(five_bar.closure_error(run.q)).max() < 1e-13
    kinetic = five_bar.kinetic_energy(run.q, run.v)
    assert np.ptp(run.energy) < 1e-8 * kinetic.max()
    assert five_bar.condition(run.q).max() > 50.0  # it did pass near one


def test_velocities_between_steps_are_the_robots_own(five_bar):
    run = appell.simulate(five_bar, five_bar.neutral(), np.zeros(2), 2.0, rtol=1e-10, atol=1e-11)
    at = run.t[1:-1]
    q, v = run.at(at)
    np.testing.assert_allclose(q, run.q[1:-1], atol=1e-7)
    np.testing.assert_allclose(v, run.v[1:-1], atol=1e-5)


def test_adaptive_and_rk4_agree_on_a_stewart_platform():
    robot = appell.load("stewart")
    push = 1.2 * robot.inverse_dynamics(robot.neutral(), np.zeros(6), np.zeros(6))
    fine = appell.simulate(robot, robot.neutral(), np.zeros(6), 0.05, control=push)
    plain = appell.simulate(robot, robot.neutral(), np.zeros(6), 0.05, control=push, method="rk4", step=0.0025)
    np.testing.assert_allclose(fine.q[-1], plain.q[-1], atol=1e-9)


def test_a_falling_stewart_platform_is_caught_by_computed_torque():
    """Motors off for a tenth of a second, then computed torque back to the start; the motors' work is the energy."""
    robot: Any = appell.load("stewart")
    home = robot.neutral()

    def law(q, v):
        return robot.inverse_dynamics(q, v, 100.0 * robot.difference(q, home) - 20.0 * v)

    falling = appell.simulate(robot, home, np.zeros(6), 0.1)
    assert np.abs(falling.q[-1] - home).max() > 0.04
    run = appell.simulate(robot, falling.q[-1], falling.v[-1], 5.0, control=lambda t, q, v: law(q, v))
    assert np.abs(robot.closure_error(run.q)).max() < 1e-13
    np.testing.assert_allclose(run.q[-1], home, atol=1e-10)
    times = np.linspace(0.0, 5.0, 10_001)
    q, v = run.at(times)
    work = simpson(np.sum(law(q, v) * v, axis=-1), x=times)
    assert run.energy[-1] - run.energy[0] == pytest.approx(work, abs=1e-8)


def test_a_point_of_a_five_bar_strikes_a_wall(five_bar):
    tip = five_bar.frame_names[-1]
    start = five_bar.pose(five_bar.neutral(), tip)[:3, 3]
    floor = appell.walls.Plane((0.0, start[1] - 0.02, 0.0), (0.0, 1.0, 0.0))
    run = appell.simulate(five_bar, five_bar.neutral(), np.zeros(2), 0.2, walls=[floor], points=[tip], restitution=0.5)
    impact = run.impacts[0]
    assert impact.departure[0] == pytest.approx(0.5 * impact.approach[0], rel=1e-9)
    assert impact.energy_after < impact.energy_before


def test_the_symplectic_method_keeps_loops_closed_and_energy_to_second_order(five_bar):
    errors = []
    for step in (2e-3, 1e-3):
        run = appell.simulate(five_bar, five_bar.neutral(), np.zeros(2), 0.1, method="symplectic", step=step)
        assert np.abs(five_bar.closure_error(run.q)).max() < 1e-13
        errors.append(np.ptp(run.energy) / five_bar.kinetic_energy(run.q, run.v).max())
    assert errors[1] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


def test_the_symplectic_method_is_not_for_wheels():
    robot = appell.load("mobile-arm")
    with pytest.raises(appell.InputError, match="'mobile-arm' are not rates of coordinates \\(rolling wheels"):
        appell.simulate(robot, robot.neutral(), np.zeros(robot.nv), 0.1, method="symplectic", step=0.01)


@pytest.mark.parametrize("joint", ["mot1", "free1"])
def test_joints_of_a_loop_stop_at_their_limits(joint, five_bar):
    """A motor's joint and a passive one: neither passes the limit, and the first arrives at once."""
    free = appell.simulate(five_bar, five_bar.neutral(), np.zeros(2), 0.1)
    k = five_bar.places("q")[joint][0]
    start, end = free.q[[0, -1], k]
    bound = 0.5 * (start + end)
    limits = {"upper": bound} if end > start else {"lower": bound}
    bodies = [
        replace(b, joint=replace(b.joint, limits=replace(b.joint.limits, **limits))) if b.joint.name == joint else b
        for b in five_bar.model.bodies
    ]
    robot = five_bar.with_model(replace(five_bar.model, bodies=tuple(bodies)))
    run = appell.simulate(robot, robot.neutral(), np.zeros(2), 0.1, limits=True, restitution=0.3)
    assert run.impacts[0].points[0] == joint
    assert (np.sign(end - start) * (run.q[:, k] - bound)).max() < 1e-9
    assert np.abs(robot.closure_error(run.q)).max() < 1e-13


@pytest.mark.filterwarnings("ignore:robot 'agile-wrist'. nearly singular")  # at the edge of the workspace
def test_a_closed_form_keeps_its_energy_and_says_when_it_leaves_the_workspace():
    robot = appell.load("agile-wrist")
    run = appell.simulate(robot, [0.1, 0.2, -0.1], [0.5, -0.4, 0.3], 0.05)
    assert np.ptp(run.energy) < 1e-9 * abs(run.energy).max() + 1e-12
    with pytest.warns(appell.AppellWarning, match="leg"):
        run = appell.simulate(robot, [0.1, 0.2, -0.1], [9.0, -9.0, 9.0], 3.0)
    assert len(run.t) > 1
