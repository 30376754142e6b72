"""Recipes: what a program is, said without making it; and how its results reach the caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.kernels.rolled import Rolled
from appell.trace.tape import Port, Tape


@dataclass(frozen=True)
class Recipe:
    """A program to be: its name, ports, the text that determines it, and how to make its tape."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    fingerprint: str
    make: Callable[[], Tape | Rolled]


def delivered(results: list[Any], out: Any) -> Any:
    """Return results as a call gives them: into `out` if it is given, alone if there is but one."""
    if out is not None:
        for place, result in zip(out if isinstance(out, tuple) else (out,), results, strict=True):
            np.copyto(place, result)
        return out
    return tuple(results) if len(results) > 1 else results[0]
