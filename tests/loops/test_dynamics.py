"""The dynamics of closed robots against multipliers on the open tree, and as laws of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from appell.loops.closed import close
from appell.loops.reduction import Loops
from appell.recursion import closure
from appell.recursion.kinematics import links
from appell.robot.robot import Robot
from appell.robot.verbs.formulations import FORMULATIONS
from tests.support.kinds import tree_of

Array = NDArray[Any]


class Sample(NamedTuple):
    """A closed configuration with independent velocities and accelerations, and actuator forces."""

    q: Array
    v: Array
    a: Array
    tau: Array


def draw(robot: Robot, rng: np.random.Generator) -> Sample:
    q = robot.random(rng)
    return Sample(q, rng.normal(size=robot.nv), rng.normal(size=robot.nv), rng.normal(size=len(robot.actuators)))


@pytest.fixture
def sample(robot, rng) -> Sample:
    return draw(robot, rng)


@pytest.fixture
def tree(robot) -> Robot:
    return tree_of(robot)


def loops(robot: Robot, q: Array, v: Array) -> tuple[Array, Array]:
    """Return the closures' rows and bias accelerations on the open tree."""
    model = robot.model
    chain = links(model, tuple(q))
    ties = closure.ties(model)
    rows = [row for tie in ties for row in closure.rows(model, chain, tie)]
    moving = closure.motions(model, chain, tuple(v))
    bias = [x for tie in ties for x in closure.bias_acceleration(chain, tie, moving)]
    return np.array([[row.get(k, 0.0) for k in range(model.nv)] for row in rows]), np.array(bias, dtype=float)


def actuated(robot: Robot, tau: Array) -> Array:
    forces = np.zeros(robot.model.nv)
    forces[list(cast(Any, robot.kind).structure.actuated)] = tau
    return forces


def test_tree_velocities_keep_the_loops_closed(robot, sample, agree):
    v = robot.tree_velocity(sample.q, sample.v)
    rows, _ = loops(robot, sample.q, v)
    agree(rows @ v, np.zeros(len(rows)), within=1e-12, size=np.abs(v).max())
    agree(v[list(cast(Any, robot.kind).structure.independent)], sample.v, within=1e-15)


def test_tree_accelerations_keep_the_loops_closed(robot, sample, agree):
    v, a = robot.tree_velocity(sample.q, sample.v), robot.tree_acceleration(sample.q, sample.v, sample.a)
    rows, bias = loops(robot, sample.q, v)
    agree(rows @ a, -bias, within=1e-11, size=np.abs(a).max())


def test_forward_dynamics_is_that_of_the_tree_with_multipliers_and_inverse_undoes_it(any_robot, rng, agree):
    robot, tree = any_robot, tree_of(any_robot)
    sample = draw(robot, rng)
    v = robot.tree_velocity(sample.q, sample.v)
    rows, bias = loops(robot, sample.q, v)
    n, m = tree.nv, len(rows)
    system = np.block([[tree.mass_matrix(sample.q), -rows.T], [rows, np.zeros((m, m))]])
    right = np.concatenate([actuated(robot, sample.tau) - tree.bias(sample.q, v), -bias])
    solved = np.linalg.lstsq(system, right, rcond=1e-13)[0][:n]
    a = robot.forward_dynamics(sample.q, sample.v, sample.tau)
    agree(a, solved[list(cast(Any, robot.kind).structure.independent)], within=1e-9)
    agree(robot.inverse_dynamics(sample.q, sample.v, a[: len(robot.actuators)]), sample.tau, within=1e-9)


def test_actuators_and_closures_alone_move_the_tree(robot, sample, tree, agree):
    tau = robot.inverse_dynamics(sample.q, sample.v, sample.a[: len(robot.actuators)])
    a = robot.forward_dynamics(sample.q, sample.v, tau)
    forces = robot.constraint_forces(sample.q, sample.v, sample.a[: len(robot.actuators)])
    v, whole = robot.tree_velocity(sample.q, sample.v), robot.tree_acceleration(sample.q, sample.v, a)
    needed = tree.inverse_dynamics(sample.q, v, whole)
    for tie, wrench in zip(robot.model.closures, forces, strict=True):
        axes = tree.pose(sample.q, tie.first)[:3, :3]
        at = tree.pose(sample.q, tie.second)[:3, 3]
        force, moment = axes @ wrench[:3], axes @ wrench[3:]
        if tie.is_rolling:
            moment = moment + np.cross([0.0, 0.0, -tie.radius], force)
        for name, sign in ((tie.second, 1.0), (tie.first, -1.0)):
            arm = at - tree.pose(sample.q, name)[:3, 3]
            load = np.concatenate([force, moment + np.cross(arm, force)])
            needed = needed - sign * tree.jacobian(sample.q, name).T @ load
    agree(needed, actuated(robot, tau), within=1e-9, size=np.abs(forces).max())


def test_the_mass_matrix_is_symmetric_and_positive(robot, sample):
    mass = robot.mass_matrix(sample.q)
    assert np.array_equal(mass, mass.T)
    assert np.linalg.eigvalsh(mass).min() > 0.0


def test_kinetic_energy_is_that_of_the_tree_and_of_the_mass_matrix(robot, sample, tree, agree):
    energy = robot.kinetic_energy(sample.q, sample.v)
    agree(energy, tree.kinetic_energy(sample.q, robot.tree_velocity(sample.q, sample.v)), within=1e-12)
    agree(energy, 0.5 * sample.v @ robot.mass_matrix(sample.q) @ sample.v, within=1e-12)


def test_the_change_of_inertia_less_twice_coriolis_is_skew(robot, sample, agree):
    step = 1e-4
    ahead, behind = (robot.mass_matrix(robot.integrate(sample.q, s * step * sample.v)) for s in (1.0, -1.0))
    change = (ahead - behind) / (2.0 * step)
    coriolis = robot.coriolis_matrix(sample.q, sample.v)
    agree(change, coriolis + coriolis.T, within=1e-6, size=np.abs(robot.mass_matrix(sample.q)).max())


def test_coriolis_forces_are_the_bias_without_weight_and_friction(robot, sample, agree):
    smooth = (replace(body, joint=replace(body.joint, damping=0.0)) for body in robot.model.bodies)
    model = replace(robot.model, bodies=tuple(smooth), gravity=(0.0, 0.0, 0.0))
    bare = Robot(close(model, guess=robot.neutral()))
    assert bare.independent == robot.independent
    agree(robot.coriolis_matrix(sample.q, sample.v) @ sample.v, bare.bias(sample.q, sample.v), within=1e-10)


def test_the_regressor_times_the_parameters_is_the_force(robot, sample, agree):
    forces = robot.mass_matrix(sample.q) @ sample.a + robot.bias(sample.q, sample.v)
    agree(robot.regressor(sample.q, sample.v, sample.a) @ robot.parameters, forces, within=1e-10)


def test_the_gibbs_function_has_the_forces_for_gradient(robot, sample, agree):
    # S is quadratic in a, so that its central difference of any width is its gradient
    ahead, behind = (robot.gibbs(sample.q, sample.v, sample.a + s * np.eye(robot.nv)) for s in (1.0, -1.0))
    forces = robot.mass_matrix(sample.q) @ sample.a + robot.bias(sample.q, sample.v)
    agree((ahead - behind) / 2.0, forces, within=1e-9, size=np.abs(ahead).max())


def test_gravity_is_the_gradient_of_the_potential_energy(robot, sample, agree):
    step = 1e-4
    units = np.eye(robot.nv)
    ahead, behind = (robot.potential_energy(robot.integrate(sample.q, s * step * units)) for s in (1.0, -1.0))
    agree(robot.gravity(sample.q), (ahead - behind) / (2.0 * step), within=1e-6, size=1.0)


def test_a_frames_jacobian_is_the_rate_of_its_pose(robot, sample, agree):
    step, frame = 1e-5, robot.model.closures[-1].second
    ahead, behind = (robot.pose(robot.integrate(sample.q, s * step * sample.v), frame) for s in (1.0, -1.0))
    rate = (ahead - behind)[:3, 3] / (2.0 * step)
    velocity = robot.jacobian(sample.q, frame) @ sample.v
    agree(velocity[:3], rate, within=1e-7)
    agree(robot.velocity(sample.q, sample.v, frame), velocity, within=1e-12)


def test_momentum_is_its_matrix_times_velocity(robot, sample, tree, agree):
    momentum = robot.momentum(sample.q, sample.v)
    agree(momentum, robot.momentum_matrix(sample.q) @ sample.v, within=1e-12)
    agree(momentum, tree.momentum(sample.q, robot.tree_velocity(sample.q, sample.v)), within=1e-12)


def test_wrenches_enter_inverse_and_forward_dynamics_alike(robot, sample, agree):
    wrench = {robot.model.bodies[-1].name: np.arange(1.0, 7.0)}
    a = robot.forward_dynamics(sample.q, sample.v, sample.tau, wrenches=wrench)
    back = robot.inverse_dynamics(sample.q, sample.v, a[: len(robot.actuators)], wrenches=wrench)
    agree(back, sample.tau, within=1e-9, size=np.abs(robot.gravity(sample.q)).max())


def test_native_code_is_the_plain_recursion(robot, sample, agree):
    program = Loops(robot.model, robot.model, cast(Any, robot.kind).structure)
    driven = sample.a[: len(robot.actuators)]
    inverse_dynamics = FORMULATIONS["inverse_dynamics"]["gibbs"].program
    plain = inverse_dynamics(program, tuple(sample.q), tuple(sample.v), tuple(driven)).results
    agree(robot.inverse_dynamics(sample.q, sample.v, driven), np.array(plain), within=1e-11)


def test_a_batch_is_its_samples(robot, rng, agree):
    q, v = robot.random(rng, 9), rng.normal(size=(9, robot.nv))
    a = rng.normal(size=len(robot.actuators))
    together = robot.inverse_dynamics(q, v, a)
    agree(together, [robot.inverse_dynamics(*pair, a) for pair in zip(q, v, strict=True)], within=1e-12)
    place = np.empty_like(together)
    assert robot.inverse_dynamics(q, v, a, out=place) is place
    assert np.array_equal(place, together)


def test_single_precision_is_double_to_its_digits(robot, sample, agree):
    arguments = (sample.q, sample.v, sample.a[: len(robot.actuators)])
    single = robot.inverse_dynamics(*(x.astype(np.float32) for x in arguments))
    assert single.dtype == np.float32
    size = np.abs(robot.gravity(sample.q)).max()
    agree(single, robot.inverse_dynamics(*arguments), within=2e-3, size=size)


def test_the_motion_is_forward_dynamics_with_the_rates_of_the_tree(robot, sample, agree):
    rate, a = robot.evaluate("motion", sample.q, sample.v, sample.tau)
    agree(a, robot.forward_dynamics(sample.q, sample.v, sample.tau), within=1e-12)
    step = 1e-5
    ahead, behind = (robot.integrate(sample.q, s * step * sample.v) for s in (1.0, -1.0))
    agree(rate, (ahead - behind) / (2.0 * step), within=1e-7)


@pytest.mark.parametrize("name", ["five-bar", "rssr"])
def test_power_balances(name, closed, rng, agree):
    # d(T + V)/dt = τ·v_actuators − damping
    robot = closed(name)
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=len(robot.actuators))
    a = robot.forward_dynamics(q, v, tau)
    h = 1e-5

    def energy(s: float) -> float:
        there = robot.integrate(q, s * v + 0.5 * s * s * a)
        return float(robot.kinetic_energy(there, v + s * a) + robot.potential_energy(there))

    rates = robot.tree_velocity(q, v)
    lost = sum(
        body.joint.damping * rates[k] ** 2
        for i, body in enumerate(robot.model.bodies)
        for k in robot.model.velocities(i)
    )
    agree((energy(h) - energy(-h)) / (2.0 * h), tau @ v[: len(tau)] - lost, within=1e-6, size=10.0)


@pytest.mark.parametrize("verb", ["inverse_dynamics", "forward_dynamics"])
def test_derivatives_are_those_along_the_motions_of_the_robot(verb, robot, sample, agree):
    call, third = getattr(robot, verb), sample.a[: len(robot.actuators)] if verb.startswith("inv") else sample.tau
    by_q, by_v, by_third = getattr(robot, f"{verb}_derivatives")(sample.q, sample.v, third)
    h, n, m = 1e-5, np.eye(robot.nv), np.eye(len(third))

    def difference(step: Any) -> Array:
        return np.asarray(np.swapaxes(step(h) - step(-h), -1, -2) / (2.0 * h))

    agree(by_q, difference(lambda s: call(robot.integrate(sample.q, s * n), sample.v, third)), within=1e-6, size=1.0)
    agree(by_v, difference(lambda s: call(sample.q, sample.v + s * n, third)), within=1e-6, size=1.0)
    agree(by_third, difference(lambda s: call(sample.q, sample.v, third + s * m)), within=1e-6, size=1.0)
