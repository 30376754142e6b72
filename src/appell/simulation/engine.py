"""The event-driven simulation: integrate up to the next event, handle it, continue.

Events are impacts of points on walls; resting contacts that are released, start sliding or stop sliding; joints with
Coulomb friction that start slipping or stop; and user events. :mod:`appell.simulation.events.event_finder` locates
them on the dense output of a step. The step is then repeated to end exactly at the event, so that the state there is
integrated and not interpolated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from appell.errors import AppellError
from appell.model.edit import link_name
from appell.results.run import ContactInterval, EventRecord
from appell.robot.robot import Robot
from appell.simulation.callbacks import raised
from appell.simulation.contact import contact_interval
from appell.simulation.contact.contact_interval import Contact, Friction, Held
from appell.simulation.contact.contact_solver import SLIDE, STICK, UnsolvedError
from appell.simulation.contact.gaps import Gaps
from appell.simulation.contact.impact import Metric, strike
from appell.simulation.control import Drive
from appell.simulation.events.event_finder import LAG, EventFinder, Found
from appell.simulation.integrators import Integrator, Step, StepError
from appell.simulation.plant import Plant
from appell.simulation.record import (
    INTERRUPTED,
    Event,
    ImpactLaw,
    Limits,
    Record,
    State,
    StopError,
    impact_record,
)
from appell.spatial.scalar import Array

TOUCH = 1e-9
"""Gap [m] and speed [m/s] below which a point counts as touching a wall and staying there."""
STALL = 60
"""Number of consecutive events at one time after which the run ends early."""
TINY = 1000
"""Number of consecutive steps, each shorter than a billionth of the run, after which the run ends early."""
CROWD, WINDOW = 200, 1e-5
"""Number of impacts within a time [s] that counts as an accumulation; restitution is zero from then on."""
CREEP = 1e-3
"""Speed [rad/s, m/s] v₀ of Coulomb friction regularised as f·tanh(v/v₀), for methods that need smooth torques."""


class Engine:
    """One simulation."""

    def __init__(
        self,
        robot: Robot,
        gaps: Gaps,
        drive: Drive,
        integrator: Callable[[Engine], Integrator],
        impact_law: ImpactLaw,
        events: Sequence[Event],
        limits: Limits,
        *,
        is_smooth: bool,
    ) -> None:
        self.robot, self.gaps, self.drive, self.impact_law = robot, gaps, drive, impact_law
        self.plant = Plant(robot, charts=not len(gaps))
        self.record = Record()
        self.contacts: list[Contact] = []
        none = np.zeros(robot.nv)
        self._creeping = self.plant.friction.kinetic if is_smooth else none
        self.friction = Friction(none, none, none, none) if is_smooth else self.plant.friction
        self.quaternions = list(robot.facts.quaternions)
        self._limits, self._deadline, self._steps = limits, np.inf, 0
        self._events = tuple(events)
        self._event_finder = EventFinder(gaps, self._events, robot.nq, self.normalised, self._held)
        self._since: dict[int, float] = {}
        self._stalled = 0
        self._tiny = 0
        self._duration = 0.0
        self._integrator = integrator(self)  # it reads the vector field and the projection

    # Vector field

    def field(self, t: float, y: Array) -> Array:
        """Return ẏ: the rates of the coordinates, and the accelerations under joint torques and contact forces."""
        if not np.isfinite(y).all():  # a trial step that diverged, which the integrator rejects
            return np.full_like(y, np.nan)
        rate, a, _ = self._motion(t, y)
        return np.concatenate([rate, a])

    @property
    def is_regularised(self) -> bool:
        """Return whether the robot has Coulomb friction, which is regularised."""
        return bool(self._creeping.any())

    def _motion(self, t: float, y: Array) -> tuple[Array, Array, Array]:
        """Return q̇, the accelerations, and the joint torques."""
        q, v = y[: self.robot.nq], y[self.robot.nq :]
        tau = self._tau(t, q, v)
        forces = self._with_friction(v, tau)
        rate, a = self.plant.motion(q, v, forces + self.friction.torques(v))
        if self.is_held:
            a = self._accelerated(self.normalised(q), v, forces).a
        return rate, a, tau

    @property
    def is_held(self) -> bool:
        """Return whether there are resting contacts or joints that stick."""
        return bool(self.contacts or len(self.friction.sticking))

    def _accelerated(self, q: Array, v: Array, forces: Array) -> Held:
        return contact_interval.accelerate(self.plant.bare, self.gaps, q, v, forces, self.contacts, self.friction)

    def _tau(self, t: float, q: Array, v: Array) -> Array:
        """Return the joint torques; the control law receives unit quaternions and the robot's own velocities.

        Every evaluation of the vector field calls this function, so the timeout is checked here.
        """
        if time.monotonic() > self._deadline:
            raise StopError(f"timeout: {self._limits.seconds:g} s of wall time elapsed at t = {self.record.end:.9g} s")
        return self.drive.tau(t, self.normalised(q), self.plant.own_velocity(q, v))

    def pull(self, t: float, q: Array, v: Array) -> Array:
        """Return the sum of control torques and regularised friction."""
        return self._with_friction(v, self._tau(t, q, v))

    def _with_friction(self, v: Array, tau: Array) -> Array:
        return tau - self._creeping * np.tanh(v / CREEP) if self.is_regularised else tau

    def _held(self, t: float, q: Array, v: Array) -> Held:
        """Return the forces at the resting contacts, and the torques of the joints that stick."""
        return self._accelerated(q, v, self.pull(t, q, v))

    def normalised(self, q: Array) -> Array:
        """Return q with normalised quaternions."""
        if not self.quaternions:
            return q
        q = np.array(q)
        for k in self.quaternions:
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return q

    def project(self, y: Array) -> None:
        """Project a state, in place, onto unit quaternions, closed loops and the walls of resting points."""
        nq = self.robot.nq
        if self.quaternions:
            y[:nq] = self.normalised(y[:nq])
        if np.isfinite(y).all():
            y[:nq] = self.plant.closed(y[:nq])
        if self.is_held and np.isfinite(y).all():
            y[:nq], y[nq:] = self._projected(y[:nq], y[nq:])

    def _projected(self, q: Array, v: Array) -> tuple[Array, Array]:
        return contact_interval.project(self.robot, self.gaps, q, v, self.contacts, self.friction.sticking)

    def run(self, q: Array, v: Array, duration: float, progress: Callable[[float], None]) -> str:
        """Integrate from q and v; return the reason for an early end, empty if the duration was reached."""
        t, y, is_started = 0.0, np.concatenate([q, v]), False
        self._duration = duration
        self.record.add(State(t, np.array(y), np.zeros_like(v), self.drive.held))  # kept if the first call fails
        try:
            self.drive.sample(t, q, v)
            self._note(t, y, again=True)
            is_started = True
            y = self._begin(t, y)
            self._deadline = time.monotonic() + self._limits.seconds  # after compilation of most kernels
            while t < duration:
                t, y, is_over = self._advance(t, y, min(duration, self.drive.next_sample(t)))
                progress(t)
                if is_over:
                    break
        except KeyboardInterrupt:
            return f"{INTERRUPTED} at t = {self.record.end:.9g} s"
        except (StopError, StepError, UnsolvedError) as reason:
            return str(reason)
        except AppellError as error:
            if not is_started:  # the first call of a control law: no results are lost
                raise
            return f"{error}; the last state is at t = {self.record.end:.9g} s"
        except Exception as error:  # user code of a wall may raise anything: keep the results
            return f"{raised(error)}, at t = {self.record.end:.9g} s"
        finally:
            for pair in list(self._since):
                self._leave(pair, self.record.end)
        return ""

    def _begin(self, t: float, y: Array) -> Array:
        """Return the initial state after the impacts and resting contacts of points that touch a wall at the start."""
        nq = self.robot.nq
        q, v = y[:nq], y[nq:]
        if not len(self.gaps) and not self.friction.static.any():
            return y
        gap, rates = self.gaps.gaps(q), self.gaps.rates(q, v)
        there = self.gaps.reached(q) & (np.abs(gap) <= TOUCH)
        if (there & (rates < -TOUCH)).any():
            return self._impact(t, y, [])
        self._settle(t, y, self._touching(q, v))
        self._note(t, y, again=True)
        return y

    def _advance(self, t: float, y: Array, limit: float) -> tuple[float, Array, bool]:
        """Return the time and state after the next step or event, and whether the run has ended."""
        if self._steps >= self._limits.steps:
            raise StopError(
                f"max_steps: {self._steps} steps taken at t = {t:.9g} s; the motion is too fast or the control too "
                "stiff: increase max_steps, or reduce gains and speeds"
                + ("" if self._integrator.is_implicit else "; method='radau' is for stiff control")
            )
        self._steps += 1
        nq = self.robot.nq
        v, is_other = self.plant.switched(y[:nq], y[nq:])
        if is_other:
            y = np.concatenate([y[:nq], v])
            self._integrator.restart()
        step = self._integrator.advance(self.field, t, y, limit)
        self._check(step)
        found = self._event_finder.first(step.segments[0], self.contacts, self.friction, partial(self._shot, t, y))
        is_over = False
        if found is None:
            t, y = self._accept(step)
        else:
            self._stalled = self._stalled + 1 if found.time - t <= 1e-12 * max(1.0, t) else 0
            if self._stalled > STALL:
                raise StopError(
                    f"contacts open and close repeatedly at t = {t:.9g} s (more than {STALL} events at one time)"
                )
            if found.time > t:
                t, y = self._accept(self._integrator.shoot(self.field, t, y, found.time))
            y, is_over = self._handle(found, t, y)
            self._integrator.restart()
        if self.drive.is_due(t) and t < self._duration:
            self.drive.sample(t, self.normalised(y[:nq]), self.plant.own_velocity(y[:nq], y[nq:]))
            self._integrator.restart()
            if self.contacts or self.friction.static.any():
                self._settle(t, y, self._touching(y[:nq], y[nq:]))
        if self.contacts:  # the slip direction at the start of the next step
            self.contacts = [self._aimed(contact, y) for contact in self.contacts]
        return t, y, is_over

    def _shot(self, t: float, y: Array, end: float) -> Array:
        """Return the state at exactly `end`, at most one step ahead."""
        return self._integrator.shoot(self.field, t, y, end).y

    def _handle(self, found: Found, t: float, y: Array) -> tuple[Array, bool]:
        """Return the state after an event, and whether the run has ended."""
        if found.what == "event":
            return self._happen(t, y, found.which)
        if found.what == "impact":
            return self._impact(t, y, [found.which]), False
        handle = {
            "release": self._release,
            "slide": self._slide,
            "stop": self._stop,
            "slip": self._slip,
            "stick": self._stick,
        }[found.what]
        return handle(t, y, found.which), False

    def _accept(self, step: Step) -> tuple[float, Array]:
        self.record.segments += [self.plant.own_segment(segment) for segment in step.segments]
        t = step.segments[-1].end
        self._note(t, step.y)
        return t, step.y

    def _note(self, t: float, y: Array, *, again: bool = False) -> None:
        """Record a state; `again` in place of the last one."""
        q, v = y[: self.robot.nq], y[self.robot.nq :]
        _, a, tau = self._motion(t, y)
        own = np.concatenate([q, self.plant.own_velocity(q, v)])
        self.record.add(State(t, own, self.plant.own_acceleration(q, v, a), np.array(tau)), again=again)

    def _check(self, step: Step) -> None:
        """Raise StopError if the state is not finite or the steps have become too short."""
        start, t = step.segments[0].start, step.segments[-1].end
        if not np.isfinite(step.y).all():
            raise StopError(
                f"the state is no longer finite at t = {t:.9g} s; the motion or the control torques diverge"
            )
        self._tiny = self._tiny + 1 if t - start < 1e-9 * self._duration and t < self._duration else 0
        if self._tiny > TINY:
            raise StopError(
                f"{TINY} consecutive steps up to t = {t:.9g} s are shorter than a billionth of the run, the last "
                f"{t - start:.1e} s; the motion is too fast or the control law not smooth; sample the law with rate="
            )

    # Events

    def _impact(self, t: float, y: Array, hit: list[int]) -> Array:
        """Return the state after the simultaneous impact of all points that strike within the tie window."""
        nq = self.robot.nq
        q, v = y[:nq], np.array(y[nq:])
        gap = self.gaps.gaps(q)
        there = self.gaps.reached(q) & (self.gaps.endless | (gap > -TOUCH))
        resting = [contact.pair for contact in self.contacts]
        crowded = len(self.record.impacts) > CROWD and t - self.record.impacts[-CROWD].time < WINDOW
        if crowded:
            self.record.remark(
                f"more than {CROWD} impacts within {WINDOW:g} s of t = {t:.6g} s: restitution is zero from then on"
            )
        for turn in range(STALL):
            rates = self.gaps.rates(q, v)
            tied = (
                there & (rates < -TOUCH) & (gap + (self.impact_law.tie_window if turn == 0 else 0.0) * rates <= TOUCH)
            )
            struck = sorted({*(hit if turn == 0 else []), *resting, *(int(k) for k in np.flatnonzero(tied))})
            if turn and not tied.any():
                break
            v = self._strike(t, q, v, struck, elastic=not crowded and turn < STALL // 2)
            resting = sorted({*resting, *struck})
        q = contact_interval.lifted(self.robot, self.gaps, q, v, LAG)
        after = np.concatenate([q, v])
        self._settle(t, after, self._touching(q, v))
        self.project(after)
        self._note(t, after)
        return after

    def _strike(self, t: float, q: Array, v: Array, struck: list[int], *, elastic: bool) -> Array:
        rows = self.gaps.rows(q, v, struck)
        before = rows.matrices @ v
        e = np.where((before[:, 0] > -self.impact_law.rest_speed) | (not elastic), 0.0, self.gaps.restitution[struck])
        mass = self.robot.mass_matrix(q)
        result = strike(mass, v, rows.matrices, e, self.gaps.friction[struck], self.impact_law.name)
        for note in result.notes:
            self.record.remark(f"t = {t:.6g} s: {note}")
        potential = float(self.robot.potential_energy(q))
        energies = tuple(0.5 * float(x @ mass @ x) + potential for x in (v, result.v))
        gain = energies[1] - energies[0]
        after = rows.matrices @ result.v
        active = [i for i in range(len(struck)) if before[i, 0] < -TOUCH or result.impulses[i, 0] > 0.0]
        pairs = [self.gaps.pairs[struck[i]] for i in active]
        if before[:, 0].min() > -self.impact_law.rest_speed:  # recorded as a resting contact
            return result.v
        self.record.impacts.append(impact_record(t, pairs, rows, active, (before, after), result, (v, energies)))
        if gain > 1e-10 * (energies[0] - potential) + 1e-14:
            names = " and ".join(pair.point for pair in pairs)
            raise StopError(
                f"the impact of {names} at t = {t:.9g} s gains {gain:.3g} J of energy; Newton's impact law does so "
                "with friction or with different restitutions: "
                "use impact_law='poisson' and one restitution"
            )
        return result.v

    def _touching(self, q: Array, v: Array) -> list[int]:
        """Return the touching pairs whose relative speed is zero.

        A point that separates slowly and is pressed back would touch again within microseconds, so it counts as
        touching.
        """
        gap, speed, slow = self.gaps.gaps(q), self.gaps.rates(q, v), max(TOUCH, 0.1 * self.impact_law.rest_speed)
        near = (np.abs(gap) <= TOUCH * self.gaps.slopes(q)) & (np.abs(speed) <= slow)
        return [int(k) for k in np.flatnonzero(near & self.gaps.reached(q))]

    def _settle(self, t: float, y: Array, touching: Sequence[int]) -> None:
        """Determine which touching points are resting contacts from now on."""
        nq = self.robot.nq
        q, v = self.normalised(y[:nq]), y[nq:]
        self.contacts, self.friction = contact_interval.settle(
            self.plant.bare, self.gaps, q, v, self.pull(t, q, v), sorted(set(touching)), self.friction
        )
        now = {contact.pair for contact in self.contacts}
        for pair in [pair for pair in self._since if pair not in now]:
            self._leave(pair, t)
        for pair in now.difference(self._since):
            self._since[pair] = t
        if len(self.friction.sticking) or any(contact.mode == STICK for contact in self.contacts):
            y[:nq], y[nq:] = self._projected(q, v)

    def _leave(self, pair: int, t: float) -> None:
        own = self.gaps.pairs[pair]
        rest = ContactInterval(own.point, own.wall, self._since.pop(pair), t)
        if own.place is not None:
            link = link_name(self.robot.model, own.place.body)
            rest = replace(rest, link=link, position=np.array(own.place.position, dtype=float), radius=own.radius)
        self.record.rests.append(rest)

    def _release(self, t: float, y: Array, which: int) -> Array:
        """Release a contact whose normal force would become negative."""
        gone, nq = self.contacts.pop(which), self.robot.nq
        self._leave(gone.pair, t)
        self._settle(t, y, [pair for pair in self._touching(y[:nq], y[nq:]) if pair != gone.pair])
        self._note(t, y)
        return y

    def _slide(self, t: float, y: Array, which: int) -> Array:
        """Change a sticking contact to sliding, opposite to its friction force."""
        nq = self.robot.nq
        q, v = self.normalised(y[:nq]), y[nq:]
        contact = self.contacts[which]
        held = self._held(t, q, v)
        tangents = self.gaps.rows(q, v, [contact.pair]).tangents[0]
        way = -held.forces[which, 1:] @ tangents
        self.contacts[which] = Contact(contact.pair, SLIDE, way / np.linalg.norm(way))
        return y

    def _stop(self, t: float, y: Array, which: int) -> Array:
        """Determine whether a contact whose slip reached zero sticks or slides in another direction."""
        nq = self.robot.nq
        q, v = self.normalised(y[:nq]), np.array(y[nq:])
        rows = self.gaps.rows(q, v, [other.pair for other in self.contacts]).matrices
        slow = np.hypot(*(rows[which, 1:] @ v)) <= 10.0 * contact_interval.SLIP
        return self._stopped(t, q, v, rows[which, 1:] if slow else rows[which, 1:1])

    def _stopped(self, t: float, q: Array, v: Array, rows: Array) -> Array:
        """Return the state after some speeds have become zero, with the contacts and joints that then stick."""
        normals = self.gaps.rows(q, v, [contact.pair for contact in self.contacts]).matrices[:, 0]
        held = np.concatenate([normals, rows])
        metric = Metric(self.robot.mass_matrix(q), held)
        v = metric.after(v, -np.linalg.lstsq(metric.matrix, held @ v, rcond=1e-11)[0])
        y = np.concatenate([q, v])
        self._settle(t, y, self._touching(q, v))
        self._note(t, y)
        return y

    def _slip(self, t: float, y: Array, which: int) -> Array:
        """Let a joint that sticks slip, opposite to its friction."""
        nq, k = self.robot.nq, self.friction.sticking[which]
        held = self._held(t, self.normalised(y[:nq]), y[nq:])
        slips = self.friction.slips.copy()
        slips[k] = -np.sign(held.torques[which])
        self.friction = self.friction._replace(slips=slips)
        return y

    def _stick(self, t: float, y: Array, which: int) -> Array:
        """Determine whether a joint whose velocity reached zero sticks or slips in the other direction."""
        nq, k = self.robot.nq, self.friction.slipping[which]
        return self._stopped(t, self.normalised(y[:nq]), np.array(y[nq:]), np.eye(self.robot.nv)[[k]])

    def _aimed(self, contact: Contact, y: Array) -> Contact:
        """Return a sliding contact with its present slip direction."""
        if contact.mode != SLIDE or self.gaps.friction[contact.pair] == 0.0:
            return contact
        nq = self.robot.nq
        rows = self.gaps.rows(y[:nq], y[nq:], [contact.pair])
        slip = rows.matrices[0, 1:] @ y[nq:]
        length = float(np.hypot(*slip))
        return (
            contact
            if length <= contact_interval.SLIP
            else contact._replace(direction=(slip / length) @ rows.tangents[0])
        )

    def _happen(self, t: float, y: Array, index: int) -> tuple[Array, bool]:
        nq, event = self.robot.nq, self._events[index]
        self._event_finder.fired(index, t)
        self.record.events.append(EventRecord(event.name, t, self.normalised(np.array(y[:nq])), np.array(y[nq:])))
        return y, event.terminal
