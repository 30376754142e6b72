"""What a simulation is asked and what it collects: impact laws, the user's events, and the record of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from appell.errors import InputError
from appell.read.values import shown
from appell.results.path import Segment
from appell.results.run import ContactInterval, EventRecord, Impact
from appell.robot.arguments import number
from appell.simulation.callbacks import raised
from appell.simulation.contact.gaps import Pair, Rows
from appell.simulation.contact.impact import Strike
from appell.spatial.scalar import Array

INTERRUPTED = "interrupted by Ctrl-C"
"""How the reason of a run begins that Ctrl-C ended."""


class StopError(Exception):
    """The run ends early; the text says why."""


class Limits(NamedTuple):
    """What a run may take: steps, events included, and seconds of wall time."""

    steps: int
    seconds: float


class ImpactLaw(NamedTuple):
    """How impacts go: by whose law, together within what time [s], and from what speed [m/s] on without restitution."""

    name: str
    tie_window: float
    rest_speed: float


@dataclass(frozen=True)
class Event:
    """A moment to look for: where `function(t, q, v)` passes through zero.

    `direction` is +1 for rising only, −1 for falling only; a `terminal` event ends the run.

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
        """Return the function's value; whatever it raises becomes an InputError that names the time."""
        what = f"event '{self.name}' at t = {t:.9g} s"
        try:
            value = self.function(t, q, v)
        except Exception as error:  # a user's function may raise anything
            raise InputError(f"{what} raised {raised(error)}") from error
        return number(f"{what}: expected a finite number", value, -np.finfo(float).max, np.finfo(float).max)


class State(NamedTuple):
    """One state of a run: time, (q, v), accelerations and forces."""

    t: float
    y: Array
    a: Array
    tau: Array


@dataclass
class Record:
    """What a run has given so far; whole at any moment, for Ctrl-C may end a run between any two lines."""

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
        """Append a state; `again` in place of the last one."""
        if again:
            self.states[-1] = state
        else:
            self.states.append(state)

    def path(self) -> list[Segment]:
        """Return the steps up to the last state; a step whose end has no state is left out."""
        return [segment for segment in self.segments if segment.end <= self.end]

    def remark(self, note: str) -> None:
        """Add a note, once."""
        if note not in self.notes:
            self.notes.append(note)


def told_impact(
    t: float,
    pairs: Sequence[Pair],
    rows: Rows,
    told: list[int],
    speeds: tuple[Array, Array],
    result: Strike,
    before: tuple[Array, tuple[float, ...]],
) -> Impact:
    """Return the record of an impact: of its contacts those that are told, with speeds before and after."""
    came, left = speeds
    v, energies = before
    return Impact(
        t,
        tuple(pair.point for pair in pairs),
        tuple(pair.wall for pair in pairs),
        rows.positions[told],
        rows.normals[told],
        -came[told, 0],
        left[told, 0],
        np.einsum("kj,kji->ki", came[told, 1:], rows.tangents[told]),
        result.impulses[told, 0],
        np.einsum("kj,kji->ki", result.impulses[told, 1:], rows.tangents[told]),
        energies[0],
        energies[1],
        np.array(v),
        result.v,
    )
