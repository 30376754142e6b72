"""A reference motion: where the ghost robot is at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import AppellError, InputError
from appell.results.run import Run
from appell.robot.robot import Robot
from appell.spatial.scalar import Array
from appell.viewer.sliders import SliderSet, settled


class Reference:
    """A run, a trajectory or a configuration; :meth:`at` returns the configuration of a time.

    >>> import appell
    >>> line = appell.trajectory.JointLine([0.0, 0.0], [1.0, 2.0], 4.0)
    >>> Reference(appell.load("two-link"), line).at(2.0)
    array([0.5, 1. ])
    """

    def __init__(self, robot: Robot, given: Run | Callable[[float], Any] | ArrayLike) -> None:
        self._robot, self._given = robot, given
        self.has_time = isinstance(given, Run) or callable(given)
        if isinstance(given, Run):
            if given.nq != robot.nq or not len(given.t):
                raise InputError(
                    f"reference: expected a run with states of {robot.nq} coordinates for robot '{robot.name}', got "
                    f"{len(given.t)} states of {given.nq}"
                )
            self._q = given.q[0]
        else:
            self._slider_set = SliderSet(robot)
            self._q = robot.neutral() if callable(given) else settled(robot, given, "reference")
            self._q = self.at(0.0)

    def at(self, t: float) -> Array:
        """Return the configuration (nq,) at a time [s]; a run holds its first and last states before and after."""
        given = self._given
        if isinstance(given, Run):
            time = float(np.clip(t, given.t[0], given.t[-1]))
            ends = {float(given.t[-1]): given.q[-1], float(given.t[0]): given.q[0]}
            return np.asarray(ends[time] if time in ends else given.at(time)[0])
        if not callable(given):
            return np.asarray(self._q)
        q = np.asarray(self._called(t), dtype=float)
        if q.shape != (self._robot.nq,) or not np.isfinite(q).all():
            raise InputError(
                f"reference: expected (q, v, a) with q of {self._robot.nq} finite numbers at t = {t:g} s, got q of "
                f"shape {q.shape}"
            )
        if self._robot.closure_names:  # of a trajectory of a closed robot, the motors' coordinates count
            q = self._q = self._slider_set.moved(self._q, self._slider_set.values(q))
        return q

    def _called(self, t: float) -> Any:
        assert callable(self._given)
        try:
            return self._given(t)[0]
        except AppellError:
            raise
        except Exception as error:
            raise InputError(
                f"reference: expected a function of the time that returns (q, v, a); it raised "
                f"{type(error).__name__}: {error}"
            ) from error
