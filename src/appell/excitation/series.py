"""Fourier series that start and end at rest: periodic motions whose velocity and acceleration vanish at t = 0.

q = c + Σₖ aₖ sin kωt + bₖ cos kωt has v(0) = ω Σ k aₖ and a(0) = −ω² Σ k² bₖ. Both are linear in the coefficients, so
they are solved once: a = Z_s y and b = Z_c z, with Z the null spaces of (1, 2, …, h) and (1, 4, …, h²), leave 2h − 1
free parameters per joint, and every choice of them starts at rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from appell.identification.basis import Array
from appell.planning.trajectory.curves import Fourier


@dataclass(frozen=True)
class Series:
    """The rest-to-rest series of some harmonics and a duration, which is the period of the first [s].

    >>> Series(3, 10.0).n
    5
    """

    harmonics: int
    duration: float

    @property
    def n(self) -> int:
        """Return the number of free parameters per joint: its centre, then h − 1 of sines and h − 1 of cosines."""
        return 2 * self.harmonics - 1

    @cached_property
    def _free(self) -> tuple[Array, Array]:
        """Return Z_s and Z_c, each (h, h − 1)."""
        k = np.arange(1.0, self.harmonics + 1.0)
        return scipy.linalg.null_space(k[None]), scipy.linalg.null_space(k[None] ** 2)

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """Return the matrices (times, n) from free parameters to q, v and a.

        >>> q, v, a = Series(2, 1.0).at(np.zeros(1))
        >>> bool(abs(v).max() < 1e-12 and abs(a).max() < 1e-12)
        True
        """
        omega = 2.0 * math.pi / self.duration * np.arange(1, self.harmonics + 1)
        s, c = np.sin(omega * t[:, None]), np.cos(omega * t[:, None])
        sines, cosines = self._free
        one, nothing = np.ones((len(t), 1)), np.zeros((len(t), 1))
        return (
            np.hstack([one, s @ sines, c @ cosines]),
            np.hstack([nothing, (omega * c) @ sines, -(omega * s) @ cosines]),
            np.hstack([nothing, -(omega**2 * s) @ sines, -(omega**2 * c) @ cosines]),
        )

    def trajectory(self, x: Array) -> Fourier:
        """Return the trajectory of free parameters (n, joints)."""
        sines, cosines = self._free
        h = self.harmonics
        return Fourier(x[0], sines @ x[1:h], cosines @ x[h:], 1.0 / self.duration, self.duration)
