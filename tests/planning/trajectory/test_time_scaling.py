"""Time scaling: limits hold afterwards and one of them is met."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.model.model import Limits
from appell.planning.trajectory import Quintic, ScaledTrajectory, Spline, sinusoid, time_scaling

ROBOT = appell.load("puma560")
TORQUE = [97.6, 186.4, 89.4, 24.2, 20.1, 21.3]
SPLINE = Spline([0.0, 1.0, 2.5], [[0.0] * 6, [0.8, 0.5, -0.6, 1.0, -0.4, 0.3], [0.2, 0.9, -0.3, 0.2, 0.5, 1.1]], 5)
LIMITS: dict[str, dict[str, Any]] = {
    "velocity": {"velocity": [0.8, 1.2, 0.5, 2.0, 2.0, 2.0]},
    "acceleration": {"acceleration": [2.0, 2.0, 2.0, 5.0, 5.0, 5.0]},
    "torque": {"torque": TORQUE},
    "all": {"velocity": 0.7, "acceleration": 1.5, "torque": TORQUE},
}


def used(best, limits) -> float:
    """Return the largest share of any limit that a dense sampling of the trajectory finds."""
    motion = best.trajectory(np.linspace(0.0, best.trajectory.duration, 20011))
    values = {"velocity": motion.v, "acceleration": motion.a, "torque": ROBOT.inverse_dynamics(*motion)}
    return max(float((np.abs(values[name]) / limit).max()) for name, limit in limits.items())


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("slow", [1.0, 20.0])
def test_limits_hold_after_scaling_and_one_is_met(name, slow):
    best = time_scaling(ROBOT, ScaledTrajectory(SPLINE, slow), **LIMITS[name])
    assert used(best, LIMITS[name]) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("name", LIMITS)
def test_the_limit_and_the_moment_named_are_those_that_bind(name):
    best = time_scaling(ROBOT, SPLINE, **LIMITS[name])
    motion = best.trajectory(best.t)
    values = {"velocity": motion.v, "acceleration": motion.a, "torque": ROBOT.inverse_dynamics(*motion)}
    j = ROBOT.joint_names.index(best.joint)
    limit = np.broadcast_to(LIMITS[name][best.limit], 6)[j]
    assert abs(values[best.limit][j]) == pytest.approx(limit, rel=1e-9)


def test_the_shortest_duration_does_not_depend_on_where_one_started():
    durations = [
        time_scaling(ROBOT, ScaledTrajectory(SPLINE, k), torque=TORQUE).trajectory.duration for k in (0.3, 1.0, 7.0)
    ]
    np.testing.assert_allclose(durations, durations[0], rtol=1e-6)


def test_a_motion_without_limits_is_refused():
    with pytest.raises(InputError, match="no limit bounds this motion"):
        time_scaling(ROBOT, SPLINE)


def test_limits_of_the_file_are_the_default():
    bodies = [replace(b, joint=replace(b.joint, limits=Limits(velocity=0.4))) for b in ROBOT.model.bodies]
    robot = appell.load(replace(ROBOT.model, bodies=tuple(bodies)))
    assert time_scaling(robot, SPLINE).factor == time_scaling(ROBOT, SPLINE, velocity=0.4).factor


def test_a_joint_without_a_torque_limit_does_not_bind():
    best = time_scaling(ROBOT, SPLINE, torque=[*TORQUE[:1], *[np.inf] * 5])
    assert (best.limit, best.joint) == ("torque", "joint1")


def test_a_robot_too_weak_to_stand_is_refused_with_its_joint():
    with pytest.raises(InputError, match=r"joint 'joint2' needs .* slower does not help"):
        time_scaling(ROBOT, SPLINE, torque=[100.0, 20.0, 100.0, 100.0, 100.0, 100.0])


@pytest.mark.parametrize(
    ("trajectory", "limits", "message"),
    [
        (sinusoid([0.0] * 6, [1.0] * 6, 1.0), {"velocity": 1.0}, "goes on for ever"),
        (SPLINE, {"velocity": -1.0}, "velocity: expected positive limits"),
        (SPLINE, {"velocity": [1.0, 2.0]}, "velocity: expected positive limits"),
    ],
)
def test_what_cannot_be_scaled_is_refused(trajectory, limits, message):
    with pytest.raises(InputError, match=message):
        time_scaling(ROBOT, trajectory, **limits)


def test_a_spherical_robot_is_bound_by_the_torques_of_its_motors():
    robot = appell.load("agile-wrist")
    line = appell.trajectory.JointLine(
        robot.neutral(), robot.integrate(robot.neutral(), [0.2, -0.3, 0.2]), Quintic(5.0)
    )
    best = time_scaling(robot, line, torque=0.4)
    assert best.limit == "torque"
    assert best.joint in robot.actuators
    tau = robot.inverse_dynamics(*best.trajectory(np.linspace(0.0, best.trajectory.duration, 2000)))
    assert np.abs(tau).max() == pytest.approx(0.4, rel=1e-5)


def test_a_robot_with_passive_motions_is_refused(closed):
    with pytest.raises(InputError, match="do not determine its"):
        time_scaling(closed("rssr"), appell.trajectory.JointLine([0.0], [1.0], 1.0), velocity=1.0)
