"""Recipes: what a program is, said without making it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
