"""Outliers: single samples detected by their neighbours and replaced by interpolation."""

from __future__ import annotations

import numpy as np
import scipy

from appell.spatial.scalar import Array

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
