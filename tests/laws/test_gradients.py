"""Gradients, Hessians, steps and regressors, against derivatives by other ways and differences along motions."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import appell
from appell.loops.spherical.kind import Spherical
from tests.support.evaluation import agree, slope
from tests.support.kinds import apply, driven, random_states
from tests.support.pool import LONG, pool

FEW = ("plates", "floating", "hand", "four-bar", "disc", "wrist")
"""A robot of every kind, rotations and wheels among them."""
SAMPLES = 3


@pytest.fixture(scope="session", params=FEW)
def each(request):
    return pool(request.param)


@pytest.fixture(scope="session")
def some(each):
    """Return states of each robot, accelerations as inverse dynamics takes them, and weights of forces and of rates."""
    states, rng = random_states(each, SAMPLES), np.random.default_rng(4)
    weights = rng.normal(size=(SAMPLES, each.nu)), rng.normal(size=(SAMPLES, each.nv))
    return states._replace(a=driven(each, states.a)), *weights


def weighed(w, blocks):
    return [np.einsum("bi,bij->bj", w, block) for block in blocks]


def columns(paths):
    """Return the derivatives of functions of steps along several directions each, the directions last."""
    return np.concatenate([np.swapaxes(slope(path), -1, -2) for path in paths], axis=-1)


# Vector–Jacobian products


def test_the_vjp_of_inverse_dynamics_is_the_weighed_jacobian(robot, states):
    w = np.random.default_rng(4).normal(size=(len(states.q), robot.nu))
    arguments = states.q, states.v, driven(robot, states.a)
    found = robot.inverse_dynamics_vjp(*arguments, w)
    for x, y in zip(found, weighed(w, robot.inverse_dynamics_derivatives(*arguments)), strict=True):
        agree(x, y, 1e-12, size=1.0)


def test_the_vjp_of_forward_dynamics_is_the_weighed_jacobian(each, some):
    (q, v, _, tau), _, w = some
    found = each.forward_dynamics_vjp(q, v, tau, w)
    for x, y in zip(found, weighed(w, each.forward_dynamics_derivatives(q, v, tau)), strict=True):
        agree(x, y, 1e-12, size=1.0)


def test_the_vjp_of_inverse_dynamics_by_parameters_is_the_weighed_regressor(each, some):
    (q, v, a, _), w, _ = some
    *_, by_pi = each.inverse_dynamics_vjp(q, v, a, w, parameters=each.parameters)
    if each.nu == each.nv:
        agree(by_pi, weighed(w, [each.regressor(q, v, a)])[0], 1e-12, size=1.0)
    power = np.sum(w * each.inverse_dynamics(q, v, a), axis=-1)  # τ is linear in π
    agree(by_pi @ each.parameters, power, 1e-10, size=np.abs(by_pi * each.parameters).max())


def test_the_vjp_of_forward_dynamics_by_parameters_is_a_difference(each, some):
    (q, v, _, tau), _, w = some
    pi = each.parameters
    change = 0.1 * pi * np.random.default_rng(5).normal(size=pi.shape)
    *_, by_pi = each.forward_dynamics_vjp(q, v, tau, w, parameters=pi)
    path = slope(lambda s: np.sum(w * each.forward_dynamics(q, v, tau, parameters=pi + s * change), axis=-1))
    agree(by_pi @ change, path, 1e-8, size=1.0)


# Hessians


def test_the_hessian_is_the_derivative_of_the_vjp(each, some):
    (q, v, a, _), w, _ = some
    q0, v0, a0, w0 = (x[:, None, :] for x in (q, v, a, w))
    n, m = np.eye(each.nv), np.eye(a.shape[-1])

    def vjp(*state):
        return np.concatenate(each.inverse_dynamics_vjp(*state, w0), axis=-1)

    paths = (
        lambda s: vjp(each.integrate(q0, s * n), v0, a0),
        lambda s: vjp(q0, v0 + s * n, a0),
        lambda s: vjp(q0, v0, a0 + s * m),
    )
    agree(each.inverse_dynamics_hessian(q, v, a, w), columns(paths), 1e-8, size=1.0)


def test_the_hvp_is_the_hessian_times_a_direction(each, some):
    (q, v, a, _), w, _ = some
    x = np.random.default_rng(6).normal(size=(SAMPLES, 2 * each.nv + a.shape[-1]))
    parts = np.split(x, (each.nv, 2 * each.nv), axis=-1)
    expected = apply(each.inverse_dynamics_hessian(q, v, a, w), x)
    agree(each.inverse_dynamics_hvp(q, v, a, w, *parts), expected, 1e-12, size=1.0)


# Steps


@pytest.mark.parametrize("method", ["euler", pytest.param("rk4", marks=pytest.mark.slow)])
def test_step_derivatives_are_differences_of_the_step(each, some, method):
    (q, v, _, tau), *_ = some
    dt = np.array([0.01, 0.02, 0.005])
    end, _ = each.step(q, v, tau, dt, method=method)
    q0, v0, tau0, n, m = q[:, None], v[:, None], tau[:, None], np.eye(each.nv), np.eye(each.nu)

    def moved(*state):
        after, faster = each.step(*state, dt[:, None], method=method)
        motion = each.difference(np.broadcast_to(end[:, None], after.shape), after)
        return np.concatenate([motion, faster], axis=-1)

    paths = (
        lambda s: moved(each.integrate(q0, s * n), v0, tau0),
        lambda s: moved(q0, v0 + s * n, tau0),
        lambda s: moved(q0, v0, tau0 + s * m),
    )
    found = np.concatenate(each.step_derivatives(q, v, tau, dt, method=method), axis=-1)
    agree(found, columns(paths), 1e-9, size=1.0)


@pytest.mark.parametrize("method", ["euler", "rk4"])
def test_a_step_is_a_rollout_of_one_step(each, some, method):
    (q, v, _, tau), *_ = some
    run = appell.rollout(each, q, v, tau[:, None], 0.01, steps=1, method=method)
    after, faster = each.step(q, v, tau, 0.01, method=method)
    agree(after, run.q[:, -1], 1e-13)
    agree(faster, run.v[:, -1], 1e-13)


def test_an_unknown_method_of_a_step_is_named():
    robot = appell.load("two-link")
    with pytest.raises(appell.InputError, match=r"step: no method 'leapfrog'; known: 'euler', 'rk4'"):
        robot.step([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], 0.01, method="leapfrog")


# Derivatives of quantities


def test_the_frame_hessian_and_the_derivative_of_a_pose_are_differences(each, some):
    (q, *_), frame, n = some[0], each.link_names[-1], np.eye(each.nv)
    for verb, derivatives in ((each.pose, each.pose_derivatives), (each.jacobian, each.jacobian_derivatives)):
        path = slope(partial(lambda verb, s: verb(each.integrate(q[:, None], s * n), frame), verb))
        agree(derivatives(q, frame), np.moveaxis(path, 1, -1), 1e-8, size=1.0)


def test_the_derivatives_of_momentum_and_energies_are_differences(each, some):
    (q, v, *_), n = some[0], np.eye(each.nv)
    by_q, by_v = each.momentum_derivatives(q, v)
    path = slope(lambda s: each.momentum(each.integrate(q[:, None], s * n), v[:, None]))
    agree(by_q, np.swapaxes(path, -1, -2), 1e-8, size=1.0)
    agree(apply(by_v, v), each.momentum(q, v), 1e-12, size=1.0)
    by_q, by_v = each.kinetic_energy_derivatives(q, v)
    agree(by_q, slope(lambda s: each.kinetic_energy(each.integrate(q[:, None], s * n), v[:, None])), 1e-8, size=1.0)
    agree(by_v, apply(each.mass_matrix(q), v), 1e-12)
    path = slope(lambda s: each.potential_energy(each.integrate(q[:, None], s * n)))
    agree(each.potential_energy_derivatives(q), path, 1e-8, size=1.0)


# Regressors


def test_momentum_and_energies_are_their_regressors_times_the_parameters(each, some):
    (q, v, *_), pi = some[0], each.parameters
    momentum = each.momentum_regressor(q, v)
    agree(momentum @ pi, each.momentum(q, v), 1e-12, size=np.abs(momentum * pi).max())
    energies = np.stack([each.kinetic_energy(q, v), each.potential_energy(q)], axis=-1)
    agree(each.energy_regressor(q, v) @ pi, energies, 1e-12)


# Passivity


def test_passive_inverse_dynamics_is_of_the_coriolis_matrix(each, some):
    (q, v, *_) = some[0]
    v_r, a_r = np.random.default_rng(8).normal(size=(2, SAMPLES, each.nv))
    # a spherical robot's closed form has another C
    options = {"formulation": "gibbs"} if isinstance(each.kind, Spherical) else {}
    matrix = each.coriolis_matrix(q, v, **options)
    expected = apply(each.mass_matrix(q), a_r) + apply(matrix, v_r) + each.gravity(q)
    agree(each.passive_inverse_dynamics(q, v, v_r, a_r), expected, 1e-12, size=1.0)


def test_the_change_of_m_less_twice_the_c_of_passive_inverse_dynamics_is_skew(each, some):
    (q, v, *_), n = some[0], np.eye(each.nv)
    still = each.passive_inverse_dynamics(q, v, 0.0 * v, 0.0 * v)[:, None]
    matrix = each.passive_inverse_dynamics(q[:, None], v[:, None], n, 0.0 * n) - still  # Cᵀ
    rate = slope(lambda s: each.mass_matrix(each.integrate(q, s * v)))
    agree(matrix + np.swapaxes(matrix, -1, -2), rate, 1e-8, size=np.abs(each.mass_matrix(q)).max())


# Robots of many bodies


def test_the_derivatives_of_a_long_robot_are_differences():
    robot = pool(LONG)
    q, v, a, tau = random_states(robot, 2)
    w, x = np.random.default_rng(9).normal(size=(2, 2, robot.nv))
    for found, path in (
        (robot.inverse_dynamics_derivatives, lambda s: robot.inverse_dynamics(robot.integrate(q, s * x), v, a)),
        (robot.forward_dynamics_derivatives, lambda s: robot.forward_dynamics(robot.integrate(q, s * x), v, a)),
    ):
        agree(apply(found(q, v, a)[0], x), slope(path), 1e-8, size=1.0)
    hessian = robot.inverse_dynamics_hessian(q, v, a, w)
    change = slope(lambda s: np.concatenate(robot.inverse_dynamics_vjp(robot.integrate(q, s * x), v, a, w), axis=-1))
    agree(apply(hessian[..., : robot.nv], x), change, 1e-8, size=1.0)
    for method in ("euler", "rk4"):
        end, _ = robot.step(q, v, tau, 0.01, method=method)
        A, B = robot.step_derivatives(q, v, tau, 0.01, method=method)

        def moved(s, method=method, end=end):
            after, faster = robot.step(robot.integrate(q, s * x), v + s * w, tau + s * x, 0.01, method=method)
            return np.concatenate([robot.difference(end, after), faster], axis=-1)

        # steps so short that no velocity changes its sign, at which friction jumps
        agree(apply(A, np.concatenate([x, w], axis=-1)) + apply(B, x), slope(moved, 1e-5), 1e-8, size=1.0)


def test_composed_verbs_have_the_options_of_all():
    robot = pool(LONG)
    q, v, a, _ = random_states(robot, 2)
    expected = robot.inverse_dynamics_derivatives(q, v, a)
    places = tuple(np.full_like(x, np.nan) for x in expected)
    found = robot.inverse_dynamics_derivatives(q, v, a, out=places)
    assert all(x is place for x, place in zip(found, places, strict=True))
    for place, x in zip(places, expected, strict=True):
        np.testing.assert_array_equal(place, x)
    single = robot.inverse_dynamics_derivatives(*(x.astype(np.float32) for x in (q, v, a)))
    assert {x.dtype for x in single} == {np.dtype(np.float32)}
    for x, y in zip(
        robot.inverse_dynamics_derivatives(q, v, a, parameters=2.0 * robot.parameters), expected, strict=True
    ):
        agree(x, 2.0 * y, 1e-12)
    with pytest.raises(appell.InputError, match=r"a: expected \(\.\.\., \d+\), got \(\.\.\., 3\)"):
        robot.inverse_dynamics_derivatives(q, v, [1.0, 2.0, 3.0])


def test_a_long_robot_refuses_what_it_has_no_loops_for():
    robot = pool(LONG)
    with pytest.raises(appell.InputError, match=r"jacobian_derivatives: robot .* has \d+ bodies"):
        robot.jacobian_derivatives(robot.neutral(), robot.link_names[-1])
