"""Single samples that cannot be: found by their neighbours, replaced by what those say."""

from __future__ import annotations

import numpy as np
import scipy

from appell.spatial.scalar import Array

SPREAD = 12.0
"""An outlier is so many robust standard deviations off; torques have longer tails than a normal distribution."""
NEIGHBOURS = 7
"""A sample is compared with what pairs of neighbours at distances 1 … 7 say of it; bursts of 2 are seen so."""
CALM = 1.3
"""Around an outlier the mean residual is below so many standard deviations (0.8 is normal): a real blow rings on."""
QUANTA = 8.0
"""What is less than so many steps of the recorder's resolution is no outlier."""
WINDOW = 101
"""The scatter is that of so many samples around."""
SMALL = 2e-3
"""What is less than this share of a signal's extent is not worth a repair."""
MOST = 0.02
"""Where more of a signal than this looks like outliers, it is the signal."""


def outliers(x: Array, *, may_step: bool) -> Array:
    """Return which samples of signals (n, k) do not belong.

    Each pair of neighbours at distances d and 2d predicts the sample by a cubic, pᵈ = (4mᵈ − m²ᵈ)/3 with
    mᵈ = (x₋ᵈ + x₊ᵈ)/2, and the median of the predictions is not moved by other outliers. A signal that may step, as a
    torque does where a joint turns round, has outliers only beyond both of its sides. Where the neighbours are off
    as well, something happened to the robot, not to a sample.

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
    # the livelier side counts: where rest ends, the scatter of rest says nothing of the motion
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
    """Return the mean of the neighbours' residuals, suspects left out."""
    weights = np.ones((2 * NEIGHBOURS + 1, 1))
    total = scipy.ndimage.correlate(np.where(off, 0.0, ratio), weights, mode="constant")
    count = scipy.ndimage.correlate(np.where(off, 0.0, 1.0), weights, mode="constant")
    return np.asarray(total / np.maximum(count, 1.0))


def _quantum(x: Array) -> float:
    """Return the step in which signals were recorded: the smallest difference of two values of one of them.

    It matters where all joints rest and flicker between two values; a signal that moves has scatter enough.
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
