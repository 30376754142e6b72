"""The protocol of a trajectory: q, v and a at one time or many.

Time runs from 0 to `duration`. Before and after, a trajectory stands still at its first or last configuration, with
v = a = 0, so that a controller that runs past the end holds the goal. The times 0 and `duration` belong to the motion.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from appell.planning.checks import Array, moments

_SLACK = 1e-12
"""Time past the end, relative to the duration, that still counts as the end: rounding error."""


class TrajectoryState(NamedTuple):
    """Coordinates, velocities and accelerations, each (..., n), in the order of the arguments of inverse dynamics.

    Parameters
    ----------
    q
        Coordinates (..., n) [rad, m].
    v
        Velocities (..., n) [rad/s, m/s].
    a
        Accelerations (..., n) [rad/s², m/s²].

    Examples
    --------
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

    Called with times of any shape, it returns arrays of that shape with the joints as the last axis.

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
        """Return the duration of the motion [s]; infinite if it never ends."""

    @abstractmethod
    def at(self, t: Array) -> TrajectoryState:
        """Return the motion at times between 0 and `duration`, which are not checked.

        Parameters
        ----------
        t
            Times (...) [s] between 0 and the duration.

        Returns
        -------
        TrajectoryState
            q, v and a, each (..., n).

        Examples
        --------
        >>> import appell, numpy as np
        >>> appell.trajectory.JointLine([0.0], [1.0], 2.0).at(np.array([1.0])).q
        array([[0.5]])
        """

    @final
    def __call__(self, t: ArrayLike) -> TrajectoryState:
        """Return the motion at any times; it stands still outside 0 and `duration`."""
        times = moments("t", t)
        slack = _SLACK * self.duration if np.isfinite(self.duration) else 0.0
        q, v, a = self.at(np.clip(times, 0.0, self.duration))
        is_over = ((times < -slack) | (times > self.duration + slack))[..., None]
        return TrajectoryState(q, np.where(is_over, 0.0, v), np.where(is_over, 0.0, a))
