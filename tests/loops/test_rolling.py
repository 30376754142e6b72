"""Wheels: rolling without slipping against equations that are derived apart from this library."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import appell
from appell.read import read_toml
from tests.support.kinds import tree_of

Array = NDArray[Any]
MASS, INERTIA, OFFSET, RADIUS, HALF, WHEEL, AXIAL = 12.0, 0.9, 0.15, 0.1, 0.3, 0.8, 0.004

CART = f"""
name = "cart"
actuators = ["left", "right"]
[[links]]
name = "floor"
[[links]]
name = "body"
mass = {MASS}
centre = [{OFFSET}, 0.0, 0.2]
inertia = [0.5, 0.5, {INERTIA}]
[[links]]
name = "left_wheel"
mass = {WHEEL}
inertia = [0.002, {AXIAL}, 0.002]
[[links]]
name = "right_wheel"
mass = {WHEEL}
inertia = [0.002, {AXIAL}, 0.002]
[[joints]]
name = "drive"
kind = "planar"
parent = "floor"
child = "body"
[[joints]]
name = "left"
kind = "continuous"
parent = "body"
child = "left_wheel"
axis = [0.0, 1.0, 0.0]
origin = {{ xyz = [0.0, {HALF}, {RADIUS}] }}
[[joints]]
name = "right"
kind = "continuous"
parent = "body"
child = "right_wheel"
axis = [0.0, 1.0, 0.0]
origin = {{ xyz = [0.0, {-HALF}, {RADIUS}] }}
[[closures]]
kind = "rolling"
name = "left_contact"
first = "floor"
second = {{ link = "left_wheel", rpy = ["-90 deg", 0.0, 0.0] }}
radius = {RADIUS}
[[closures]]
kind = "rolling"
name = "right_contact"
first = "floor"
second = {{ link = "right_wheel", rpy = ["-90 deg", 0.0, 0.0] }}
radius = {RADIUS}
"""

DISC = """
name = "disc"
home = { disc = [0.0, 0.0, 0.3, 0.6, 0.0, 0.0, 0.8] }
[[links]]
name = "floor"
[[links]]
name = "plate"
mass = 2.0
inertia = [0.05, 0.05, 0.1]
[[joints]]
name = "disc"
kind = "free"
parent = "floor"
child = "plate"
[[closures]]
rows = ["x", "y", "z"]
name = "rim"
first = "floor"
second = "plate"
radius = 0.3
"""


def test_a_differential_drive_moves_as_the_textbook_says(rng, agree):
    # With forward speed u and turning rate w of the axle's middle (Fierro and Lewis 1998, and others):
    #   (m + 2 I_a/r²) u̇ − m_c d w² = (τ_r + τ_l)/r
    #   (I + 2 b² I_a/r²) ẇ + m_c d w u = b (τ_r − τ_l)/r
    # m: all mass, I: about the axle's middle, I_a: a wheel about its axle
    robot = appell.load(read_toml(CART))
    assert robot.independent == ["left", "right"]
    assert robot.rank.value == 3
    q, v, tau = rng.normal(size=5), rng.normal(size=2), rng.normal(size=2)
    left, right = v
    u, w = RADIUS * (left + right) / 2.0, RADIUS * (right - left) / (2.0 * HALF)
    mass = MASS + 2.0 * WHEEL
    about = INERTIA + MASS * OFFSET**2 + 2.0 * (WHEEL * HALF**2 + 0.002)
    forward = ((tau.sum()) / RADIUS + MASS * OFFSET * w * w) / (mass + 2.0 * AXIAL / RADIUS**2)
    turning = HALF * (tau[1] - tau[0]) / RADIUS - MASS * OFFSET * w * u
    turning = turning / (about + 2.0 * HALF**2 * AXIAL / RADIUS**2)
    a = robot.forward_dynamics(q, v, tau)
    agree([RADIUS * (a[0] + a[1]) / 2.0, RADIUS * (a[1] - a[0]) / (2.0 * HALF)], [forward, turning], within=1e-12)
    agree(robot.tree_velocity(q, v)[:3], [u, 0.0, w], within=1e-12)


def test_the_mobile_arm_moves_as_its_tree_under_hand_written_constraints(closed, rng, agree):
    robot = closed("mobile-arm")
    tree = tree_of(robot)
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=5)
    # velocities of the tree: base forward, sideways and turning, left and right wheel, waist, shoulder, elbow
    rows = np.zeros((3, 8))
    rows[0, 1] = 1.0  # nothing goes sideways
    rows[1, [0, 2, 3]] = 1.0, -0.25, -0.1  # forward at the left wheel: u − b w = r φ_l
    rows[2, [0, 2, 4]] = 1.0, 0.25, -0.1
    whole = robot.tree_velocity(q, v)
    agree(rows @ whole, np.zeros(3), within=1e-13, size=1.0)
    system = np.block([[tree.mass_matrix(q), rows.T], [rows, np.zeros((3, 3))]])
    # the rows are constant in these quasi-velocities, so that nothing drifts
    right = np.concatenate([np.concatenate([np.zeros(3), tau]) - tree.bias(q, whole), np.zeros(3)])
    agree(robot.forward_dynamics(q, v, tau), np.linalg.solve(system, right)[3:8], within=1e-11)


def rim_speed(q: Array, v: Array) -> Array:
    """Return the velocity of the lowest point of the disc, from its rotation matrix."""
    x, y, z, w = q[3:] / np.sqrt((q[3:] ** 2).sum())
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    axle, up = rotation[:, 2], np.array([0.0, 0.0, 1.0])
    down = -(up - up @ axle * axle)
    down = 0.3 * down / np.sqrt((down**2).sum())
    speed = rotation @ v[:3] + np.cross(rotation @ v[3:], down)
    return np.asarray(speed)


def test_a_tilted_disc_rolls_as_its_tree_with_multipliers(rng, agree):
    robot = appell.load(read_toml(DISC))
    assert robot.nv == 3
    tree = tree_of(robot)
    q, v = robot.random(rng), rng.normal(size=3)
    whole = robot.tree_velocity(q, v)
    agree(rim_speed(q, whole), np.zeros(3), within=1e-12, size=1.0)
    step = 1e-6
    rows = np.stack([rim_speed(q, unit) for unit in np.eye(6)], axis=-1)
    ahead, behind = (rim_speed(tree.integrate(q, s * step * whole), whole) for s in (1.0, -1.0))
    bias = (ahead - behind) / (2.0 * step)
    system = np.block([[tree.mass_matrix(q), rows.T], [rows, np.zeros((3, 3))]])
    solved = np.linalg.solve(system, np.concatenate([-tree.bias(q, whole), -bias]))[:6]
    a = robot.forward_dynamics(q, v, np.zeros(3))
    agree(robot.tree_acceleration(q, v, a), solved, within=1e-7)


def test_a_rolling_disc_keeps_its_energy(rng):
    robot = appell.load(read_toml(DISC))
    q, v, step = robot.neutral(), np.array([0.5, -0.3, 0.4]), 2e-3
    assert robot.closure_error(q) < 1e-12
    start = robot.kinetic_energy(q, v) + robot.potential_energy(q)

    def rate(q: Array, v: Array) -> tuple[Array, Array]:
        return v, robot.forward_dynamics(q, v, np.zeros(3))

    for _ in range(60):
        k1 = rate(q, v)
        k2 = rate(robot.integrate(q, 0.5 * step * k1[0]), v + 0.5 * step * k1[1])
        k3 = rate(robot.integrate(q, 0.5 * step * k2[0]), v + 0.5 * step * k2[1])
        k4 = rate(robot.integrate(q, step * k3[0]), v + step * k3[1])
        q = robot.integrate(q, step / 6.0 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0]))
        v = v + step / 6.0 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
    assert robot.closure_error(q) < 1e-12
    assert robot.kinetic_energy(q, v) + robot.potential_energy(q) == pytest.approx(start, rel=1e-6)
