"""Trajectories: derivatives, ends, continuity, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.planning.trajectory import (
    CartesianLine,
    ConstantSpeed,
    Fourier,
    JointLine,
    Quintic,
    Ramp,
    ScaledTrajectory,
    Spline,
    Trapezoid,
    sinusoid,
)

SLOW: Any = "slow"
TIMES = [0.0, 0.7, 1.5, 2.0, 3.1]
POINTS = np.random.default_rng(3).normal(size=(5, 2))
ARM = appell.load("puma600")
Q0 = [0.3, -0.8, 2.5, 0.4, 0.6, -0.2]
END = ARM.pose(Q0, "dh6")[:3, 3] + [0.05, -0.1, 0.08]
TRAJECTORIES = {
    "uniform line": JointLine([0.1, -1.0], [0.7, 2.0], 2.5),
    "trapezoid": JointLine([0.1, -1.0], [0.7, 2.0], Trapezoid(2.5, 0.6)),
    "triangle": JointLine([0.1, -1.0], [0.7, 2.0], Trapezoid(2.5, 1.25)),
    "quintic": JointLine([0.1, -1.0], [0.7, 2.0], Quintic(2.5)),
    "ramp": Ramp([0.0, 1.0], [1.0, -1.0], 0.5, 1.5, 3.0),
    "cubic spline": Spline(TIMES, POINTS),
    "cubic spline in motion": Spline(TIMES, POINTS, v0=[1.0, -2.0], v1=[0.5, 0.0]),
    "quintic spline": Spline(TIMES, POINTS, 5),
    "sinusoid": sinusoid([0.2, 0.1], [1.0, 0.5], 0.7, [0.1, 0.9], duration=3.0),
    "fourier": Fourier([0.2, 0.1], POINTS[:3], POINTS[1:4], 0.4, 2.5),
    "scaled": ScaledTrajectory(Spline(TIMES, POINTS, 5), 1.7),
    "cartesian line": CartesianLine(ARM, Q0, END, speed=0.1),
    "cartesian quintic": CartesianLine(ARM, Q0, END, timing=Quintic(1.5)),
}
CORNERS = {0.5, 0.6, 1.25, 1.5, 1.9}


@pytest.mark.parametrize("duration", [1e-3, 1.0, 1e4])
def test_an_end_missed_by_rounding_is_not_over(duration):
    line = JointLine([0.0], [1.0], duration)
    assert line(duration * (1.0 + 4e-16)).v[0] == pytest.approx(1.0 / duration)
    assert line(duration * (1.0 + 1e-9)).v[0] == 0.0


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_velocity_and_acceleration_are_the_derivatives(name, rng):
    trajectory, h = TRAJECTORIES[name], 1e-5
    t = rng.uniform(2 * h, trajectory.duration - 2 * h, 60)
    t = t[np.abs(t[:, None] - sorted(CORNERS)).min(axis=1) > 2 * h]
    before, now, after = trajectory(t - h), trajectory(t), trajectory(t + h)
    size = 1.0 + np.abs(now.a).max()
    np.testing.assert_allclose((after.q - before.q) / (2 * h), now.v, atol=1e-7 * size, rtol=0)
    np.testing.assert_allclose((after.v - before.v) / (2 * h), now.a, atol=1e-7 * size, rtol=0)


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_outside_its_time_a_trajectory_stands_still_at_its_ends(name):
    trajectory = TRAJECTORIES[name]
    T = trajectory.duration
    q, v, a = trajectory([-1.0, T + 1.0])
    np.testing.assert_array_equal(q, trajectory([0.0, T]).q)
    assert not v.any()
    assert not a.any()


@pytest.mark.parametrize("name", TRAJECTORIES)
def test_a_batch_of_times_gives_what_each_time_gives(name):
    trajectory = TRAJECTORIES[name]
    t = np.linspace(0.0, trajectory.duration, 6).reshape(2, 3)
    batch = trajectory(t)
    for k in np.ndindex(t.shape):
        for many, one in zip(batch, trajectory(t[k]), strict=True):
            np.testing.assert_allclose(many[k], one, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "timing",
    [ConstantSpeed(2.0), Trapezoid(2.0, 0.3), Quintic(2.0)],
)
def test_a_line_ends_exactly_at_its_ends(timing):
    line = JointLine([0.1, -0.3], [1.7, 0.9], timing)
    np.testing.assert_array_equal(line([0.0, 2.0]).q, [[0.1, -0.3], [1.7, 0.9]])


@pytest.mark.parametrize("timing", [Trapezoid(2.0, 0.3), Quintic(2.0)])
def test_a_smooth_line_is_at_rest_at_both_ends(timing):
    v = JointLine([0.1, -0.3], [1.7, 0.9], timing)([0.0, 2.0]).v
    np.testing.assert_allclose(v, 0.0, atol=1e-15)


@pytest.mark.parametrize(("degree", "orders"), [(3, 3), (5, 5)])
def test_a_spline_passes_its_points_with_continuous_derivatives(degree, orders):
    spline = Spline(TIMES, POINTS, degree)
    np.testing.assert_allclose(spline(TIMES).q, POINTS, atol=1e-12)
    whole = spline._splines[0]
    for order in range(orders):
        jump = whole(np.array(TIMES[1:-1]) - 1e-10, nu=order) - whole(np.array(TIMES[1:-1]) + 1e-10, nu=order)
        scale = np.abs(whole(np.linspace(0.0, 3.1, 99), nu=min(order + 1, degree))).max()
        assert np.abs(jump).max() < 1e-9 * scale


def test_a_quintic_spline_starts_and_ends_at_rest_without_acceleration():
    motion = Spline(TIMES, POINTS, 5)([0.0, TIMES[-1]])
    np.testing.assert_allclose([motion.v, motion.a], 0.0, atol=1e-9)


@pytest.mark.parametrize(("length", "speed"), [(1.0, 0.5), (0.01, 0.5), (2.0, 3.0)])
def test_the_fastest_trapezoid_keeps_speed_and_acceleration_and_meets_one(length, speed):
    law = Trapezoid.fastest(length, speed, 1.2)
    s, rate, change = law.at(np.linspace(0.0, law.duration, 1001))
    assert length * np.abs(change).max() == pytest.approx(1.2)
    assert length * rate.max() <= speed * (1.0 + 1e-12)
    assert s[-1] == 1.0


def test_a_cartesian_line_keeps_straight_and_its_attitude():
    line = CartesianLine(ARM, Q0, END, timing=2.0)
    poses = ARM.pose(line(np.linspace(0.0, 2.0, 9)).q, "dh6")
    first = ARM.pose(Q0, "dh6")
    np.testing.assert_allclose(poses[:, :3, :3], np.broadcast_to(first[:3, :3], (9, 3, 3)), atol=1e-14)
    np.testing.assert_allclose(poses[:, :3, 3], np.linspace(first[:3, 3], END, 9), atol=1e-14)


def test_a_cartesian_line_goes_through_half_a_turn_without_a_jump():
    q0 = np.array([3.1, -0.8, 2.5, 0.4, 0.6, -0.2])
    side = ARM.jacobian(q0, "dh6")[:3, 0]
    line = CartesianLine(ARM, q0, ARM.pose(q0, "dh6")[:3, 3] + 0.4 * side, timing=1.0)
    q = line(np.linspace(0.0, 1.0, 400)).q
    assert q[-1, 0] > np.pi
    assert np.abs(np.diff(q, axis=0)).max() < 0.05


@pytest.mark.parametrize("label", [(1, 1, 1), (1, 1, -1)])
def test_a_line_through_a_singular_wrist_is_refused_at_the_place(label):
    middle = ARM.pose([0.3, -0.8, 2.5, 0.4, 0.0, -0.2], "dh6")
    way = np.array([0.04, 0.03, -0.02])
    start = middle.copy()
    start[:3, 3] -= way
    q0 = appell.planning.analytic_ik(ARM, start).pick(*label)
    with pytest.raises(InputError, match=r"beyond (4\d|5\d)\..%.*singular"):
        CartesianLine(ARM, q0, middle[:3, 3] + way, speed=0.1)


def test_a_line_out_of_reach_is_refused_with_the_place():
    with pytest.raises(InputError, match=r"cannot follow the line beyond .*%"):
        CartesianLine(ARM, Q0, [3.0, 0.0, 0.0], speed=0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: JointLine([0.0], [1.0, 2.0], 1.0), "end: expected 1 numbers, one per joint"),
        (lambda: JointLine([0.0], [1.0], -1.0), "duration: expected a positive number"),
        (lambda: JointLine([0.0], [np.nan], 1.0), "end: .*not finite"),
        (lambda: JointLine([0.0], [1.0], 1.0)(np.nan), "t: expected times in seconds"),
        (lambda: JointLine([0.0], [1.0], SLOW), "timing: expected a duration"),
        (lambda: Quintic(SLOW), "duration: expected a positive number"),
        (lambda: sinusoid([0.0], [1.0], 1.0, [0.0, 1.0]), "phase: expected one angle"),
        (lambda: CartesianLine(ARM, Q0, [1.0], speed=0.1), "end: expected three numbers"),
        (lambda: Trapezoid(1.0, 0.6), "ramp: expected at most half"),
        (lambda: Spline([0.0, 0.0], [[0.0], [1.0]]), "times: .*increase"),
        (lambda: Spline([0.0, 1.0], [[0.0], [1.0]], 4), "degree: expected 3 or 5"),
        (lambda: Spline([0.0, 1.0], [0.0, 1.0]), "points: expected"),
        (lambda: Ramp([0.0], [1.0], 2.0, 1.0), "begin < finish"),
        (lambda: Fourier([0.0], [[1.0]], [[1.0], [2.0]], 1.0), "cosines: expected an array"),
        (lambda: CartesianLine(ARM, Q0, END), "either a speed or a timing"),
        (lambda: CartesianLine(ARM, Q0, END, speed=0.1, frame="hand"), "has no frame 'hand'"),
        (lambda: CartesianLine(appell.load("two-link"), [0.0] * 2, END, speed=1.0), "six joints"),
    ],
)
def test_what_is_no_trajectory_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
