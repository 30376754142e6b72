from __future__ import annotations

import numpy as np
import pytest

import appell
from appell.control import perturbed


@pytest.fixture(scope="session")
def puma():
    return appell.load("puma600")


@pytest.fixture(scope="session")
def heavy(puma):
    """The PUMA with masses 20 % greater than the catalogue's, and Coulomb friction in every joint."""
    return perturbed(puma, masses=1.2, friction=(6.0, 6.0, 4.0, 0.8, 0.6, 0.2))


START = np.array([0.2, -0.9, 2.5, 0.3, 0.8, -0.4])
SWING = np.array([0.4, 0.3, -0.5, 0.6, 0.3, 0.7])
SPEED = np.array([1.1, 0.9, 1.3, 1.7, 1.5, 2.1])


def wave(t):
    """A motion of all six joints, each at its own frequency, from rest."""
    angle = SPEED * t
    return (
        START + SWING * (1.0 - np.cos(angle)),
        SWING * SPEED * np.sin(angle),
        SWING * SPEED**2 * np.cos(angle),
    )


@pytest.fixture(scope="session")
def motion():
    return wave
