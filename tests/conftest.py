"""Fixtures for every test: one seeded generator, the robots of example-robot-data, the project's shared files."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# Every run draws the same examples, and a slow machine is no failure.
settings.register_profile("appell", derandomize=True, deadline=None)
settings.load_profile("appell")


@pytest.fixture
def rng() -> np.random.Generator:
    """Return a generator of random numbers, the same in every test."""
    return np.random.default_rng(2002)


@pytest.fixture(scope="session")
def robots() -> Path:
    """Return the folder of example-robot-data's robots, each a folder of URDF files."""
    folder = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
    if not folder.is_dir():
        pytest.skip("example-robot-data is not installed; run make install")
    return folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of papers and data that stands beside the repository."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("there is no folder 'shared' beside the repository")
    return folder
