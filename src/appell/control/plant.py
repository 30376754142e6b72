"""The boundary between a control loop and an arm: what a computer can read from it and write to it.

A real arm stands behind it with a class of these five methods over its data acquisition cards; a simulated one is
:class:`appell.control.SimulatedPlant`. The loop takes its time from the plant too, so that a simulated arm can have a
time of its own. A loop that hangs can stop nothing: a real arm should have a watchdog besides, which brakes when
nothing was written for some periods.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from appell.control.hardware import Hardware
from appell.spatial.scalar import Array


class Reading(NamedTuple):
    """What an arm tells: encoder counts (n,), potentiometer volts (n,), and whose motor is too hot (n,)."""

    counts: NDArray[Any]
    volts: Array
    hot: NDArray[Any]


class Plant(Protocol):
    """An arm as the open control unit of valera2003 section 3 sees it.

    >>> from appell.control import Plant, SimulatedPlant
    >>> arm: Plant = SimulatedPlant()
    >>> arm.read().counts.shape
    (6,)
    """

    @property
    def hardware(self) -> Hardware:
        """Return how the joints are wired."""

    def now(self) -> float:
        """Return the plant's time [s]: of a real one, a monotonic clock's."""

    def wait(self, until: float) -> float:
        """Return at a time, or at once if that is over, and say what time it is."""

    def read(self) -> Reading:
        """Return what the encoders, potentiometers and thermal switches tell now."""

    def write(self, volts: Array, tools: tuple[bool, bool], brake: bool) -> None:
        """Give volts (n,) to the amplifiers, switch the two tool outputs, and put the brakes on or off."""


SPIN = 1e-3
"""The last part of a wait that is spent looking at the clock [s], for sleeping ends when it pleases."""


def wait_until(until: float) -> float:
    """Return at a time of the monotonic clock [s], or at once if it is over, and say what time it is.

    This is the ``wait`` of a real plant, as ``time.perf_counter`` is its ``now``.

    >>> import time
    >>> due = time.perf_counter() + 0.002
    >>> wait_until(due) >= due
    True
    """
    while (left := until - time.perf_counter()) > 0.0:
        if left > SPIN:
            time.sleep(left - SPIN)
    return time.perf_counter()
