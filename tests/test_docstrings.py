"""Public docstrings are complete: summary, Parameters, Returns, example."""

from __future__ import annotations

import pytest

import appell
from tests.docstrings import Public, gaps, public

PUBLIC = list(public())


def test_the_names_are_those_that_users_call():
    names = {one.name for one in PUBLIC}
    assert names >= {"appell.load", "appell.Robot.inverse_dynamics", "appell.walls.Circle", "appell.Run.plot"}
    assert len(PUBLIC) > 250


@pytest.mark.parametrize("one", PUBLIC, ids=lambda one: one.name)
def test_a_public_docstring_is_complete(one):
    assert gaps(one) == []


def short(q: float, v: float) -> float:
    """Return the sum."""
    return q + v


def full(q: float, v: float) -> float:
    """Return the sum.

    Parameters
    ----------
    q, v
        Numbers.

    Returns
    -------
    float
        The sum.

    Examples
    --------
    >>> full(1.0, 2.0)
    3.0
    """
    return q + v


def test_what_a_docstring_lacks_is_found():
    lacks = ["Parameters lacks q", "Parameters lacks v", "no Returns section", "no example"]
    assert gaps(Public("short", short)) == lacks
    assert gaps(Public("full", full)) == []
    assert gaps(Public("Robot", appell.Robot)) == []
