"""enferadi2010, section 7: the two motions of the star-triangle, in closed form, by virtual work and by multipliers."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.loading import load
from appell.papers.multipliers import Simulated, by_closed_form, mechanism, simulated
from appell.spatial.scalar import Array

DURATION = math.pi / 6.0
"""Duration of both motions [s]."""
SAMPLES = 241
MOTIONS = (1, 2)


class Study(NamedTuple):
    """One motion, with its torques in closed form, by virtual work, and by chains closed by multipliers."""

    t: Array
    q: Array
    tau: Array
    virtual_work: Array
    angles: Array
    simulator: Simulated


def pole(t: ArrayLike) -> tuple[Array, Array, Array]:
    """Return s (..., 3) of the second motion, the circle of section 7.2.2, and its first two derivatives.

    >>> [float(round(x, 12)) for x in np.linalg.norm(pole([0.0, 0.1])[0], axis=-1)]
    [1.0, 1.0]
    """
    phase = 12.0 * np.asarray(t, dtype=float)
    along = np.array([4.0, 4.0, -8.0]) * math.sqrt(6.0) / 71.0
    across = np.array([-12.0, 12.0, 0.0]) * math.sqrt(2.0) / 71.0
    turning = np.multiply.outer(np.cos(phase), along) + np.multiply.outer(np.sin(phase), across)
    rate = 12.0 * (np.multiply.outer(np.cos(phase), across) - np.multiply.outer(np.sin(phase), along))
    return turning + math.sqrt(13395.0) / 213.0, rate, -144.0 * turning


def trajectory(motion: int, t: ArrayLike) -> tuple[Array, Array, Array]:
    """Return θ, φ, ψ (..., 3) and their first two derivatives in motion 1 or 2 of section 7.2.

    >>> trajectory(2, 0.0)[1].round(4)
    array([ 4.2096, -0.    ,  0.    ])
    """
    times = np.asarray(t, dtype=float)
    if motion == 1:
        still, phase = np.zeros_like(times), 12.0 * times
        place = (still + 0.25 * math.pi, still + math.acos(math.sqrt(1.0 / 3.0)), np.sin(phase) / 12.0)
        return (
            np.stack(place, axis=-1),
            np.stack((still, still, np.cos(phase)), axis=-1),
            np.stack((still, still, -12.0 * np.sin(phase)), axis=-1),
        )
    if motion != 2:
        raise InputError(f"enferadi2010: unknown motion {motion}; known: 1 and 2")
    (x, y, z), (dx, dy, dz), (ddx, ddy, ddz) = (np.moveaxis(part, -1, 0) for part in pole(times))
    level, sine = x * x + y * y, np.sqrt(1.0 - z * z)
    theta1 = (x * dy - y * dx) / level
    theta2 = (x * ddy - y * ddx) / level - 2.0 * theta1 * (x * dx + y * dy) / level
    phi1, phi2 = -dz / sine, -ddz / sine - z * dz * dz / sine**3
    still = np.zeros_like(x)
    return (
        np.stack((np.arctan2(y, x), np.arccos(z), still), axis=-1),
        np.stack((theta1, phi1, still), axis=-1),
        np.stack((theta2, phi2, still), axis=-1),
    )


@cache
def study(motion: int, samples: int = SAMPLES) -> Study:
    """Return a motion in closed form and by multipliers."""
    robot = load("sst")
    t = np.linspace(0.0, DURATION, samples)
    q, v, a = trajectory(motion, t)
    ours = by_closed_form(robot, q, v, a)
    simulator = simulated(mechanism("sst"), q, v, a, ours.angles + 0.05)
    by_work = robot.inverse_dynamics(q, v, a, formulation="virtual-work")
    return Study(t, q, ours.torques, by_work, ours.angles, simulator)
