"""Inputs and records of a simulation: impact laws, user events, limits, and the states of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from appell.arguments import number
from appell.errors import InputError
from appell.messages import shown
from appell.results.path import Segment
from appell.results.run import ContactInterval, EventRecord, Impact
from appell.simulation.callbacks import called
from appell.simulation.contact.gaps import Pair, Rows
from appell.simulation.contact.impact import Strike
from appell.spatial.scalar import Array

INTERRUPTED = "interrupted by Ctrl-C"
"""Start of the reason of a run ended by Ctrl-C."""


class StopError(Exception):
    """The run ends early, for the reason in the message."""


class Limits(NamedTuple):
    """Limits of a run: number of steps, events included, and wall time [s]."""

    steps: int
    seconds: float


class ImpactLaw(NamedTuple):
    """Impact law: its name, the tie window [s], and the speed [m/s] below which restitution is zero."""

    name: str
    tie_window: float
    rest_speed: float


@dataclass(frozen=True)
class Event:
    """An event of a simulation: a zero crossing of a function of time and state.

    Parameters
    ----------
    function : callable
        ``function(t, q, v)`` → float. It receives the time [s], q (nq,) with unit quaternions, and v (nv,);
        both are read-only.
    name : str
        The name in the run's records.
    direction : int
        +1 for rising zero crossings only, −1 for falling ones, 0 for both.
    terminal : bool
        True ends the run at the event.

    Raises
    ------
    InputError
        When `function` is not callable or `direction` is none of −1, 0 and 1.

    Examples
    --------
    >>> import appell
    >>> run = appell.simulate(appell.load("two-link"), [0, 0], [0, 0], 1.0,
    ...     events=[appell.simulation.Event(lambda t, q, v: t - 0.25, "a quarter", terminal=True)])
    >>> print(run.events[0].name, run.t[-1])
    a quarter 0.25
    """

    function: Callable[[float, Array, Array], float]
    name: str = "event"
    direction: int = 0
    terminal: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"event: expected a function (t, q, v), got {shown(self.function)}")
        if not isinstance(self.direction, int) or self.direction not in (-1, 0, 1):
            raise InputError(f"event '{self.name}': direction must be -1, 0 or 1, got {shown(self.direction)}")

    def at(self, t: float, q: Array, v: Array) -> float:
        """Return the value of the function at a time and state.

        Parameters
        ----------
        t : float
            Time [s].
        q, v : array
            Configuration (nq,) and velocity (nv,).

        Returns
        -------
        float
            The value.

        Raises
        ------
        InputError
            When the function raises an exception or returns no finite number.

        Examples
        --------
        >>> Event(lambda t, q, v: t - 0.25).at(1.0, [], [])
        0.75
        """
        what = f"event '{self.name}' at t = {t:.9g} s"
        value = called(what, self.function, t, np.asarray(q), np.asarray(v))
        return number(f"{what}: expected a finite number", value, -np.finfo(float).max, np.finfo(float).max)


class State(NamedTuple):
    """One state of a run: time, (q, v), accelerations and forces."""

    t: float
    y: Array
    a: Array
    tau: Array


@dataclass
class Record:
    """The results of a run so far; consistent at any moment, because Ctrl-C may end a run at any line."""

    states: list[State] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    impacts: list[Impact] = field(default_factory=list)
    rests: list[ContactInterval] = field(default_factory=list)
    events: list[EventRecord] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def end(self) -> float:
        """Return the time of the last state [s]."""
        return self.states[-1].t

    def add(self, state: State, *, again: bool = False) -> None:
        """Append a state; with `again`, replace the last one."""
        if again:
            self.states[-1] = state
        else:
            self.states.append(state)

    def path(self) -> list[Segment]:
        """Return the segments of the steps up to the last recorded state."""
        return [segment for segment in self.segments if segment.end <= self.end]

    def remark(self, note: str) -> None:
        """Add a note unless it is there already."""
        if note not in self.notes:
            self.notes.append(note)


def impact_record(
    t: float,
    pairs: Sequence[Pair],
    rows: Rows,
    active: list[int],
    speeds: tuple[Array, Array],
    result: Strike,
    before: tuple[Array, tuple[float, ...]],
) -> Impact:
    """Return the record of an impact: its active contacts with their speeds before and after."""
    approach, separation = speeds
    v, energies = before
    return Impact(
        t,
        tuple(pair.point for pair in pairs),
        tuple(pair.wall for pair in pairs),
        rows.positions[active],
        rows.normals[active],
        -approach[active, 0],
        separation[active, 0],
        np.einsum("kj,kji->ki", approach[active, 1:], rows.tangents[active]),
        result.impulses[active, 0],
        np.einsum("kj,kji->ki", result.impulses[active, 1:], rows.tangents[active]),
        energies[0],
        energies[1],
        np.array(v),
        result.v,
    )
