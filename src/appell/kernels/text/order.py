"""The order of a program's statements: that of native code, in which few values are alive at a time."""

from __future__ import annotations

import enum
from typing import NamedTuple

from appell.kernels.llvm.fusion import TRIGONOMETRIC, Fusion
from appell.kernels.llvm.line import ordered
from appell.trace.tape import Tape


class Kind(enum.Enum):
    """What an instruction is."""

    SINES = enum.auto()
    STEP = enum.auto()


class Instruction(NamedTuple):
    """Some values made from others: sine and cosine of an angle, or one step of the tape with what is fused into it.

    `what` is the angle or the step.
    """

    kind: Kind
    makes: tuple[int, ...]
    reads: tuple[int, ...]
    what: tuple[int, ...]


def instructions(tape: Tape) -> list[Instruction]:
    """Return the steps of a tape in order; minus signs, constants and products of one sum are fused into others."""
    n, fusion = tape.n_inputs, Fusion(tape)
    sequence = [i for i in ordered(tape, fusion) if i >= n]
    twins: dict[int, list[int]] = {}
    for i in sequence:
        if tape.steps[i - n].op in TRIGONOMETRIC:
            twins.setdefault(tape.steps[i - n].args[0], []).append(i)
    result = []
    for i in sequence:
        step = tape.steps[i - n]
        if step.op not in TRIGONOMETRIC:
            result.append(Instruction(Kind.STEP, (i,), fusion.sources[i], (i,)))
        elif i == twins[step.args[0]][0]:
            result.append(Instruction(Kind.SINES, tuple(twins[step.args[0]]), fusion.sources[i], step.args))
    return result
