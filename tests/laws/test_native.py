"""Native code, the tape and the recursion on floats are three ways to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import appell
from appell.model.model import Model
from appell.recursion import gibbs, newton_euler
from tests.support.evaluation import agree
from tests.support.kinds import apply, arguments, random_states, reference
from tests.support.pool import pool

PLAIN = [
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "gravity",
    "bias",
    "gibbs",
    "kinetic_energy",
    "potential_energy",
]
SMALL = ["screws", "four-bar"]
"""Robots whose regressors compile in a moment."""


def cancelling(robot, verb, states):
    """Return the size of what cancels in a verb's results: a Coriolis matrix may be zero, as a parallelogram's is."""
    return np.abs(robot.mass_matrix(states.q)).max() * np.abs(states.v).max() if verb == "coriolis_matrix" else 0.0


@pytest.mark.parametrize("verb", [*PLAIN, "regressor"])
def test_native_code_is_the_recursion_on_the_robot_as_filed(robot, states, verb):
    given_arrays = arguments(robot, verb, states)
    expected = reference(robot, verb, *given_arrays)
    agree(getattr(robot, verb)(*given_arrays), expected, 1e-11, size=cancelling(robot, verb, states))


def in_single(robot, verb, states):
    """Return a verb's results on arguments of single precision, and on the same in double precision."""
    given_arrays = [array.astype(np.float32) for array in arguments(robot, verb, states)]
    single = getattr(robot, verb)(*given_arrays)
    assert single.dtype == np.float32
    return single, getattr(robot, verb)(*(array.astype(np.float64) for array in given_arrays))


@pytest.mark.parametrize("verb", [verb for verb in PLAIN if verb != "forward_dynamics"])
def test_single_precision_is_double_precision_to_its_own(robot, states, verb):
    single, double = in_single(robot, verb, states)
    agree(single, double, 2e-5, size=cancelling(robot, verb, states))


def test_single_precision_forward_dynamics_is_double_precision_to_the_conditioning_of_m(robot, states):
    single, double = in_single(robot, "forward_dynamics", states)
    matrix, bias = robot.mass_matrix(states.q), robot.bias(states.q, states.v)
    size = apply(np.abs(matrix), np.abs(double)).max() + np.abs(bias).max()
    assert np.abs(apply(matrix, single - double)).max() <= 2e-5 * size


@pytest.mark.parametrize("name", SMALL)
def test_single_precision_regressors_are_double_precision_to_its_own(name):
    robot = pool(name)
    single, double = in_single(robot, "regressor", random_states(robot, 6))
    agree(single, double, 2e-5)


@pytest.fixture(scope="module", params=["chain", "two-link"])
def arm(request):
    """Return a general arm and a planar one."""
    return appell.random_chain(3, np.random.default_rng(7)) if request.param == "chain" else appell.load(request.param)


@pytest.mark.parametrize("verb", [*PLAIN, "regressor", "inverse_dynamics_derivatives"])
def test_native_code_is_its_tape(arm, verb):
    given_arrays = [x[0] for x in arguments(arm, verb, random_states(arm, 1))]
    tape = arm.tape(verb)
    results = getattr(arm, verb)(*given_arrays)
    flat = np.concatenate([np.ravel(part) for part in (results if isinstance(results, tuple) else (results,))])
    agree(flat, tape.run(*(map(float, array) for array in given_arrays)), 1e-11)


@given(model=st.from_type(Model))
@settings(max_examples=8)
def test_native_inverse_dynamics_of_random_trees_is_the_recursions(model, state, evaluate):
    robot, (q, v, a) = appell.load(model), state(model, 9)
    expected = evaluate(newton_euler.inverse_dynamics, model, q, v, a)
    agree(robot.inverse_dynamics(q, v, a), expected, 1e-11)


@given(model=st.from_type(Model))
@settings(max_examples=8)
def test_native_forward_dynamics_of_random_trees_is_the_recursions(model, state, evaluate):
    robot, (q, v, a) = appell.load(model), state(model, 9)
    tau = evaluate(gibbs.inverse_dynamics, model, q, v, a)
    agree(robot.forward_dynamics(q, v, tau), a)
