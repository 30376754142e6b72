"""Frames held to the world: what they hold, what is said of bad ones, energy, files, torques within friction cones."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import InputError, ModelError
from tests.support.pool import pool

FEET = ("left_foot", "right_foot")


@pytest.fixture(scope="module")
def free():
    """Return the robot of the pool that stands on two feet, without anything that holds it, and where it stands."""
    model, keep = pool("biped").model, ("ground", "held")
    frames = tuple(f for f in model.frames if f.name.rpartition("/")[2] not in keep)
    return appell.load(replace(model, frames=frames, closures=(), actuators=(), home=())), pool("biped").neutral()


@pytest.fixture(scope="module")
def flat(free):
    """Return the robot with one foot flat on the ground, the other on its point: 3 velocities and 6 motors."""
    robot, q = free
    return robot.held({"left_foot": 6, "right_foot": 3}, at=q)


def test_held_frames_stay_where_they_are(rng, agree):
    robot = pool("biped")
    q, v = robot.random(rng, 3), rng.normal(size=(3, robot.nv))
    for foot in FEET:
        agree(robot.pose(q, foot)[:, :3, 3], np.tile(robot.pose(robot.neutral(), foot)[:3, 3], (3, 1)), within=1e-12)
        agree(robot.velocity(q, v, foot)[:, :3], np.zeros((3, 3)), within=1e-12, size=1.0)


def test_a_frame_held_by_six_rows_does_not_turn(flat, rng, agree):
    q, v = flat.random(rng, 3), rng.normal(size=(3, flat.nv))
    agree(flat.pose(q, "left_foot"), np.tile(flat.pose(flat.neutral(), "left_foot"), (3, 1, 1)), within=1e-12)
    agree(flat.velocity(q, v, "left_foot"), np.zeros((3, 6)), within=1e-12, size=1.0)


@pytest.mark.slow
def test_contact_forces_and_weight_are_the_rate_of_the_momentum(flat, rng, agree):
    q, v, tau = flat.neutral(), rng.normal(size=flat.nv), rng.normal(size=flat.nu)
    push = rng.normal(size=6)
    w = flat.contact_forces(q, v, tau, wrenches={"trunk": push})
    a, h = flat.forward_dynamics(q, v, tau, wrenches={"trunk": push}), 1e-5
    ahead, behind = (flat.momentum(flat.integrate(q, s * h * v + 0.5 * h * h * a), v + s * h * a) for s in (1.0, -1.0))
    centre, weight = flat.centre_of_mass(q), flat.total_mass * np.array(flat.model.gravity)
    loads = [(w[0], flat.pose(q, "left_foot")), (w[1], flat.pose(q, "right_foot")), (push, flat.pose(q, "trunk"))]
    moment = sum(x[3:] + np.cross(at[:3, 3] - centre, x[:3]) for x, at in loads)
    agree(np.concatenate([weight + sum(x[:3] for x, _ in loads), moment]), (ahead - behind) / (2.0 * h), within=1e-7)


@pytest.mark.slow
def test_energy_stays_the_same_without_losses_and_motors():
    robot = appell.load(pool("biped").model, friction=False)
    run = appell.simulate(robot, robot.neutral(), 0.3 * np.ones(robot.nv), 0.5)
    assert np.ptp(run.energy) < 1e-7 * np.abs(run.energy).max()
    assert robot.closure_error(run.q).max() < 1e-9


def test_a_held_robot_comes_back_from_its_file_and_from_pickle(flat, tmp_path, rng, agree):
    again, copy = appell.load(flat.save(tmp_path / "stance.toml")), pickle.loads(pickle.dumps(flat))
    assert (again.independent, again.actuators, again.driven) == (flat.independent, flat.actuators, flat.driven)
    q, v, tau = flat.random(rng), rng.normal(size=flat.nv), rng.normal(size=flat.nu)
    for other in (again, copy):
        agree(other.contact_forces(q, v, tau), flat.contact_forces(q, v, tau), within=1e-9)


def test_an_arm_that_is_held_keeps_its_motors(rng, agree):
    q = np.array([0.1, 0.5, -0.5, 0.2, 0.3, 0.1])
    arm = appell.load("puma560")
    robot = arm.held({"link6": 3}, at=q)
    assert (robot.nv, robot.nu, robot.actuators) == (3, 6, arm.actuators)
    v, tau = rng.normal(size=3), rng.normal(size=6)
    a, w = robot.forward_dynamics(q, v, tau), robot.contact_forces(q, v, tau)
    tree_v, tree_a = robot.tree_velocity(q, v), robot.tree_acceleration(q, v, a)
    agree(arm.inverse_dynamics(q, tree_v, tree_a, wrenches={"link6": w[0]}), tau, within=1e-10)


@pytest.mark.slow
def test_more_frames_can_be_held(free, agree):
    robot, q = free
    both = robot.held({"left_foot": 3}, at=q).held({"right_foot": 3})
    assert both.closure_names == list(FEET)
    still = np.zeros(6)
    agree(both.gravity(q), pool("biped").gravity(q)[[pool("biped").independent.index(x) for x in both.independent]])
    assert both.bias(q, still).shape == (6,)


@pytest.mark.parametrize(
    ("frames", "said"),
    [
        ({}, r"held: expected frames of robot 'biped' and 3 or 6 rows each"),
        (
            {"left_foot": 4},
            r"held: expected 3 rows \(the frame's origin\) or 6 \(the frame\), got 4 for frame 'left_foot'",
        ),
        ({"left_food": 3}, r"held: frame: robot 'biped' has no frame 'left_food'; did you mean 'left_foot'"),
        ({3: 3}, r"held: frame: robot 'biped' has no frame 3"),
    ],
)
def test_frames_that_cannot_be_held_are_named(free, frames, said):
    robot, q = free
    with pytest.raises(InputError, match=said):
        robot.held(frames, at=q)


def test_a_frame_is_held_once(flat):
    with pytest.raises(InputError, match="held: frame 'left_foot' of robot 'biped' is held already"):
        flat.held({"left_foot": 3})


def test_one_configuration_is_expected(free):
    robot, q = free
    with pytest.raises(InputError, match=r"held: at: expected one configuration \(13,\)"):
        robot.held({"left_foot": 3}, at=[q, q])


def test_frames_that_leave_no_motion_are_named():
    with pytest.raises(ModelError, match=r"leave no motion \(mobility 0\): 'link6' constrain all 6 velocities"):
        appell.load("puma560").held({"link6": 6}, at=[0.1, 0.5, -0.5, 0.2, 0.3, 0.1])


def test_a_spherical_robot_is_held_as_the_tree_of_its_legs():
    robot = appell.load("agile-wrist").held({"platform": 3})  # at the centre, where nothing moves
    assert (robot.nq, robot.nv, robot.actuators) == (7, 3, ["theta1", "theta2", "theta3"])


# Friction


def test_the_margin_is_that_of_the_cone(flat):
    forces = np.zeros((2, 2, 6))
    forces[0, :, :3] = [[3.0, 4.0, 10.0], [0.0, 0.0, -1.0]]
    forces[1, :, :3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    np.testing.assert_allclose(flat.friction_margin(forces, 0.6), [[1.0, -0.6], [0.0, -1.0]])
    np.testing.assert_allclose(flat.friction_margin(forces[1], [0.5, 0.7], [2.0, 0.0, 0.0]), [0.0, 0.7])


@pytest.mark.parametrize(
    ("mu", "normals", "said"),
    [
        (-1.0, (0, 0, 1), "mu: expected numbers"),
        ([1.0] * 3, (0, 0, 1), "mu: expected"),
        (1.0, (0, 0, 0), "length above 0"),
    ],
)
def test_cones_that_do_not_exist_are_refused(flat, mu, normals, said):
    with pytest.raises(InputError, match=said):
        flat.friction_margin(np.zeros((2, 6)), mu, normals)


def test_torques_are_the_least_within_the_cones(flat, agree):
    """The solution satisfies the conditions of optimality, checked by random feasible torques nearby."""
    pytest.importorskip("clarabel")
    q, still, weights = flat.neutral(), np.zeros(3), np.array([1.0, 2.0, 0.5, 1.0, 1.0, 3.0])
    plain = flat.inverse_dynamics(q, still, still, weights=weights)
    at_ease = flat.friction_margin(flat.contact_forces(q, still, plain), 1.0)
    mu = 0.5 * float(np.clip(-at_ease.min() + 1.0, 0.3, 1.0))
    found = flat.stance_torques(np.array([q, q]), still, still, mu=mu, weights=weights)
    assert found.is_feasible.all()
    tau = found.tau[0]
    margin = flat.friction_margin(found.forces[0], mu)
    assert margin.min() > -1e-6
    agree(flat.forward_dynamics(q, still, tau), still, within=1e-8, size=1.0)
    free = np.linalg.svd(flat.actuator_jacobian(q).T)[2][3:]
    for step in np.random.default_rng(1).normal(size=(200, 3)) @ free * 1e-2:
        other = tau + step
        if flat.friction_margin(flat.contact_forces(q, still, other), mu).min() >= 0.0:
            assert weights @ other**2 > weights @ tau**2 - 1e-6


def test_feet_that_must_slip_are_said_so(flat):
    pytest.importorskip("clarabel")
    q, still = flat.neutral(), np.zeros(3)
    found = flat.stance_torques(q, still, still, mu=0.5, normals=(0.0, 0.0, -1.0))
    assert not found.is_feasible
    np.testing.assert_allclose(found.tau, flat.inverse_dynamics(q, still, still), rtol=1e-9)
