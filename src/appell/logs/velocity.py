"""Comparison of recorded velocities with the derivative of positions: sign, scale and delay."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from appell.spatial.scalar import Array

AGREES = 0.03
"""Largest relative difference from dq/dt, plus its noise, of an accepted recorded velocity."""
LONGEST_DELAY = 0.25
"""Largest delay considered [s]."""


class Comparison(NamedTuple):
    """Relation of a recorded velocity to dq/dt: v(t) ≈ scale·(dq/dt)(t − delay), with the correlation `likeness`."""

    agrees: bool
    difference: float
    scale: float
    delay: float
    likeness: float

    def __str__(self) -> str:
        if self.likeness < 0.9:
            return f"it does not correlate with dq/dt (difference {self.difference:.3g} rms)"
        problems = []
        if self.scale < 0.0:
            problems.append("its sign is reversed")
        if abs(abs(self.scale) - 1.0) > 0.5 * AGREES:
            problems.append(f"its scale is {abs(self.scale):.4g}")
        if self.delay:
            problems.append(f"it is {abs(1e3 * self.delay):.2g} ms {'late' if self.delay > 0.0 else 'early'}")
        return ", ".join(problems) or f"it differs from dq/dt by {self.difference:.3g} rms"


def compare(recorded: Array, derived: Array, rate: float, noise: float) -> Comparison:
    """Return the relation of a recorded velocity (n,) to the derivative of the position, whose noise is given.

    >>> t = np.arange(0.0, 10.0, 0.01)
    >>> print(compare(-57.3 * np.sin(t - 0.03), np.sin(t), 100.0, 0.0))
    its sign is reversed, its scale is 57.3, it is 30 ms late
    """
    difference = _rms(recorded - derived)
    agrees = difference <= AGREES * _rms(derived) + 5.0 * noise
    reach = min(round(LONGEST_DELAY * rate), (len(derived) - 2) // 2)
    if reach < 1 or not derived.any() or not recorded.any():
        return Comparison(agrees, difference, 0.0, 0.0, 0.0)
    middle = derived[reach : len(derived) - reach]
    windows = [recorded[k : k + len(middle)] for k in range(2 * reach + 1)]
    likenesses = [abs(middle @ x) / max(math.sqrt((middle @ middle) * (x @ x)), 1e-300) for x in windows]
    peak = int(np.argmax(likenesses))
    # v(t + lag) = s·x(t − δ) ≈ s·x − sδ·dx/dt: the subsample delay δ by least squares
    slope = np.gradient(derived, 1.0 / rate)[reach : len(derived) - reach]
    (scale, shift), *_ = np.linalg.lstsq(np.column_stack([middle, -slope]), windows[peak], rcond=None)
    delay = (peak - reach) / rate + (float(shift / scale) if scale else 0.0)
    is_inside = 0 < peak < 2 * reach  # a maximum at the end of the range is not a peak
    return Comparison(
        agrees, difference, float(scale), delay if abs(delay) > 0.2 / rate else 0.0, float(likenesses[peak]) * is_inside
    )


def derivative_noise(scatter: float, rate: float, cutoff: float) -> float:
    """Return the noise of dq/dt below a cutoff frequency for white noise of positions with a standard deviation.

    The integral of the spectrum, scatter²·2/rate per Hz times (2πf)², up to the cutoff.

    >>> round(derivative_noise(1e-3, 100.0, 10.0), 4)
    0.0162
    """
    return scatter * 2.0 * math.pi * cutoff * math.sqrt(2.0 * cutoff / (3.0 * rate))


def _rms(x: Array) -> float:
    return float(np.sqrt(np.mean(np.square(x)))) if len(x) else 0.0
