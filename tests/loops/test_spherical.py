"""The Agile Wrist and the spherical star-triangle: the papers' numbers, and the laws of dynamics."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import appell
from appell.errors import InputError
from appell.spatial.scalar import cos, sin

NAMES = ["agile-wrist", "sst"]
COUNT = 50


@pytest.fixture(scope="module", params=NAMES)
def robot(request):
    # the star-triangle's paper has neither gravity nor mass centres
    return appell.load(request.param)


@pytest.fixture(scope="module")
def motion(robot):
    rng = np.random.default_rng(2014)
    return robot.random(rng, COUNT), rng.normal(size=(COUNT, 3)), rng.normal(size=(COUNT, 3))


def leg_angles(robot, q):
    return np.arctan2(*robot.evaluate("leg_angles", q))


# The reference files

WRIST = {
    "M": lambda robot, q, v, a: robot.mass_matrix(q),
    "C": lambda robot, q, v, a: robot.coriolis_matrix(q, v, formulation="abedloo2014"),
    "Cqd": lambda robot, q, v, a: (robot.coriolis_matrix(q, v) @ v[..., None])[..., 0],
    "G": lambda robot, q, v, a: robot.gravity(q),
    "Jact": lambda robot, q, v, a: robot.actuator_jacobian(q),
    "theta": lambda robot, q, v, a: robot.actuator_positions(q),
    "psi": lambda robot, q, v, a: leg_angles(robot, q)[..., 1],
    "thd": lambda robot, q, v, a: robot.evaluate("leg_rates", q, v)[..., 0],
    "psd": lambda robot, q, v, a: robot.evaluate("leg_rates", q, v)[..., 1],
    "thdd": lambda robot, q, v, a: robot.evaluate("leg_accelerations", q, v, a)[..., 0],
    "tau": lambda robot, q, v, a: robot.inverse_dynamics(q, v, a),
}
STAR = {
    "gamma": lambda robot, q, v, a: robot.actuator_positions(q),
    "mu": lambda robot, q, v, a: leg_angles(robot, q)[..., 1],
    "gammad": lambda robot, q, v, a: robot.evaluate("leg_rates", q, v)[..., 0],
    "mud": lambda robot, q, v, a: robot.evaluate("leg_rates", q, v)[..., 1],
    "gammadd": lambda robot, q, v, a: robot.evaluate("leg_accelerations", q, v, a)[..., 0],
    "mudd": lambda robot, q, v, a: robot.evaluate("leg_accelerations", q, v, a)[..., 1],
    "tau": lambda robot, q, v, a: robot.inverse_dynamics(q, v, a),
}


def columns(rows, *keys):
    return [np.array([row[key] for row in rows]) for key in keys]


@pytest.mark.parametrize("quantity", WRIST)
def test_the_agile_wrist_has_the_references_numbers(quantity, references, agree):
    rows = references("abedloo_agile_wrist")["branch_plus"]
    ours = WRIST[quantity](appell.load("agile-wrist"), *columns(rows, "q", "qd", "qdd"))
    agree(ours, columns(rows, quantity)[0], 1e-12)


@pytest.mark.parametrize("trajectory", ["traj1", "traj2"])
@pytest.mark.parametrize("quantity", STAR)
def test_the_star_triangle_has_the_references_numbers(quantity, trajectory, references, agree):
    rows = references("enferadi_sst")[trajectory]
    ours = STAR[quantity](appell.load("sst"), *columns(rows, "ang", "angd", "angdd"))
    agree(ours, columns(rows, quantity)[0], 1e-12)


def test_the_arcs_have_the_references_inertias(references, agree):
    links = references("abedloo_agile_wrist")["params"]
    parameters = appell.load("agile-wrist").parameters.reshape(7, 10)
    for body, name in ((0, "link1"), (5, "link2")):
        link = links[name]
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = link["I"]
        expected = [link["m"], *(link["m"] * np.array(link["com"])), xx, xy, yy, xz, yz, zz]
        agree(parameters[body], expected, 1e-14)


# Laws


def test_the_mass_matrix_is_symmetric_positive_definite(robot, motion):
    matrix = robot.mass_matrix(motion[0])
    assert np.array_equal(matrix, np.swapaxes(matrix, -1, -2))
    assert np.linalg.eigvalsh(matrix).min() > 0.0


def test_kinetic_energy_is_half_the_mass_matrix_between_the_rates(robot, motion, agree):
    q, v, _ = motion
    agree(robot.kinetic_energy(q, v), 0.5 * np.einsum("ni,nij,nj->n", v, robot.mass_matrix(q), v), 1e-13)


def test_the_generalised_forces_are_mass_times_acceleration_and_coriolis_and_gravity(robot, motion, agree):
    q, v, a = motion
    inertial = np.einsum("nij,nj->ni", robot.mass_matrix(q), a)
    quick = np.einsum("nij,nj->ni", robot.coriolis_matrix(q, v), v)
    agree(robot.generalised_forces(q, v, a), inertial + quick + robot.gravity(q), 1e-12)
    agree(robot.bias(q, v), quick + robot.gravity(q), 1e-12)


def test_the_papers_coriolis_matrix_has_the_same_forces(robot, motion, agree):
    q, v, _ = motion
    ours, theirs = (robot.coriolis_matrix(q, v, formulation=f) @ v[..., None] for f in (None, "abedloo2014"))
    agree(ours, theirs, 1e-12)


def test_the_rate_of_the_mass_matrix_less_twice_the_coriolis_matrix_is_skew(robot, motion, agree):
    q, v, _ = motion
    h = 1e-3  # differences of eighth order, exact to rounding at this step
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    rate = (
        sum(w * (robot.mass_matrix(q + k * h * v) - robot.mass_matrix(q - k * h * v)) for k, w in weights.items()) / h
    )
    skew = rate - 2.0 * robot.coriolis_matrix(q, v)
    agree(skew, -np.swapaxes(skew, -1, -2), 1e-9)


def test_with_the_papers_coriolis_matrix_it_is_not():
    robot = appell.load("agile-wrist")
    q, v, h = np.array([0.2, -0.1, 0.3]), np.array([1.0, -0.5, 0.7]), 1e-5
    rate = (robot.mass_matrix(q + h * v) - robot.mass_matrix(q - h * v)) / (2.0 * h)
    skew = rate - 2.0 * robot.coriolis_matrix(q, v, formulation="abedloo2014")
    assert np.abs(skew + skew.T).max() > 1e-3 * np.abs(skew).max()


def test_the_motors_torques_do_the_work_of_the_generalised_forces(robot, motion, agree):
    q, v, a = motion
    tau, jacobian = robot.inverse_dynamics(q, v, a), robot.actuator_jacobian(q)
    agree(np.einsum("nij,ni->nj", jacobian, tau), robot.generalised_forces(q, v, a), 1e-12)
    agree(np.einsum("nij,nj->ni", jacobian, v), robot.evaluate("leg_rates", q, v)[..., 0], 1e-12)


def test_forward_dynamics_undoes_inverse_dynamics(robot, motion, agree):
    q, v, a = motion
    agree(robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a)), a, 1e-10)


def test_forward_dynamics_undoes_inverse_dynamics_under_a_moment(robot, motion, agree):
    q, v, a = motion
    wrenches = {"platform": [0.0, 0.0, 0.0, 1.0, -2.0, 0.5]}
    tau = robot.inverse_dynamics(q, v, a, wrenches=wrenches)
    agree(robot.forward_dynamics(q, v, tau, wrenches=wrenches), a, 1e-10)


def test_the_torques_are_linear_in_the_parameters(robot, motion, agree):
    q, v, a = motion
    agree(robot.regressor(q, v, a) @ robot.parameters, robot.inverse_dynamics(q, v, a), 1e-12)


def test_the_gradient_of_the_gibbs_function_is_the_generalised_force(robot, motion, agree):
    q, v, a = motion
    gradient = [0.5 * (robot.gibbs(q, v, a + e) - robot.gibbs(q, v, a - e)) for e in np.eye(3)]  # quadratic: exact
    agree(np.stack(gradient, axis=-1), robot.generalised_forces(q, v, a), 1e-11)


def test_gravity_is_the_gradient_of_the_potential_energy(motion, agree):
    wrist = appell.load("agile-wrist", gravity=(1.0, 2.0, -9.0))
    q = wrist.random(np.random.default_rng(1), 20)
    h = 1e-4
    slope = [
        (
            8 * (wrist.potential_energy(q + h * e) - wrist.potential_energy(q - h * e))
            - wrist.potential_energy(q + 2 * h * e)
            + wrist.potential_energy(q - 2 * h * e)
        )
        / (12 * h)
        for e in np.eye(3)
    ]
    agree(np.stack(slope, axis=-1), wrist.gravity(q), 1e-9)


def test_energy_stays_in_free_motion(robot, agree):
    def rate(_, x):
        return np.concatenate([x[3:], robot.forward_dynamics(x[:3], x[3:], np.zeros(3))])

    start = np.concatenate([robot.neutral() + 0.1, [1.5, -1.2, 0.9]])
    run = solve_ivp(rate, (0.0, 0.1), start, "DOP853", rtol=1e-12, atol=1e-12)
    q, v = run.y[:3].T, run.y[3:].T
    energy = robot.kinetic_energy(q, v) + robot.potential_energy(q)
    assert np.abs(v[-1] - v[0]).max() > 0.05  # it does move otherwise than evenly
    agree(energy, np.full_like(energy, energy[0]), 1e-10)


def slopes(verb, *state):
    """Return the derivatives of a verb by each argument, by differences of fourth order."""
    h, found = 1e-4, []
    for k in range(len(state)):
        columns = []
        for e in np.eye(3):
            ahead, behind, far, back = (
                verb(*(x + s * h * e if i == k else x for i, x in enumerate(state))) for s in (1, -1, 2, -2)
            )
            columns.append((8 * (ahead - behind) - (far - back)) / (12 * h))
        found.append(np.stack(columns, axis=-1))
    return found


def test_derivatives_of_inverse_dynamics_are_its_slopes(agree):
    robot = appell.load("agile-wrist")
    state = robot.random(np.random.default_rng(1), 5), *np.random.default_rng(2).normal(size=(2, 5, 3))
    for ours, slope in zip(
        robot.inverse_dynamics_derivatives(*state), slopes(robot.inverse_dynamics, *state), strict=True
    ):
        agree(ours, slope, 1e-7)


def test_derivatives_of_forward_dynamics_are_its_slopes(agree):
    robot = appell.load("sst")
    state = robot.random(np.random.default_rng(1), 5), *np.random.default_rng(2).normal(size=(2, 5, 3))
    for ours, slope in zip(
        robot.forward_dynamics_derivatives(*state), slopes(robot.forward_dynamics, *state), strict=True
    ):
        agree(ours, slope, 1e-7)


# Kinematics


def test_forward_kinematics_undoes_inverse_kinematics(robot, motion, agree):
    q = motion[0]
    agree(robot.from_actuators(robot.actuator_positions(q), q + 0.05), q, 1e-12)


def test_forward_kinematics_finds_a_posture_without_a_guess(robot, motion, agree):
    theta = robot.actuator_positions(motion[0])
    agree(robot.actuator_positions(robot.from_actuators(theta)), theta, 1e-11)


def test_random_postures_are_uniform_around_home(robot):
    mechanism = cast(Any, robot.kind).mechanism
    off = (robot.random(np.random.default_rng(3), 400) - mechanism.home) / mechanism.spread
    assert np.abs(off).max() <= 1.0
    np.testing.assert_allclose(off.mean(axis=0), 0.0, atol=0.2)
    np.testing.assert_allclose(off.std(axis=0), np.sqrt(1.0 / 3.0), atol=0.1)


def test_motor_angles_of_no_posture_are_refused():
    with pytest.raises(
        InputError, match=r"theta of sample \(1,\): no posture of robot 'agile-wrist' with motor angles"
    ):
        appell.load("agile-wrist").from_actuators([[1.2, 1.2, 1.2], [3.0, 0.0, 0.0]])


def test_every_leg_closes(robot, motion, agree):
    q = motion[0]
    platform = robot.pose(q, "platform")[..., :3, :3]
    for i, leg in enumerate(robot.kind.mechanism.legs):
        theta, psi, xi = np.moveaxis(leg_angles(robot, q)[:, i], -1, 0)
        closed = np.array(leg.base) @ turn("z", theta) @ turn("x", np.full(COUNT, leg.alpha1)) @ turn("z", psi)
        closed = closed @ turn("x", np.full(COUNT, leg.alpha2)) @ turn("z", xi) @ np.array(leg.platform).T
        agree(closed, platform, 1e-12)


def turn(axis, angle):
    c, s, one, zero = cos(angle), sin(angle), np.ones(COUNT), np.zeros(COUNT)
    rows = {"z": (c, -s, zero, s, c, zero, zero, zero, one), "x": (one, zero, zero, zero, c, -s, zero, s, c)}
    return np.stack(rows[axis], axis=-1).reshape(COUNT, 3, 3)


def test_a_bodys_jacobian_is_the_rate_of_its_frame(robot, agree):
    q, v, h = robot.neutral() + 0.1, np.array([0.3, -0.5, 0.7]), 1e-4
    for name in ("leg2_link1", "leg3_link2", "platform"):
        at = robot.pose(q, name)[:3, :3]
        one, two = ((robot.pose(q + k * h * v, name) - robot.pose(q - k * h * v, name))[:3, :3] for k in (1, 2))
        spin = ((8 * one - two) / (12 * h)) @ at.T
        agree(robot.jacobian(q, name)[3:] @ v, [spin[2, 1], spin[0, 2], spin[1, 0]], 1e-10)


def test_the_star_triangle_of_the_paper_is_isotropic_at_home():
    robot = appell.load("sst")
    measure = cast(Any, robot.kind).singularities(robot.neutral())
    np.testing.assert_allclose([*measure.serial, measure.parallel], 1.0, rtol=1e-12)


def test_a_stretched_leg_is_a_serial_singularity():
    robot = appell.load("agile-wrist")
    inside, outside = np.zeros(3), edge(robot)
    for _ in range(60):
        middle = 0.5 * (inside + outside)
        inside, outside = (
            (inside, middle) if robot.evaluate("discriminants", middle).min() <= 0.0 else (middle, outside)
        )
    assert cast(Any, robot.kind).singularities(inside).serial.min() < 1e-6


def test_a_platform_that_moves_under_locked_motors_is_at_a_parallel_singularity():
    robot = appell.load("agile-wrist")

    def determinant(pitch):
        return np.linalg.det(robot.actuator_jacobian([0.0, pitch, 0.0]))

    pitch = brentq(determinant, 0.9, 1.2)
    assert cast(Any, robot.kind).singularities(np.array([0.0, pitch, 0.0])).parallel < 1e-9
    free = np.linalg.svd(robot.actuator_jacobian([0.0, pitch, 0.0]))[2][-1]
    rates = robot.evaluate("leg_rates", [0.0, pitch, 0.0], free)
    assert np.abs(rates[:, 0]).max() < 1e-9
    assert np.abs(rates[:, 1]).max() > 0.1


def edge(robot):
    """Return a posture outside the workspace."""
    q = np.random.default_rng(3).uniform(-1.5, 1.5, (500, 3))
    return q[int(np.argmin(robot.evaluate("discriminants", q).min(axis=-1)))]


# Arguments


def test_outside_the_workspace_the_leg_and_the_discriminant_are_named():
    robot = appell.load("agile-wrist")
    q = edge(robot)
    values = robot.evaluate("discriminants", q)
    leg = int(np.argmax(values <= 0.0))
    words = rf"q: outside the workspace of robot 'agile-wrist': leg {leg + 1} cannot reach, its discriminant -0\.\d+"
    for call in (
        lambda: robot.inverse_dynamics(q, np.zeros(3), np.zeros(3)),
        lambda: robot.mass_matrix(q),
        lambda: robot.potential_energy(list(q)),
        lambda: robot.actuator_positions(q),
        lambda: robot.assemble(q),
    ):
        with pytest.raises(InputError, match=words):
            call()


def test_in_a_batch_the_sample_is_named_and_out_is_left_alone():
    robot = appell.load("agile-wrist")
    q = np.zeros((4, 5, 3))
    q[2, 3] = edge(robot)
    out = np.zeros((4, 5, 3))
    with pytest.raises(InputError, match=r"q of sample \(2, 3\): outside the workspace"):
        robot.inverse_dynamics(q, np.zeros(3), np.zeros(3), out=out)
    assert not out.any()


def test_leading_axes_broadcast_and_out_is_filled(robot, motion):
    q, v, a = motion
    whole = robot.inverse_dynamics(q[:, None], v[:4], a[0])
    assert whole.shape == (COUNT, 4, 3)
    np.testing.assert_allclose(whole[7, 2], robot.inverse_dynamics(q[7], v[2], a[0]), rtol=1e-12)
    out = np.empty((COUNT, 3))
    assert robot.inverse_dynamics(q, v, a, out=out) is out
    np.testing.assert_array_equal(out, robot.inverse_dynamics(q, v, a))


def test_single_precision_in_gives_single_precision_out(robot, motion, agree):
    q, v, a = (x.astype(np.float32) for x in motion)
    tau = robot.inverse_dynamics(q, v, a)
    assert tau.dtype == np.float32
    agree(tau, robot.inverse_dynamics(*motion), 1e-4)


def test_native_code_is_the_tape(robot, motion, agree):
    q, v, a = motion
    plain = robot.tape("inverse_dynamics").run(*(x.T for x in motion))[:3]  # the legs' discriminants follow
    agree(robot.inverse_dynamics(q, v, a), np.stack(plain, axis=-1), 1e-12)


def test_not_a_number_stays_one(robot):
    q = robot.neutral()
    assert np.isnan(robot.inverse_dynamics(q * np.nan, q, q)).all()


def test_arguments_that_do_not_fit_are_named(robot):
    with pytest.raises(InputError, match=r"q: expected \(\.\.\., 3\), got \(\.\.\., 2\) for robot"):
        robot.inverse_dynamics([0.0, 0.0], [0.0] * 3, [0.0] * 3)
    with pytest.raises(InputError, match=r"has no frame 'gripper'; known: .*'leg1_link1'"):
        robot.pose(robot.neutral(), "gripper")
    with pytest.raises(InputError, match=r"no formulation 'lagrange' .*; known: 'closed-form', 'abedloo2014'"):
        robot.coriolis_matrix(robot.neutral(), [0.0] * 3, formulation="lagrange")


def test_names_say_what_is_what(robot):
    assert robot.nq == robot.nv == len(robot.independent) == len(robot.joint_names) == len(robot.actuators) == 3
    assert robot.parameters.shape == (10 * len(robot.link_names),)
    legs = robot.kind.mechanism.legs
    assert robot.actuators == [f"{robot.kind.mechanism.joints[0]}{i}" for i in range(1, 1 + len(legs))]
    assert [name for name in robot.frame_names if name in robot.actuators] == robot.actuators
