"""Resting contacts, and joints with Coulomb friction, between two events.

Points stick to or slide on a wall until the normal force vanishes; joints stick or slip. Forces and accelerations are
solved together: the second derivative of the gap is zero, and so is the acceleration of a joint that sticks. Which
touching points are active, and which points and joints stick, is a complementarity problem (contact_solver.py) solved
whenever one of these changes; in between the active set is constant and the motion smooth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy

from appell.robot.robot import Robot
from appell.simulation.contact.contact_solver import OPEN, SLIDE, STICK, complementarity, coulomb
from appell.simulation.contact.gaps import Gaps, Rows
from appell.simulation.contact.impact import Metric
from appell.spatial.scalar import Array

SLIP = 1e-6
"""Speed [m/s, rad/s] below which a sliding point or a slipping joint counts as stopped."""


class Contact(NamedTuple):
    """A resting contact, sticking or sliding, with its slip direction at the start of the step."""

    pair: int
    mode: str
    direction: Array
    """Slip direction in world axes, (3,); zero without friction."""


class Friction(NamedTuple):
    """Coulomb friction of joints, one entry per velocity, and the sign of its slip: zero where the joint sticks.

    It is at most `static` [N·m, N] at rest (zero without friction), and falls to `kinetic` over the speeds `stribeck`
    [rad/s, m/s].
    """

    kinetic: Array
    static: Array
    stribeck: Array
    slips: Array

    @property
    def sticking(self) -> Array:
        """Return the velocities of the joints that stick."""
        return np.flatnonzero((self.static > 0.0) & (self.slips == 0.0))

    @property
    def slipping(self) -> Array:
        """Return the velocities of the joints that slip."""
        return np.flatnonzero((self.static > 0.0) & (self.slips != 0.0))

    def torques(self, v: Array) -> Array:
        """Return the torques of the joints that slip."""
        ratio = np.divide(v, self.stribeck, out=np.full_like(v, np.inf), where=self.stribeck > 0.0)
        return np.asarray(-self.slips * (self.kinetic + (self.static - self.kinetic) * np.exp(-(ratio**2))))


class Held(NamedTuple):
    """Accelerations, the contact forces (k, 3) along normal and tangents, and the torques of the joints that stick."""

    a: Array
    forces: Array
    torques: Array


def accelerate(
    robot: Robot, gaps: Gaps, q: Array, v: Array, tau: Array, contacts: Sequence[Contact], friction: Friction
) -> Held:
    """Return a with M·a + bias = τ + Jᵀλ and zero accelerations at the contacts and of the joints that stick."""
    free, stuck = robot.evaluate("motion", q, v, tau + friction.torques(v))[1], np.eye(robot.nv)[friction.sticking]
    if not contacts:
        carry = np.linalg.solve(robot.mass_matrix(q), stuck.T)
        torques = -np.linalg.solve(stuck @ carry, stuck @ free)
        return Held(_still(free + carry @ torques, friction), np.zeros((0, 3)), torques)
    rows = gaps.rows(q, v, [contact.pair for contact in contacts])
    # directions of the contact forces: three axes for sticking, the edge of the friction cone for sliding
    ways = [
        np.eye(3) if contact.mode == STICK else np.array([[1.0, *_friction(gaps, rows, i, contact, v)]])
        for i, contact in enumerate(contacts)
    ]
    K = np.concatenate([*(rows.matrices[i, : len(way)] for i, way in enumerate(ways)), stuck])
    D = np.concatenate([*(way @ rows.matrices[i] for i, way in enumerate(ways)), stuck])
    rates = np.concatenate([*(rows.bias[i, : len(way)] for i, way in enumerate(ways)), np.zeros(len(stuck))])
    carry = scipy.linalg.cho_solve(scipy.linalg.cho_factor(robot.mass_matrix(q)), D.T)
    push = -np.linalg.lstsq(K @ carry, K @ free + rates, rcond=1e-11)[0]
    *parts, torques = np.split(push, np.cumsum([len(way) for way in ways]))
    forces = np.array([part @ way for part, way in zip(parts, ways, strict=True)])
    return Held(_still(free + carry @ push, friction), forces, torques)


def _still(a: Array, friction: Friction) -> Array:
    """Return accelerations without the rounding of joints that stick: a control law may depend on the sign of v."""
    a[friction.sticking] = 0.0
    return a


def _friction(gaps: Gaps, rows: Rows, i: int, contact: Contact, v: Array) -> Array:
    """Return the friction of a sliding contact per unit of normal force, along the two tangents.

    Within a step the slip may cross zero before the event is located. After the crossing the direction is mirrored, so
    that the vector field stays smooth and the event can be located.
    """
    mu = gaps.friction[contact.pair]
    if mu == 0.0:
        return np.zeros(2)
    along = rows.tangents[i] @ contact.direction
    slip = rows.matrices[i, 1:] @ v
    ahead = float(slip @ along)
    if ahead < 0.0:
        slip = slip - 2.0 * ahead * along
    length = float(np.hypot(*slip))
    return np.asarray(-mu * (slip / length if length > 1e-12 else along))


def slips(gaps: Gaps, q: Array, v: Array, contacts: Sequence[Contact]) -> Array:
    """Return the slip speed of each contact along its initial slip direction, (k,); infinite for sticking contacts."""
    rows = gaps.rows(q, v, [contact.pair for contact in contacts])
    result = np.full(len(contacts), np.inf)
    for i, contact in enumerate(contacts):
        if contact.mode == SLIDE and gaps.friction[contact.pair] > 0.0:
            result[i] = (rows.matrices[i, 1:] @ v) @ (rows.tangents[i] @ contact.direction)
    return result


def settle(
    robot: Robot, gaps: Gaps, q: Array, v: Array, tau: Array, touching: Sequence[int], friction: Friction
) -> tuple[list[Contact], Friction]:
    """Return the active contacts among the touching pairs, each sticking or sliding, and the slips of the joints."""
    slips = np.where((np.abs(v) > SLIP) & (friction.static > 0.0), np.sign(v), 0.0)
    friction = friction._replace(slips=slips)
    still = friction.sticking
    if not len(touching) and not len(still):
        return [], friction
    rows = gaps.rows(q, v, touching)
    metric = Metric(
        robot.mass_matrix(q), np.concatenate([rows.matrices.reshape(-1, robot.nv), np.eye(robot.nv)[still]])
    )
    free = robot.evaluate("motion", q, v, tau + friction.torques(v))[1]
    k = 3 * len(touching)
    b = metric.rows @ free
    b[:k] += rows.bias.ravel()
    mu = gaps.friction[list(touching)]
    if not mu.any() and not len(still):
        pushing = complementarity(metric.matrix[0::3, 0::3], b[0::3])
        pairs = (pair for pair, force in zip(touching, pushing, strict=True) if force > 0.0)
        return [Contact(pair, SLIDE, np.zeros(3)) for pair in pairs], friction
    speeds = (metric.rows[:k] @ v).reshape(-1, 3)[:, 1:]
    slip = [s / np.hypot(*s) if np.hypot(*s) > SLIP else None for s in speeds]
    bounds = friction.static[still]
    solution = coulomb(metric.matrix, b, mu, slip, bounds)
    # a torque at its bound lets the joint slip, opposite to the torque
    slips[still] = np.where(np.abs(solution.torques) < bounds, 0.0, -np.sign(solution.torques))
    contacts = []
    for i, (pair, mode) in enumerate(zip(touching, solution.modes, strict=True)):
        if mode == OPEN:
            continue
        way = slip[i]
        if mode == SLIDE and way is None:  # incipient slip, opposite to the friction force
            pull = solution.forces[i, 1:]
            length = float(np.hypot(*pull))
            way = -pull / length if length > 0.0 else np.array([1.0, 0.0])
        direction = np.zeros(3) if way is None else way @ rows.tangents[i]
        contacts.append(Contact(pair, mode, direction))
    return contacts, friction


def project(
    robot: Robot, gaps: Gaps, q: Array, v: Array, contacts: Sequence[Contact], sticking: Array
) -> tuple[Array, Array]:
    """Return the nearest state, in the metric of M, with zero gap and zero normal speed at the contacts.

    Points and joints that stick are at rest in it.
    """
    which = [contact.pair for contact in contacts]
    for _ in range(3 if which else 0):
        gap = gaps.gaps(q)[which] / gaps.slopes(q)[which]
        if float(np.abs(gap).max()) <= 1e-15:
            break
        normals = gaps.rows(q, v, which).matrices[:, :1]
        q = robot.integrate(q, _least(robot.mass_matrix(q), normals, -gap))
    rows = gaps.rows(q, v, which).matrices
    parts = [rows[i, : 3 if contact.mode == STICK else 1] for i, contact in enumerate(contacts)]
    held = np.concatenate([*parts, np.eye(robot.nv)[sticking]])
    v = v + _least(robot.mass_matrix(q), held, -(held @ v))
    v[sticking] = 0.0
    return q, v


def lifted(robot: Robot, gaps: Gaps, q: Array, v: Array, most: float) -> Array:
    """Return q with penetrations of up to `most`, caused by rounding, removed."""
    for _ in range(3):
        gap = gaps.gaps(q)
        low = np.flatnonzero((gap < 0.0) & (gap > -most) & gaps.reached(q))
        if not low.size or gap[low].min() > -1e-15:
            break
        normals = gaps.rows(q, v, low.tolist()).matrices[:, :1]
        q = robot.integrate(q, _least(robot.mass_matrix(q), normals, -gap[low] / gaps.slopes(q)[low]))
    return q


def _least(mass: Array, rows: Array, wanted: Array) -> Array:
    """Return x with rows·x = wanted and minimal xᵀMx."""
    J = rows.reshape(-1, len(mass))
    carry = np.linalg.solve(mass, J.T)
    return np.asarray(carry @ np.linalg.lstsq(J @ carry, wanted, rcond=1e-11)[0])
