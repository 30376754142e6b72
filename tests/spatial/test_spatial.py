"""Rotations, poses and inertias against plain matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appell.read.values import rotation
from appell.spatial import scalar, vector
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import about, from_quaternion, normalized, perpendicular, rotate_symmetric, rotate_tensor

NUMBERS = st.floats(-10.0, 10.0).filter(lambda x: x == 0.0 or abs(x) > 1e-3)
VECTORS = st.tuples(NUMBERS, NUMBERS, NUMBERS)
DIRECTIONS = VECTORS.filter(lambda v: math.hypot(*v) > 1e-2).map(normalized)
ANGLES = st.floats(-math.pi, math.pi)
POSES = st.builds(
    lambda axis, angle, p: Pose(about(axis, math.cos(angle), math.sin(angle)), p), DIRECTIONS, ANGLES, VECTORS
)


def close(x, y, atol=1e-13):
    np.testing.assert_allclose(np.array(x), np.array(y), rtol=1e-13, atol=atol)


def turned(axis, angle):
    return np.array(about(axis, math.cos(angle), math.sin(angle)), dtype=float)


def rows(matrix):
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()
    return (a, b, c), (d, e, f), (g, h, i)


def homogeneous(pose):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.rotation, pose.position
    return matrix


@given(a=VECTORS, b=VECTORS)
def test_products_of_vectors_are_numpys(a, b):
    close(vector.cross(a, b), np.cross(a, b), 1e-12)
    close(vector.dot(a, b), np.dot(a, b), 1e-12)
    close(vector.outer(a, b), np.outer(a, b), 1e-12)
    close(vector.matvec(vector.skew(a), b), np.cross(a, b), 1e-12)
    close(vector.complement(vector.outer(a, b)), np.dot(a, b) * np.eye(3) - np.outer(a, b), 1e-12)


@given(a=VECTORS, b=VECTORS, axis=DIRECTIONS, angle=ANGLES)
@pytest.mark.parametrize("k", [0, 1, 2, None])
def test_tensors_turn_as_matrices(k, a, b, axis, angle):
    rotation = turned(axis if k is None else vector.IDENTITY[k], angle)
    tensor = np.outer(a, b)
    close(rotate_tensor(rows(rotation), rows(tensor)), rotation @ tensor @ rotation.T, 1e-12)
    close(rotate_symmetric(rows(rotation), rows(tensor + tensor.T)), rotation @ (tensor + tensor.T) @ rotation.T, 1e-12)


@pytest.mark.parametrize("tilt", [1.4e-8, 1e-12])
@pytest.mark.parametrize("k", range(3))
def test_axes_and_angles_too_small_for_a_cosine_count(k, tilt):
    axis = tuple(np.roll([1.0, tilt, -tilt], k).tolist())  # of unit length to rounding
    skew = np.cross(axis, np.eye(3)).T
    exact = np.eye(3) + math.sin(1.5) * skew + (1.0 - math.cos(1.5)) * skew @ skew
    np.testing.assert_allclose(turned(axis, 1.5), exact, rtol=0.0, atol=4e-16)
    small = rows(turned(tuple(np.eye(3)[k].tolist()), tilt) @ turned(axis, tilt))  # ones on the diagonal
    tensor = np.array([[0.3, 0.1, -0.2], [0.1, 0.7, 0.4], [-0.2, 0.4, 0.5]])
    expected = np.array(small) @ tensor @ np.array(small).T
    np.testing.assert_allclose(rotate_symmetric(small, rows(tensor)), expected, rtol=0.0, atol=4e-16)


@given(axis=DIRECTIONS, angle=ANGLES)
def test_a_rotation_about_an_axis_leaves_it_and_turns_the_rest(axis, angle):
    rotation = turned(axis, angle)
    close(rotation @ axis, axis)
    close(rotation @ rotation.T, np.eye(3))
    assert np.trace(rotation) == pytest.approx(1.0 + 2.0 * math.cos(angle), abs=1e-12)
    assert np.linalg.det(rotation) == pytest.approx(1.0)


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_rotation_about_a_coordinate_axis_is_rodrigues_rotation(k, side):
    axis = tuple(side * x for x in vector.IDENTITY[k])
    c, s = math.cos(0.7), math.sin(0.7)
    general = c * np.eye(3) + s * np.array(vector.skew(axis)) + (1.0 - c) * np.outer(axis, axis)
    close(about(axis, c, s), general)


@given(roll=ANGLES, pitch=ANGLES, yaw=ANGLES)
def test_roll_pitch_yaw_turn_about_fixed_x_y_z(roll, pitch, yaw):
    x, y, z = map(turned, vector.IDENTITY, (roll, pitch, yaw))
    close(rotation((roll, pitch, yaw)), z @ y @ x)


@given(axis=DIRECTIONS, angle=ANGLES)
def test_a_quaternion_turns_about_its_vector_part(axis, angle):
    half = angle / 2.0
    x, y, z = (math.sin(half) * e for e in axis)
    close(from_quaternion(x, y, z, math.cos(half)), about(axis, math.cos(angle), math.sin(angle)))


@given(a=DIRECTIONS, near=DIRECTIONS)
def test_perpendicular_is_of_length_one_at_right_angles(a, near):
    if math.hypot(*vector.cross(a, near)) > 1e-12:
        found = perpendicular(a, near)
        assert vector.dot(a, found) == pytest.approx(0.0, abs=4e-16)
        assert math.hypot(*found) == pytest.approx(1.0, rel=1e-15)
        assert vector.dot(found, near) > 0.0


def test_perpendicular_is_at_right_angles_even_to_what_is_almost_parallel():
    a = normalized((1e-10, 0.0, 1.0))
    assert abs(vector.dot(a, perpendicular(a, (0.0, 0.0, 1.0)))) < 1e-25


@given(a=POSES, b=POSES, point=VECTORS)
def test_poses_compose_as_their_matrices(a, b, point):
    close(homogeneous(a.then(b)), homogeneous(a) @ homogeneous(b), 1e-12)
    close(homogeneous(a.inverse()), np.linalg.inv(homogeneous(a)), 1e-12)
    close(a.then(b).apply(point), a.apply(b.apply(point)), 1e-12)


def cloud(rng):
    """Return masses and points of a body made of particles."""
    return rng.uniform(0.1, 1.0, 8), rng.normal(size=(8, 3))


def inertia_of(masses, points):
    second = (masses[:, None, None] * points[:, :, None] * points[:, None, :]).sum(0)
    tensor = np.trace(second) * np.eye(3) - second
    return Inertia.from_tensor(masses.sum(), tuple(masses @ points), rows(tensor))


def test_moments_move_with_the_particles(rng):
    masses, points = cloud(rng)
    pose = Pose(rotation((0.3, -0.5, 1.1)), (0.4, -0.2, 0.7))
    moved = np.array([pose.apply(tuple(p)) for p in points])
    close(inertia_of(masses, points).moved(pose).parameters, inertia_of(masses, moved).parameters)


def test_moments_of_two_bodies_add(rng):
    masses, points = cloud(rng)
    parts = inertia_of(masses[:3], points[:3]).plus(inertia_of(masses[3:], points[3:]))
    close(parts.parameters, inertia_of(masses, points).parameters)


def test_the_inertia_about_the_centre_is_steiners(rng):
    masses, points = cloud(rng)
    body = inertia_of(masses, points)
    c = np.array(body.centre)
    central = np.array(body.tensor) - body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    close(Inertia.from_centre(body.mass, body.centre, rows(central)).parameters, body.parameters)


def test_parameters_and_inertia_are_one(rng):
    body = inertia_of(*cloud(rng))
    close(Inertia.from_parameters(body.parameters).second, body.second)


def test_a_body_without_mass_has_its_centre_at_the_origin():
    assert Inertia().centre == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("x", [0.3, np.float32(0.3), np.float64(0.3), np.array([0.3, 0.4]), 0.3 + 0.2j])
def test_elementary_functions_are_those_of_the_scalars_type(x):
    close(scalar.sin(x), np.sin(x), 1e-7)
    close(scalar.cos(x), np.cos(x), 1e-7)
    close(scalar.sqrt(x), np.sqrt(x), 1e-7)


@pytest.mark.parametrize("kind", [complex, np.complex128, lambda x: np.array([x])])
@pytest.mark.parametrize("x", [-2.0, 0.0, 3.0])
def test_the_sign_of_a_complex_step_is_that_of_its_real_part(kind, x):
    assert np.all(scalar.sign(kind(x + 1e-30j)) == np.sign(x))
