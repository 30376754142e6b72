"""Robots of a thousand bodies: loops instead of written-out programs, equal to Pinocchio and to the plain recursion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import appell
from appell.model.build import Connection, Link, build
from appell.model.model import Joint, Model
from appell.recursion import gibbs
from appell.robot.long.kind import LONG, is_long
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose

BODY = Inertia.from_centre(1.0, (0.1, 0.2, 0.3), ((0.1, 0.0, 0.0), (0.0, 0.12, 0.0), (0.0, 0.0, 0.15)))


def star(leaves: int) -> Model:
    """Return a floating hub with many leaves on every kind of joint that loops know."""
    rng = np.random.default_rng(3)
    links, joints = [Link("hub", BODY)], []
    for i in range(leaves):
        kind = ("revolute", "prismatic", "ball", "continuous")[i % 4]
        axis, position = (tuple(float(x) for x in rng.normal(size=3)) for _ in range(2))
        joint = Joint(f"j{i}", kind, axis, Pose(position=position), damping=0.1, armature=0.2 * (i % 3))  # type: ignore[arg-type]
        links.append(Link(f"l{i}", BODY))
        joints.append(Connection(joint, "hub", f"l{i}"))
    return build("star", links, joints).floating()


def state(robot: appell.Robot, samples: int) -> Any:
    """Return random configurations, velocities and accelerations."""
    rng = np.random.default_rng(5)
    v, a = rng.normal(size=(2, samples, robot.nv))
    return robot.random(rng, samples), 0.1 * v, a


def test_a_long_chain_is_pinocchios(peer: Callable[[Model], Any]) -> None:
    """Inverse dynamics through rolled loops; Pinocchio's own data grows with the cube of the joints, so 150 of them."""
    robot = appell.random_chain(150, np.random.default_rng(0))
    assert is_long(robot.model)
    q, v, a = state(robot, 3)
    theirs = peer(robot.model)
    expected = np.array([theirs.torque(*row) for row in zip(q, v, a, strict=True)])
    error = np.abs(robot.inverse_dynamics(q, v, a) - expected).max()
    assert error <= 1e-11 * np.abs(expected).max()


def test_the_matrices_of_a_long_chain_are_pinocchios(peer: Callable[[Model], Any], agree: Callable[..., None]) -> None:
    """Inertia matrix, Coriolis forces, regressor, Jacobian, centroidal momentum and energies."""
    robot = appell.random_chain(LONG + 20, np.random.default_rng(1))
    theirs = peer(robot.model)
    pin, model, data, tip = theirs.pin, theirs.model, theirs.data, robot.link_names[-1]
    q, v, a = (x[0] for x in state(robot, 1))
    at = theirs.coordinates(q)
    agree(robot.mass_matrix(q), theirs.mass_matrix(q), 1e-12)
    forces = pin.computeCoriolisMatrix(model, data, at, v) @ v
    agree(robot.coriolis_matrix(q, v) @ v, forces, 1e-11)
    agree(robot.regressor(q, v, a), pin.computeJointTorqueRegressor(model, data, at, v, a), 1e-12)
    pin.computeJointJacobians(model, data, at)
    jacobian = pin.getJointJacobian(model, data, model.njoints - 1, pin.LOCAL_WORLD_ALIGNED)
    agree(robot.jacobian(q, tip), jacobian, 1e-12)
    agree(robot.momentum_matrix(q), pin.computeCentroidalMap(model, data, at), 1e-11)
    agree(robot.momentum(q, v), pin.computeCentroidalMomentum(model, data, at, v).vector, 1e-11)
    agree(robot.centre_of_mass(q), pin.centerOfMass(model, data, at), 1e-12)
    agree(robot.kinetic_energy(q, v), pin.computeKineticEnergy(model, data, at, v), 1e-12)
    agree(robot.potential_energy(q), pin.computePotentialEnergy(model, data, at), 1e-12)


def test_a_chain_of_a_thousand_links_is_the_plain_recursion() -> None:
    """The same loops, ten times as long."""
    robot = appell.random_chain(1000, np.random.default_rng(0))
    q, v, a = state(robot, 3)
    expected = np.stack(gibbs.inverse_dynamics(robot.model, *(tuple(x.T) for x in (q, v, a))), axis=-1)
    error = np.abs(robot.inverse_dynamics(q, v, a) - expected).max()
    assert error <= 1e-11 * np.abs(expected).max()


def test_a_star_of_a_thousand_leaves_is_the_plain_recursion() -> None:
    """Inverse dynamics, bias and gravity; forward dynamics undoes it."""
    robot = appell.load(star(1000))
    q, v, a = state(robot, 3)
    columns = [tuple(x.T) for x in (q, v, a)]
    expected = np.stack(np.broadcast_arrays(*gibbs.inverse_dynamics(robot.model, *columns)), axis=-1)
    tau = robot.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(tau, expected, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(robot.bias(q, v), robot.inverse_dynamics(q, v, 0.0 * a), rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(robot.gravity(q), robot.bias(q, 0.0 * v), rtol=1e-11, atol=1e-10)


def test_a_long_robot_whose_free_joint_has_a_rotor_is_the_plain_recursion() -> None:
    """The rotor's ω × v in every verb that has it."""
    model = star(90)
    hub = replace(model.bodies[0], joint=replace(model.bodies[0].joint, armature=0.7))
    robot = appell.load(replace(model, bodies=(hub, *model.bodies[1:])).without_friction())
    assert is_long(robot.model)
    q, v, a = state(robot, 3)
    columns = [tuple(x.T) for x in (q, v, a)]
    tau = robot.inverse_dynamics(q, v, a)
    expected = np.stack(np.broadcast_arrays(*gibbs.inverse_dynamics(robot.model, *columns)), axis=-1)
    np.testing.assert_allclose(tau, expected, rtol=1e-11, atol=1e-10)
    np.testing.assert_allclose(robot.forward_dynamics(q, v, tau), a, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(robot.regressor(q, v, a) @ robot.parameters, tau, rtol=1e-10, atol=1e-9)
    carried = np.einsum("bij,bj->bi", robot.coriolis_matrix(q, v), v)
    np.testing.assert_allclose(carried + robot.gravity(q), robot.bias(q, v), rtol=1e-10, atol=1e-9)


def test_a_long_robot_has_the_other_verbs_too() -> None:
    """Inertia matrix, energies, poses and Jacobians of a chain, by their laws."""
    robot = appell.random_chain(LONG + 20, np.random.default_rng(1))
    q, v, a = state(robot, 2)
    matrix = robot.mass_matrix(q)
    tip = robot.link_names[-1]
    np.testing.assert_allclose(np.einsum("bij,bj->bi", matrix, a) + robot.bias(q, v), robot.inverse_dynamics(q, v, a))
    np.testing.assert_allclose(0.5 * np.einsum("bi,bij,bj->b", v, matrix, v), robot.kinetic_energy(q, v))
    np.testing.assert_allclose(np.einsum("bij,bj->bi", robot.jacobian(q, tip), v), robot.velocity(q, v, tip), atol=1e-9)
    np.testing.assert_allclose(robot.inverse_dynamics_derivatives(q, v, a)[2], matrix, atol=1e-9 * np.abs(matrix).max())


def test_single_precision_rolls_too() -> None:
    """float32 in, float32 out, equal to its precision."""
    robot = appell.random_chain(LONG + 20, np.random.default_rng(1))
    q, v, a = state(robot, 5)
    exact = robot.inverse_dynamics(q, v, a)
    single = robot.inverse_dynamics(*(x.astype(np.float32) for x in (q, v, a)))
    assert single.dtype == np.float32
    assert np.abs(single - exact).max() <= 2e-4 * np.abs(exact).max()
