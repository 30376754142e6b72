"""Every formulation of every verb has Pinocchio's numbers, in batches of native code, on robots of every joint kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import appell
from appell.errors import InputError
from appell.loading import load
from appell.robot.verbs.programs import FORWARD, PROGRAMS
from tests.support.kinds import program, random_states
from tests.support.pool import LONG, pool
from tests.support.robots import KINDS, ONE_VELOCITY, drawings, random_drawing, random_inertia

SAMPLES = 16
SHAPES = {
    **{kind: [(kind, 0), (kind, 0), (kind, 1)] for kind in ONE_VELOCITY},
    **{kind: [(kind, 0), ("revolute", 0), ("revolute", 1)] for kind in KINDS if kind not in ONE_VELOCITY},
    "floating": [("revolute", 0), ("revolute", 1)],
}
"""A branched tree for each kind of joint."""


@pytest.fixture(scope="module", params=SHAPES)
def each(request, peer):
    """Return a robot without rotor inertia and friction, its peer and states of it."""
    rng = np.random.default_rng(3)
    drawing = random_drawing(rng, SHAPES[request.param])
    if request.param == "floating":
        base = replace(drawing.links[0], inertia=random_inertia(rng))
        drawing = replace(drawing, links=(base, *drawing.links[1:]), is_floating=True)
    robot = load(drawing.model)
    return robot, peer(drawing), random_states(robot, SAMPLES)


def errors(found, expected):
    """Return, per sample, the largest error beside the largest number expected."""
    axes = tuple(range(1, np.ndim(found)))
    return np.abs(found - expected).max(axis=axes) / np.abs(expected).max(axis=axes)


@pytest.mark.parametrize("formulation", PROGRAMS["inverse_dynamics"])
def test_inverse_dynamics_is_pinocchios(each, formulation):
    robot, other, (q, v, a, _) = each
    expected = np.array([other.torque(*sample) for sample in zip(q, v, a, strict=True)])
    assert errors(robot.inverse_dynamics(q, v, a, formulation=formulation), expected).max() <= 1e-12


@pytest.mark.parametrize("formulation", PROGRAMS["mass_matrix"])
def test_the_mass_matrix_is_pinocchios(each, formulation):
    robot, other, (q, *_) = each
    expected = np.array([other.mass_matrix(x) for x in q])
    assert errors(robot.mass_matrix(q, formulation=formulation), expected).max() <= 1e-12


@pytest.mark.parametrize("formulation", [*FORWARD, "articulated"])
def test_forward_dynamics_is_pinocchios(each, formulation):
    robot, other, (q, v, _, tau) = each
    expected = np.array([other.acceleration(*sample) for sample in zip(q, v, tau, strict=True)])
    allowed = 1e-14 * np.linalg.cond([other.mass_matrix(x) for x in q]) + 1e-12
    assert (errors(robot.forward_dynamics(q, v, tau, formulation=formulation), expected) <= allowed).all()


@given(drawing=drawings())
@settings(max_examples=15)
def test_every_formulation_is_pinocchios_on_random_trees(drawing, state, evaluate, peer):
    q, v, a = (x[None] for x in state(drawing.model))
    other = peer(drawing)
    tau = other.torque(q[0], v[0], a[0]) + other.loss(v[0], a[0])
    matrix = other.mass_matrix(q[0]) + np.diag(other.armature)
    for name in PROGRAMS["inverse_dynamics"]:
        found = evaluate(program("inverse_dynamics", name), drawing.model, q, v, a)
        assert errors(found, tau[None]).max() <= 1e-12
    for name in PROGRAMS["mass_matrix"]:
        assert errors(evaluate(program("mass_matrix", name), drawing.model, q), matrix[None]).max() <= 1e-12
    allowed = 1e-14 * np.linalg.cond(matrix) + 1e-12
    for name in FORWARD:
        found = evaluate(program("forward_dynamics", name), drawing.model, q, v, tau[None])
        assert errors(found, a).max() <= allowed


@pytest.mark.parametrize("name", ["mixed", "vector", "mata2002", "lagrange"])
def test_a_robot_of_many_bodies_refuses_what_its_loops_do_not_have(name):
    robot = pool(LONG)
    q, v, a, _ = random_states(robot, 2)
    with pytest.raises(InputError, match=f"inverse_dynamics: no formulation '{name}' for robot '.*'; known: 'gibbs'"):
        robot.inverse_dynamics(q, v, a, formulation=name)


def test_an_unknown_formulation_is_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"mass_matrix: no formulation 'vector' for robot 'puma560'; known: 'gibbs', "):
        appell.load("puma560").mass_matrix(np.zeros(6), formulation="vector")
