"""Friction of drives as columns of a regressor: every term is linear in its coefficient.

The classical terms are Coulomb friction, viscous friction and an offset. Geared drives have more effects, each a term
here:

* friction does not switch at a reversal: teeth and grease wind up first. A *bristle* z of length δ deflects with the
motion
  and then slides (P. Dahl, 1968):

      dz/dq = (1 − z·sign v)/δ,   z ∈ [−1, 1],                                                                  (1)

  and several lengths together approximate the measured curve. Far from reversals z = sign v;
* above stiction, friction grows more slowly than speed: |v|^⅓ and |v|^⅔ in addition to |v|;
* friction grows with the transmitted torque |τ|.

The load is the torque of the rigid-body model, so that a fit with this term is iterated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from appell.errors import InputError
from appell.messages import alternatives
from appell.spatial.scalar import Array

LENGTHS = (0.1e-3, 0.5e-3, 2.5e-3, 12.5e-3)
"""Lengths δ of bristles [rad], from stiff to soft gears."""
LEVER = 0.1
"""Radius [m] that converts bristle lengths and slow speeds of rotary motors to linear ones."""
STRIBECK = 0.1
"""Speed [rad/s, m/s] of the Stribeck effect."""
SMOOTH = 0.02
"""Speed [rad/s, m/s] over which smooth Coulomb friction changes sign."""


class Sliding(NamedTuple):
    """Inputs of friction: velocities (..., n), loads |τ| (..., n), and bristles, one (..., n) per length.

    Without a history, the bristles are the sign of the velocity.
    """

    v: Array
    load: Array
    bristles: Sequence[Array]


class Term(NamedTuple):
    """A friction term: its name, the unit of its coefficient for a revolute joint, and its column.

    `dissipates` is true for odd functions of velocity, whose sum must dissipate energy.
    """

    name: str
    unit: str
    column: Callable[[Sliding], Array]
    dissipates: bool = True


def _power(exponent: float) -> Callable[[Sliding], Array]:
    return lambda s: s.bristles[0] * np.abs(s.v) ** exponent


def _bristle(k: int) -> Callable[[Sliding], Array]:
    return lambda s: s.bristles[k]


TERMS = {
    term.name: term
    for term in (
        Term("coulomb", "N·m", lambda s: np.sign(s.v)),
        Term("smooth", "N·m", lambda s: np.tanh(s.v / SMOOTH)),
        Term("viscous", "N·m·s", lambda s: s.v),
        Term("stribeck", "N·m", lambda s: np.sign(s.v) * np.exp(-((s.v / STRIBECK) ** 2))),
        *(Term(f"bristle{k + 1}", "N·m", _bristle(k)) for k in range(len(LENGTHS))),
        Term("cube root", "N·m·s^⅓", _power(1.0 / 3.0)),
        Term("two thirds", "N·m·s^⅔", _power(2.0 / 3.0)),
        Term("linear", "N·m·s", _power(1.0)),
        Term("load", "1", lambda s: s.bristles[0] * s.load),
        Term("offset", "N·m", lambda s: np.ones_like(s.v), dissipates=False),
    )
}
"""The terms by name."""

FRICTION = {
    "coulomb": ("coulomb", "viscous", "offset"),
    "smooth": ("smooth", "viscous", "offset"),
    "stribeck": ("coulomb", "stribeck", "viscous", "offset"),
    "load": ("coulomb", "viscous", "load", "offset"),
    "full": (*(f"bristle{k + 1}" for k in range(len(LENGTHS))), "cube root", "two thirds", "linear", "load", "offset"),
}
"""Friction models by name: the terms of each joint."""


def friction_terms(friction: bool | str | Sequence[str]) -> tuple[Term, ...]:
    """Return the terms of a friction model: True for "full", False for none, a name of FRICTION, or names of TERMS.

    >>> [term.name for term in friction_terms("coulomb")]
    ['coulomb', 'viscous', 'offset']

    Raises
    ------
    InputError
        When a model or term is unknown.
    """
    if isinstance(friction, bool):
        friction = "full" if friction else ()
    if isinstance(friction, str):
        if friction not in FRICTION:
            raise InputError(
                f"friction: unknown model '{friction}'; {alternatives(friction, FRICTION)}, or a list of terms"
            )
        friction = FRICTION[friction]
    unknown = [name for name in friction if name not in TERMS]
    if unknown:
        raise InputError(f"friction: unknown term '{unknown[0]}'; {alternatives(unknown[0], TERMS, 40)}")
    return tuple(TERMS[name] for name in friction)


def bristles(q: Array, lengths: Array, segments: Sequence[slice]) -> Array:
    """Return the bristles of Eq. (1) along a motion, (lengths, n, joints), for `lengths` (lengths, joints).

    Between two samples the sign of the velocity is constant, and the solution of (1) is z → s + (z − s)·exp(−|Δq|/δ).
    Every segment starts with z = 0; the error decays within a few δ.

    >>> z = bristles(np.array([[0.0], [1.0], [0.9]]), np.array([[0.1]]), [slice(0, 3)])
    >>> z[0, :, 0].round(3)
    array([ 0.   ,  1.   , -0.264])
    """
    z = np.zeros((len(lengths), *q.shape))
    for segment in segments:
        steps = np.diff(q[segment], axis=0)
        signs = np.sign(steps)
        stays = np.exp(-np.abs(steps) / lengths[:, None])
        now = np.zeros((len(lengths), q.shape[1]))
        for k in range(len(steps)):
            now = signs[k] + (now - signs[k]) * stays[:, k]
            z[:, segment.start + k + 1] = now
    return z


def sliding(v: Array, load: Array) -> Sliding:
    """Return the inputs of friction for single states without history."""
    return Sliding(v, np.abs(load), [np.sign(v)] * len(LENGTHS))
