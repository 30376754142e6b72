"""The ellipsoids against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import appell
from appell.viewer.overlays import INERTIA, MANIPULABILITY, ellipsoid, end_effector


@pytest.mark.parametrize("name", ["puma560", "stewart"])
def test_a_frame_pushed_along_an_axis_accelerates_along_it_by_the_mass_told(name: str, rng: Any) -> None:
    """Without gravity and from rest, a force f·uᵢ on the frame gives the acceleration λᵢ f·uᵢ."""
    robot = appell.load(name, gravity=(0.0, 0.0, 0.0), friction=False)
    q, frame = robot.random(rng), end_effector(robot)
    found = ellipsoid(robot, q, frame, INERTIA)
    still = np.zeros(robot.nv)
    for axis, length in zip(found.axes.T, found.lengths, strict=True):
        push = {frame: np.concatenate([axis, np.zeros(3)])}
        tau = np.zeros(len(robot.actuators))
        a = robot.forward_dynamics(q, still, tau, wrenches=push)
        moved = robot.jacobian(q, frame)[:3] @ a
        assert np.allclose(moved, length**2 * axis, atol=1e-8 * found.lengths[0] ** 2)


def test_manipulability_is_the_singular_values_of_the_jacobian(rng: Any) -> None:
    robot = appell.load("puma560")
    q, frame = robot.random(rng), end_effector(robot)
    found = ellipsoid(robot, q, frame, MANIPULABILITY)
    assert np.allclose(found.lengths, np.linalg.svd(robot.jacobian(q, frame)[:3], compute_uv=False), atol=1e-7)
    assert np.allclose(found.centre, robot.pose(q, frame)[:3, 3])


def test_axes_are_a_rotation(rng: Any) -> None:
    robot = appell.load("agile-wrist")
    axes = ellipsoid(robot, robot.random(rng), "platform", INERTIA).axes
    assert np.allclose(axes.T @ axes, np.eye(3))
    assert np.linalg.det(axes) == pytest.approx(1.0)
