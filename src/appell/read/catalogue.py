"""The catalogue: robots of the papers and classic ones, each a TOML file that names its source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib.resources import files
from numbers import Integral

import numpy as np

from appell.errors import InputError, quiet
from appell.messages import alternatives, shown
from appell.model.model import Model
from appell.read.dh import from_dh
from appell.read.toml import read_toml

__all__ = ["file_text", "names", "random_chain", "read"]

DATA = files("appell") / "data"
MOST = 10_000
"""The largest number of joints of a random chain."""


def names() -> list[str]:
    """Return the names of the robots of the catalogue.

    >>> "puma560" in names()
    True
    """
    entries = (entry.name for entry in DATA.iterdir())
    return sorted(name.removesuffix(".toml") for name in entries if name.endswith(".toml"))


def file_text(name: str) -> str:
    """Return the TOML text of a robot of the catalogue.

    >>> "[spherical]" in file_text("sst")
    True
    """
    if name not in names():
        raise InputError(f"no robot '{name}' in the catalogue; {alternatives(name, names(), most=50)}")
    return DATA.joinpath(f"{name}.toml").read_text(encoding="utf-8")


def read(name: str, *, gravity: Sequence[float] | None = None) -> Model:
    """Return an open robot of the catalogue.

    An inertia that no rigid body has raises no warning here: that of the PUMA 560 is measured, as its file notes.

    Parameters
    ----------
    name
        One of :func:`names`.
    gravity
        Gravity in world axes [m/s²]; by default that of the file.

    Raises
    ------
    InputError
        When the robot is unknown, or has loops.

    Examples
    --------
    >>> read("puma560").nq
    6
    """
    text = file_text(name)
    if "\n[spherical]" in text:
        raise InputError(f"'{name}' is a closed robot, which this reader does not support; use appell.load('{name}')")
    with quiet():
        return read_toml(text, gravity=gravity, source=f"{name}.toml")


def random_chain(n: int, rng: np.random.Generator, *, vertical: bool = False) -> Model:
    """Return a random general arm of n revolute joints, for benchmarks and tests.

    No constant is zero: every a, α, d of its modified Denavit–Hartenberg table, every mass centre and every product of
    inertia. The inertias are those of rigid bodies. Gravity is 9.81 along −z.

    Parameters
    ----------
    n
        The number of joints.
    rng
        The generator of random numbers; the same state gives the same arm.
    vertical
        Whether the first axis is vertical (α₁ = 0), as on most arms that stand on a floor.

    Examples
    --------
    >>> arm = random_chain(10, np.random.default_rng(0))
    >>> arm.nq, arm == random_chain(10, np.random.default_rng(0))
    (10, True)
    """
    if isinstance(n, bool) or not isinstance(n, Integral) or not 1 <= n <= MOST:
        raise InputError(f"random_chain: n: expected an integer from 1 to {MOST}, got {shown(n)}")
    rows = [_random_row(rng) for _ in range(n)]
    if vertical:
        rows[0]["alpha"] = 0.0
    return from_dh(rows, name=f"chain{n}")


def _random_row(rng: np.random.Generator) -> dict[str, object]:
    def away_from_zero(low: float, high: float, size: int | None = None) -> float | np.ndarray:
        return rng.choice([-1.0, 1.0], size) * rng.uniform(low, high, size)

    mass = rng.uniform(0.5, 5.0)
    spread = rng.normal(size=(3, 3))
    second = 0.01 * mass * (spread @ spread.T + 0.1 * np.eye(3))  # ∫ x xᵀ dm about the centre, positive definite
    return {
        "a": away_from_zero(0.1, 0.5),
        "alpha": away_from_zero(0.1 * math.pi, 0.4 * math.pi),
        "d": away_from_zero(0.1, 0.5),
        "mass": mass,
        "centre": away_from_zero(0.02, 0.2, 3),
        "inertia": np.trace(second) * np.eye(3) - second,
    }
