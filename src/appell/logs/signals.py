"""Signals of a log: zero-phase filters, derivatives, gaps, outliers, and recorded velocities.

Why one filter for all signals: the equations of motion are linear in the parameters, τ = Y(q, v, a)·π, so a linear
filter F can be applied to both sides, Fτ = (F Y)·π, exactly. A fit computes Y(Fq, Fv, Fa) instead of F Y. Both are
equal in the terms linear in a and v. They differ in the other terms (sin q, v², sign v) by the effect of F on the
motion itself, which is negligible if the motion is well below the cutoff frequency. F then removes the noise of q, v
and τ without delay. Different filters, or a filter of τ only, would cause a phase difference between the two sides,
which a fit attributes to damping or inertia.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy

from appell.spatial.scalar import Array

SETTLED = 1e-4
"""Remaining amplitude of the filter's transient where the edges are cut."""
# f′(x) ≈ Σ wₖ (f(x + kh) − f(x − kh))/h, exact for polynomials of degree 8; relative error (ωh)⁸/630 at the frequency ω
WEIGHTS = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)
REACH = len(WEIGHTS)


def zero_phase(x: Array, rate: float, cutoff: float, order: int) -> Array:
    """Return signals (n, k) filtered forwards and backwards by a Butterworth filter: zero phase, gain ½ at the cutoff.

    >>> t = np.arange(0.0, 4.0, 0.01)
    >>> slow = np.sin(2.0 * np.pi * t)[:, None]
    >>> fast = np.sin(60.0 * np.pi * t)[:, None]
    >>> bool(np.abs(zero_phase(slow + fast, 100.0, 10.0, 4) - slow)[50:-50].max() < 1e-3)
    True
    """
    sections = _sections(rate, cutoff, order)
    pad = min(len(x) - 1, 3 * edge(rate, cutoff, order))
    return np.asarray(scipy.signal.sosfiltfilt(sections, x, axis=0, padlen=pad))


@lru_cache(maxsize=16)
def _sections(rate: float, cutoff: float, order: int) -> Array:
    return np.asarray(scipy.signal.butter(order, cutoff, fs=rate, output="sos"))


def edge(rate: float, cutoff: float, order: int) -> int:
    """Return the number of samples of the filter's transient: exp(−ω sin(π/2n)·t) is below 1/10000 afterwards.

    >>> edge(100.0, 10.0, 4)
    39
    """
    slowest = 2.0 * math.pi * cutoff * math.sin(math.pi / (2.0 * order))
    return max(math.ceil(-math.log(SETTLED) / slowest * rate), REACH)


def derivative(x: Array, rate: float) -> Array:
    """Return dx/dt of signals (n, k) by central differences of eighth order; the first and last four are NaN.

    For filtered signals this is nearly exact: the relative error at a tenth of the sampling rate is 4e-5, against 6 %
    of second-order central differences.

    >>> t = np.arange(0.0, 1.0, 0.01)
    >>> v = derivative(np.sin(2.0 * np.pi * t)[:, None], 100.0)[:, 0]
    >>> bool(np.nanmax(np.abs(v - 2.0 * np.pi * np.cos(2.0 * np.pi * t))) < 1e-11)
    True
    """
    n = len(x)
    slope = np.full(x.shape, np.nan)
    middle = slice(REACH, n - REACH)
    slope[middle] = rate * sum(
        w * (x[REACH + k : n - REACH + k] - x[REACH - k : n - REACH - k]) for k, w in enumerate(WEIGHTS, 1)
    )
    return slope


def resampled(t: Array, x: Array, at: Array) -> Array:
    """Return signals (n, k) at other times by a cubic spline."""
    return np.asarray(scipy.interpolate.make_interp_spline(t, x, k=min(3, len(t) - 1))(at))


# Segments between gaps in time, and wrapped counters

LONGEST = 4.5
"""A time step longer than this many periods is a gap, which is not interpolated."""


def stretches(t: Array) -> list[slice]:
    """Return the slices of rows between gaps.

    >>> stretches(np.array([0.0, 0.1, 0.2, 0.9, 1.0]))
    [slice(0, 3, None), slice(3, 5, None)]
    """
    dt = np.diff(t)
    cuts = [0, *(np.flatnonzero(dt > LONGEST * np.median(dt)) + 1).tolist(), len(t)]
    return [slice(a, b) for a, b in pairwise(cuts)]


def unwrapped(t: Array, q: Array) -> tuple[Array, Array]:
    """Return unwrapped angles, and the (row, joint) pairs of the wraps.

    A step is a wrap if it is a full revolution to within five times the joint's typical step, or a twentieth of a
    revolution.

    >>> q, wraps = unwrapped(np.arange(3.0), np.array([[3.1], [-3.1], [-3.0]]))
    >>> q.ravel().round(3).tolist(), wraps.tolist()
    ([3.1, 3.183, 3.283], [[1, 0]])
    """
    steps = np.diff(q, axis=0)
    turns = np.round(steps / (2.0 * np.pi))
    slack = np.maximum(5.0 * np.percentile(np.abs(steps), 90.0, axis=0), 0.1 * np.pi)
    wraps = (turns != 0.0) & (np.abs(steps - 2.0 * np.pi * turns) < np.minimum(slack, 0.5 * np.pi))
    if not wraps.any():
        return q, np.empty((0, 2), dtype=int)
    moved = np.cumsum(np.where(wraps, turns, 0.0), axis=0)
    straight = q - 2.0 * np.pi * np.concatenate([np.zeros((1, q.shape[1])), moved])
    return straight, np.argwhere(wraps) + np.array([1, 0])


# Outliers: single samples detected by their neighbours and replaced by interpolation

SPREAD = 12.0
"""Threshold of an outlier in robust standard deviations; torques have heavier tails than a normal distribution."""
NEIGHBOURS = 7
"""Distances of the neighbours that predict a sample; 1 … 7 also detects bursts of 2."""
CALM = 1.3
"""Largest mean residual around an outlier in standard deviations (0.8 is normal); a real impact causes more."""
QUANTA = 8.0
"""Smallest outlier in steps of the recorder's resolution."""
WINDOW = 101
"""Number of samples for the local standard deviation."""
SMALL = 2e-3
"""Smallest outlier as a fraction of the signal's range."""
MOST = 0.02
"""Largest fraction of outliers; above it, the deviations belong to the signal."""


def outliers(x: Array, *, may_step: bool) -> Array:
    """Return which samples of signals (n, k) are outliers.

    Each pair of neighbours at distances d and 2d predicts the sample by a cubic, pᵈ = (4mᵈ − m²ᵈ)/3 with
    mᵈ = (x₋ᵈ + x₊ᵈ)/2, and the median of the predictions is robust against other outliers. A signal that may step, such
    as a torque at the reversal of a joint, has outliers only beyond both sides of the step. Where the neighbours
    deviate as well, the deviation is real.

    >>> x = np.sin(np.linspace(0.0, 6.0, 300))[:, None]
    >>> x[100] += 0.1
    >>> np.flatnonzero(outliers(x, may_step=False))
    array([100])
    """
    n = len(x)
    reach = 2 * NEIGHBOURS
    if n <= 2 * reach:
        return np.zeros(x.shape, dtype=bool)
    wide = np.pad(x, ((reach, reach), (0, 0)), mode="reflect", reflect_type="odd")

    def shifted(k: int) -> Array:
        return np.asarray(wide[reach + k : reach + k + n])

    middles = {d: 0.5 * (shifted(d) + shifted(-d)) for d in range(1, reach + 1)}
    predicted = np.median([(4.0 * middles[d] - middles[2 * d]) / 3.0 for d in range(1, NEIGHBOURS + 1)], axis=0)
    residual = np.abs(x - predicted)
    # the larger of both sides: at the end of a pause, the noise at rest is no measure of the motion
    local = scipy.ndimage.maximum_filter(scipy.ndimage.median_filter(residual, size=(WINDOW, 1)), size=(WINDOW, 1))
    extent = np.subtract(*np.percentile(x, [99.5, 0.5], axis=0))
    floor = np.maximum(QUANTA * _quantum(x), SMALL * extent) + np.finfo(float).tiny
    limit = np.maximum(SPREAD * 1.4826 * np.maximum(local, np.median(residual, axis=0)), floor)
    off = residual > limit
    if may_step:
        left = np.median([shifted(-k) for k in range(1, NEIGHBOURS + 1)], axis=0)
        right = np.median([shifted(k) for k in range(1, NEIGHBOURS + 1)], axis=0)
        beyond = np.maximum(x - np.maximum(left, right), np.minimum(left, right) - x)
        off &= beyond > 0.5 * residual
    off &= _around(residual / limit, off) < CALM / SPREAD
    off[:, off.mean(axis=0) > MOST] = False
    return np.asarray(off)


def _around(ratio: Array, off: Array) -> Array:
    """Return the mean of the neighbours' residuals without suspected outliers."""
    weights = np.ones((2 * NEIGHBOURS + 1, 1))
    total = scipy.ndimage.correlate(np.where(off, 0.0, ratio), weights, mode="constant")
    count = scipy.ndimage.correlate(np.where(off, 0.0, 1.0), weights, mode="constant")
    return np.asarray(total / np.maximum(count, 1.0))


def _quantum(x: Array) -> float:
    """Return the resolution of signals: the smallest difference of two values of one of them.

    It matters where all joints rest and toggle between two values.
    """
    steps = [np.diff(np.unique(column)).min(initial=np.inf) for column in x.T]
    return float(min(steps)) if np.isfinite(steps).any() else 0.0


def filled(t: Array, x: Array, bad: Array) -> Array:
    """Return the signals with bad samples replaced by a monotone cubic through the good ones."""
    result = x.copy()
    for k in np.flatnonzero(bad.any(axis=0)):
        good = ~bad[:, k]
        result[bad[:, k], k] = scipy.interpolate.PchipInterpolator(t[good], x[good, k])(t[bad[:, k]])
    return result


# Comparison of recorded velocities with the derivative of positions: sign, scale and delay

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
