"""Jerk-limited motions: closed forms, limits, goals that change, and the message without ruckig."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from appell.errors import InputError
from appell.planning.trajectory import JerkLimited, OnlineTrajectory

pytest.importorskip("ruckig")
LIMITS = {"velocity": [1.0, 1.5, 0.7], "acceleration": [2.0, 3.0, 2.5], "jerk": [20.0, 15.0, 30.0]}


def test_a_long_motion_takes_the_time_of_its_seven_parts():
    length, v, a, j = 2.0, 1.0, 2.0, 10.0
    motion = JerkLimited([0.0], [length], velocity=v, acceleration=a, jerk=j)
    assert motion.duration == pytest.approx(length / v + v / a + a / j, rel=1e-12)


def test_a_short_motion_takes_four_equal_parts_of_full_jerk():
    motion = JerkLimited([0.0], [0.01], velocity=9.0, acceleration=9.0, jerk=10.0)
    assert motion.duration == pytest.approx(4.0 * (0.01 / (2.0 * 10.0)) ** (1.0 / 3.0), rel=1e-12)


def test_limits_hold_all_joints_arrive_together_and_derivatives_belong_together(rng):
    start, end = rng.normal(size=(2, 3))
    motion = JerkLimited(start, end, **LIMITS, v0=[0.5, -0.3, 0.2], a0=[0.1, 0.2, -0.5], v1=[0.1, 0.0, -0.2])
    t, step = np.linspace(0.0, motion.duration, 4001), 1e-5
    q, v, a = motion(t)
    assert (np.abs(v) <= np.array(LIMITS["velocity"]) + 1e-9).all()
    assert (np.abs(a) <= np.array(LIMITS["acceleration"]) + 1e-9).all()
    assert (np.abs(np.diff(a, axis=0)) <= np.array(LIMITS["jerk"]) * t[1] + 1e-9).all()
    np.testing.assert_allclose(q[[0, -1]], [start, end], atol=1e-9)
    np.testing.assert_allclose(v[[0, -1]], [[0.5, -0.3, 0.2], [0.1, 0.0, -0.2]], atol=1e-9)
    inner = t[1:-1]
    np.testing.assert_allclose(v[1:-1], (motion(inner + step).q - motion(inner - step).q) / (2.0 * step), atol=1e-7)
    np.testing.assert_allclose(a[1:-1], (motion(inner + step).v - motion(inner - step).v) / (2.0 * step), atol=1e-3)


def test_a_start_beyond_its_limits_is_braked_into_them():
    motion = JerkLimited([0.0], [3.0], velocity=1.0, acceleration=2.0, jerk=20.0, v0=[1.8])
    late = motion(np.linspace(1.2, motion.duration, 200))
    assert motion(0.0).v == pytest.approx(1.8)
    assert (np.abs(late.v) <= 1.0 + 1e-9).all()
    np.testing.assert_allclose(motion(motion.duration).q, [3.0], atol=1e-9)


def test_the_online_reference_follows_the_motion_computed_at_once(rng):
    start, end = rng.normal(size=(2, 3))
    whole, dt = JerkLimited(start, end, **LIMITS), 0.004
    online = OnlineTrajectory(start, dt, **LIMITS)
    for k in range(1, int(whole.duration / dt)):
        for ours, theirs in zip(online.step(end), whole(k * dt), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-8)
    assert not online.is_finished


def test_a_goal_that_changes_at_every_step_leaves_no_limit(rng):
    online, dt = OnlineTrajectory([0.0] * 3, 0.002, **LIMITS), 0.002
    states = [online.state, *(online.step(goal) for goal in np.cumsum(0.05 * rng.normal(size=(2000, 3)), axis=0))]
    q, v, a = (np.array(x) for x in zip(*states, strict=True))
    assert (np.abs(v) <= np.array(LIMITS["velocity"]) + 1e-9).all()
    assert (np.abs(a) <= np.array(LIMITS["acceleration"]) + 1e-9).all()
    assert (np.abs(np.diff(a, axis=0)) <= np.array(LIMITS["jerk"]) * dt + 1e-8).all()
    np.testing.assert_allclose(np.diff(q, axis=0), dt * 0.5 * (v[1:] + v[:-1]), atol=1e-9 + 30.0 * dt**3)
    goal = [0.3, 0.2, 0.1]
    while not online.is_finished:
        last = online.step(goal)
    np.testing.assert_allclose(last.q, goal, atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"velocity": 0.0}, "velocity: expected positive limits"),
        ({"jerk": [1.0, 2.0]}, "jerk: expected positive limits"),
        ({"end": [0.0]}, "end: expected 3 numbers"),
        ({"v1": [9.0, 0.0, 0.0]}, "jerk-limited motion: target velocity"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, message):
    given = {"start": [0.0] * 3, "end": [1.0] * 3, **LIMITS, **arguments}
    with pytest.raises(InputError, match=message):
        JerkLimited(**given)


def test_a_goal_with_a_velocity_beyond_its_limit_is_refused_and_the_state_stays():
    online = OnlineTrajectory([0.0] * 3, 0.01, **LIMITS)
    online.step([1.0] * 3)
    before = online.state
    with pytest.raises(InputError, match="jerk-limited motion: target velocity"):
        online.step([1.0] * 3, v=[9.0, 0.0, 0.0])
    np.testing.assert_array_equal(before, online.state)


def test_without_ruckig_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ruckig", None)
    with pytest.raises(InputError, match=r"jerk-limited motions need ruckig.*appell\[online\]"):
        JerkLimited([0.0], [1.0], velocity=1.0, acceleration=1.0, jerk=1.0)
    with pytest.raises(InputError, match=r"appell\[online\]"):
        OnlineTrajectory([0.0], 0.01, velocity=1.0, acceleration=1.0, jerk=1.0)
