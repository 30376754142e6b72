"""Specifications of programs: what a program is, without making it; and how its results reach the caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.program.nodes import Program, straight, verify
from appell.trace.tape import Port, Tape


@dataclass(frozen=True)
class ProgramSpec:
    """A program to be: its name, ports, the text that determines it, and how to make it."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    fingerprint: str
    make: Callable[[], Program | Tape]

    def program(self) -> Program:
        """Return the program, made and verified."""
        made = self.make()
        return verify(straight(made) if isinstance(made, Tape) else made)


def write_out(results: list[Any], out: Any) -> Any:
    """Return results as a call gives them: into the arrays of `out` that are given, alone if there is but one."""
    if out is not None:
        places = out if isinstance(out, tuple) else (out,)
        for place, result in zip(places, results, strict=True):
            if place is not None and place is not result:
                np.copyto(place, result)
        results = [result if place is None else place for place, result in zip(places, results, strict=True)]
    return tuple(results) if len(results) > 1 else results[0]
