"""Joint torques of a simulated robot: none, constant, a control law of time and state, or a sampled control law."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import numbers
from appell.errors import InputError
from appell.robot.robot import Robot
from appell.simulation.callbacks import called
from appell.spatial.scalar import Array

Control = Callable[[float, Array, Array], ArrayLike]
"""A control law (t, q, v) → τ."""


class Drive:
    """The joint torques of a run.

    With a `rate` [Hz] the control law is evaluated once per period and its output held (zero-order hold), as in a
    digital controller. Without, it is evaluated at every stage of the integrator and should be smooth.
    """

    def __init__(self, robot: Robot, control: Control | ArrayLike | None, rate: float | None) -> None:
        self._robot = robot
        self._law: Control | None = control if callable(control) else None
        self._size = robot.nu
        self._held = np.zeros(self._size)
        self._period = None if rate is None or self._law is None else 1.0 / rate
        self._count = 0
        if control is not None and not callable(control):
            self._held = self._checked(control, "control")

    @property
    def held(self) -> Array:
        """Return the torques held at present."""
        return self._held

    def tau(self, t: float, q: Array, v: Array) -> Array:
        """Return the torques at a time and state."""
        if self._law is None or self._period is not None:
            return self._held
        return self._evaluated(self._law, t, q, v)

    def next_sample(self, t: float) -> float:
        """Return the next sampling time after t."""
        return np.inf if self._period is None else self._count * self._period

    def is_due(self, t: float) -> bool:
        """Return whether a sample is due at t."""
        return self._period is not None and t >= self._count * self._period

    def sample(self, t: float, q: Array, v: Array) -> None:
        """Evaluate a sampled control law."""
        if self._period is not None and self._law is not None:
            self._held = self._evaluated(self._law, t, q, v)
            self._count += 1

    def _evaluated(self, law: Control, t: float, q: Array, v: Array) -> Array:
        """Return the control law's torques; any exception becomes an InputError with the time."""
        what = f"control at t = {t:.9g} s"
        return self._checked(called(what, law, t, q, v), what)

    def _checked(self, tau: ArrayLike, what: str) -> Array:
        is_plain = type(tau) is np.ndarray and tau.dtype == float  # most laws return such, at every stage of a step
        forces = np.asarray(tau) if is_plain else numbers(self._robot.name, what, (), tau)
        if forces.shape != (self._size,) or not np.isfinite(forces).all():
            got = f"shape {forces.shape}" if forces.shape != (self._size,) else f"{forces.tolist()}"
            raise InputError(f"{what}: expected {self._size} finite torques for robot '{self._robot.name}', got {got}")
        return forces.astype(float)
