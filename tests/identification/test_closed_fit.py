"""Closed chains and spherical robots are identified from logs of their motors alone."""

from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.identification.identify import identify
from appell.identification.problem import motion
from appell.logs.prepare import Prepared
from appell.model.model import Model
from appell.spatial.inertia import Inertia

MOTIONS = {"five-bar": (0.06, 10.0), "delta": (0.05, 10.0), "stewart": (0.006, 12.0), "agile-wrist": (0.05, 10.0)}
"""Size of the motors' motion [rad, m] and how long it takes [s]."""


def wrong(model: Model, rng: np.random.Generator) -> Model:
    """Return a model whose bodies are lighter or heavier by up to a third."""
    bodies = [
        replace(b, inertia=Inertia.from_parameters(tuple(rng.uniform(0.7, 1.4) * x for x in b.inertia.parameters)))
        for b in model.bodies
    ]
    return replace(model, bodies=tuple(bodies))


@pytest.fixture(
    scope="module", params=["five-bar", "delta", "agile-wrist", pytest.param("stewart", marks=pytest.mark.slow)]
)
def case(request, fourier):
    """A robot, and two motions of it with their states and torques."""
    robot = appell.load(request.param)
    size, seconds = MOTIONS[request.param]
    home = robot.actuator_positions(robot.neutral())
    made = []
    for seed in (1, 2):
        moved = fourier(robot.nv, seed, seconds=seconds, size=size, middle=home)
        whole = (slice(0, len(moved.t)),)
        log = Prepared(
            moved.t, moved.q, moved.v, moved.a, np.zeros_like(moved.q), moved.q == moved.q, whole, (), 10.0, 100.0
        )
        states = motion(robot, log)
        tau = robot.inverse_dynamics(states.q, states.v, states.a) + 0.3 * np.sign(moved.v) + 0.5 * moved.v
        made.append((moved, states, tau))
    return robot, made


def test_the_loops_follow_the_motors(case, agree):
    robot, ((moved, states, _), _) = case
    assert np.max(robot.closure_error(states.q)) < 1e-12
    agree(robot.actuator_positions(states.q), moved.q, 1e-9)
    agree((robot.actuator_jacobian(states.q) @ states.v[..., None])[..., 0], moved.v, 1e-9)
    # the velocities and accelerations that the loops give are the derivatives of the coordinates they give
    v = robot.tree_velocity(states.q, states.v)
    plain = [k for k, b in enumerate(robot.model.bodies) if b.joint.type.nq == 1]
    q = robot.tree_configuration(states.q)[:, [robot.model.q_slices[k].start for k in plain]]
    slope = np.gradient(q, moved.t, axis=0)[5:-5]
    a = robot.tree_acceleration(states.q, states.v, states.a)[5:-5]
    assert np.allclose(np.gradient(v, moved.t, axis=0)[5:-5], a, atol=0.01 * np.abs(a).max())
    assert np.allclose(slope, v[5:-5][:, [robot.model.v_slices[k].start for k in plain]], atol=0.01 * np.abs(v).max())


def test_a_fit_from_wrong_masses_predicts_another_motion_to_the_noise(case, noisy):
    robot, ((moved, _, tau), (other, _, expected)) = case
    nominal = robot.with_model(wrong(robot.model, np.random.default_rng(3)))
    states = case[1][1][1]
    before = nominal.inverse_dynamics(states.q, states.v, states.a)
    fit = identify(nominal, noisy(moved, tau, 4), friction="coulomb")
    found = fit.predict(noisy(other, expected, 5))
    assert np.all(found.rms < 0.01 * expected.std(axis=0))
    assert np.linalg.norm(before - expected) > 0.03 * np.linalg.norm(expected)  # the file by itself does not
    assert fit.is_physical


def test_the_base_parameters_of_a_closed_chain_are_counted(case, noisy):
    robot, ((moved, _, tau), _) = case
    fit = identify(robot, noisy(moved, tau, 6), "qr", "coulomb", rotors=False)
    assert fit.base.n == {"five-bar": 11, "delta": 39, "stewart": 98, "agile-wrist": 33}[robot.name]
    assert fit.training.score < 0.02


def test_a_log_whose_motors_cannot_be_where_it_says_is_refused(case, noisy):
    robot, ((moved, _, tau), _) = case
    log = noisy(moved, tau, 7)
    log["q"] = log["q"] + 3.0 * np.eye(robot.nu)[0]
    with pytest.raises(InputError, match="has no configuration at the measured motor positions"):
        identify(robot, log, "qr")


def test_the_fitted_robot_has_the_fitted_torques(case, noisy):
    robot, ((moved, _, tau), (_, states, _)) = case
    fit = identify(robot, noisy(moved, tau, 8), friction=False, rotors=False)
    expected = fit.torque(states.q, states.v, states.a)
    found = fit.robot.inverse_dynamics(states.q, states.v, states.a)
    assert fit.robot.independent == robot.independent
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


def test_a_file_names_the_motors_of_a_closed_chain_in_any_order(case, noisy, tmp_path):
    robot, ((moved, _, tau), _) = case
    log, names = noisy(moved, tau, 9), list(reversed(range(robot.nu)))
    head = ["t", *(f"{what}_{robot.actuators[k]}" for what in ("q", "v", "tau") for k in names)]
    rows = np.column_stack([log["t"], *(log[what][:, names] for what in ("q", "v", "tau"))])
    np.savetxt(tmp_path / "log.csv", rows, delimiter=",", header=",".join(head), comments="", fmt="%.17g")
    one, other = (identify(robot, x, "qr", "coulomb") for x in (log, tmp_path / "log.csv"))
    np.testing.assert_allclose(other.values, one.values)
