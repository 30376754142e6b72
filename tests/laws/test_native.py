"""Native code, the tape and the recursion on floats are three ways to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import appell
from appell.model.model import Model
from appell.robot.verbs import VERBS

PLAIN = [
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "coriolis_matrix",
    "gravity",
    "bias",
    "regressor",
    "gibbs",
    "kinetic_energy",
    "potential_energy",
]


def arguments(verb, q, v, a):
    values = {"q": q, "v": v, "a": a, "tau": a}
    return [values[name] for name in VERBS[verb].inputs]


@pytest.fixture(scope="module", params=["chain", "tree", "two-link"])
def robot(request, tree):
    """Return a general arm, a tree of mixed joints with friction, and a planar arm."""
    rng = np.random.default_rng(7)
    if request.param == "tree":
        return appell.Robot(tree(rng, 6, has_friction=True))
    return appell.chain(3, rng) if request.param == "chain" else appell.load(request.param)


@pytest.mark.parametrize("verb", PLAIN)
def test_native_code_is_the_recursion_on_the_robot_as_filed(robot, verb, state, evaluate, agree):
    given_arrays = arguments(verb, *state(robot, 13))
    program = next(iter(VERBS[verb].formulations.values()))
    agree(getattr(robot, verb)(*given_arrays), evaluate(program, robot.model, *given_arrays), 1e-11)


@pytest.mark.parametrize("verb", [*PLAIN, "inverse_dynamics_derivatives"])
def test_native_code_is_its_tape(robot, verb, state, agree):
    given_arrays = arguments(verb, *state(robot))
    tape = VERBS[verb].tape(robot.model)
    results = getattr(robot, verb)(*given_arrays)
    flat = np.concatenate([np.ravel(part) for part in (results if isinstance(results, tuple) else (results,))])
    agree(flat, tape.run(*(map(float, array) for array in given_arrays)), 1e-12)


@pytest.mark.parametrize("verb", PLAIN)
def test_single_precision_is_double_precision_to_its_own(robot, verb, state, agree):
    given_arrays = [array.astype(np.float32) for array in arguments(verb, *state(robot, 21))]
    single = getattr(robot, verb)(*given_arrays)
    assert single.dtype == np.float32
    double = getattr(robot, verb)(*(array.astype(np.float64) for array in given_arrays))
    # the accelerations inherit the conditioning of M
    agree(single, double, 1e-2 if verb == "forward_dynamics" else 2e-5)


@given(model=st.from_type(Model))
@settings(max_examples=8)
def test_native_inverse_dynamics_of_random_trees_is_the_recursions(model, state, evaluate, agree):
    robot, (q, v, a) = appell.Robot(model), state(model, 9)
    program = VERBS["inverse_dynamics"].formulations["newton-euler"]
    agree(robot.inverse_dynamics(q, v, a), evaluate(program, model, q, v, a), 1e-11)


@given(model=st.from_type(Model))
@settings(max_examples=8)
def test_native_forward_dynamics_of_random_trees_is_the_recursions(model, state, evaluate, agree):
    robot, (q, v, a) = appell.Robot(model), state(model, 9)
    tau = evaluate(VERBS["inverse_dynamics"].formulations["gibbs"], model, q, v, a)
    agree(robot.forward_dynamics(q, v, tau), a)
