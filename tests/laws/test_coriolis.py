"""The Coriolis matrix: its product with v, and Ṁ − 2C skew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import appell
from appell.model.lean import lean
from appell.model.model import Model
from appell.recursion import coriolis, gibbs, inertia_matrix
from appell.recursion.kinematics import column_at, world_poses
from appell.spatial.scalar import Scalar
from tests.support.evaluation import agree, slope
from tests.support.kinds import apply
from tests.support.robots import ONE_VELOCITY, drawings

MODELS = st.from_type(Model)
FIXED = drawings(ONE_VELOCITY).map(lambda drawing: replace(drawing, is_floating=False).model)
FORMS = pytest.mark.parametrize("reframed", [lambda model: model, lean], ids=["as filed", "lean"])


def size(matrix, v):
    """Return what the entries of C are made of, even where they cancel."""
    return np.abs(matrix).max() * np.abs(v).max()


@given(model=MODELS)
def test_c_times_v_is_bias_less_gravity(model, state, evaluate):
    model = model.without_friction()
    q, v, _ = state(model)
    forces = evaluate(gibbs.bias, model, q, v) - evaluate(gibbs.gravity, model, q)
    product = evaluate(coriolis.coriolis_matrix, model, q, v) @ v
    largest = size(evaluate(inertia_matrix.mass_matrix_composite, model, q), v) * np.abs(v).max()
    np.testing.assert_allclose(product, forces, rtol=0, atol=1e-12 * largest)


def masses(inertia):
    """Return points with masses that have the moments of a body: four, at the corners of a tetrahedron."""
    m, centre = inertia.mass, np.array(inertia.centre)
    spread = np.linalg.cholesky(np.array(inertia.second) / m - np.outer(centre, centre))
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    return [(m / 4, tuple((centre + spread @ corner).tolist())) for corner in corners]


def unit_motions(model, q):
    """Return √m·u of every point of mass by every velocity."""
    poses, rows = world_poses(model, q), list[tuple[Scalar, ...]]()
    for i, body in enumerate(model.bodies):
        for m, point in masses(body.inertia) if body.inertia.mass else ():
            place, columns = poses[i].apply(point), [(0.0,) * 3] * model.nv
            for k in model.ancestors(i):
                for j, column in zip(model.velocities(k), model.bodies[k].joint.columns, strict=True):
                    columns[j] = [m**0.5 * x for x in column_at(poses[k], column, place)[:3]]
            rows += zip(*columns, strict=True)
    return tuple(rows)


@FORMS
@given(model=MODELS)
def test_c_is_the_product_of_unit_motions_with_their_rates(reframed, model, state, evaluate, differentiate):
    model = model.without_joint_parameters()  # rotors move without their bodies
    q, v, _ = state(model)
    rates = differentiate(unit_motions, model, q, by=0) @ v
    expected = evaluate(unit_motions, model, q).T @ rates
    largest = size(evaluate(inertia_matrix.mass_matrix_composite, model, q), v)
    agree(evaluate(coriolis.coriolis_matrix, reframed(model), q, v), expected, 1e-12, size=largest)


@FORMS
@given(model=FIXED)
def test_twice_c_is_the_derivative_of_inverse_dynamics_by_rates_of_coordinates(
    reframed, model, state, evaluate, differentiate
):
    model = model.without_friction()
    q, v, a = state(model)
    expected = differentiate(gibbs.inverse_dynamics, model, q, v, a, by=1)
    largest = size(evaluate(inertia_matrix.mass_matrix_composite, model, q), v)
    agree(2.0 * evaluate(coriolis.coriolis_matrix, reframed(model), q, v), expected, 1e-12, size=largest)


@given(model=MODELS)
def test_the_rate_of_m_less_twice_c_is_skew(model, state, evaluate, differentiate):
    q, v, _ = state(model)
    rate = differentiate(inertia_matrix.mass_matrix_composite, model, q, by=0) @ v
    skew = rate - 2.0 * evaluate(coriolis.coriolis_matrix, model, q, v)
    largest = size(evaluate(inertia_matrix.mass_matrix_composite, model, q), v)
    np.testing.assert_allclose(skew + skew.T, 0.0, atol=1e-12 * largest)


def test_native_code_keeps_the_rate_of_m_less_twice_c_skew_to_rounding(state, differentiate):
    robot = appell.load("puma560")
    q, v, _ = state(robot)
    rate = differentiate(inertia_matrix.mass_matrix_composite, robot.model, q, by=0) @ v
    skew = rate - 2.0 * robot.coriolis_matrix(q, v)
    np.testing.assert_allclose(skew + skew.T, 0.0, atol=1e-13 * size(robot.mass_matrix(q), v))


# Native code


def test_the_change_of_the_mass_matrix_less_twice_coriolis_is_skew(robot, states):
    q, v = states.q, states.v
    rate = slope(lambda s: robot.mass_matrix(robot.integrate(q, s * v)))
    matrix = robot.coriolis_matrix(q, v)
    agree(matrix + np.swapaxes(matrix, -1, -2), rate, 1e-8, size=size(robot.mass_matrix(q), v))


def test_c_times_v_is_the_part_of_the_bias_that_is_quadratic_in_v(robot, states):
    # damping and friction are odd in v
    q, v = states.q, states.v
    even = 0.5 * (robot.bias(q, v) + robot.bias(q, -v)) - robot.gravity(q)
    agree(apply(robot.coriolis_matrix(q, v), v), even, 1e-11, size=size(robot.mass_matrix(q), v) * np.abs(v).max())
