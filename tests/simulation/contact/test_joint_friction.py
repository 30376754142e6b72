"""Coulomb friction of joints: sticking, slipping, and what holds at rest, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import appell

G = 9.81
METHODS = [{}, {"method": "radau", "rtol": 1e-9}, {"method": "rk4", "step": 5e-3}]


def slider(friction, static=0.0, gravity=(0.0, 0.0, 0.0), **others):
    """Return a mass of 2 kg that slides along x."""
    rod = {"kind": "prismatic", "mass": 2.0, "friction": friction, "static_friction": static, **others}
    return appell.from_dh([rod], gravity=gravity, modified=False)


@pytest.fixture(scope="module")
def light():
    rod = {"mass": 1e-3, "centre": [0.05, 0.0, 0.0], "inertia": [0.0, 1e-6, 1e-6], "friction": 1.0}
    return appell.from_dh([{"a": 0.0, **rod}, {"a": 0.1, **rod}], gravity=(0.0, 0.0, -G))


@pytest.mark.parametrize("options", METHODS)
def test_a_joint_held_by_friction_does_not_move_at_all(light, options):
    run = appell.simulate(light, [0.1, 0.2], [0.0, 0.0], 1.0, control=[0.5, -0.2], **options)
    assert run.t[-1] == 1.0
    assert not run.v.any()
    assert (run.q == [0.1, 0.2]).all()


@pytest.mark.parametrize("options", METHODS)
def test_a_slider_stops_where_its_energy_is_spent(options):
    run = appell.simulate(slider(3.0), [0.0], [1.5], 2.0, **options)
    np.testing.assert_allclose(run.q[-1], 2.0 * 1.5**2 / (2.0 * 3.0), rtol=1e-9)
    assert run.v[-1] == 0.0
    assert np.diff(run.energy).max() <= 1e-12


def test_joints_stop_one_after_the_other_and_friction_only_takes(light):
    run = appell.simulate(light, [0.1, 0.2], [3.0, -5.0], 0.1)
    assert not run.ended_early
    assert (run.v[-1] == 0.0).all()
    assert np.diff(run.energy).max() <= 1e-12


@pytest.mark.parametrize(("torque", "moves"), [(2.999999, False), (3.000001, True), (-3.000001, True)])
def test_a_joint_moves_from_its_bound_on(torque, moves):
    run = appell.simulate(slider(3.0), [0.0], [0.0], 0.5, control=[torque])
    assert bool(run.v.any()) is moves
    if moves:
        np.testing.assert_allclose(run.q[-1], [0.5 * (torque - math.copysign(3.0, torque)) / 2.0 * 0.25], rtol=1e-6)


def test_a_joint_breaks_away_when_a_growing_force_reaches_its_static_friction():
    run = appell.simulate(slider(3.0, 4.0), [0.0], [0.0], 2.0, control=lambda t, q, v: [3.0 * t])
    start = 4.0 / 3.0
    t = run.t[-1] - start
    # m v̇ = 3 t − f after t = f_s/3, where the force exceeds f by f_s − f
    np.testing.assert_allclose(run.v[-1], (1.0 * t + 1.5 * t**2) / 2.0, rtol=1e-9)


def test_stick_slip_of_a_mass_pulled_by_a_spring_has_its_period():
    m, k, speed, f, static = 2.0, 50.0, 0.1, 3.0, 4.0
    run = appell.simulate(
        slider(f, static), [0.0], [0.0], 6.0, control=lambda t, q, v: [k * (speed * t - q[0])], rtol=1e-12, atol=1e-13,
        events=[appell.simulation.Event(lambda t, q, v: v[0] - 1e-3, direction=1)],
    )  # fmt: skip
    starts = np.array([event.time for event in run.events])
    # slip from rest with the spring's force f_s until v = 0 again, then rest while it grows by 2(f_s − f)
    omega, over = math.sqrt(k / m), (static - f) / k
    slip = (2.0 * math.pi - 2.0 * math.atan(over * omega / speed)) / omega
    stick = 2.0 * (static - f) / (k * speed)
    np.testing.assert_allclose(np.diff(starts), slip + stick, rtol=1e-8)


def test_friction_falls_from_static_to_kinetic_over_the_stribeck_velocity():
    f, static, v_s = 3.0, 4.0, 0.2
    run = appell.simulate(
        slider(f, static, stribeck_velocity=v_s), [0.0], [1.0], 0.2, rtol=1e-11, atol=1e-12, control=[1.0]
    )
    v = run.v[:, 0]
    wanted = (1.0 - (f + (static - f) * np.exp(-((v / v_s) ** 2)))) / 2.0
    np.testing.assert_allclose(run.a[:, 0], wanted, rtol=1e-9)


def test_the_puma_under_a_sampled_law_comes_to_rest_and_stays(rng):
    robot = appell.load("puma560")
    goal = 0.2 * rng.normal(size=6)
    law = appell.control.PD(robot, goal, kp=50.0, kd=5.0)
    run = appell.simulate(robot, robot.neutral(), np.zeros(6), 2.0, control=law, rate=50.0)
    assert not run.ended_early
    rested = np.flatnonzero(np.abs(run.v).max(axis=1) == 0.0)
    assert rested.size
    assert (run.q[rested[0] :] == run.q[rested[0]]).all() or run.v[rested[0] :].any()


def test_a_law_that_compensates_friction_by_its_sign_does_not_chatter_at_rest():
    robot = appell.load("puma560")
    law = appell.control.PointToPoint(robot, [0.1] * 6, 9.0, 6.0)
    run = appell.simulate(robot, [0.2] * 6, [0.0] * 6, 0.5, control=law, max_steps=200)
    assert run.t[-1] == 0.5
    assert not run.v.any()


def test_friction_and_a_wall_hold_an_arm_together():
    arm = appell.load("two-link").with_joint("joint1", friction=0.5).with_joint("joint2", friction=0.5)
    tip = appell.simulation.Point(list(arm.frame_names)[-1])
    height = float(arm.pose([-0.3, 0.4], tip.frame)[1, 3])
    floor = appell.walls.Plane(point=(0.0, height, 0.0), normal=(0.0, 1.0, 0.0))
    run = appell.simulate(arm, [-0.3, 0.4], [0.0, 0.0], 1.0, walls=[floor], points=[tip], friction=0.5)
    assert not run.ended_early
    assert np.diff(run.energy).max() <= 1e-9


def test_toml_keeps_friction_at_rest(tmp_path):
    robot = appell.load("two-link").with_joint("joint1", friction=0.1, static_friction=0.3, stribeck_velocity=0.01)
    robot.save(tmp_path / "arm.toml")
    again = appell.load(tmp_path / "arm.toml").joints["joint1"]
    assert (again.friction, again.static_friction, again.stribeck_velocity) == (0.1, 0.3, 0.01)


def test_without_friction_nothing_holds():
    robot = slider(3.0, 4.0)
    assert robot.with_model(robot.model.without_friction()).joints["joint1"].static_friction == 0.0
