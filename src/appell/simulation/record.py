"""What a simulation is asked and what it collects: impact laws, the user's events, and the record of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from appell.results.path import Segment
from appell.results.run import ContactInterval, EventRecord, Impact
from appell.simulation.contact.gaps import Pair, Rows
from appell.simulation.contact.impact import Strike
from appell.spatial.scalar import Array


class StopError(Exception):
    """The run ends early; the text says why."""


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


@dataclass
class Record:
    """What a run has given so far."""

    t: list[float] = field(default_factory=list)
    y: list[Array] = field(default_factory=list)
    a: list[Array] = field(default_factory=list)
    tau: list[Array] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    impacts: list[Impact] = field(default_factory=list)
    rests: list[ContactInterval] = field(default_factory=list)
    events: list[EventRecord] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, t: float, y: Array, a: Array, tau: Array, *, again: bool = False) -> None:
        """Append a state with its accelerations and forces; `again` in place of the last one."""
        entries: tuple[tuple[list[Any], Any], ...] = ((self.t, t), (self.y, y), (self.a, a), (self.tau, tau))
        for column, value in entries:
            if again:
                column.pop()
            column.append(value)

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
