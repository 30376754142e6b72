"""The symplectic step's formulas on the manifold: its series and its brackets."""

from __future__ import annotations

import math

import numpy as np

from appell.simulation.variational import _BERNOULLI, _DEXP, _DEXP_INVERSE, bracket


def test_the_series_of_the_inverse_is_that_of_dexp_inverted():
    order = len(_BERNOULLI)
    np.testing.assert_allclose(np.convolve(_DEXP, _DEXP_INVERSE)[:order], np.eye(order)[0], atol=1e-16)
    assert all(one == 1.0 / math.factorial(k + 1) for k, one in enumerate(_DEXP))


def test_the_bracket_of_a_planar_joint_is_that_of_a_free_one_in_its_plane(rng):
    w = rng.normal(size=3)
    places = [0, 1, 5]  # along x and y, about z
    free = bracket([("free", range(6))], np.array([w[0], w[1], 0.0, 0.0, 0.0, w[2]]))
    np.testing.assert_array_equal(bracket([("planar", range(3))], w), free[np.ix_(places, places)])


def test_brackets_obey_jacobi_and_vanish_between_equals(rng):
    for kind, n in (("free", 6), ("ball", 3), ("planar", 3)):
        x, y = rng.normal(size=(2, n))
        X, Y, XY = (bracket([(kind, range(n))], w) for w in (x, y, bracket([(kind, range(n))], x) @ y))
        np.testing.assert_allclose(X @ Y - Y @ X, XY, atol=1e-14)
        np.testing.assert_allclose(X @ x, 0.0, atol=1e-15)
