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

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import ABOVE_ZERO, finite_array, number, whole
from appell.control.guard import Guard, Safety, Stop
from appell.control.metrics import LoopRun
from appell.control.plant import Plant, Reading
from appell.errors import InputError
from appell.messages import shown
from appell.simulation.callbacks import own, unchanged
from appell.spatial.scalar import Array

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
    rows, stopped = Rows(), None
    try:
        plant.write(off, (False, False), True)
        home, first = _home(plant, period, homing)
        guard = Guard(hardware, safety or Safety(), home, first, period)
        observer = Observer(home + first.counts * hardware.resolution, period, wide)
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
            asked = hardware.command(tau)
            volts = hardware.convert(asked)
            plant.write(np.array(volts), tools(due) if tools else (False, False), False)
            rows.add(due, began, plant.now() - zero - began, q, v, tau, volts, _reference(controller, due, q))
            # at the converter's limit, or at the torque limit of the control law
            rows.saturated.append(np.abs(asked) >= hardware.volts * (1.0 - 2.0 ** (1 - hardware.bits)))
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


class Observer:
    """Velocity observer: an alpha–beta filter with a double pole p = exp(−2πfT).

    The filter predicts q and v one period ahead and corrects them by α = 1 − p² and β = (1 − p)² times the encoder
    residual. It has no lag at constant speed, and smooths the quantisation of the counts.

    >>> observer = Observer(np.zeros(1), 0.01, 20.0)
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


class Rows:
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
