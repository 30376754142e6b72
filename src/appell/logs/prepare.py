"""Preparation of a log for identification: uniform sampling, no outliers, one filter for all signals, v and a.

Why one filter for all signals: the equations of motion are linear in the parameters, τ = Y(q, v, a)·π, so a linear
filter F can be applied to both sides, Fτ = (F Y)·π, exactly. A fit computes Y(Fq, Fv, Fa) instead of F Y. Both are
equal in the terms linear in a and v. They differ in the other terms (sin q, v², sign v) by the effect of F on the
motion itself, which is negligible if the motion is well below the cutoff frequency. F then removes the noise of q, v
and τ without delay. Different filters, or a filter of τ only, would cause a phase difference between the two sides,
which a fit attributes to damping or inertia.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from appell.display import card
from appell.errors import InputError
from appell.logs.log import Log, Repair, ranges
from appell.logs.read_log import LARGEST, with_gains
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


# Preparation

JITTER = 0.05
"""Sampling is uniform if the time steps deviate by less than this fraction of a period."""


@dataclass(frozen=True)
class Prepared:
    """A uniformly sampled log for a fit: q, v, a and tau (n, nv) [N·m, N], all filtered alike.

    `segments` are the row ranges between gaps, each uniformly sampled. `moving` (n, nv) is true where a joint is faster
    than the threshold; everywhere without one. `repairs` are those of the log and of the preparation; `rate` and
    `cutoff` are in Hz.
    """

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    moving: Array
    segments: tuple[slice, ...]
    repairs: tuple[Repair, ...]
    cutoff: float
    rate: float
    order: int = 4
    source: str = ""
    joint_names: tuple[str, ...] = ()

    @property
    def per_observation(self) -> float:
        """Return the number of samples per independent observation: two per period of the cutoff frequency."""
        return max(1.0, 0.5 * self.rate / self.cutoff)

    def __len__(self) -> int:
        return len(self.t)

    def __str__(self) -> str:
        parts = f"{len(self.segments)} segment{'s' if len(self.segments) > 1 else ''}"
        moving = f", moving {self.moving.mean():.0%}" if not self.moving.all() else ""
        head = f"{self.source or 'log'}: {len(self)} samples at {self.rate:.4g} Hz, filtered at {self.cutoff:g} Hz"
        head += f", {parts}{moving}"
        return "\n".join([head, *(f"  {repair}" for repair in self.repairs)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *repairs = str(self).splitlines()
        return card(head, ranges(self.joint_names, {"q": self.q, "v": self.v, "a": self.a, "tau": self.tau}), *repairs)


AnyLog = Log | Prepared | Mapping[str, ArrayLike] | str | os.PathLike[str]
"""A log, or what one is read from."""


class _Stretch(NamedTuple):
    """Signals of one uniformly sampled segment; NaN where the derivative is unknown."""

    t: Array
    q: Array
    v: Array
    a: Array
    tau: Array


def prepare(
    log: Log,
    *,
    cutoff: float = 10.0,
    order: int = 4,
    rate: float | None = None,
    moving: float | None = None,
    gains: ArrayLike | None = None,
) -> Prepared:
    """Prepare a log for identification: resample uniformly, repair outliers, filter all signals with zero phase.

    Gaps split the log into segments and are not interpolated. In each segment, a cubic spline resamples the signals, a
    Butterworth filter runs forwards and backwards over q, v and tau, and eighth-order differences give accelerations.
    Recorded velocities are used where they agree with dq/dt, otherwise dq/dt; the repairs list those joints, and
    whether sign, scale or delay differs. Recorded accelerations are not used.

    Parameters
    ----------
    log : Log
        A log with one coordinate per joint, and tau or current.
    cutoff : float
        Cutoff frequency [Hz], where the gain is ½. Choose it well above the frequencies of the motion: the same filter
        acts on q, v, a and tau, so that the equations of motion still hold (:mod:`appell.logs.prepare`).
    order : int
        Filter order of one pass.
    rate : float, optional
        Sampling rate of the result [Hz]. Default: the log's. Filtering comes first, so a low rate does not alias.
    moving : float, optional
        Speed [rad/s, m/s] above which a joint counts as moving. If given, pauses at the start and the end are dropped.
    gains : array_like, optional
        Torque constants of the joints [N·m/A]; then tau = gains·current.

    Returns
    -------
    Prepared
        Uniformly sampled q, v, a and tau, and the list of repairs.

    Raises
    ------
    InputError
        When there is no torque, the cutoff is above half the sampling rate, or the log is too short for the filter.

    Examples
    --------
    >>> t = np.arange(0.0, 5.0, 0.01)
    >>> wave = np.sin(2.0 * t)[:, None]
    >>> ready = prepare(Log.from_arrays(t, q=wave, tau=-4.0 * wave))
    >>> bool(np.abs(ready.a - ready.tau).max() < 1e-4)
    True
    """
    if not isinstance(log, Log):
        raise InputError(f"prepare: expected a Log, got {type(log).__name__}; read one with appell.read_log")
    log = log if gains is None else with_gains(log, gains)
    native = _check(log, cutoff, order, rate, moving)
    log, repairs = _straightened(log)
    repairs += _jitter(log, native)
    settings = _Settings(native, cutoff, order)
    parts, cut = _evened(log, settings)
    repairs += cut
    parts, chosen = _with_velocities(parts, log, settings)
    repairs += chosen
    inside = [_Stretch(*(x[settings.margin : len(part.t) - settings.margin] for x in part)) for part in parts]
    parts = [_resampled_stretch(part, native, rate) for part in inside]
    if rate is not None and rate != native:
        repairs.append(
            Repair(f"resampled from {native:.4g} to {rate:.4g} Hz after the filter", "all signals", len(log))
        )
    else:
        rate = native
    parts, rest = _without_rest(parts, moving)
    signals = _Stretch(*(np.concatenate([part[k] for part in parts]) for k in range(5)))
    ends = np.cumsum([0, *(len(part.t) for part in parts)]).tolist()
    return Prepared(
        *signals,
        moving=np.abs(signals.v) > moving if moving is not None else np.ones(signals.v.shape, dtype=bool),
        segments=tuple(slice(x, y) for x, y in pairwise(ends)),
        repairs=(*log.repairs, *repairs, *rest),
        cutoff=float(cutoff),
        rate=float(rate),
        source=log.source,
        joint_names=log.joint_names,
    )


class _Settings(NamedTuple):
    rate: float
    cutoff: float
    order: int

    @property
    def margin(self) -> int:
        """Return the number of samples dropped at each end: the transient of the filter, and two derivatives."""
        return edge(*self) + 2 * REACH


def _check(log: Log, cutoff: float, order: int, rate: float | None, moving: float | None) -> float:
    """Return the log's sampling rate [Hz] after checking all arguments."""
    name = log.source or "the log"
    if log.tau is None:
        remedy = (
            "give gains [N·m/A] for its currents" if log.current is not None else "map tau or current when reading it"
        )
        raise InputError(f"prepare: {name} has no torques; {remedy}")
    if log.tau.shape[1] != log.q.shape[1]:
        raise InputError(
            f"prepare: {name} has {log.q.shape[1]} coordinates and {log.tau.shape[1]} torques; "
            "expected one of each per joint (a floating base or ball joint cannot be filtered by coordinate)"
        )
    if len(log) < 3:
        raise InputError(f"prepare: {name} has {len(log)} samples; expected at least two")
    checked = Log.from_arrays(log.t, log.q, log.v, tau=log.tau)  # a Log may be constructed directly
    for what, signal in (("q", checked.q), ("v", checked.v), ("tau", checked.tau)):
        if signal is not None and np.abs(signal).max(initial=0.0) > LARGEST:
            raise InputError(f"prepare: {name}: {what} of {np.abs(signal).max():.2g} is implausible; check the units")
    if not (isinstance(order, int) and 1 <= order <= 12):
        raise InputError(f"order: expected an integer from 1 to 12, got {order!r}")
    if moving is not None and not (math.isfinite(moving) and moving >= 0.0):
        raise InputError(f"moving: expected a speed of 0 or more, got {moving!r}")
    native = float(f"{1.0 / np.median(np.diff(log.t)):.9g}")  # 100, not 100.0000001
    slowest = native if rate is None else min(rate, native)
    if rate is not None and not (math.isfinite(rate) and rate > 0.0):
        raise InputError(f"rate: expected a positive sampling rate [Hz], got {rate!r}")
    if not 0.0 < cutoff < 0.5 * slowest:
        raise InputError(
            f"cutoff: expected a frequency from 0 to half the sampling rate of {slowest:.4g} Hz, got {cutoff!r} Hz; "
            "times must be in seconds"
        )
    return native


# Single samples


def _straightened(log: Log) -> tuple[Log, list[Repair]]:
    """Return the log without wrapped angles and outliers."""
    q, wraps = unwrapped(log.t, log.q)
    repairs = []
    for joint in sorted(set(wraps[:, 1].tolist())):
        rows = wraps[wraps[:, 1] == joint, 0]
        repairs.append(Repair("angle unwrapped by full revolutions", _where(log, joint, rows), len(rows)))
    given = {"q": q, "v": log.v, "tau": log.tau}
    signals = {name: signal for name, signal in given.items() if signal is not None}
    for name, signal in signals.items():
        bad = np.zeros(signal.shape, dtype=bool)
        for rows in stretches(log.t):
            bad[rows] = outliers(signal[rows], may_step=name == "tau")
        for joint in np.flatnonzero(bad.any(axis=0)).tolist():
            rows = np.flatnonzero(bad[:, joint])
            what = f"{len(rows)} outlier{'s' if len(rows) > 1 else ''} of {name} replaced by interpolation"
            repairs.append(Repair(what, _where(log, joint, rows), len(rows)))
        signals[name] = filled(log.t, signal, bad)
    return replace(log, q=signals["q"], v=signals.get("v"), tau=signals.get("tau")), repairs


def _where(log: Log, joint: int, rows: Sequence[int] | Array) -> str:
    times = ", ".join(f"{log.t[k]:.3f}" for k in rows[:6])
    more = f" and {len(rows) - 6} more" if len(rows) > 6 else ""
    return f"{_joint(log, joint)} at {times} s{more}"


def _joint(log: Log, joint: int) -> str:
    return log.joint_names[joint] if log.joint_names else f"joint {joint + 1}"


def _jitter(log: Log, native: float) -> list[Repair]:
    steps = np.diff(log.t) * native
    steps = steps[[k for rows in stretches(log.t) for k in range(rows.start, rows.stop - 1)]]
    uneven = np.abs(steps - 1.0) > JITTER
    if not uneven.any():
        return []
    low, high = 1e3 * steps.min() / native, 1e3 * steps.max() / native
    what = f"steps from {low:.3g} to {high:.3g} ms resampled to {1e3 / native:.4g} ms by a cubic spline"
    return [Repair(what, f"{int(uneven.sum())} of {len(steps)} time steps", int(uneven.sum()))]


# Uniformly sampled segments


def _evened(log: Log, settings: _Settings) -> tuple[list[_Stretch], list[Repair]]:
    """Return the uniformly sampled segments between gaps, not yet filtered, and the repairs at gaps and ends."""
    least = 2 * settings.margin + 2
    rows = stretches(log.t)
    repairs = []
    for before, after in pairwise(rows):
        start, end = log.t[before.stop - 1], log.t[after.start]
        missing = max(round((end - start) * settings.rate) - 1, 0)
        repairs.append(Repair(f"a gap of {end - start:.3g} s splits the log", f"{start:.3f} to {end:.3f} s", missing))
    parts = []
    for part in rows:
        t = log.t[part]
        n = math.floor((t[-1] - t[0]) * settings.rate + 1e-6) + 1
        if n < least or len(t) < 4:
            what = f"left out: shorter than the {least / settings.rate:.2g} s required by the filter"
            repairs.append(Repair(what, f"{t[0]:.3f} to {t[-1]:.3f} s", len(t)))
            continue
        grid = t[0] + np.arange(n) / settings.rate
        signals = (None if x is None else x[part] for x in (log.q, log.v, log.tau))
        q, v, tau = (np.empty((n, 0)) if x is None else resampled(t, x, grid) for x in signals)
        parts.append(_Stretch(grid, q, v, np.empty((n, 0)), tau))
    if not parts:
        longest = max(log.t[x.stop - 1] - log.t[x.start] for x in rows)
        raise InputError(
            f"prepare: {log.source or 'the log'} has {longest:.3g} s without a gap; a cutoff of {settings.cutoff:g} "
            f"Hz needs {least / settings.rate:.2g} s; raise the cutoff or record for longer"
        )
    lost = settings.margin
    what = f"left out: {lost / settings.rate:.3g} s at each end (filter transient)"
    where = f"both ends of {len(parts)} segment{'s' if len(parts) > 1 else ''}"
    return parts, [*repairs, Repair(what, where, 2 * lost * len(parts))]


def _with_velocities(parts: list[_Stretch], log: Log, settings: _Settings) -> tuple[list[_Stretch], list[Repair]]:
    """Return the filtered segments with v and a, and the joints whose recorded velocities were rejected."""
    smooth = [
        part._replace(**{x: zero_phase(y, *settings) for x in ("q", "v", "tau") if (y := getattr(part, x)).size})
        for part in parts
    ]
    slopes = [derivative(part.q, settings.rate) for part in smooth]
    repairs = []
    velocities = slopes
    if log.v is not None:
        velocities = [part.v.copy() for part in smooth]
        k = int(np.argmax([len(part.t) for part in parts]))
        inside = slice(settings.margin, len(parts[k].t) - settings.margin)
        for joint in range(log.q.shape[1]):
            scatter = float(np.std((parts[k].q - smooth[k].q)[inside, joint]))
            noise = derivative_noise(scatter, settings.rate, settings.cutoff)
            found = compare(smooth[k].v[inside, joint], slopes[k][inside, joint], settings.rate, noise)
            if not found.agrees:
                for velocity, slope in zip(velocities, slopes, strict=True):
                    velocity[:, joint] = slope[:, joint]
                what = f"recorded velocity replaced by dq/dt: {found}"
                repairs.append(Repair(what, _joint(log, joint), len(log)))
    done = [part._replace(v=v, a=derivative(v, settings.rate)) for part, v in zip(smooth, velocities, strict=True)]
    return done, repairs


def _resampled_stretch(part: _Stretch, native: float, rate: float | None) -> _Stretch:
    if rate is None or rate == native or len(part.t) < 4:
        return part
    n = math.floor((part.t[-1] - part.t[0]) * rate + 1e-6) + 1
    grid = np.minimum(part.t[0] + np.arange(n) / rate, part.t[-1])
    return _Stretch(grid, *(resampled(part.t, x, grid) for x in part[1:]))


def _without_rest(parts: list[_Stretch], moving: float | None) -> tuple[list[_Stretch], list[Repair]]:
    """Return the segments without pauses at the start and the end of the log."""
    if moving is None:
        return parts, []
    busy = [np.flatnonzero((np.abs(part.v) > moving).any(axis=1)) for part in parts]
    alive = [k for k, rows in enumerate(busy) if len(rows)]
    if not alive:
        fastest = max(float(np.abs(part.v).max(initial=0.0)) for part in parts)
        what = f"no joint is faster than {moving:g}; the fastest reaches {fastest:.3g}"
        return parts, [Repair(what, "the whole log", 0)]
    first, last = alive[0], alive[-1]
    kept = []
    for k in range(first, last + 1):
        start = int(busy[k][0]) if k == first else 0
        stop = int(busy[k][-1]) + 1 if k == last else len(parts[k].t)
        kept.append(_Stretch(*(x[start:stop] for x in parts[k])))
    before, after = sum(len(x.t) for x in parts), sum(len(x.t) for x in kept)
    if before == after:
        return kept, []
    where = f"before {kept[0].t[0]:.3f} and after {kept[-1].t[-1]:.3f} s"
    return kept, [Repair("left out: pauses at the start and the end", where, before - after)]
