"""The twelve-velocity tree of shafei2018 against Lagrange's equations, written here from the points of its rods alone.

Nothing of appell's recursions is used on this side: a rod's centre and angle as functions of q, the kinetic energy from
their Jacobians, Christoffel's symbols from complex steps.
"""

from __future__ import annotations

import numpy as np
import pytest

import appell
from appell.papers.shafei2018 import POINTS, START

MASS, LENGTH, GRAVITY = 1.0, 1.0, 9.81
CENTRAL = MASS * LENGTH**2 / 12.0 + 2.94e-5 * LENGTH
"""A rod's inertia about its centre: of the line and, by table 2, of the cross section."""

BEFORE = (None, 1, 2, 3, 2, 5, 6, 5, 5, 9)
"""Figure 4: the rod at whose end each of rods 1 to 10 is hinged; the first hangs from the base point."""


def paths():
    """Return per rod the rods from the base to it, itself last."""
    result: list[list[int]] = []
    for rod, before in enumerate(BEFORE, 1):
        result.append([*(result[before - 1] if before else []), rod])
    return result


def angles(q):
    return [sum(q[1 + rod] for rod in path) for path in paths()]


def point(q, rod, along):
    """Return a point of a rod at a share of its length: x, y."""
    phi, path = angles(q), paths()[rod - 1]
    shares = [1.0] * (len(path) - 1) + [along]
    x = q[0] + sum(share * LENGTH * np.cos(phi[k - 1]) for k, share in zip(path, shares, strict=True))
    y = q[1] + sum(share * LENGTH * np.sin(phi[k - 1]) for k, share in zip(path, shares, strict=True))
    return x, y


def jacobian(q, rod):
    """Return ∂(x, y, φ)/∂q of a rod's centre, (3, 12), by hand: a hinge turns what follows about itself."""
    rows = np.zeros((3, 12), dtype=np.result_type(q, float))
    rows[0, 0] = rows[1, 1] = 1.0
    x, y = point(q, rod, 0.5)
    for hinge in paths()[rod - 1]:
        at_x, at_y = point(q, hinge, 0.0)
        rows[:, 1 + hinge] = -(y - at_y), x - at_x, 1.0
    return rows


def mass_matrix(q):
    inertia = np.array([MASS, MASS, CENTRAL])
    return sum(jacobian(q, rod).T @ (inertia[:, None] * jacobian(q, rod)) for rod in range(1, 11))


def potential(q):
    return MASS * GRAVITY * sum(point(q, rod, 0.5)[1] for rod in range(1, 11))


def slope(function, q):
    """Return ∂function/∂q by complex step, the derivative's axis last."""
    step = 1e-30
    return np.stack([np.imag(function(q + 1j * step * axis)) / step for axis in np.eye(12)], axis=-1)


def bias(q, v):
    """Return c with M·a + c = τ: cᵢ = Σ (∂Mᵢⱼ/∂qₖ − ½ ∂Mⱼₖ/∂qᵢ) vⱼvₖ + ∂V/∂qᵢ."""
    by = slope(mass_matrix, q)
    return np.einsum("ijk,j,k->i", by, v, v) - 0.5 * np.einsum("jki,j,k->i", by, v, v) + slope(potential, q)


@pytest.fixture(scope="module")
def robot():
    return appell.load("shafei-tree")


@pytest.fixture(scope="module")
def states():
    rng = np.random.default_rng(2018)
    return rng.uniform(-np.pi, np.pi, (20, 12)), 2.0 * rng.normal(size=(20, 12)), 5.0 * rng.normal(size=(20, 12))


def test_it_has_the_papers_coordinates(robot):
    assert robot.joint_names == ["X1", "X2", *(f"q{k}" for k in range(1, 11))]
    assert robot.nq == robot.nv == 12


def test_its_points_are_the_ends_of_the_rods(robot, states):
    for q in states[0]:
        ends = [point(q, 1, 0.0), *(point(q, rod, 1.0) for rod in range(1, 11))]
        for name, end in zip(POINTS, ends, strict=True):
            np.testing.assert_allclose(robot.pose(q, name)[:2, 3], end, atol=1e-14)


def test_it_starts_as_high_as_the_paper_says(robot):
    assert robot.potential_energy(START) == pytest.approx(18.657872367, abs=5e-10)
    assert potential(np.array(START)) == pytest.approx(18.657872367, abs=5e-10)


def test_its_mass_matrix_is_lagranges(robot, states, agree):
    for q in states[0]:
        agree(robot.mass_matrix(q), mass_matrix(q), within=1e-14)


def test_its_forces_are_lagranges(robot, states, agree):
    for q, v, a in zip(*states, strict=True):
        agree(robot.inverse_dynamics(q, v, a), mass_matrix(q) @ a + bias(q, v), within=1e-13)


def test_its_accelerations_are_lagranges(robot, states, agree):
    for q, v, tau in zip(*states, strict=True):
        agree(robot.forward_dynamics(q, v, tau), np.linalg.solve(mass_matrix(q), tau - bias(q, v)), within=1e-12)
