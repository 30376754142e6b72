"""Resting contacts: points that stick to or slide on a wall until the normal force vanishes.

Contact forces and accelerations are solved together: the second derivative of the gap is zero. Which touching points
are active, and which of those stick, is a complementarity problem (contact_solver.py) solved whenever a contact opens
or closes; in between the active set is constant and the motion smooth.
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
"""Speed [m/s] below which a sliding point counts as stopped."""


class Contact(NamedTuple):
    """A resting contact, sticking or sliding, with its slip direction at the start of the step."""

    pair: int
    mode: str
    direction: Array
    """Slip direction in world axes, (3,); zero without friction."""


class Held(NamedTuple):
    """Accelerations with resting contacts, and the contact forces (k, 3) along normal and tangents."""

    a: Array
    forces: Array


def accelerate(robot: Robot, gaps: Gaps, q: Array, v: Array, tau: Array, contacts: Sequence[Contact]) -> Held:
    """Return a with M·a + bias = τ + Jᵀλ and zero accelerations at the contacts."""
    rows = gaps.rows(q, v, [contact.pair for contact in contacts])
    factor = scipy.linalg.cho_factor(robot.mass_matrix(q))
    free = robot.evaluate("motion", q, v, tau)[1]
    # directions of the contact forces: three axes for sticking, the edge of the friction cone for sliding
    ways = [
        np.eye(3) if contact.mode == STICK else np.array([[1.0, *_friction(gaps, rows, i, contact, v)]])
        for i, contact in enumerate(contacts)
    ]
    K = np.concatenate([rows.matrices[i, : len(way)] for i, way in enumerate(ways)])
    D = np.concatenate([way @ rows.matrices[i] for i, way in enumerate(ways)])
    rates = np.concatenate([rows.bias[i, : len(way)] for i, way in enumerate(ways)])
    carry = scipy.linalg.cho_solve(factor, D.T)
    push = -np.linalg.lstsq(K @ carry, K @ free + rates, rcond=1e-11)[0]
    parts = np.split(push, np.cumsum([len(way) for way in ways])[:-1])
    return Held(free + carry @ push, np.array([part @ way for part, way in zip(parts, ways, strict=True)]))


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


def settle(robot: Robot, gaps: Gaps, q: Array, v: Array, tau: Array, touching: Sequence[int]) -> list[Contact]:
    """Return the active contacts among the touching pairs, each sticking or sliding."""
    if not touching:
        return []
    rows = gaps.rows(q, v, touching)
    mass = robot.mass_matrix(q)
    metric = Metric(mass, rows.matrices)
    free = robot.evaluate("motion", q, v, tau)[1]
    b = metric.rows @ free + rows.bias.ravel()
    mu = gaps.friction[list(touching)]
    if not mu.any():
        pushing = complementarity(metric.matrix[0::3, 0::3], b[0::3])
        return [Contact(pair, SLIDE, np.zeros(3)) for pair, force in zip(touching, pushing, strict=True) if force > 0.0]
    speeds = (metric.rows @ v).reshape(-1, 3)[:, 1:]
    slip = [s / np.hypot(*s) if np.hypot(*s) > SLIP else None for s in speeds]
    solution = coulomb(metric.matrix, b, mu, slip)
    contacts = []
    for i, (pair, mode) in enumerate(zip(touching, solution.modes, strict=True)):
        if mode == OPEN:
            continue
        way = slip[i]
        if mode == SLIDE and way is None:  # incipient slip, opposite to the friction force
            friction = solution.forces[i, 1:]
            length = float(np.hypot(*friction))
            way = -friction / length if length > 0.0 else np.array([1.0, 0.0])
        direction = np.zeros(3) if way is None else way @ rows.tangents[i]
        contacts.append(Contact(pair, mode, direction))
    return contacts


def project(robot: Robot, gaps: Gaps, q: Array, v: Array, contacts: Sequence[Contact]) -> tuple[Array, Array]:
    """Return the nearest state, in the metric of M, with zero gap and zero normal speed at the contacts."""
    which = [contact.pair for contact in contacts]
    for _ in range(3):
        gap = gaps.gaps(q)[which] / gaps.slopes(q)[which]
        if float(np.abs(gap).max()) <= 1e-15:
            break
        normals = gaps.rows(q, v, which).matrices[:, :1]
        q = robot.integrate(q, _least(robot.mass_matrix(q), normals, -gap))
    rows = gaps.rows(q, v, which).matrices
    wanted = [(i, j) for i, contact in enumerate(contacts) for j in range(3 if contact.mode == STICK else 1)]
    held = np.array([rows[i, j] for i, j in wanted])
    return q, v + _least(robot.mass_matrix(q), held, -(held @ v))


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
