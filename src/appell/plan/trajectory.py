"""What a trajectory is: q, v and a at any time, for one time or many.

Time runs from 0 to `duration`. Before and after, a trajectory holds still where it begins or ends, with v = a = 0: a
controller that runs on past the end keeps the goal. At 0 and at `duration` themselves the motion counts as under way.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from numbers import Real
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from appell.errors import InputError

Array = NDArray[np.float64]
_SLACK = 1e-12
"""How far past the end, relative to the duration, a time may lie that still counts as the end: a few roundings."""


class Motion(NamedTuple):
    """Coordinates, velocities and accelerations, each (..., n); a verb takes them as they come.

    >>> import appell
    >>> line = appell.JointLine([0.0, 0.0], [1.0, 2.0], 4.0)
    >>> appell.load("two-link").inverse_dynamics(*line([0.0, 1.0])).shape
    (2, 2)
    """

    q: Array
    v: Array
    a: Array


class Trajectory(ABC):
    """A motion in time, of joints with one coordinate each (nq = nv).

    Called with times of any shape it gives arrays of that shape with the joints' axis behind.

    >>> from appell.plan.curves import JointLine
    >>> line = JointLine([0.0, 1.0], [2.0, 1.0], 4.0)
    >>> line([0.0, 2.0, 4.0]).q
    array([[0., 1.], [1., 1.], [2., 1.]])
    >>> line(9.0)  # held at the end
    Motion(q=array([2., 1.]), v=array([0., 0.]), a=array([0., 0.]))
    """

    @property
    @abstractmethod
    def duration(self) -> float:
        """Return how long the motion takes [s]; infinite if it never ends."""

    @abstractmethod
    def at(self, t: Array) -> Motion:
        """Return the motion at times within 0 and `duration`, which are not checked."""

    @final
    def __call__(self, t: ArrayLike) -> Motion:
        """Return the motion at any times, held still outside 0 and `duration`."""
        times = moments("t", t)
        slack = _SLACK * self.duration if np.isfinite(self.duration) else 0.0
        q, v, a = self.at(np.clip(times, 0.0, self.duration))
        is_over = ((times < -slack) | (times > self.duration + slack))[..., None]
        return Motion(q, np.where(is_over, 0.0, v), np.where(is_over, 0.0, a))


def moments(name: str, t: ArrayLike) -> Array:
    """Return times as an array; raise if they are no finite real numbers."""
    return real(name, t, "times in seconds")


def positive(name: str, x: float) -> float:
    """Return a positive finite number; raise if it is none."""
    if not (isinstance(x, Real) and math.isfinite(x) and x > 0.0):
        raise InputError(f"{name}: expected a positive number, got {x!r}")
    return float(x)


def vector(name: str, x: ArrayLike, size: int | None = None) -> Array:
    """Return one number per joint; raise if there are not `size` of them."""
    array = real(name, x, "one number per joint")
    if array.ndim != 1 or array.size == 0 or (size is not None and array.size != size):
        expected = "one number per joint" if size is None else f"{size} numbers, one per joint"
        raise InputError(f"{name}: expected {expected}, got an array of shape {array.shape}")
    return array


def real(name: str, x: ArrayLike, expected: str) -> Array:
    """Return an array of finite real numbers; raise what is wrong if it is none."""
    try:
        array = np.asarray(x)
    except ValueError:
        raise InputError(f"{name}: expected {expected}, got a ragged list") from None
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name}: expected {expected}, got {array.dtype}")
    if not np.isfinite(array).all():
        raise InputError(f"{name}: expected {expected}, got one that is not finite")
    result: Array = array.astype(float)
    return result


def frozen(x: Any) -> Array:
    """Return a copy as floats that cannot be written."""
    array = np.array(x, dtype=float)
    array.flags.writeable = False
    return array
