"""Guards: which values of a batch are accepted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from appell.robot.verbs.guards import GUARDS, Guard
from appell.robot.verbs.table import MASS, REACH, UNIT
from appell.spatial.scalar import Array

GUARDED = [GUARDS[MASS], GUARDS[REACH], GUARDS[UNIT]]


def good(guard: Guard, dtype: type) -> float:
    """Return the extreme value that a guard accepts: the upper bound if it has one, else the lower."""
    bound = guard.bound(np.empty(0, dtype))
    return bound if bound < math.inf else 1.0


@pytest.mark.parametrize("guard", GUARDED, ids=lambda guard: guard.name)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1, 2, 300])
def test_values_at_the_bound_are_accepted_however_many_there_are(guard: Guard, dtype: type, size: int) -> None:
    # many of them have a sum of squares far beyond that of the bound
    value = np.nextafter(dtype(good(guard, dtype)), dtype(0.0))
    assert guard.passes(np.full((size, 1), value, dtype))


@pytest.mark.parametrize("guard", GUARDED, ids=lambda guard: guard.name)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("where", [0, 7, 299])
def test_one_bad_value_among_many_is_rejected(guard: Guard, dtype: type, where: int) -> None:
    bound = guard.bound(np.empty(0, dtype))
    bad = [math.nan, -1.0 if guard.low > -math.inf else math.nan, 1.001 * bound if bound < math.inf else 0.0]
    for value in bad:
        values: Array = np.full((300, 1), good(guard, dtype) / 2.0, dtype)
        values[where] = value
        assert not guard.passes(values)


def test_no_values_are_accepted() -> None:
    assert all(guard.passes(np.empty((0, 1))) for guard in GUARDED)
