"""Derivatives of the dynamics: along the motions of the robot, and against complex steps through the recursions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appell.model.lean import lean
from appell.model.model import WORLD, Model, Spring
from appell.recursion import articulated, derivatives, gibbs
from tests.support.evaluation import agree, slope
from tests.support.kinds import driven, random_states
from tests.support.pool import COUPLED, DRAWINGS, pool
from tests.support.robots import KINDS, ONE_VELOCITY, random_drawing

ARGUMENTS = ["q", "v", "a"]


def differences(robot, call, q, v, x):
    """Return the derivatives of call(q, v, x), samples first, by motions of q, by v and by x."""
    q, v, x = (part[:, None, :] for part in (q, v, x))
    n, m = np.eye(robot.nv), np.eye(x.shape[-1])
    paths = (
        lambda s: call(robot.integrate(q, s * n), v, x),
        lambda s: call(q, v + s * n, x),
        lambda s: call(q, v, x + s * m),
    )
    return [np.swapaxes(slope(path), -1, -2) for path in paths]


@pytest.fixture(scope="session")
def inverse(robot, states):
    """Return the derivatives of inverse dynamics as given, and their differences."""
    arguments = states.q, states.v, driven(robot, states.a)
    return robot.inverse_dynamics_derivatives(*arguments), differences(robot, robot.inverse_dynamics, *arguments)


@pytest.fixture(scope="session")
def forward(robot, states):
    """Return the derivatives of forward dynamics as given, and their differences."""
    arguments = states.q, states.v, states.tau
    return robot.forward_dynamics_derivatives(*arguments), differences(robot, robot.forward_dynamics, *arguments)


@pytest.mark.parametrize("by", range(3), ids=ARGUMENTS)
def test_inverse_dynamics_derivatives_are_differences_along_the_motions_of_the_robot(inverse, by):
    agree(inverse[0][by], inverse[1][by], 1e-8, size=1.0)


@pytest.mark.parametrize("by", range(3), ids=["q", "v", "tau"])
def test_forward_dynamics_derivatives_are_differences_along_the_motions_of_the_robot(forward, by):
    agree(forward[0][by], forward[1][by], 1e-8, size=1e-2)


# Trees


@pytest.mark.parametrize("reframed", [lambda model: model, lean], ids=["as filed", "lean"])
@given(model=st.from_type(Model))
def test_the_recursion_of_derivatives_is_that_of_inverse_dynamics_differentiated(
    reframed, model, state, evaluate, differentiate
):
    given = state(model)
    found = evaluate(derivatives.derivatives, reframed(model), *given)
    expected = [differentiate(gibbs.inverse_dynamics, model, *given, by=by) for by in range(3)]
    size = np.abs(expected).max()
    for block, other in zip(found, expected, strict=True):
        agree(block, other, 1e-12, size=size)


def hand() -> Model:
    """Return three fingers on the world and two on a free base: springs, rotor inertia and friction in all of them."""
    rng = np.random.default_rng(5)
    kinds = [*KINDS, *ONE_VELOCITY, "free", *ONE_VELOCITY, *ONE_VELOCITY]
    back = [{3: 9, 6: 9, 9: 9, 13: 9, 18: 4}.get(i, 0) for i in range(len(kinds))]
    model = random_drawing(rng, list(zip(kinds, back, strict=True)), has_friction=True, is_special=True).model
    single = [body.joint.name for body in model.bodies if body.joint.kind in ONE_VELOCITY]
    belt = Spring("belt", ((single[0], 1.0), (single[-1], -2.0)), stiffness=7.0, damping=0.3)
    tendon = Spring("tendon", tuple((name, 0.5) for name in single[2:5]), stiffness=11.0, damping=0.2, reference=0.4)
    return replace(model, springs=(belt, tendon))


@pytest.mark.parametrize("reframed", [lambda model: model, lean], ids=["as filed", "lean"])
def test_the_recursion_of_derivatives_holds_for_limbs_of_every_joint_with_springs_between_them(
    reframed, state, evaluate, differentiate
):
    model = hand()
    assert sum(body.parent == WORLD for body in model.bodies) > 2
    given = state(model)
    found = evaluate(derivatives.derivatives, reframed(model), *given)
    for by, block in enumerate(found):
        agree(block, differentiate(gibbs.inverse_dynamics, model, *given, by=by), 1e-12)


@given(model=st.from_type(Model))
def test_free_bodies_can_undo_what_their_columns_change(model, state, evaluate):
    given = state(model)
    whole = evaluate(derivatives.derivatives, model, *given)
    rest, by_q, by_v = (evaluate(lambda *x, k=k: derivatives.rigid_derivatives(*x)[k], model, *given) for k in range(3))
    for k, undone in enumerate((by_q, by_v)):
        agree(rest[k] + rest[2] @ undone, whole[k], 1e-12, size=np.abs(whole).max())


@pytest.mark.parametrize("name", [*DRAWINGS, *COUPLED])
@pytest.mark.parametrize("verb", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
def test_the_recursion_of_derivatives_gives_what_tangents_give(name, verb):
    robot = pool(name)
    q, v, a, tau = random_states(robot, 4)
    given = (q, v, a) if verb.startswith("inverse") else (q, v, tau)
    condition = 1.0 if verb.startswith("inverse") else np.linalg.cond(robot.mass_matrix(q)).max()
    found, expected = (getattr(robot, verb)(*given, formulation=name) for name in ("composite", "gibbs"))
    for block, other in zip(found, expected, strict=True):
        agree(block, other, 1e-12 * condition, size=np.abs(expected[2]).max())


@pytest.fixture(scope="session", params=DRAWINGS)
def tree_robot(request):
    return pool(request.param)


@pytest.mark.parametrize("by", range(3), ids=ARGUMENTS)
def test_inverse_dynamics_derivatives_are_those_of_the_recursion(tree_robot, by, differentiate):
    q, v, a, _ = (x[0] for x in random_states(tree_robot, 1))
    found = tree_robot.inverse_dynamics_derivatives(q, v, a)[by]
    agree(found, differentiate(gibbs.inverse_dynamics, tree_robot.model, q, v, a, by=by), 1e-12)


@pytest.mark.parametrize("by", range(3), ids=["q", "v", "tau"])
def test_forward_dynamics_derivatives_are_those_of_the_articulated_recursion(tree_robot, by, differentiate):
    q, v, _, tau = (x[0] for x in random_states(tree_robot, 1))
    found = tree_robot.forward_dynamics_derivatives(q, v, tau)[by]
    agree(found, differentiate(articulated.forward_dynamics, tree_robot.model, q, v, tau, by=by))


def test_derivatives_of_a_batch_are_those_of_its_samples(robot, states):
    arguments = states.q, states.v, driven(robot, states.a)
    single = [robot.inverse_dynamics_derivatives(*sample) for sample in zip(*arguments, strict=True)]
    for block, blocks in zip(robot.inverse_dynamics_derivatives(*arguments), zip(*single, strict=True), strict=True):
        agree(block, blocks, 1e-13)
