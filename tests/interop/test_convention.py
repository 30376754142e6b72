"""Conventions without their libraries: velocities are rates of poses, powers are equal, there and back is no change.

Drake is not among the peers that are installed; its convention is checked by kinematics, with what its documentation
says each velocity is.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

import appell
from appell import interop
from appell.errors import InputError
from appell.model.model import WORLD, Body, Frame, Joint, Model
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.vector import IDENTITY

CONVENTIONS = [interop.pinocchio, interop.mujoco, interop.drake]
BLOCK = Inertia.from_centre(2.0, (0.1, 0.2, 0.3), IDENTITY)
STEP = 1e-5
WRIST: Any = appell.load("agile-wrist")


def robot_with(*kinds):
    bodies = tuple(Body(f"body{i}", WORLD, Joint(f"joint{i}", kind), BLOCK) for i, kind in enumerate(kinds))
    return appell.load(Model("zoo", bodies, tuple(Frame(body.name, i, Pose()) for i, body in enumerate(bodies))))


ZOO = robot_with("free", "revolute", "ball", "continuous", "planar")


def state(rng, *shape):
    return ZOO.random(rng, shape), *rng.normal(size=(3, *shape, ZOO.nv))


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_there_and_back_is_where_one_was(convention, rng, agree):
    there, (q, v, a, tau) = convention(ZOO), state(rng, 5, 2)
    # a quaternion and its negative are one rotation, which angles do not tell apart
    back = there.from_q(there.q(q))
    agree(np.abs(ZOO.difference(q, back)), np.zeros((5, 2, ZOO.nv)), 1e-14, size=1.0)
    agree(there.from_v(there.q(q), there.v(q, v)), v, 1e-14)
    agree(there.from_a(there.q(q), there.v(q, v), there.a(q, v, a)), a, 1e-14)
    agree(there.from_tau(there.q(q), there.tau(q, tau)), tau, 1e-14)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_powers_are_equal(convention, rng, agree):
    there, (q, v, _, tau) = convention(ZOO), state(rng, 10)
    agree((there.tau(q, tau) * there.v(q, v)).sum(axis=-1), (tau * v).sum(axis=-1), 1e-14)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_accelerations_are_rates_of_velocities(convention, rng, agree):
    there, (q, v, a, _) = convention(ZOO), state(rng)

    def velocity(h):
        return there.v(ZOO.integrate(q, h * v + 0.5 * h * h * a), v + h * a)

    # of second order in the step: q moves along a geodesic of the mean velocity
    agree(there.a(q, v, a), (velocity(STEP) - velocity(-STEP)) / (2.0 * STEP), 1e-8)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_the_matrix_leads_from_our_velocities_to_theirs(convention, rng, agree):
    there, (q, v, _, _) = convention(ZOO), state(rng, 3)
    agree((there.matrix(q) @ v[..., None])[..., 0], there.v(q, v), 1e-14)


def rates_of_pose(q, v, frame):
    """Return angular and linear velocity of a frame in world axes, by central differences of its pose."""
    before, after = (ZOO.pose(ZOO.integrate(q, h * v), frame) for h in (-STEP, STEP))
    rate, turn = (after - before) / (2.0 * STEP), ZOO.pose(q, frame)[:3, :3]
    spin = rate[:3, :3] @ turn.T
    return np.array([spin[2, 1], spin[0, 2], spin[1, 0]]), rate[:3, 3]


def test_drakes_free_body_has_world_velocities_and_the_angular_one_first(rng, agree):
    q, v, a, _ = state(rng)
    there = interop.drake(ZOO)
    angular, linear = rates_of_pose(q, v, "body0")
    agree(there.v(q, v)[:6], np.concatenate([angular, linear]), 1e-8)
    classical = ZOO.acceleration(q, v, a, "body0")
    agree(there.a(q, v, a)[:6], np.concatenate([classical[3:], classical[:3]]), 1e-13)


def test_drakes_free_body_has_its_quaternion_first(rng, agree):
    q = ZOO.random(rng)
    w, x, y, z, *position = interop.drake(ZOO).q(q)[:7]
    agree([x, y, z, w], q[3:7], 1e-15)
    agree(position, q[:3], 1e-15)


def test_drakes_ball_has_roll_pitch_and_yaw_and_a_velocity_of_the_joint_frame(rng, agree):
    q, v, _, _ = state(rng)
    there = interop.drake(ZOO)
    roll, pitch, yaw = there.q(q)[8:11]
    c, s = np.cos, np.sin
    turn_z = np.array([[c(yaw), -s(yaw), 0], [s(yaw), c(yaw), 0], [0, 0, 1]])
    turn_y = np.array([[c(pitch), 0, s(pitch)], [0, 1, 0], [-s(pitch), 0, c(pitch)]])
    turn_x = np.array([[1, 0, 0], [0, c(roll), -s(roll)], [0, s(roll), c(roll)]])
    agree(turn_z @ turn_y @ turn_x, ZOO.pose(q, "body2")[:3, :3], 1e-14)
    agree(there.v(q, v)[7:10], rates_of_pose(q, v, "body2")[0], 1e-8)


def test_drakes_planar_joint_has_the_rates_of_its_coordinates(rng, agree):
    q, v, _, _ = state(rng)
    angular, linear = rates_of_pose(q, v, "body4")
    agree(interop.drake(ZOO).v(q, v)[-3:], [linear[0], linear[1], angular[2]], 1e-8)


def test_angles_near_the_pole_are_good_to_rounding(agree):
    robot = robot_with("ball")
    there, half = interop.drake(robot), np.array([np.pi / 2 - 1e-9, np.pi / 2, -np.pi / 2 + 1e-7]) / 2
    q = np.stack([0.0 * half, np.sin(half), 0.0 * half, np.cos(half)], axis=-1)
    agree(robot.difference(q, there.from_q(there.q(q))), np.zeros((3, 3)), 1e-15, size=10.0)


def test_joints_stand_in_the_order_named(rng, agree):
    robot = appell.load("two-link", floating=True)
    there = interop.drake(robot, ["joint2", "base", "joint1"])  # the one free joint may have another name
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    agree(there.q(q)[[0, -1]], q[[8, 7]], 1e-15)
    agree(there.v(q, v)[[0, -1]], v[[7, 6]], 1e-15)


def test_a_closed_robot_is_converted_with_the_velocities_of_its_tree(rng, agree):
    robot = appell.load("five-bar")
    q = robot.random(rng)
    v = robot.tree_velocity(q, [1.0, 2.0])
    agree(interop.mujoco(robot).v(q, v), v, 1e-15)


def test_a_spherical_robot_is_converted_by_its_spanning_tree(agree):
    names = [body.joint.name for body in WRIST.model.bodies]
    there, q = interop.drake(WRIST, names[::-1]), WRIST.neutral()
    agree(there.q(WRIST.tree_configuration(q)), WRIST.tree_configuration(q)[::-1], 1e-15)
    v = WRIST.tree_velocity(q, [0.1, 0.2, 0.3])
    agree(there.v(WRIST.tree_configuration(q), v), v[::-1], 1e-15)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: interop.drake(ZOO, ["joint0"]), "drake: the given joints lack 'joint1', 'joint2'"),
        (lambda: interop.drake(ZOO, [*ZOO.joint_names, "tail"]), "have 'tail'"),
        (lambda: interop.drake(ZOO, [*ZOO.joint_names, "joint0"]), "repeat a joint"),
        (lambda: interop.drake(ZOO).q([0.0]), r"q: expected \(..., 16\), got \(..., 1\) for robot 'zoo'"),
        (lambda: interop.drake(ZOO).v(ZOO.neutral(), "fast"), "v: expected real numbers"),
        (lambda: interop.drake(ZOO).v(np.zeros((2, 16)), np.zeros((3, 14))), "do not broadcast"),
        (lambda: interop.drake(cast(Any, "agile-wrist")), "drake: expected a robot, got str"),
    ],
)
def test_a_mistake_is_told(call, told):
    with pytest.raises(InputError, match=told):
        call()


def test_a_plane_that_is_not_of_x_and_y_is_told():
    body = Body("cart", WORLD, Joint("drive", "planar", axis=(1.0, 0.0, 0.0)), BLOCK)
    robot = appell.load(Model("cart", (body,)))
    with pytest.raises(InputError, match="joint 'drive' is planar about"):
        interop.drake(robot)
