"""The interface between a control loop and an arm.

For a real arm, implement these five methods with its data acquisition cards; a simulated one is
:class:`appell.control.SimulatedPlant`. The loop also reads the time from the plant, so that a simulated arm can have
its own clock. A hanging loop cannot stop the arm: a real arm also needs a watchdog that applies the brakes when no
output has been written for several periods.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from appell.control.hardware import Hardware
from appell.spatial.scalar import Array


class Reading(NamedTuple):
    """One reading of the sensors.

    Parameters
    ----------
    counts : array, shape (n,)
        Encoder counts.
    volts : array, shape (n,)
        Potentiometer voltages [V].
    hot : array of bool, shape (n,)
        Thermal switches of the motors.

    Examples
    --------
    >>> from appell.control import SimulatedPlant
    >>> SimulatedPlant().read().hot.any()
    np.False_
    """

    counts: NDArray[Any]
    volts: Array
    hot: NDArray[Any]


class Plant(Protocol):
    """The protocol of an arm for the control loop (the open control unit of valera2003 section 3).

    Examples
    --------
    >>> from appell.control import Plant, SimulatedPlant
    >>> arm: Plant = SimulatedPlant()
    >>> arm.read().counts.shape
    (6,)
    """

    @property
    def hardware(self) -> Hardware:
        """Return the sensors and amplifiers of the arm."""

    def now(self) -> float:
        """Return the plant's time; for a real arm, of a monotonic clock.

        Returns
        -------
        float
            Time [s].

        Examples
        --------
        >>> from appell.control import SimulatedPlant
        >>> SimulatedPlant().now()
        0.0
        """

    def wait(self, until: float) -> float:
        """Wait until a time; return immediately if it is past.

        Parameters
        ----------
        until : float
            Time [s].

        Returns
        -------
        float
            The present time [s].

        Examples
        --------
        >>> from appell.control import SimulatedPlant
        >>> SimulatedPlant().wait(0.01)
        0.01
        """

    def read(self) -> Reading:
        """Read the encoders, potentiometers and thermal switches.

        Returns
        -------
        Reading
            Counts, voltages and thermal switches.

        Examples
        --------
        >>> from appell.control import SimulatedPlant
        >>> SimulatedPlant().read().counts
        array([0, 0, 0, 0, 0, 0])
        """

    def write(self, volts: Array, tools: tuple[bool, bool], brake: bool) -> None:
        """Write voltages to the amplifiers, and set the tool outputs and the brakes.

        Parameters
        ----------
        volts : array, shape (n,)
            Amplifier voltages [V].
        tools : tuple of bool
            The two tool outputs.
        brake : bool
            True applies the brakes, False releases them.

        Examples
        --------
        >>> import numpy as np
        >>> from appell.control import SimulatedPlant
        >>> SimulatedPlant().write(np.zeros(6), (False, False), True)
        """


SPIN = 1e-3
"""Duration of busy waiting at the end of a wait [s], because the end of a sleep is imprecise."""


def wait_until(until: float) -> float:
    """Wait until a time of the monotonic clock; return immediately if it is past.

    This is the ``wait`` of a real plant, as ``time.perf_counter`` is its ``now``.

    Parameters
    ----------
    until : float
        Time of ``time.perf_counter`` [s].

    Returns
    -------
    float
        The present time [s].

    Examples
    --------
    >>> import time
    >>> due = time.perf_counter() + 0.002
    >>> wait_until(due) >= due
    True
    """
    while (left := until - time.perf_counter()) > 0.0:
        if left > SPIN:
            time.sleep(left - SPIN)
    return time.perf_counter()
