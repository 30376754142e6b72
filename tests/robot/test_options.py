"""The options of every verb on every kind of robot: out, single precision, parameters, formulation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from appell.errors import InputError
from appell.model.model import Model
from appell.robot.robot import Robot
from tests.support.evaluation import agree
from tests.support.kinds import States, about, apply, arguments, random_states
from tests.support.pool import LONG, OF_EACH_KIND, pool

SOLVING = ("forward_dynamics", "motion", "inverse_dynamics", "constraint_forces", "actuator_forces", "regressor")
"""Verbs that solve equations, and lose the digits of their condition."""


VERBS = ("inverse_dynamics", "forward_dynamics", "motion", "mass_matrix", "potential_energy", "jacobian")
"""Verbs of each way of evaluation and of each number of results."""

CHEAP = ("inverse_dynamics", "mass_matrix", "potential_energy")
"""Verbs whose programs compile in a second on a robot of many joints."""


def cases(name: str) -> list[Any]:
    """Return a robot's verbs as parameters: `make test` tries all of a small arm and some of the others."""
    usual = pool(name).verbs if name == OF_EACH_KIND[0] else CHEAP if name == LONG else VERBS
    marks = {verb: () if verb in usual else (pytest.mark.slow,) for verb in pool(name).verbs}
    return [pytest.param(name, verb, marks=marks[verb], id=f"{name}-{verb}") for verb in pool(name).verbs]


CASES = [case for name in OF_EACH_KIND for case in cases(name)]


def several(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


def call(robot: Robot, verb: str, given: Any, **options: Any) -> tuple[Any, ...]:
    """Return the results of a verb as a tuple."""
    return several(robot.evaluate(verb, *given, about=about(robot, verb), **options))


def of(name: str, verb: str) -> tuple[Robot, list[Any]]:
    robot = pool(name)
    return robot, arguments(robot, verb, random_states(robot, 4))


# Results into arrays of the caller


@pytest.mark.parametrize(("name", "verb"), CASES)
def test_out_receives_all_results_of_a_batch_and_of_one_sample(name, verb):
    robot, given = of(name, verb)
    for arrays in (given, [x[0] for x in given]):
        expected = call(robot, verb, arrays)
        places = tuple(np.full_like(x, np.nan) for x in expected)
        found = call(robot, verb, arrays, out=places if len(places) > 1 else places[0])
        assert all(x is place for x, place in zip(found, places, strict=True))
        for place, x in zip(places, expected, strict=True):
            np.testing.assert_array_equal(place, x)


def test_some_of_several_results_may_be_left_to_the_robot(each, states):
    given = arguments(each, "motion", states)
    rate, a = each.evaluate("motion", *given)
    place = np.empty_like(a)
    found = each.evaluate("motion", *given, out=(None, place))
    assert found[1] is place
    np.testing.assert_array_equal(found[0], rate)
    np.testing.assert_array_equal(place, a)


def test_a_tuple_of_the_wrong_length_is_named(each, states):
    given = arguments(each, "motion", states)
    with pytest.raises(InputError, match=r"out: expected a tuple of 2 arrays, got 1 of them for robot"):
        each.evaluate("motion", *given, out=(np.empty(1),))


def test_one_array_for_several_results_is_named(each, states):
    given = arguments(each, "motion", states)
    with pytest.raises(InputError, match=r"out: expected a tuple of 2 arrays, got ndarray for robot"):
        each.evaluate("motion", *given, out=np.empty(1))


def test_an_out_of_another_shape_is_named(each, states):
    with pytest.raises(InputError, match=r"out: expected an array of shape \(4, .*\), got \(9, 9\) for robot"):
        each.gravity(states.q, out=np.empty((9, 9)))


def test_out_may_be_an_argument(each, states):
    q, v = states.q.copy(), states.v.copy()
    expected = each.generalised_forces(q, v, states.a)
    assert each.generalised_forces(q, v, states.a, out=v) is v
    np.testing.assert_array_equal(v, expected)


# Single precision


@pytest.mark.parametrize(("name", "verb"), CASES)
def test_single_precision_in_is_single_precision_out(name, verb):
    robot, given = of(name, verb)
    single = [x.astype(np.float32) for x in given]
    found = call(robot, verb, single)
    exact = call(robot, verb, [x.astype(float) for x in single])
    within = 5e-4 if verb.startswith(SOLVING) else 5e-5
    for x, y in zip(found, exact, strict=True):
        assert x.dtype == np.float32
        agree(x, y, within, size=1.0)


# Other parameters


def scaled(robot: Robot, rng: np.random.Generator) -> Model:
    """Return the robot's model with every body's mass, and every joint's friction, multiplied by some factor."""
    bodies = []
    for body in robot.model.bodies:
        factor, *losses = (float(x) for x in rng.uniform(0.5, 2.0, 4))
        parameters = tuple(factor * float(x) for x in body.inertia.parameters)
        names = ("armature", "damping", "friction")
        joint = replace(body.joint, **{n: x * getattr(body.joint, n) for n, x in zip(names, losses, strict=True)})
        bodies.append(replace(body, inertia=type(body.inertia).from_parameters(parameters), joint=joint))
    return replace(robot.model, bodies=tuple(bodies))


def variants(robot: Robot, count: int) -> list[Robot]:
    """Return robots of the same joints with other parameters."""
    rng = np.random.default_rng(17)
    return [robot.with_model(scaled(robot, rng)) for _ in range(count)]


@pytest.mark.parametrize(("name", "verb"), CASES)
def test_other_parameters_are_another_robot(name, verb):
    robot, given = of(name, verb)
    (other,) = variants(robot, 1)
    assert np.abs(other.parameters - robot.parameters).max() > 0.1
    found = call(robot, verb, given, parameters=other.parameters)
    within = 1e-9 if verb.startswith(SOLVING) else 1e-11
    expected = call(other, verb, given)  # without the derivatives by the parameters, where the verb gives them
    for x, y in zip(found[: len(expected)], expected, strict=True):
        agree(x, y, within, size=1e-3)


@pytest.mark.parametrize("verb", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "potential_energy"])
def test_variants_broadcast_with_samples(each, states, verb):
    others = variants(each, 3)
    given = arguments(each, verb, states)
    found = getattr(each, verb)(*given, parameters=np.stack([other.parameters for other in others])[:, None])
    agree(found, np.stack([getattr(other, verb)(*given) for other in others]), 1e-9)


def test_parameters_are_read_in_single_precision_too(each, states):
    q, pi = states.q.astype(np.float32), each.parameters.astype(np.float32)
    found = each.gravity(q, parameters=pi)
    assert found.dtype == np.float32
    agree(found, each.gravity(states.q), 1e-4, size=1.0)


def test_parameters_of_another_size_are_named(each, states):
    with pytest.raises(
        InputError, match=rf"parameters: expected \(\.\.\., {len(each.parameters)}\), got \(\.\.\., 3\)"
    ):
        each.gravity(states.q, parameters=[1.0, 2.0, 3.0])


def test_parameters_and_out_go_together(each, states):
    place = np.empty((4, each.nv))
    assert each.gravity(states.q, parameters=2.0 * each.parameters, out=place) is place
    agree(place, 2.0 * each.gravity(states.q), 1e-11, size=1e-6)


# Formulations

FORMULATIONS = [
    pytest.param(*case.values, formulation, marks=case.marks, id=f"{case.id}-{formulation}")
    for case in CASES
    for formulations in [pool(case.values[0]).formulations(case.values[1])]
    if len(formulations) > 1
    for formulation in formulations
]


@pytest.mark.parametrize(("name", "verb", "formulation"), FORMULATIONS)
def test_every_formulation_gives_the_same(name, verb, formulation):
    robot, given = of(name, verb)
    expected = call(robot, verb, given)
    found = call(robot, verb, given, formulation=formulation)
    if verb == "coriolis_matrix":  # C v is unique, C is not
        assert robot.operations(verb).formulation == robot.formulations(verb)[0]
        found, expected = (tuple(apply(x, given[1]) for x in several) for several in (found, expected))
    within = 1e-9 if verb.startswith(SOLVING) else 1e-11
    for x, y in zip(found, expected, strict=True):
        agree(x, y, within, size=1e-3)


@pytest.mark.parametrize("name", OF_EACH_KIND)
def test_a_verb_of_one_formulation_knows_its_name(name):
    robot = pool(name)
    states = random_states(robot, 4)
    (only,) = robot.formulations("kinetic_energy")
    found = robot.kinetic_energy(states.q, states.v, formulation=only)
    np.testing.assert_array_equal(found, robot.kinetic_energy(states.q, states.v))


@pytest.mark.parametrize("verb", ["inverse_dynamics", "mass_matrix", "gibbs"])
def test_an_unknown_formulation_is_named_with_those_that_define_the_verb(each, states, verb):
    names = ", ".join(f"'{name}'" for name in each.formulations(verb))
    with pytest.raises(InputError) as error:
        getattr(each, verb)(*arguments(each, verb, states), formulation="kane")
    assert str(error.value) == f"{verb}: no formulation 'kane' for robot '{each.name}'; known: {names}"


def test_a_formulation_of_another_verb_is_refused(short):
    with pytest.raises(InputError, match=r"^gibbs: no formulation 'vector' .*; known: 'gibbs'$"):
        short.gibbs(short.neutral(), np.zeros(short.nv), np.zeros(short.nv), formulation="vector")


def test_formulation_and_parameters_go_together(each, states):
    (other,) = variants(each, 1)
    for name in each.formulations("inverse_dynamics"):
        given = arguments(each, "inverse_dynamics", states)
        found = each.inverse_dynamics(*given, parameters=other.parameters, formulation=name)
        agree(found, other.inverse_dynamics(*given), 1e-9)


@pytest.mark.slow
def test_a_robot_uses_a_formulation_wherever_it_defines_the_verb(short):
    robot, states = short.using("mixed"), random_states(short, 4)
    for verb in robot.verbs:
        if not robot.verbs[verb].about and "mixed" in robot.formulations(verb):
            assert robot.operations(verb).formulation == "mixed"
            assert robot.operations(verb) == short.operations(verb, "mixed")
    assert robot.operations("gibbs") == short.operations("gibbs")
    given = arguments(short, "mass_matrix", states)
    np.testing.assert_array_equal(robot.mass_matrix(*given), short.mass_matrix(*given, formulation="mixed"))
    agree(robot.gibbs(states.q, states.v, states.a), short.gibbs(states.q, states.v, states.a), 1e-15)


def test_a_formulation_that_no_verb_has_is_refused(each):
    with pytest.raises(InputError, match=rf"using: no formulation 'kane' for robot '{each.name}'; known: '"):
        each.using("kane")


def test_the_robot_asked_stays_as_it_is(each):
    before = each.formulations("mass_matrix")
    each.using(before[-1])
    assert each.operations("gravity") == pool_again(each).operations("gravity")


def pool_again(robot: Robot) -> Robot:
    """Return the same robot made anew."""
    return Robot(robot.kind)


# Names of options


@pytest.mark.parametrize("verb", ["gravity", "mass_matrix", "potential_energy"])
def test_an_unknown_option_is_named_with_those_known(each, verb):
    with pytest.raises(InputError) as error:
        getattr(each, verb)(each.neutral(), where=np.empty(3))
    expected = f"{verb}: unknown option 'where'; known: 'formulation', 'out', 'parameters'"
    assert str(error.value) == expected


def test_an_unknown_option_of_an_evaluated_verb_is_named(each):
    with pytest.raises(InputError, match="gravity: unknown option 'order'; known: 'formulation', 'out', 'parameters'"):
        each.evaluate("gravity", each.neutral(), order=2)


def test_an_evaluated_verb_takes_its_own_arguments_alone(each, states: States):
    with pytest.raises(InputError, match="gravity: expected 'q', got 2 arguments"):
        each.evaluate("gravity", states.q, np.empty((4, each.nv)))
    with pytest.raises(InputError, match="bias: expected 'q', 'v', got 1 arguments"):
        each.evaluate("bias", states.q)


def test_an_unknown_verb_is_named_with_those_known(each):
    with pytest.raises(InputError, match=rf"robot '{each.name}' has no verb 'rnea'; known: 'inverse_dynamics'"):
        each.evaluate("rnea", each.neutral())
