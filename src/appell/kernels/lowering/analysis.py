"""Analysis of tapes for code: fused steps, angles, inputs that are not read, and the order of statements."""

from __future__ import annotations

import enum
import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from appell.trace.expr import Op
from appell.trace.tape import Step, Tape

SUMS = (Op.ADD, Op.SUB, Op.NEG)
TRIGONOMETRIC = (Op.SIN, Op.COS)


class Fusion:
    """Which steps make no value of their own: products in the one sum that they are for, minus signs and constants."""

    def __init__(self, tape: Tape) -> None:
        self.tape, n = tape, tape.n_inputs
        uses = [0] * (n + len(tape.steps))
        for _, args, _ in tape.steps:
            for j in args:
                uses[j] += 1
        for i in tape.results:
            uses[i] += 2
        self.inside = inside = bytearray(len(uses))
        is_product = bytearray(n) + bytes([op is Op.MUL for op, _, _ in tape.steps])
        angles = []
        for i, (op, args, _) in enumerate(tape.steps, start=n):
            if op is Op.ADD or op is Op.SUB:
                a, b = args
                if is_product[a] and uses[a] == 1:
                    inside[a] = 1
                elif is_product[b] and uses[b] == 1:
                    inside[b] = 1
            elif op is Op.CONST or op is Op.NEG:
                inside[i] = 1
            elif op in TRIGONOMETRIC:
                angles.append(args[0])
        for i in tape.results:
            inside[i] = is_constant(tape, i)
        for i in angles:
            inside[offset(tape, i)[0]] = 0
        self.sources: list[tuple[int, ...]] = [()] * n
        """The values that a step reads, those fused into it left out; none for a step that is fused itself."""
        self.sources += [() if inside[i] else self._sources(i) for i in range(n, n + len(tape.steps))]

    def _sources(self, i: int) -> tuple[int, ...]:
        """Return the values that a step reads, those fused into it left out."""
        step = self.tape.steps[i - self.tape.n_inputs]
        args = (offset(self.tape, step.args[0])[0],) if step.op in TRIGONOMETRIC else step.args
        inside = self.inside
        if not any(map(inside.__getitem__, args)):
            return args
        found: dict[int, None] = {}
        pending = list(reversed(args))
        while pending:
            j = pending.pop()
            if inside[j]:
                pending.extend(reversed(self.tape.steps[j - self.tape.n_inputs].args))
            else:
                found[j] = None
        return tuple(found)


def is_constant(tape: Tape, position: int, value: float | None = None) -> bool:
    """Return whether a value is a constant, of some bits where they are given."""
    step = tape.steps[position - tape.n_inputs] if position >= tape.n_inputs else None
    if step is None or step.op is not Op.CONST:
        return False
    return value is None or (step.value == value and math.copysign(1.0, step.value) == math.copysign(1.0, value))


def offset(tape: Tape, position: int) -> tuple[int, float]:
    """Return x and c for a value x + c with c constant, else the value itself and 0."""
    step = tape.steps[position - tape.n_inputs] if position >= tape.n_inputs else None
    if step is not None and step.op is Op.ADD:
        last = step.args[1] - tape.n_inputs
        if last >= 0 and tape.steps[last].op is Op.CONST:
            return step.args[0], tape.steps[last].value
    return position, 0.0


def plain_sums(tape: Tape) -> list[bool]:
    """Return, per position, whether it is an input, a constant, or a sum of such."""
    plain = [True] * tape.n_inputs
    for step in tape.steps:
        plain.append(step.op is Op.CONST or (step.op in SUMS and all(plain[j] for j in step.args)))
    return plain


def angles(tape: Tape) -> list[int]:
    """Return the inputs that are angles and nothing else: each way from them leads through sums to a sine or cosine."""
    n = tape.n_inputs
    angular, used = bytearray(b"\1") * (n + len(tape.steps)), bytearray(n + len(tape.steps))
    for i in tape.results:
        angular[i] = False
    for i, (op, args, _) in zip(reversed(range(n, len(angular))), reversed(tape.steps), strict=True):
        is_angle = op in TRIGONOMETRIC or (angular[i] and op in SUMS)
        for j in args:
            used[j] = True
            angular[j] &= is_angle
    return [i for i in range(n) if angular[i] and used[i]]


def poisoned(tape: Tape) -> Tape:
    """Return the tape with x − x of every input that no step reads added where it reaches all results: NaN in and out.

    Every result that is no constant comes from inputs, angles by way of sines. Where these are fewer than results, they
    are added to, unless a choice could keep not-a-number from a result. Constants stay what they are, unless all
    results are.
    """
    read = {i for step in tape.steps for i in step.args}.union(tape.results)
    unread = [i for i in range(tape.n_inputs) if i not in read]
    if not unread:
        return tape
    steps: list[Step] = []

    def position(step: Step) -> int:
        steps.append(step)
        return tape.n_inputs + len(steps) - 1

    variable = {r for r in tape.results if not is_constant(tape, r)}
    sines = {i for i, step in enumerate(tape.steps, start=tape.n_inputs) if step.op in TRIGONOMETRIC}
    carriers = read.intersection(range(tape.n_inputs)).difference(angles(tape)) | sines
    if len(variable) <= len(carriers) or any(step.op is Op.SELECT for step in tape.steps):
        carriers = variable or set(tape.results)
    nothing = [position(Step(Op.SUB, (i, i))) for i in unread]
    poison = functools.reduce(lambda a, b: position(Step(Op.ADD, (a, b))), nothing)

    def added(i: int, place: int) -> int:
        return position(Step(Op.ADD, (place, poison))) if i in carriers else place

    places = [added(i, i) for i in range(tape.n_inputs)]
    for i, (op, args, value) in enumerate(tape.steps, start=tape.n_inputs):
        places.append(added(i, position(Step(op, tuple([places[j] for j in args]), value))))
    return replace(tape, steps=tuple(steps), results=tuple(places[r] for r in tape.results))


LATE = 4
"""Operations between sines and values that are computed where they are first needed, such as entries of rotations."""


class Action(enum.Enum):
    """What an instruction does."""

    SINES = enum.auto()
    STEP = enum.auto()
    OUTPUT = enum.auto()


class Instruction(NamedTuple):
    """Some values made from others: sine and cosine of an angle, or a step with what is fused into it; or results.

    `what` is the angle, the step, or the places of the results that a value is.
    """

    kind: Action
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
        result.append(Instruction(Action.OUTPUT, (), reads, tuple(places.pop(i))))

    for i in sequence:
        step = tape.steps[i - n]
        if step.op not in TRIGONOMETRIC:
            result.append(Instruction(Action.STEP, (i,), fusion.sources[i], (i,)))
        elif i == twins[step.args[0]][0]:
            result.append(Instruction(Action.SINES, tuple(twins[step.args[0]]), fusion.sources[i], step.args))
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
