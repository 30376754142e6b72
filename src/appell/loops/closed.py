"""Closing a tree: from a model with closures to a robot."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from appell.loops.closed_robot import ClosedRobot
from appell.model.model import Model


def close(model: Model, *, guess: ArrayLike | None = None, independent: Sequence[str] | None = None) -> ClosedRobot:
    """Return the closed robot of a model with closures.

    Parameters
    ----------
    model
        A tree with closures.
    guess
        A configuration of the tree to begin closing from; the model's home where none is given.
    independent
        The names of the independent velocities; the actuators and what they leave free, where none are given.

    Raises
    ------
    ModelError
        When the loops cannot be closed; the message names those that stay open.

    Examples
    --------
    >>> from appell.catalogue import read
    >>> close(read("four-bar")).independent
    ['crank']
    """
    return ClosedRobot(model, guess=guess, independent=independent)
