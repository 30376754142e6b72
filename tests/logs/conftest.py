from __future__ import annotations

import numpy as np
import pytest

from appell.logs.log import Log
from appell.planning.trajectory.curves import Fourier


@pytest.fixture(scope="session")
def wave():
    """A motion of two joints with three harmonics up to 0.6 Hz, known with its derivatives."""
    return Fourier([0.3, -1.0], [[0.4, 0.2], [0.1, -0.2], [0.05, 0.1]], [[0.1, 0.3], [0.2, 0.0], [0.0, 0.1]], 0.2)


@pytest.fixture
def log(wave, rng):
    """A log of that motion, 12 s at 100 Hz, with torques that are linear in the motion and currents."""
    t = 5.0 + np.arange(1200) / 100.0
    motion = wave(t)
    tau = 2.0 * motion.a + 0.5 * motion.v
    return Log.from_arrays(t, motion.q, v=motion.v, tau=tau, current=tau / 10.0)
