"""Robots on their feet against Pinocchio's constrained dynamics, and torques against least squares of its matrices."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.evaluation import agree

pytest.importorskip("pinocchio")

from tests.support.stances import ROBOTS, STANCES, Peer, standing, tree_forces

SAMPLES = 8
FEET = {
    "go2": STANCES["go2"],
    **{
        name: pytest.param(stance, marks=pytest.mark.slow)
        for name, stance in {
            "anymal": STANCES["anymal"],
            "talos": STANCES["talos"],
            "talos on one foot": STANCES["talos"].on(1),
            "go2 on three feet": STANCES["go2"].on(0, 1, 3),
            "go2 on two feet": STANCES["go2"].on(0, 3),
            "go2 on one foot": STANCES["go2"].on(2),
        }.items()
    },
}


@pytest.fixture(scope="module", params=list(FEET.values()), ids=list(FEET))
def stance(request):
    """Return a robot on its feet, its peer, and states of it."""
    if not ROBOTS.exists():
        pytest.skip("example-robot-data is not installed; run make install")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)  # of the inertias in the file
        robot = standing(request.param)
    rng = np.random.default_rng(2026)
    q = robot.random(rng, SAMPLES)
    v, tau = rng.normal(size=(SAMPLES, robot.nv)), 20.0 * rng.normal(size=(SAMPLES, robot.nu))
    return robot, Peer(request.param, robot), q, v, tau


def test_accelerations_are_those_of_constrained_dynamics(stance):
    robot, peer, q, v, tau = stance
    found = robot.tree_acceleration(q, v, robot.forward_dynamics(q, v, tau))
    states = zip(q, robot.tree_velocity(q, v), tree_forces(robot, tau), strict=True)
    agree(found, np.array([peer.accelerations(*state) for state in states]), 1e-10)


def test_contact_forces_are_those_of_constrained_dynamics(stance):
    robot, peer, q, v, tau = stance
    expected = []
    for state in zip(q, robot.tree_velocity(q, v), tree_forces(robot, tau), strict=True):
        peer.accelerations(*state)
        expected.append(peer.wrenches(state[0]))
    agree(robot.contact_forces(q, v, tau), np.array(expected), 1e-10)


@pytest.mark.parametrize(
    "is_weighted", [pytest.param(False, marks=pytest.mark.slow), True], ids=["equal weights", "weights"]
)
def test_torques_are_the_least_that_the_motion_needs(stance, is_weighted):
    robot, peer, q, v, tau = stance
    weights = np.random.default_rng(3).uniform(0.2, 5.0, robot.nu) if is_weighted else np.ones(robot.nu)
    a = robot.forward_dynamics(q, v, tau)
    given = a[:, : len(robot.driven)]
    found = robot.inverse_dynamics(q, v, given, weights=weights) if is_weighted else robot.inverse_dynamics(q, v, given)
    whole, rates = robot.tree_velocity(q, v), robot.tree_acceleration(q, v, a)
    expected = []
    for i in range(SAMPLES):
        mass, bias = peer.mass_and_bias(q[i], whole[i])
        rows = peer.jacobian(q[i], len(robot.model.closures[0].rows))
        free = np.linalg.svd(rows)[2][len(rows) :]  # motions that the feet allow
        system = free[:, list(robot.facts.actuated)] / np.sqrt(weights)
        least = np.linalg.lstsq(system, free @ (mass @ rates[i] + bias), rcond=1e-9)[0]
        expected.append(least / np.sqrt(weights))
    agree(found, np.array(expected), 1e-9)


def test_the_feet_carry_the_weight(stance):
    robot, _, q, _, _ = stance
    if len(robot.driven) < robot.nv:
        pytest.skip("the robot falls over")
    still = np.zeros((SAMPLES, robot.nv))
    w = robot.contact_forces(q, still, robot.inverse_dynamics(q, still, still[:, : len(robot.driven)]))
    agree(w[..., :3].sum(axis=1), np.tile([0.0, 0.0, 9.81 * robot.total_mass], (SAMPLES, 1)), 1e-10)


@pytest.mark.parametrize("verb", ["forward_dynamics", pytest.param("inverse_dynamics", marks=pytest.mark.slow)])
def test_derivatives_are_differences_along_the_motions_of_the_robot(stance, verb):
    robot, _, (q, *_), (v, *_), (tau, *_) = stance
    call, h = getattr(robot, verb), 1e-6
    x = tau if verb == "forward_dynamics" else robot.forward_dynamics(q, v, tau)[: len(robot.driven)]

    def slope(moved):
        return (moved(h) - moved(-h)) / (2.0 * h)

    expected = (
        np.stack([slope(lambda s, d=d: call(robot.integrate(q, s * d), v, x)) for d in np.eye(robot.nv)], axis=-1),
        np.stack([slope(lambda s, d=d: call(q, v + s * d, x)) for d in np.eye(robot.nv)], axis=-1),
        np.stack([slope(lambda s, d=d: call(q, v, x + s * d)) for d in np.eye(len(x))], axis=-1),
    )
    for found, wanted in zip(getattr(robot, f"{verb}_derivatives")(q, v, x), expected, strict=True):
        agree(found, wanted, 1e-6)
