"""Time-optimal motions along a path: closed forms, limits held and met, every kind of robot, and toppra."""

from __future__ import annotations

import math

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.planning.trajectory import JointLine, Quintic, Spline, TimedPath, Trapezoid, time_scaling

PUMA = appell.load("puma560")
TORQUE = np.array([97.6, 186.4, 89.4, 24.2, 20.1, 21.3])
POINTS = [[0.0] * 6, [0.8, 0.5, -0.6, 1.0, -0.4, 0.3], [0.2, 0.9, -0.3, 0.2, 0.5, 1.1]]
SPLINE = Spline([0.0, 1.0, 2.5], POINTS, 5)
LIFT = """
<robot name="lift"><link name="base"/><link name="cage"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="up" type="prismatic"><parent link="base"/><child link="cage"/><axis xyz="0 0 1"/>
<limit lower="-9" upper="9" velocity="100" effort="50"/><dynamics damping="{damping}"/></joint></robot>
"""


def used(robot, best, limits):
    """Return the largest share of any limit at moments inside a motion, and whether the motion is accelerating."""
    t = np.linspace(0.0, best.trajectory.duration, 20013)[1:-1]
    q, v, a = best.trajectory(t)
    whole = robot.from_actuators(q, robot.from_actuators(q[0])) if robot.closure_names else q
    values = {"velocity": v, "acceleration": a, "torque": robot.inverse_dynamics(whole, v, a)}
    shares = [(np.abs(values[name]) / limit).max(axis=-1) for name, limit in limits.items()]
    return np.max(shares, axis=0)


def test_a_double_integrator_is_accelerated_half_the_way_and_braked_the_other_half():
    best = time_scaling(
        PUMA, JointLine([0.0] * 6, [2.0, 1.0, 0.0, 0.5, 1.0, -2.0], 1.0), acceleration=3.0, optimal=True
    )
    assert best.trajectory.duration == pytest.approx(2.0 * math.sqrt(2.0 / 3.0), rel=1e-6)
    assert best.limit == "acceleration"


def test_with_a_velocity_limit_the_timing_is_a_trapezoid():
    best = time_scaling(PUMA, JointLine([0.0] * 6, [1.0] * 6, 1.0), velocity=0.5, acceleration=1.0, optimal=True)
    law = Trapezoid.fastest(1.0, 0.5, 1.0)
    t = np.linspace(0.0, law.duration, 101)
    assert best.trajectory.duration == pytest.approx(law.duration, rel=1e-5)
    np.testing.assert_allclose(best.trajectory(t).q[:, 0], law.at(t).s, atol=2e-5)


def lift(folder, damping):
    """Return a mass of 2 kg on a vertical slide with a force of 50 N."""
    file = folder / "lift.urdf"
    file.write_text(LIFT.format(damping=damping))
    return appell.load(file)


def test_a_lift_goes_up_and_down_as_fast_as_its_force_and_its_weight_allow(tmp_path):
    robot = lift(tmp_path, 0.0)
    up, down = 50.0 / 2.0 - 9.81, 50.0 / 2.0 + 9.81
    expected = math.sqrt(2.0 * 3.0 * (up + down) / (up * down))
    for start, end in ((0.0, 3.0), (3.0, 0.0)):
        best = time_scaling(robot, JointLine([start], [end], Quintic(1.0)), optimal=True)
        assert best.trajectory.duration == pytest.approx(expected, rel=1e-5)


def test_a_damped_lift_takes_the_time_of_its_differential_equation(tmp_path):
    damping, mass, length = 8.0, 2.0, 3.0
    robot = lift(tmp_path, damping)

    def distance(time, force, v):
        """Return where m v̇ = force − d v leads, and with which speed."""
        end = force / damping
        decay = math.exp(-damping / mass * time)
        return end * time + (v - end) * mass / damping * (1.0 - decay), end + (v - end) * decay

    def left(first):
        """Return the way that is left after pushing for some time and braking to rest."""
        s, v = distance(first, 50.0 - mass * 9.81, 0.0)
        brake = -50.0 - mass * 9.81
        second = mass / damping * math.log((v - brake / damping) / (-brake / damping))
        return length - s - distance(second, brake, v)[0], first + second

    low, high = 0.0, 5.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if left(middle)[0] > 0.0 else (low, middle)
    errors = [
        time_scaling(robot, JointLine([0.0], [length], 1.0), optimal=True, samples=n).trajectory.duration / left(low)[1]
        - 1.0
        for n in (500, 2000)
    ]
    assert 0.0 < errors[1] < 0.3 * errors[0] < 1e-3  # of first order: limits hold at both ends of each interval


@pytest.mark.parametrize(
    "limits",
    [
        {"torque": TORQUE},
        {"acceleration": np.array([2.0, 2.0, 2.0, 5.0, 5.0, 5.0])},
        {"velocity": 0.7, "acceleration": 1.5, "torque": TORQUE},
    ],
    ids=" ".join,
)
def test_limits_hold_throughout_and_one_is_met_nearly_always(limits):
    best = time_scaling(PUMA, SPLINE, **limits, optimal=True)
    share = used(PUMA, best, limits)
    assert share.max() <= 1.0 + 1e-3
    assert np.mean(share > 0.98) > 0.95
    assert best.trajectory.duration < 0.8 * time_scaling(PUMA, SPLINE, **limits).trajectory.duration


def test_the_path_is_kept_and_both_ends_are_at_rest():
    best = time_scaling(PUMA, SPLINE, torque=TORQUE, optimal=True)
    path = SPLINE(np.linspace(0.0, 2.5, 20001)).q
    for q in best.trajectory(np.linspace(0.0, best.trajectory.duration, 60)).q:
        assert np.linalg.norm(path - q, axis=-1).min() < 2e-4  # half the distance of samples
    first, last = best.trajectory(0.0), best.trajectory(best.trajectory.duration)
    np.testing.assert_allclose([first.q, last.q], [POINTS[0], POINTS[-1]], atol=1e-9)
    np.testing.assert_allclose([first.v, last.v], 0.0, atol=1e-6)


def test_the_timing_of_the_trajectory_that_is_given_does_not_matter():
    ends = [0.0] * 6, POINTS[1]
    durations = [
        time_scaling(PUMA, JointLine(*ends, law), torque=TORQUE, optimal=True).trajectory.duration
        for law in (1.0, Quintic(7.0), Trapezoid(3.0, 1.0))
    ]
    np.testing.assert_allclose(durations, durations[0], rtol=1e-4)


@pytest.mark.parametrize("name", ["five-bar", "delta", "stewart"])
def test_closed_robots_follow_paths_of_their_actuators(name, rng):
    robot = appell.load(name)
    start = robot.actuator_positions(robot.neutral())
    line = JointLine(start, start + 0.05 * rng.normal(size=start.size), Quintic(1.0))
    limits = {"torque": np.full(robot.nu, 3.0 * np.abs(robot.gravity(robot.neutral())).max() + 1.0)}
    best = time_scaling(robot, line, **limits, optimal=True, samples=300)
    share = used(robot, best, limits)
    assert share.max() <= 1.0 + 1e-3
    assert np.mean(share > 0.98) > 0.95
    assert best.joint in robot.actuators


def test_a_spherical_robot_follows_a_path_of_its_platform():
    robot = appell.load("agile-wrist")
    line = JointLine(robot.neutral(), robot.integrate(robot.neutral(), [0.2, -0.3, 0.2]), Quintic(1.0))
    best = time_scaling(robot, line, torque=0.4, optimal=True, samples=300)
    assert used(robot, best, {"torque": 0.4}).max() == pytest.approx(1.0, abs=1e-3)


def test_a_timed_path_has_the_derivatives_of_its_coordinates():
    motion = time_scaling(PUMA, SPLINE, torque=TORQUE, optimal=True).trajectory
    t, step = np.linspace(0.05, motion.duration - 0.05, 37), 1e-6
    np.testing.assert_allclose(motion(t).v, (motion(t + step).q - motion(t - step).q) / (2.0 * step), atol=1e-3)
    assert isinstance(motion.trajectory, TimedPath)


@pytest.mark.parametrize(
    ("trajectory", "limits", "message"),
    [
        (JointLine([0.0] * 6, [0.0] * 6, 1.0), {"velocity": 1.0}, "stands still"),
        (SPLINE, {}, "no limit bounds this motion"),
        (SPLINE, {"torque": [100.0, 20.0, 100.0, 100.0, 100.0, 100.0]}, r"'joint2' needs .* of the path"),
        (JointLine([0.0], [1.0], 1.0), {"velocity": 1.0}, "expected one of 6 joints"),
    ],
)
def test_what_has_no_fastest_motion_is_refused(trajectory, limits, message):
    with pytest.raises(InputError, match=message):
        time_scaling(PUMA, trajectory, **limits, optimal=True)


def test_toppra_finds_the_same_durations():
    toppra = pytest.importorskip("toppra")
    robot = appell.load("puma560", friction=False)
    times, end = np.linspace(0.0, 2.5, 401), toppra.constraint.DiscretizationType.Interpolation
    spline = Spline([0.0, 1.0, 2.5], POINTS, 3, v0=[1.0] * 6, v1=[0.5] * 6)
    path = toppra.SplineInterpolator(times, spline(times).q)
    both = np.tile([-1.0, 1.0], (6, 1))
    by_torque = toppra.constraint.JointTorqueConstraint(
        robot.inverse_dynamics, TORQUE[:, None] * both, np.zeros(6), discretization_scheme=end
    )
    by_velocity = toppra.constraint.JointVelocityConstraint(0.7 * both)
    by_acceleration = toppra.constraint.JointAccelerationConstraint(1.5 * both, discretization_scheme=end)
    for theirs, ours in (
        ([by_torque], {"torque": TORQUE}),
        ([by_velocity, by_acceleration], {"velocity": 0.7, "acceleration": 1.5}),
    ):
        solver = toppra.algorithm.TOPPRA(theirs, path, gridpoints=np.linspace(0.0, 2.5, 1001), solver_wrapper="seidel")
        expected = solver.compute_trajectory(0.0, 0.0).duration
        found = time_scaling(robot, spline, **ours, optimal=True).trajectory.duration
        assert found == pytest.approx(expected, rel=2e-3)
