"""Arrays for results, ``out=``: those that cannot receive a result are refused before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import appell
from tests.support.kinds import random_states

ROBOTS = ("two-link", "five-bar", "agile-wrist")


def read_only(shape: tuple[int, ...]) -> Any:
    """Return an array that cannot be written."""
    place = np.empty(shape)
    place.flags.writeable = False
    return place


PLACES: dict[str, tuple[Callable[[tuple[int, ...]], Any], str]] = {
    "too large": (lambda shape: np.empty((3, *shape)), "expected an array of shape"),
    "too small": (lambda shape: np.empty((*shape[:-1], shape[-1] - 1)), "expected an array of shape"),
    "integers": (lambda shape: np.empty(shape, int), "expected an array of floats"),
    "complex": (lambda shape: np.empty(shape, complex), "expected an array of floats"),
    "objects": (lambda shape: np.empty(shape, object), "expected an array of floats"),
    "read-only": (read_only, "read-only"),
    "masked": (np.ma.zeros, "got MaskedArray"),
    "a list": (lambda shape: np.zeros(shape).tolist(), "got list"),
    "text": (lambda shape: "x", "got str"),
    "no array": (lambda shape: (), "got 0 of them"),
    "two arrays": (lambda shape: (np.empty(shape), np.empty(shape)), "got 2 of them"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ROBOTS)
def test_an_invalid_out_is_refused_and_left_alone(name, place):
    it, (make, message) = appell.load(name), PLACES[place]
    q, v, a, tau = (x[0] for x in random_states(it, 2))
    calls = {
        "gravity": (q,),
        "mass_matrix": (q,),
        "inverse_dynamics": (q, v, a[: len(it.driven)]),
        "forward_dynamics": (q, v, tau),
    }
    for verb, given in calls.items():
        out = make(getattr(it, verb)(*given).shape)
        before = np.array(out) if isinstance(out, np.ndarray) else None
        with pytest.raises(appell.InputError, match=f"out: .*{message}"):
            getattr(it, verb)(*given, out=out)
        if before is not None and before.dtype.kind in "fi":
            assert np.array(out).tobytes() == before.tobytes()


@pytest.mark.parametrize("name", ROBOTS)
def test_results_that_share_memory_are_refused(name):
    it = appell.load(name)
    q, v, a, _ = (x[0] for x in random_states(it, 2))
    given = q, v, a[: len(it.driven)]
    expected = it.inverse_dynamics_derivatives(*given)
    one = np.empty_like(expected[0])
    with pytest.raises(appell.InputError, match="two of the arrays share memory"):
        it.inverse_dynamics_derivatives(*given, out=(one, one, np.empty_like(expected[2])))
    with pytest.raises(appell.InputError, match="expected a tuple of 3 arrays, got ndarray"):
        it.inverse_dynamics_derivatives(*given, out=one)
    found = it.inverse_dynamics_derivatives(*given, out=(one, None, None))
    assert found[0] is one
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", ROBOTS)
def test_a_result_may_lie_on_an_argument(name):
    it = appell.load(name)
    q, v, a, _ = random_states(it, 5)
    a = np.array(a[:, : len(it.driven)])
    expected = it.inverse_dynamics(q, v, a)
    np.testing.assert_array_equal(it.inverse_dynamics(q, v, a, out=a), expected)
