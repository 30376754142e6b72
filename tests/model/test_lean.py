"""The lean model: other frames and moments, the same dynamics."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.model.lean import SLIDING, TURNING, lean
from appell.model.model import Model
from appell.recursion import coriolis, gibbs, inertia_matrix
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import about

MODELS = st.from_type(Model)


@given(model=MODELS)
def test_the_lean_model_has_the_same_inverse_dynamics(model, state, evaluate, agree):
    q, v, a = state(model)
    agree(evaluate(gibbs.inverse_dynamics, lean(model), q, v, a), evaluate(gibbs.inverse_dynamics, model, q, v, a))


@given(model=MODELS)
def test_the_lean_model_has_the_same_inertia_matrix(model, state, evaluate, agree):
    q, _, _ = state(model)
    program = inertia_matrix.mass_matrix_composite
    agree(evaluate(program, lean(model), q), evaluate(program, model, q))


@given(model=MODELS)
def test_the_lean_model_has_a_coriolis_matrix_of_the_same_product(model, state, evaluate, agree):
    q, v, _ = state(model)
    products = [evaluate(coriolis.coriolis_matrix, each, q, v) @ v for each in (lean(model), model)]
    largest = np.abs(evaluate(inertia_matrix.mass_matrix_composite, model, q)).max() * np.abs(v).max() ** 2
    np.testing.assert_allclose(products[0], products[1], rtol=0, atol=1e-11 * largest)


@given(model=MODELS)
def test_the_lean_model_has_the_axes_of_turning_and_sliding_joints_along_z(model):
    joints = [body.joint for body in lean(model).bodies if body.joint.kind in TURNING + SLIDING]
    assert {joint.axis for joint in joints} <= {(0.0, 0.0, 1.0)}


@given(model=MODELS)
def test_the_lean_model_keeps_joints_and_parents_in_order(model):
    def order(m):
        return [(body.joint.name, body.joint.kind, body.parent) for body in m.bodies]

    assert order(lean(model)) == order(model)


@given(model=MODELS)
def test_the_lean_model_of_a_turning_body_keeps_no_moment_that_its_parent_can_carry(model):
    for body in lean(model).bodies:
        if body.joint.kind in TURNING and body.name not in carriers(model):
            m, h, s = body.inertia
            assert (m, h[2], s[2][2]) == (0.0, 0.0, 0.0)


def carriers(model: Model) -> set[str]:
    return {model.bodies[body.parent].name for body in model.bodies if body.parent >= 0}


@pytest.mark.parametrize("tilt", [0.0, 1e-16, 1e-12, 1e-8, 1e-5, 1e-3, 2e-3, math.pi - 1e-9, math.pi])
def test_nearly_parallel_axes_are_no_harder_than_others(tilt, rng, state, evaluate, agree):
    arm = appell.random_chain(3, rng).model
    first, second, third = arm.bodies
    placement = Pose(about((1.0, 0.0, 0.0), math.cos(tilt), math.sin(tilt)), (0.4, 0.1, 0.2))
    second = replace(second, joint=replace(second.joint, placement=placement))
    model = replace(arm, bodies=(first, second, third))
    q, v, a = state(model)
    agree(evaluate(gibbs.inverse_dynamics, lean(model), q, v, a), evaluate(gibbs.inverse_dynamics, model, q, v, a))


def test_a_body_without_mass_is_no_exception(rng, state, evaluate, agree):
    arm = appell.random_chain(3, rng).model
    model = replace(arm, bodies=(arm.bodies[0], replace(arm.bodies[1], inertia=Inertia()), arm.bodies[2]))
    q, v, a = state(model)
    agree(evaluate(gibbs.inverse_dynamics, lean(model), q, v, a), evaluate(gibbs.inverse_dynamics, model, q, v, a))


def test_a_parallel_pair_of_axes_costs_less_than_a_tilted_one(rng):
    arm = appell.random_chain(3, rng).model
    second = replace(arm.bodies[1], joint=replace(arm.bodies[1].joint, placement=Pose(position=(0.4, 0.1, 0.2))))
    parallel = replace(arm, bodies=(arm.bodies[0], second, arm.bodies[2]))
    counts = [appell.load(model).operations("inverse_dynamics") for model in (parallel, arm)]
    assert counts[0].multiplications < counts[1].multiplications


def test_frames_drawn_otherwise_cost_nothing(rng):
    arm = appell.random_chain(4, rng).model
    again = redrawn(arm, [elsewhere_on_its_axis(body.joint) for body in arm.bodies])
    assert appell.load(again).operations("inverse_dynamics") == appell.load(arm).operations("inverse_dynamics")


def elsewhere_on_its_axis(joint):
    """Return the pose of a frame turned about a joint's axis and moved along it."""
    x, y, z = joint.axis
    return Pose(about(joint.axis, math.cos(0.7), math.sin(0.7)), (0.3 * x, 0.3 * y, 0.3 * z))


def redrawn(model, poses):
    """Return the machine with every body's frame at another pose: the same axes, drawn otherwise."""
    bodies = []
    for body, pose in zip(model.bodies, poses, strict=True):
        before = poses[body.parent].inverse() if body.parent >= 0 else Pose()
        joint = replace(body.joint, placement=before.then(body.joint.placement).then(pose))
        bodies.append(replace(body, joint=joint, inertia=body.inertia.moved(pose.inverse())))
    return replace(model, bodies=tuple(bodies))


@pytest.mark.parametrize("tilt", [1e-16, 1e-13, 8e-11, 2e-10, 1e-8, 1e-5])
def test_a_first_axis_a_hair_off_gravity_is_no_harder_than_others(tilt, rng, state, evaluate, agree):
    arm = appell.random_chain(3, rng).model
    placement = Pose(about((0.6, 0.8, 0.0), math.cos(tilt), math.sin(tilt)))
    first = replace(arm.bodies[0], joint=replace(arm.bodies[0].joint, placement=placement))
    model = replace(arm, bodies=(first, *arm.bodies[1:]))
    q, v, a = state(model)
    found, expected = (evaluate(gibbs.inverse_dynamics, each, q, v, a) for each in (lean(model), model))
    agree(found, expected, 1e-13)


def test_rounding_does_not_grow_along_a_long_chain(rng, state, evaluate, agree):
    model = appell.random_chain(100, rng).model
    q, v, a = state(model)
    found, expected = (evaluate(gibbs.inverse_dynamics, each, q, v, a) for each in (lean(model), model))
    agree(found, expected, 1e-12)
