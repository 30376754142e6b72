"""Closed chains are identified from logs of their motors alone."""

from dataclasses import replace

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.identify.identify import identify
from appell.identify.motion import motion
from appell.identify.prepare import Prepared
from appell.loops.closed_robot import ClosedRobot
from appell.model.model import Model
from appell.spatial.inertia import Inertia

MOTIONS = {"five-bar": (0.06, 10.0), "delta": (0.05, 10.0), "stewart": (0.006, 12.0)}
"""Size of the motors' motion [rad, m] and how long it takes [s]."""


def wrong(model: Model, rng: np.random.Generator) -> Model:
    """Return a model whose bodies are lighter or heavier by up to a third."""
    bodies = [
        replace(b, inertia=Inertia.from_parameters(tuple(rng.uniform(0.7, 1.4) * x for x in b.inertia.parameters)))
        for b in model.bodies
    ]
    return replace(model, bodies=tuple(bodies))


@pytest.fixture(scope="module", params=list(MOTIONS))
def case(request, fourier):
    """A robot, and two motions of it with their states and torques."""
    robot = appell.load(request.param)
    size, seconds = MOTIONS[request.param]
    index = {body.joint.name: k for k, body in enumerate(robot.model.bodies)}
    home = robot.neutral()[[robot.model.q_slices[index[name]].start for name in robot.actuators]]
    made = []
    for seed in (1, 2):
        moved = fourier(robot.nv, seed, seconds=seconds, size=size, middle=home)
        whole = (slice(0, len(moved.t)),)
        log = Prepared(
            moved.t, moved.q, moved.v, moved.a, np.zeros_like(moved.q), moved.q == moved.q, whole, (), 10.0, 100.0
        )
        states = motion(robot, log)
        tau = robot.inverse_dynamics(states.q, moved.v, moved.a) + 0.3 * np.sign(moved.v) + 0.5 * moved.v
        made.append((moved, states, tau))
    return robot, made


def test_the_loops_follow_the_motors(case):
    robot, ((moved, states, _), _) = case
    assert np.max(robot.open_by(states.q)) < 1e-12
    # the velocities that the loops give are the derivatives of the coordinates they give
    v = robot.expand(states.q, moved.v)
    plain = [k for k, b in enumerate(robot.model.bodies) if b.joint.type.nq == 1]
    q = states.q[:, [robot.model.q_slices[k].start for k in plain]]
    slope = np.gradient(q, moved.t, axis=0)[5:-5]
    assert np.allclose(slope, v[5:-5][:, [robot.model.v_slices[k].start for k in plain]], atol=0.01 * np.abs(v).max())


def test_a_fit_from_wrong_masses_predicts_another_motion_to_the_noise(case, noisy):
    robot, ((moved, _, tau), (other, _, expected)) = case
    nominal = ClosedRobot(wrong(robot.model, np.random.default_rng(3)), guess=robot.neutral())
    before = nominal.inverse_dynamics(case[1][1][1].q, other.v, other.a)
    fit = identify(nominal, noisy(moved, tau, 4), friction="coulomb")
    found = fit.predict(noisy(other, expected, 5))
    assert np.all(found.rms < 0.01 * expected.std(axis=0))
    assert np.linalg.norm(before - expected) > 0.03 * np.linalg.norm(expected)  # the file by itself does not
    assert fit.is_physical


def test_the_base_parameters_of_a_closed_chain_are_counted(case, noisy):
    robot, ((moved, _, tau), _) = case
    fit = identify(robot, noisy(moved, tau, 6), "qr", "coulomb", rotors=False)
    assert fit.base.n == {"five-bar": 11, "delta": 39, "stewart": 98}[robot.name]
    assert fit.training.score < 0.02


def test_motors_that_do_not_lead_where_the_log_begins_are_named(case, noisy):
    robot, ((moved, _, tau), _) = case
    log = noisy(moved, tau, 7)
    log["q"] = log["q"] + 5.0
    with pytest.raises(InputError, match="cannot go from its home to where the log begins"):
        identify(robot, log, "qr")
