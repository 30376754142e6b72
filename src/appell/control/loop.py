"""The control loop: reads, computes and writes at a fixed period, and stops safely.

*Homing.* With brakes on, the potentiometers are read several times; their mean is the zero of the incremental encoders.
The error of a potentiometer, at best half a quantisation step, remains as an offset.

*Period.* The plant is read, the velocities are estimated, the control law is evaluated at the nominal time of the
period, and its torques are converted to volts. The first output releases the brakes.

*Stop.* On an overheated motor, an encoder fault, a missed period, or a control law without finite torques, the volts
are set to zero and the brakes applied, immediately and permanently: without power an arm under gravity would fall, and
with a faulty sensor it cannot be lowered safely. The tool outputs keep their state. The same happens at the end, and
when the law raises an exception.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import ABOVE_ZERO, finite_array, number, whole
from appell.control.plant import Hardware, Plant, Reading
from appell.errors import InputError
from appell.messages import shown
from appell.results.style import COLOURS, figure, written
from appell.simulation.callbacks import own, unchanged
from appell.spatial.scalar import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Safety checks: overheated motors, encoder faults, missed periods, invalid torques


class Stop(NamedTuple):
    """The reason for a safe stop.

    Parameters
    ----------
    time : float
        Time of the stop [s].
    kind : str
        The type of fault.
    joint : int or None
        The joint, counted from 0; None for all.
    message : str
        A description.

    Examples
    --------
    >>> Stop(0.1, "thermal switch", 2, "at t = 0.1 s the motor of joint 3 is overheated; let it cool").joint
    2
    """

    time: float
    kind: str
    joint: int | None
    message: str


@dataclass(frozen=True)
class Safety:
    """Thresholds of the safety checks.

    Parameters
    ----------
    disagreement : float
        Largest difference between an encoder and its potentiometer [rad]; detects an encoder that no longer counts once
        the arm has moved this far.
    stall : float
        Longest time without a count at a voltage of at least `stall_share` of the range [s].
    stall_share : float
        Fraction of the voltage range, see `stall`.
    late : float
        Largest delay of a period, as a fraction of the period; a later one counts as missed.

    Raises
    ------
    InputError
        When a value is negative.

    Examples
    --------
    >>> Safety(disagreement=0.05).late
    0.5
    """

    disagreement: float = 0.03
    stall: float = 0.1
    stall_share: float = 0.9
    late: float = 0.5

    def __post_init__(self) -> None:
        for field in fields(self):
            number(f"Safety: {field.name} must be a number of 0 or more", getattr(self, field.name), 0.0)


class FaultCheck:
    """Checks every reading of a run."""

    def __init__(self, hardware: Hardware, safety: Safety, home: Array, first: Reading, period: float) -> None:
        self._hardware, self._safety, self._home = hardware, safety, home
        self._last = np.array(first.counts)  # a plant may reuse its arrays
        self._last_time = -period  # homing read once per period
        self._still = np.zeros(hardware.n)

    def check(self, t: float, reading: Reading, volts: Array) -> Stop | None:
        """Return the fault at a reading, None if there is none; `volts` are those since the last reading."""
        hot = np.flatnonzero(reading.hot)
        if hot.size:
            k = int(hot[0])
            return Stop(
                t, "thermal switch", k, f"at t = {t:.4g} s the motor of joint {k + 1} is overheated; let it cool"
            )
        return self._lost(t, reading, volts)

    def late(self, due: float, began: float, period: float) -> Stop | None:
        """Return the fault of a period that started too late, None if it did not."""
        if began - due <= self._safety.late * period:
            return None
        words = (
            f"at t = {began:.4g} s a period started {1e3 * (began - due):.3g} ms late (period {1e3 * period:.3g} ms); "
            "the control law is too slow, or the rate too high"
        )
        return Stop(began, "missed period", None, words)

    def _lost(self, t: float, reading: Reading, volts: Array) -> Stop | None:
        hardware, safety = self._hardware, self._safety
        elapsed = t - self._last_time
        moved = np.abs(reading.counts - self._last)
        possible = np.asarray(hardware.speed) * elapsed / np.abs(hardware.resolution) + 1.0
        is_driven = np.abs(volts) >= safety.stall_share * hardware.volts
        self._still = np.where(is_driven & (moved == 0), self._still + elapsed, 0.0)
        self._last, self._last_time = np.array(reading.counts), t
        apart = np.abs(self._home + reading.counts * hardware.resolution - hardware.absolute(reading.volts))
        for k in range(hardware.n):
            if moved[k] > possible[k]:
                why = f"it jumped by {int(moved[k])} counts; at most {int(possible[k])} are possible"
            elif apart[k] > safety.disagreement:
                why = f"it differs by {apart[k]:.3g} rad from its potentiometer"
            elif self._still[k] >= safety.stall:
                why = f"it did not change for {self._still[k]:.3g} s at {volts[k]:.3g} V (or the joint is stalled)"
            else:
                continue
            return Stop(t, "encoder fault", k, f"at t = {t:.4g} s the encoder of joint {k + 1} failed: {why}")
        return None


# Results: the record, performance metrics, and a plot


class Jitter(NamedTuple):
    """Delays of the periods: mean, standard deviation and maximum [s]; longest time from reading to writing [s]."""

    mean: float
    deviation: float
    greatest: float
    computing: float


@dataclass(frozen=True, eq=False)
class LoopRun:
    """The record of a control loop, one row per period.

    Parameters
    ----------
    period : float
        Nominal period [s].
    t : array, shape (m,)
        Nominal times of the periods [s].
    late : array, shape (m,)
        Delay of each period [s].
    took : array, shape (m,)
        Time for reading, computing and writing [s].
    q, v : array, shape (m, n)
        Estimated joint angles [rad] and velocities [rad/s].
    tau : array, shape (m, n)
        Torques of the control law [N·m].
    volts : array, shape (m, n)
        Converter outputs [V].
    saturated : array of bool, shape (m, n)
        Where the output was at its limit.
    goal : array, shape (m, n)
        Reference of the control law [rad], NaN if it has none.
    stopped : Stop or None
        The reason for a safe stop.

    Examples
    --------
    >>> import numpy as np
    >>> t, x = np.arange(4.0), np.ones((4, 1))
    >>> LoopRun(1.0, t, 0 * t, 0 * t, x, x, x, x, x > 9, 0 * x, None).rms_error
    array([1.])
    """

    period: float
    t: Array
    late: Array
    took: Array
    q: Array
    v: Array
    tau: Array
    volts: Array
    saturated: Array
    goal: Array
    stopped: Stop | None

    @property
    def error(self) -> Array:
        """Return the tracking error goal − q, (m, n) [rad]."""
        return self.goal - self.q

    @property
    def rms_error(self) -> Array:
        """Return the RMS tracking error per joint, (n,) [rad]."""
        return np.asarray(np.sqrt(np.mean(self.error**2, axis=0)))

    @property
    def max_error(self) -> Array:
        """Return the largest absolute tracking error per joint, (n,) [rad]."""
        return np.asarray(np.abs(self.error).max(axis=0))

    @property
    def saturation_time(self) -> Array:
        """Return the total time in saturation per joint, (n,) [s]."""
        return np.asarray(self.period * np.count_nonzero(self.saturated, axis=0))

    @property
    def jitter(self) -> Jitter:
        """Return the timing statistics of the periods."""
        late = self.late
        return Jitter(float(late.mean()), float(late.std()), float(late.max()), float(self.took.max()))

    def settling(self, band: ArrayLike = 0.01) -> Array:
        """Return the settling time of each joint.

        Parameters
        ----------
        band : array_like
            Tolerance ±band of the error [rad], one number or (n,).

        Returns
        -------
        array, shape (n,)
            Times [s] after which the error stays within the band; NaN if it does not.

        Examples
        --------
        >>> import numpy as np
        >>> t, goal = np.arange(4.0), np.zeros((4, 1))
        >>> q = np.array([[1.0], [0.1], [-0.3], [0.1]])
        >>> LoopRun(1.0, t, 0 * t, 0 * t, q, q, q, q, q > 9, goal, None).settling(0.2)
        array([3.])
        """
        inside = np.abs(self.error) <= np.asarray(band)
        for_good = np.logical_and.accumulate(inside[::-1], axis=0)[::-1]
        first = np.argmax(for_good, axis=0)
        return np.where(for_good.any(axis=0), self.t[first], np.nan)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot tracking error, amplifier volts and timing.

        Parameters
        ----------
        path : str or path, optional
            The file to write: .png, .pdf or .svg.

        Returns
        -------
        Figure
            The Matplotlib figure.

        Raises
        ------
        InputError
            When the run has no period, or the file cannot be written.

        Examples
        --------
        >>> import numpy as np
        >>> t, x = np.arange(4.0), np.zeros((4, 1))
        >>> len(LoopRun(1.0, t, 0 * t, 0 * t, x, x, x, x, x > 9, x, None).plot().axes)
        3
        """
        if not self.t.size:
            raise InputError("LoopRun.plot: the run was stopped before its first period; no data to plot")
        return written("LoopRun.plot", path, self._drawn)

    def _drawn(self) -> Figure:
        canvas = figure(7.0, 7.0)
        axes = canvas.subplots(3, 1, sharex=True)
        for k in range(self.q.shape[1]):
            colour = COLOURS[k % len(COLOURS)]
            axes[0].plot(self.t, self.error[:, k], color=colour, label=f"joint {k + 1}")
            axes[1].step(self.t, self.volts[:, k], color=colour, where="post")
        axes[2].plot(self.t, 1e3 * self.late, color=COLOURS[0], label="delay")
        axes[2].plot(self.t, 1e3 * self.took, color=COLOURS[1], label="reading to writing")
        for panel, label in zip(axes, ("error [rad]", "amplifier [V]", "time [ms]"), strict=True):
            panel.set_ylabel(label)
            if self.stopped:
                panel.axvline(self.stopped.time, color="#888888", linestyle="--")
        axes[0].legend(loc="upper right", ncols=3)
        axes[2].legend(loc="upper right")
        axes[2].set_xlabel("t [s]")
        if self.stopped:
            axes[0].set_title(f"stopped: {self.stopped.kind}")
        return canvas


# The loop

Controller = Callable[[float, Array, Array], ArrayLike]
Tools = Callable[[float], tuple[bool, bool]]


def run_loop(
    plant: Plant,
    controller: Controller,
    duration: float,
    rate: float,
    *,
    homing: int = 16,
    bandwidth: float | None = None,
    safety: Safety | None = None,
    tools: Tools | None = None,
) -> LoopRun:
    """Run a control law on a plant at a fixed period.

    Parameters
    ----------
    plant : Plant
        A real arm, or a :class:`appell.control.SimulatedPlant`.
    controller : callable
        A control law (t, q, v) → τ with t = 0 in the first period, which gets its own, read-only q and v; a law with
        memory is reset first. Set its limit to ``plant.hardware.limit`` to avoid integral windup.
    duration : float
        Duration after homing [s].
    rate : float
        Control rate [Hz].
    homing : int
        Number of potentiometer readings to average.
    bandwidth : float, optional
        Bandwidth of the velocity observer [Hz]. Default: a sixth of the rate.
    safety : Safety, optional
        Thresholds of the safety checks.
    tools : callable, optional
        The two tool outputs as a function of time. Default: off.

    Returns
    -------
    LoopRun
        One row per period, and the reason for a stop, if any.

    Raises
    ------
    InputError
        When an argument is invalid. Faults of the plant raise no error: the run is stopped, with the reason in
        :attr:`LoopRun.stopped`. Exceptions of the control law are raised after the brakes are applied.

    Examples
    --------
    >>> import appell
    >>> plant, goal = appell.control.SimulatedPlant(q=[0.1, -0.8, 2.6, 0.3, 0.9, 0.2]), [0.3, -0.7, 2.5, 0.2, 0.8, 0.3]
    >>> law = appell.control.PointToPoint(plant.robot, goal, *appell.control.gains(6.0), limit=plant.hardware.limit)
    >>> run = appell.control.run_loop(plant, law, 2.0, 200.0)
    >>> print(run.stopped, bool(abs(run.q[-1] - goal).max() < 0.01), plant.is_braked)
    None True True
    """
    duration = _positive("duration", duration)
    rate = number("run_loop: rate must be a number > 0, of 1e-3 Hz or more", rate, 1e-3)
    wide = rate / 6.0 if bandwidth is None else _positive("bandwidth", bandwidth)
    homing = whole("run_loop: homing", homing)
    if not all(callable(getattr(plant, method, None)) for method in ("now", "wait", "read", "write")):
        raise InputError(f"run_loop: expected a plant with now, wait, read and write, got {type(plant).__name__}")
    if not callable(controller) or not (tools is None or callable(tools)):
        raise InputError(
            f"run_loop: expected functions for controller and tools, got {shown(controller)}, {shown(tools)}"
        )
    if not (safety is None or isinstance(safety, Safety)):
        raise InputError(f"run_loop: expected a Safety, got {type(safety).__name__}")
    reset = getattr(controller, "reset", None)
    if callable(reset):
        reset()
    hardware, period = plant.hardware, 1.0 / rate
    off = np.zeros(hardware.n)
    rows, stopped = LoopRows(), None
    try:
        plant.write(off, (False, False), True)
        home, first = _home(plant, period, homing)
        guard = FaultCheck(hardware, safety or Safety(), home, first, period)
        observer = VelocityObserver(home + first.counts * hardware.resolution, period, wide)
        volts, zero = off, plant.now()
        for k in range(int(np.ceil(duration * rate - 1e-9))):
            due = k * period
            began = plant.wait(zero + due) - zero
            reading = plant.read()
            stopped = guard.late(due, began, period) or guard.check(began, reading, volts)
            if stopped:
                break
            q, v = observer.update(home + reading.counts * hardware.resolution)
            with unchanged(f"run_loop: the control law at t = {due:.4g} s"):
                answer = controller(due, own(q), own(v))
            try:
                tau = finite_array("law", answer)
            except InputError:
                tau = np.empty(0)
            if tau.shape != (hardware.n,):
                words = (
                    f"at t = {due:.4g} s the control law returned {shown(answer)}, expected {hardware.n} finite torques"
                )
                stopped = Stop(due, "invalid torques", None, words)
                break
            command = hardware.command(tau)
            volts = hardware.convert(command)
            plant.write(np.array(volts), tools(due) if tools else (False, False), False)
            rows.add(due, began, plant.now() - zero - began, q, v, tau, volts, _reference(controller, due, q))
            # at the converter's limit, or at the torque limit of the control law
            rows.saturated.append(np.abs(command) >= hardware.volts * (1.0 - 2.0 ** (1 - hardware.bits)))
    finally:
        plant.write(off, tools(rows.t[-1]) if tools and rows.t else (False, False), True)
    return rows.run(period, stopped)


def _positive(name: str, x: float) -> float:
    return number(f"run_loop: {name} must be a number > 0", x, ABOVE_ZERO)


def _home(plant: Plant, period: float, count: int) -> tuple[Array, Reading]:
    """Return the joint angles at count zero, and the last reading."""
    angles, start = [], plant.now()
    for k in range(count):
        plant.wait(start + k * period)
        reading = plant.read()
        angles.append(plant.hardware.absolute(reading.volts) - reading.counts * plant.hardware.resolution)
    return np.mean(angles, axis=0), reading


def _reference(controller: Any, t: float, q: Array) -> Array:
    """Return the reference of the control law, NaN if it has none."""
    reference = getattr(controller, "reference", None)
    return np.array(reference(t)[0], dtype=float) if callable(reference) else np.full_like(q, np.nan)


class VelocityObserver:
    """Velocity observer: an alpha–beta filter with a double pole p = exp(−2πfT).

    The filter predicts q and v one period ahead and corrects them by α = 1 − p² and β = (1 − p)² times the encoder
    residual. It has no lag at constant speed, and smooths the quantisation of the counts.

    >>> observer = VelocityObserver(np.zeros(1), 0.01, 20.0)
    >>> for k in range(1, 60):
    ...     q, v = observer.update(np.array([0.01 * k]))
    >>> q.round(6), v.round(6)
    (array([0.59]), array([1.]))
    """

    def __init__(self, q: Array, period: float, bandwidth: float) -> None:
        p = np.exp(-2.0 * np.pi * bandwidth * period)
        self._alpha, self._beta, self._period = 1.0 - p * p, (1.0 - p) ** 2, period
        self._q, self._v = np.array(q, dtype=float), np.zeros_like(q, dtype=float)

    def update(self, q: Array) -> tuple[Array, Array]:
        """Return the estimates of q and v after the next period."""
        ahead = self._q + self._period * self._v
        off = q - ahead
        self._q = ahead + self._alpha * off
        self._v = self._v + self._beta / self._period * off
        return self._q.copy(), self._v.copy()


class LoopRows:
    """The periods of a run so far."""

    def __init__(self) -> None:
        self.t: list[float] = []
        self.saturated: list[Array] = []
        self._others: list[tuple[Any, ...]] = []

    def add(self, t: float, *others: Any) -> None:
        """Append one period."""
        self.t.append(t)
        self._others.append(others)

    def run(self, period: float, stopped: Stop | None) -> LoopRun:
        """Return the run so far."""
        began, took, q, v, tau, volts, goal = (
            (np.array(column) for column in zip(*self._others, strict=True)) if self._others else [np.empty(0)] * 7
        )
        late = began - np.array(self.t)
        return LoopRun(period, np.array(self.t), late, took, q, v, tau, volts, np.array(self.saturated), goal, stopped)
