"""Jerk-limited motions from any state to any state, in the shortest time, by ruckig (an extra).

The profiles are those of L. Berscheid and T. Kröger, "Jerk-limited real-time trajectory generation with arbitrary
target states" (2021): all joints arrive together, and a state beyond its limits is braked into them first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.extras import extra
from appell.planning.goal import positive, real, vector
from appell.planning.trajectory.trajectory import Trajectory, TrajectoryState
from appell.spatial.scalar import Array, frozen

_SHORT = 1e-12
"""Parts of a profile [s] that are left out."""
_LIMITS = ("velocity", "acceleration", "jerk")


@dataclass(frozen=True, eq=False)
class JerkLimited(Trajectory):
    """The fastest motion between two states under limits of velocity, acceleration and jerk.

    Joints arrive together. It needs ruckig: ``pip install 'appell[online]'``.

    Parameters
    ----------
    start, end : array_like
        Coordinates (n,) of the joints [rad, m].
    velocity, acceleration, jerk : array_like
        Limits [1/s, 1/s², 1/s³], one number or one per joint.
    v0, a0, v1, a1 : array_like, optional
        Velocities and accelerations (n,) at the start and at the end; zero unless given.

    Raises
    ------
    InputError
        When ruckig is not installed, or there is no such motion: an end velocity beyond its limit, for instance.

    Examples
    --------
    >>> import appell
    >>> motion = appell.trajectory.JerkLimited([0.0, 0.0], [1.0, -2.0], velocity=1.0, acceleration=2.0, jerk=10.0)
    >>> round(motion.duration, 6), motion(motion.duration).q.round(9)
    (2.7, array([ 1., -2.]))
    """

    start: ArrayLike
    end: ArrayLike
    velocity: ArrayLike = field(kw_only=True)
    acceleration: ArrayLike = field(kw_only=True)
    jerk: ArrayLike = field(kw_only=True)
    v0: ArrayLike | None = field(default=None, kw_only=True)
    a0: ArrayLike | None = field(default=None, kw_only=True)
    v1: ArrayLike | None = field(default=None, kw_only=True)
    a1: ArrayLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        n = vector("start", self.start).size
        for name in ("start", "end", "v0", "a0", "v1", "a1"):
            object.__setattr__(self, name, frozen(_state(name, getattr(self, name), n)))
        for name in _LIMITS:
            object.__setattr__(self, name, frozen(_limit(name, getattr(self, name), n)))
        _ = self._knots  # a motion that does not exist is refused here

    @cached_property
    def _knots(self) -> tuple[Array, TrajectoryState, Array]:
        """Return times at which the jerk of some joint changes, the states there, and the jerk after each."""
        ruckig = _ruckig()
        n = np.asarray(self.start).size
        given = _parameters(ruckig, n, *(np.asarray(getattr(self, name)) for name in _LIMITS))
        given.current_position, given.target_position = list(self.start), list(self.end)  # type: ignore[arg-type]  # arrays
        given.current_velocity, given.target_velocity = list(self.v0), list(self.v1)  # type: ignore[arg-type]
        given.current_acceleration, given.target_acceleration = list(self.a0), list(self.a1)  # type: ignore[arg-type]
        found = ruckig.Trajectory(n)
        _checked(ruckig, lambda: ruckig.Ruckig(n).calculate(given, found))
        times = {0.0, found.duration}
        for profile in found.profiles[0]:
            times.update(np.cumsum([*profile.brake.t, *profile.t]))
        ordered = np.array(sorted(t for t in times if t <= found.duration))
        knots = ordered[np.concatenate([np.diff(ordered) > _SHORT, [True]])]
        knots[0] = 0.0
        states = [np.array(x) for x in zip(*(found.at_time(t) for t in knots), strict=True)]
        q, v, a = (x.reshape(len(knots), n) for x in states)
        steps = np.maximum(np.diff(knots), _SHORT)[:, None]
        return knots, TrajectoryState(q, v, a), np.concatenate([np.diff(a, axis=0) / steps, np.zeros((1, n))])

    @property
    def duration(self) -> float:
        """Return the duration [s]."""
        return float(self._knots[0][-1])

    def at(self, t: Array) -> TrajectoryState:
        """Return the cubic of each interval."""
        knots, (q, v, a), jerk = self._knots
        k = np.searchsorted(knots, t, side="right") - 1
        since = (t - knots[k])[..., None]
        q, v, a, jerk = q[k], v[k], a[k], jerk[k]
        return TrajectoryState(
            q + since * (v + since * (a / 2.0 + since * jerk / 6.0)),
            v + since * (a + since * jerk / 2.0),
            a + since * jerk,
        )


class OnlineTrajectory:
    """A jerk-limited reference that follows a goal which may change at every step of a control loop.

    Each step computes the fastest motion from the present state to the goal, if that has changed, and moves along it by
    dt. It takes some microseconds per joint. It needs ruckig: ``pip install 'appell[online]'``.

    Parameters
    ----------
    q : array_like
        Coordinates (n,) of the joints at the start [rad, m].
    dt : float
        The time from step to step [s].
    velocity, acceleration, jerk : array_like
        Limits [1/s, 1/s², 1/s³], one number or one per joint.
    v, a : array_like, optional
        Velocities and accelerations (n,) at the start; zero unless given.

    Raises
    ------
    InputError
        When ruckig is not installed, or an argument does not fit.

    Examples
    --------
    >>> import appell
    >>> reference = appell.trajectory.OnlineTrajectory([0.0], 0.01, velocity=1.0, acceleration=2.0, jerk=20.0)
    >>> for _ in range(50):
    ...     state = reference.step([1.0])
    >>> for _ in range(300):
    ...     state = reference.step([-0.5])  # the goal has changed; the motion stays smooth
    >>> reference.is_finished, state.q.round(9), abs(state.v).max() < 1e-9
    (True, array([-0.5]), np.True_)
    """

    def __init__(
        self,
        q: ArrayLike,
        dt: float,
        *,
        velocity: ArrayLike,
        acceleration: ArrayLike,
        jerk: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
    ) -> None:
        start = vector("q", q)
        n = start.size
        self._module = _ruckig()
        self._generator = self._module.Ruckig(n, positive("dt", dt))
        limits = (_limit(name, x, n) for name, x in zip(_LIMITS, (velocity, acceleration, jerk), strict=True))
        self._given = _parameters(self._module, n, *limits)
        self._given.current_position = list(start)
        self._given.current_velocity = list(_state("v", v, n))
        self._given.current_acceleration = list(_state("a", a, n))
        self._found = self._module.OutputParameter(n)
        self.is_finished = False

    @property
    def state(self) -> TrajectoryState:
        """Return the present coordinates, velocities and accelerations (n,)."""
        given = self._given
        return TrajectoryState(
            *(np.array(x) for x in (given.current_position, given.current_velocity, given.current_acceleration))
        )

    def step(self, goal: ArrayLike, v: ArrayLike | None = None) -> TrajectoryState:
        """Return the state one step of dt later, on the way to a goal.

        Parameters
        ----------
        goal : array_like
            Coordinates (n,) to go to.
        v : array_like, optional
            Velocities (n,) to arrive with; zero unless given.

        Returns
        -------
        TrajectoryState
            q, v and a (n,) after the step.

        Raises
        ------
        InputError
            When the goal does not fit, or its velocity is beyond the limits; the state stays what it was.
        """
        n = self._given.degrees_of_freedom
        self._given.target_position = list(vector("goal", goal, n))
        self._given.target_velocity = list(_state("v", v, n))
        result = _checked(self._module, lambda: self._generator.update(self._given, self._found))
        self.is_finished = result == self._module.Result.Finished
        self._found.pass_to_input(self._given)
        return self.state


def _ruckig() -> Any:
    return extra("ruckig", "jerk-limited motions need")


def _parameters(ruckig: Any, n: int, velocity: Array, acceleration: Array, jerk: Array) -> Any:
    given = ruckig.InputParameter(n)
    given.max_velocity, given.max_acceleration, given.max_jerk = list(velocity), list(acceleration), list(jerk)
    return given


def _checked(ruckig: Any, call: Any) -> Any:
    """Return the result of a call; raise what ruckig does not accept."""
    try:
        result = call()
    except ruckig.RuckigError as error:
        reason = str(error).replace("[ruckig]", "").strip().partition(" input:")[0].splitlines()[0].rstrip(".")
        raise InputError(f"jerk-limited motion: {reason}; check the states and the limits") from None
    if result not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise InputError(f"jerk-limited motion: ruckig found none ({result.name}); check the states and the limits")
    return result


def _state(name: str, x: ArrayLike | None, n: int) -> Array:
    return np.zeros(n) if x is None else vector(name, x, n)


def _limit(name: str, x: ArrayLike, n: int) -> Array:
    array = real(name, x, "positive limits, one or one per joint")
    if array.shape not in ((), (n,)) or not (array > 0.0).all():
        raise InputError(f"{name}: expected positive limits, one or one per joint ({n}), got {array.tolist()}")
    return np.broadcast_to(array, (n,))
