"""Stiffness of springs and of elastic transmissions, fitted with the inertias from logs of a robot's motors."""

from __future__ import annotations

import numpy as np
import pytest

import appell
from appell.identification import base_parameters
from appell.identification.base_parameters import columns, nominal
from tests.robot.test_springs import BELT, arm

ELASTIC = appell.Elasticity(300.0, 1.5, 2e-3, 20.0)
ROBOTS = {
    "joints": lambda: arm(stiffness=25.0, spring_reference=0.4, armature=0.02),
    "between": lambda: arm(armature=0.05).with_springs(BELT),
    "elastic": lambda: arm(armature=0.05).with_elastic_joints({"joint2": ELASTIC}),
}


def logged(robot):
    """Return a log of sums of sines, velocities known."""
    rng, t = np.random.default_rng(4), np.arange(0.0, 8.0, 0.005)
    w, (A, B) = 2.0 * np.pi * 0.3 * np.arange(1, 6), 0.25 * rng.normal(size=(2, 5, robot.nv))
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q, v, a = s @ A + c @ B, (c * w) @ A - (s * w) @ B, -(s * w * w) @ A - (c * w * w) @ B
    return {"t": t, "q": q, "v": v, "tau": robot.inverse_dynamics(q, v, a)}


def springs(robot):
    """Return the stiffness of joints, and stiffness and damping between joints."""
    between = [x for spring in robot.model.springs for x in (spring.stiffness, spring.damping)]
    return np.array([*(joint.stiffness for joint in robot.joints.values()), *between])


@pytest.mark.parametrize("method", ["qr", pytest.param("physical", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ROBOTS)
def test_springs_are_fitted(name, method):
    robot = ROBOTS[name]()
    wrong = np.array(robot.parameters)
    wrong[[k for k, label in enumerate(robot.parameter_names) if label.startswith(("k_", "d_"))]] *= 1.7
    fit = appell.identify(robot.with_parameters(wrong), logged(robot), method, friction=["coulomb"])
    np.testing.assert_allclose(springs(fit.robot), springs(robot), rtol=5e-3, atol=1e-3)


@pytest.mark.parametrize("name", ROBOTS)
def test_base_parameters_have_springs_where_asked(name, rng):
    robot = ROBOTS[name]()
    base = base_parameters(robot, rotors=True, springs=True)
    assert base.n > base_parameters(robot, rotors=True).n
    q, v, a = rng.normal(size=(3, 5, robot.nv))
    tau = columns(robot, q, v, a, rotors=True, springs=True) @ nominal(robot, rotors=True, springs=True)
    np.testing.assert_allclose(base.regressor(robot, q, v, a) @ base.values(robot), tau, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(tau, robot.inverse_dynamics(q, v, a), rtol=1e-9, atol=1e-9)
