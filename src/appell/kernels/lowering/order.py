"""The order of a tape's statements, in which few values are alive at a time."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from appell.kernels.lowering.fusion import TRIGONOMETRIC, Fusion, is_constant, offset, plain_sums
from appell.trace.tape import Tape

LATE = 4
"""Operations between sines and values that are computed where they are first needed, such as entries of rotations."""


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


def ordered(tape: Tape, fusion: Fusion) -> list[int]:
    """Return the values in the order of steps; inputs, sines and what comes soon of them where first needed."""
    n, plain = tape.n_inputs, plain_sums(tape)
    depth = [LATE] * n
    for i, (op, args, _) in enumerate(tape.steps, start=n):
        depth.append(0 if plain[i] or op in TRIGONOMETRIC else 1 + max([depth[j] for j in args]))
    angles = (offset(tape, step.args[0])[0] for step in tape.steps if step.op in TRIGONOMETRIC)
    first = (i for i in dict.fromkeys(angles) if plain[i])
    wanted = (i for i in range(n, len(depth)) if depth[i] > LATE and not fusion.inside[i])
    results = (i for i in tape.results if not fusion.inside[i])
    return needed(fusion.sources, (*first, *wanted, *results))


def needed(sources: Sequence[tuple[int, ...]], roots: Iterable[int]) -> list[int]:
    """Return some values in order, each after those that it is made from and that no earlier one needed."""
    sequence, seen = list[int](), bytearray(len(sources))
    for root in roots:
        pending = [root]
        while pending:
            i = pending.pop()
            if i < 0:
                sequence.append(~i)
            elif not seen[i]:
                seen[i] = 1
                pending.append(~i)
                pending.extend(reversed(sources[i]))
    return sequence
