"""What a trajectory is: q, v and a at any time, for one time or many.

Time runs from 0 to `duration`. Before and after, a trajectory holds still where it begins or ends, with v = a = 0: a
controller that runs on past the end keeps the goal. At 0 and at `duration` themselves the motion counts as under way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from appell.planning.checks import Array, moments

_SLACK = 1e-12
"""How far past the end, relative to the duration, a time may lie that still counts as the end: a few roundings."""


class TrajectoryState(NamedTuple):
    """Coordinates, velocities and accelerations, each (..., n); a verb takes them as they come.

    >>> import appell
    >>> line = appell.trajectory.JointLine([0.0, 0.0], [1.0, 2.0], 4.0)
    >>> appell.load("two-link").inverse_dynamics(*line([0.0, 1.0])).shape
    (2, 2)
    """

    q: Array
    v: Array
    a: Array


class Trajectory(ABC):
    """A motion in time, of joints with one coordinate each (nq = nv).

    Called with times of any shape it gives arrays of that shape with the joints' axis behind.

    >>> from appell.planning.trajectory.curves import JointLine
    >>> line = JointLine([0.0, 1.0], [2.0, 1.0], 4.0)
    >>> line([0.0, 2.0, 4.0]).q
    array([[0., 1.], [1., 1.], [2., 1.]])
    >>> line(9.0)  # held at the end
    TrajectoryState(q=array([2., 1.]), v=array([0., 0.]), a=array([0., 0.]))
    """

    @property
    @abstractmethod
    def duration(self) -> float:
        """Return how long the motion takes [s]; infinite if it never ends."""

    @abstractmethod
    def at(self, t: Array) -> TrajectoryState:
        """Return the motion at times within 0 and `duration`, which are not checked."""

    @final
    def __call__(self, t: ArrayLike) -> TrajectoryState:
        """Return the motion at any times, held still outside 0 and `duration`."""
        times = moments("t", t)
        slack = _SLACK * self.duration if np.isfinite(self.duration) else 0.0
        q, v, a = self.at(np.clip(times, 0.0, self.duration))
        is_over = ((times < -slack) | (times > self.duration + slack))[..., None]
        return TrajectoryState(q, np.where(is_over, 0.0, v), np.where(is_over, 0.0, a))
