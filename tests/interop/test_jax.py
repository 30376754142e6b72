"""Verbs inside JAX: equal to the pure functions that are exported, under jit, vmap and grad."""

from __future__ import annotations

import numpy as np
import pytest

import appell
from appell.errors import InputError
from appell.interop import jax as functions
from tests.support.kinds import arguments, random_states
from tests.support.pool import pool

jax = pytest.importorskip("jax", reason="JAX is not installed")


@pytest.fixture(autouse=True)
def _double():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def both(name, verb):
    """Return a verb on native kernels, the exported function, and arguments."""
    robot = pool(name)
    given = [jax.numpy.asarray(x) for x in arguments(robot, verb, random_states(robot, 3))]
    return lambda *x: getattr(functions, verb)(robot, *x), robot.export(verb, to="jax"), given


def assert_close(found, expected, tolerance=1e-9):
    for x, y in zip(*map(jax.tree.leaves, (found, expected)), strict=True):
        np.testing.assert_allclose(x, y, atol=tolerance * float(np.abs(y).max()), rtol=0.0)


@pytest.mark.parametrize(
    ("name", "verb"),
    [("four-bar", "forward_dynamics"), pytest.param("floating", "inverse_dynamics", marks=pytest.mark.slow)],
)
def test_kernels_and_gradients_are_those_of_the_exported_function(name, verb):
    native, pure, given = both(name, verb)
    assert_close(jax.jit(native)(*given), pure(*given))

    def gradient(function):
        return jax.jit(jax.grad(lambda *x: (function(*x) ** 2).sum(), argnums=(0, 1, 2)))

    assert_close(gradient(native)(*given), gradient(pure)(*given))


@pytest.mark.slow
def test_second_derivatives():
    native, pure, given = both("four-bar", "inverse_dynamics")
    found = jax.vmap(jax.jacrev(jax.jacrev(native)))(*given)
    assert_close(found, jax.vmap(jax.jacfwd(jax.jacfwd(pure)))(*given), 1e-8)


def test_vmap_broadcasts_what_it_does_not_map():
    native, pure, (q, v, a) = both("four-bar", "forward_dynamics")
    found = jax.vmap(jax.vmap(native, in_axes=(None, 0, None)), in_axes=(0, None, 1), out_axes=1)(q, v, a.T)
    assert_close(found, pure(q, v[:, None], a))


def test_parameters_and_single_precision():
    robot = pool("floating")
    q, v, a = arguments(robot, "inverse_dynamics", random_states(robot, 3))
    slope = jax.grad(lambda pi: functions.inverse_dynamics(robot, q, v, a, parameters=pi).sum())
    assert_close(slope(robot.parameters), robot.regressor(q, v, a).sum(axis=(0, 1)))
    single = [x.astype(np.float32) for x in (q, v, a)]
    found = functions.inverse_dynamics(robot, *single)
    assert found.dtype == np.float32
    assert_close(found, robot.inverse_dynamics(q, v, a), 1e-4)


def test_matrices_frames_and_steps_keep_their_shapes():
    robot, q = appell.load("two-link"), np.zeros((4, 3, 2))
    assert_close(functions.mass_matrix(robot, q), robot.mass_matrix(q))
    assert_close(functions.pose(robot, q, "link2"), robot.pose(q, "link2"))
    assert_close(
        functions.step(robot, q + 0.1, q, q, 1e-3, method="rk4"), robot.step(q + 0.1, q, q, 1e-3, method="rk4")
    )
    assert functions.gravity(robot, np.zeros((0, 2))).shape == (0, 2)


def test_what_does_not_fit_is_named():
    robot = appell.load("two-link")
    with pytest.raises(InputError, match=r"q: expected \(\.\.\., 2\), got \(\.\.\., 3\)"):
        functions.gravity(robot, np.zeros(3))
    with pytest.raises(InputError, match=r"bias: the leading axes do not broadcast \(q \(3,\), v \(4,\)\)"):
        functions.bias(robot, np.zeros((3, 2)), np.zeros((4, 2)))
    with pytest.raises(InputError, match="q: expected an array of numbers, got str"):
        functions.gravity(robot, "here")
    with pytest.raises(InputError, match=r"gravity: expected real numbers, got complex"):
        functions.gravity(robot, np.zeros(2, complex))
    with pytest.raises(InputError, match=r"use the verbs of appell\.interop\.jax"):
        jax.jit(robot.gravity)(np.zeros(2))
    with pytest.raises(InputError, match="too many"):
        functions.gravity(pool("long"), np.zeros(pool("long").nq))
