"""The order of a program's statements: that of native code, in which few values are alive at a time."""

from __future__ import annotations

import enum
from typing import NamedTuple

from appell.kernels.llvm.fusion import TRIGONOMETRIC, Fusion, is_constant
from appell.kernels.llvm.line import ordered
from appell.trace.tape import Tape


class Kind(enum.Enum):
    """What an instruction does."""

    SINES = enum.auto()
    STEP = enum.auto()
    OUTPUT = enum.auto()


class Instruction(NamedTuple):
    """Some values made from others: sine and cosine of an angle, or a step with what is fused into it; or results.

    `what` is the angle, the step, or the places of the results that a value is.
    """

    kind: Kind
    makes: tuple[int, ...]
    reads: tuple[int, ...]
    what: tuple[int, ...]


def instructions(tape: Tape) -> list[Instruction]:
    """Return the steps of a tape in order, each result after its value; some steps are fused into others."""
    n, fusion = tape.n_inputs, Fusion(tape)
    sequence = [i for i in ordered(tape, fusion) if i >= n]
    twins: dict[int, list[int]] = {}
    for i in sequence:
        if tape.steps[i - n].op in TRIGONOMETRIC:
            twins.setdefault(tape.steps[i - n].args[0], []).append(i)
    places: dict[int, list[int]] = {}
    for k, i in enumerate(tape.results):
        places.setdefault(i, []).append(k)
    result: list[Instruction] = []

    def store(i: int) -> None:
        reads = () if is_constant(tape, i) else (i,)
        result.append(Instruction(Kind.OUTPUT, (), reads, tuple(places.pop(i))))

    for i in sequence:
        step = tape.steps[i - n]
        if step.op not in TRIGONOMETRIC:
            result.append(Instruction(Kind.STEP, (i,), fusion.sources[i], (i,)))
        elif i == twins[step.args[0]][0]:
            result.append(Instruction(Kind.SINES, tuple(twins[step.args[0]]), fusion.sources[i], step.args))
        if i in places:
            store(i)
    for i in list(places):  # inputs and constants
        store(i)
    return result
