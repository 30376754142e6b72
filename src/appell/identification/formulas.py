"""Combinations of parameters as text: "Izz1 + Iyy2 + 0.2025 m3 − 0.9 mcy4"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def formula(first: str, coefficients: NDArray[np.float64], names: Sequence[str], digits: int = 4) -> str:
    """Return `first` and the terms whose coefficient is not zero, rounded to a number of digits.

    >>> formula("Izz1", np.array([1.0, 0.0, -0.25, 1.0 / 3.0]), ["Iyy2", "m2", "m3", "mcx3"])
    'Izz1 + Iyy2 − 0.25 m3 + 0.3333 mcx3'
    """
    terms = (_term(float(x), name, digits) for x, name in zip(coefficients, names, strict=True) if x)
    return " ".join([first, *terms])


def _term(coefficient: float, name: str, digits: int) -> str:
    size = f"{abs(coefficient):.{digits}g}"
    factor = "" if size == "1" else f"{size} "
    return f"{'−' if coefficient < 0.0 else '+'} {factor}{name}"
