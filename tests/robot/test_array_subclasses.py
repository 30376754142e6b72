"""Subclasses of NumPy's arrays: a matrix is an array of two axes, masked entries are refused."""

from __future__ import annotations

import numpy as np
import pytest

from appell.errors import InputError
from tests.support.pool import OF_EACH_KIND, pool


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("name", OF_EACH_KIND[:-1])
def test_a_matrix_gives_what_an_array_gives(name):
    robot = pool(name)
    q = robot.neutral()[None]
    found = robot.mass_matrix(np.asmatrix(q))
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, robot.mass_matrix(q))


@pytest.mark.parametrize("name", OF_EACH_KIND[:-1])
def test_masked_entries_are_refused_by_name(name):
    robot = pool(name)
    with pytest.raises(InputError, match="q: expected an array of numbers, got a masked array"):
        robot.mass_matrix(np.ma.masked_less(np.tile(robot.neutral(), (2, 1)), np.inf))
