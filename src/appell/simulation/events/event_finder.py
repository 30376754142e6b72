"""The first event within a step.

Event functions are, in this order, the gaps between points and walls; the normal force, the friction margin while
sticking and the slip while sliding of every resting contact; the friction margins of joints that stick and the speeds
of joints that slip; and the user events, each with both signs, so that rising crossings are falling ones too. The first
falling zero crossing (crossing.py) is the next event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from appell.results.path import Segment
from appell.simulation.contact import contact_interval
from appell.simulation.contact.contact_interval import Contact, Friction, Held
from appell.simulation.contact.contact_solver import STICK
from appell.simulation.contact.gaps import Gaps
from appell.simulation.events import crossing
from appell.simulation.record import Event
from appell.spatial.scalar import Array

LAG = 1e-7
"""Penetration [m] that simultaneous events may cause; a deeper point is behind a bounded wall."""
WHAT = ("impact", "release", "slide", "stop", "slip", "stick", "event")
"""The kinds of events, in the order of their functions."""


class Found(NamedTuple):
    """A located event.

    `what` is "impact" of a pair; "release", "slide" or "stop" of a resting contact; "slip" of a joint that sticks,
    "stick" of one that slips; or "event" for a user event.
    `which` is the index among these.
    """

    time: float
    what: str
    which: int


class EventFinder:
    """Locates events on steps.

    `normalised` normalises the quaternions of a configuration, and `held(t, q, v)` returns the forces at the resting
    contacts and the torques of joints that stick.
    """

    def __init__(
        self,
        gaps: Gaps,
        events: Sequence[Event],
        nq: int,
        normalised: Callable[[Array], Array],
        held: Callable[[float, Array, Array], Held],
    ) -> None:
        self._gaps, self._events, self._nq = gaps, events, nq
        self._normalised, self._held = normalised, held
        self._fired: dict[int, float] = {}
        self._force = 1e-9
        """The largest contact force so far [N], the scale of the others."""

    def fired(self, index: int, t: float) -> None:
        """Store the time of a user event, so that it is not located again immediately."""
        self._fired[index] = t

    def first(
        self, segment: Segment, contacts: Sequence[Contact], friction: Friction, shot: Callable[[float], Array]
    ) -> Found | None:
        """Return the first event of a step; `shot(t)` returns the state at t by a step that ends there."""
        stuck, slipping = len(friction.sticking), len(friction.slipping)
        sizes = (len(self._gaps), *(len(contacts),) * 3, stuck, slipping, 2 * len(self._events))
        if not any(sizes):
            return None
        depths, lags = (crossing.DEPTH, *(1e-9,) * 5, 1e-12), (LAG, *(np.inf,) * 5, 0.0)
        bounds = crossing.Bounds(np.repeat(depths, sizes), np.repeat(lags, sizes))
        if contacts:
            start = segment.at(np.array([segment.start]))[0]
            forces = self._held(segment.start, self._normalised(start[: self._nq]), start[self._nq :]).forces
            self._force = max(self._force, float(np.abs(forces).max()))
        first = np.cumsum((0, *sizes))
        watched, allowed = partial(self._watched, contacts, friction), partial(self._allowed, segment, int(first[-2]))
        found = crossing.first(segment, watched, bounds, allowed)
        if found is None:
            return None
        kind = int(np.searchsorted(first, found.which, side="right")) - 1
        index = found.which - int(first[kind])
        if kind == 0:
            return Found(self._polished(segment, found, shot), "impact", index)
        return Found(found.time, WHAT[kind], index // 2 if WHAT[kind] == "event" else index)

    def _watched(self, contacts: Sequence[Contact], friction: Friction, times: Array, y: Array) -> Array:
        """Return the gaps, the margins and slips of contacts and joints, and the user's functions."""
        nq = self._nq
        parts = [self._gaps.gaps(y[:, :nq])] if len(self._gaps) else []
        if contacts:
            parts[0][:, [contact.pair for contact in contacts]] = 1.0
        if contacts or len(friction.sticking):
            parts.append(np.array([self._margins(contacts, friction, t, x) for t, x in zip(times, y, strict=True)]))
        slipping = friction.slipping
        parts.append(y[:, nq + slipping] * friction.slips[slipping])
        for event in self._events:
            values = np.array(
                [event.at(float(t), self._normalised(x[:nq]), x[nq:]) for t, x in zip(times, y, strict=True)]
            )
            parts.append(np.stack([values, -values], axis=1))
        return np.concatenate(parts, axis=1)

    def _margins(self, contacts: Sequence[Contact], friction: Friction, t: float, y: Array) -> Array:
        q, v = self._normalised(y[: self._nq]), y[self._nq :]
        held = self._held(t, q, v)
        of_joints = 1.0 - (held.torques / friction.static[friction.sticking]) ** 2
        if not contacts:
            return of_joints
        forces = held.forces
        mu = self._gaps.friction[[contact.pair for contact in contacts]]
        left = (mu * forces[:, 0]) ** 2 - np.sum(forces[:, 1:] ** 2, axis=1)
        sticks = np.array([contact.mode == STICK for contact in contacts])
        slip = contact_interval.slips(self._gaps, q, v, contacts)
        size = self._force
        margins = (forces[:, 0] / size, np.where(sticks, left / size**2, 1.0), np.where(np.isfinite(slip), slip, 1.0))
        return np.concatenate([*margins, of_joints])

    def _allowed(self, segment: Segment, of_users: int, k: int, t: float) -> bool:
        """Return whether a crossing is an event: within the wall's region, or not just after the same user event."""
        if k < len(self._gaps):
            return bool(self._gaps.reached(segment.at(np.array([t]))[0, : self._nq])[k])
        if k < of_users:
            return True
        index, falls = divmod(k - of_users, 2)
        wanted = self._events[index].direction
        just = t - self._fired.get(index, -np.inf) <= 1e-9 * max(1.0, t)
        return not just and wanted in ((0, -1) if falls == 0 else (0, 1))

    def _polished(self, segment: Segment, found: crossing.Crossing, shot: Callable[[float], Array]) -> float:
        """Return the time of an impact to rounding: Newton's method on steps that end exactly there."""
        nq, time = self._nq, found.time
        for _ in range(8):
            if time - segment.start <= 1e-13 * max(1.0, segment.start):
                return segment.start
            y = shot(time)
            gap, rate = self._gaps.gaps(y[:nq])[found.which], self._gaps.rates(y[:nq], y[nq:])[found.which]
            if rate >= 0.0:
                break
            change = -gap / rate
            if change < -0.5 * (time - segment.start):
                return found.time  # it started slightly beyond the wall, and only now goes deeper
            time = float(np.clip(time + change, segment.start, segment.end))
            if abs(change) <= 1e-14 * max(1.0, time) or abs(gap) <= 1e-15:
                break
        return time
