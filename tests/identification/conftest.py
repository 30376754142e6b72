from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import appell
from appell.identification.identify import identify
from appell.logs.log import Log
from appell.planning.trajectory.curves import Fourier


@pytest.fixture(scope="session")
def lively():
    """A motion of two joints, fast enough to tell a two-link arm's parameters."""
    return Fourier([0.2, -0.8], [[0.9, 0.2], [0.3, -0.6], [0.2, 0.2]], [[0.1, 0.7], [0.4, 0.2], [-0.3, 0.1]], 0.2)


@pytest.fixture(scope="session")
def rubbing_log(lively):
    """A log of a two-link arm with Coulomb and viscous friction, noise on its torques, 20 s at 100 Hz."""
    robot, noise = appell.load("two-link"), np.random.default_rng(7)
    t = np.arange(2000) / 100.0
    q, v, a = lively(t)
    tau = robot.inverse_dynamics(q, v, a) + [8.0, 5.0] * np.sign(v) + [6.0, 3.0] * v
    return Log.from_arrays(t, q, v=v, tau=tau + noise.normal(size=tau.shape))


@pytest.fixture(scope="session")
def rubbing_fit(rubbing_log):
    """The fit of that log by QR with the friction it has."""
    return identify(appell.load("two-link"), rubbing_log, "qr", "coulomb", rotors=False)


class Moved(NamedTuple):
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


def _fourier(n: int, seed: int, *, seconds: float = 10.0, rate: float = 100.0, size: float = 0.3, middle=0.0) -> Moved:
    """Return a periodic motion of n joints about a middle."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, seconds, 1.0 / rate)
    orders = 2.0 * np.pi / seconds * np.arange(1, 7)
    sine, cosine = size * rng.normal(size=(2, 6, n))
    s, c = np.sin(np.outer(t, orders)), np.cos(np.outer(t, orders))
    q = middle + s @ sine + c @ cosine
    v = (c * orders) @ sine - (s * orders) @ cosine
    a = -(s * orders**2) @ sine - (c * orders**2) @ cosine
    return Moved(t, q, v, a)


def _noisy(moved: Moved, tau: np.ndarray, seed: int, share: float = 0.01) -> dict[str, np.ndarray]:
    """Return a log of a motion whose torques have normal noise, a share of their spread."""
    noise = share * tau.std(axis=0) * np.random.default_rng(seed).normal(size=tau.shape)
    return {"t": moved.t, "q": moved.q, "v": moved.v, "tau": tau + noise}


@pytest.fixture(scope="session")
def fourier():
    """The maker of motions of n joints from a seed."""
    return _fourier


@pytest.fixture(scope="session")
def noisy():
    """The maker of logs with noise."""
    return _noisy
