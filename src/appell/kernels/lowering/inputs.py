"""What a tape's inputs are: angles, or numbers that no step reads."""

from __future__ import annotations

import functools
from dataclasses import replace

from appell.kernels.lowering.fusion import SUMS, TRIGONOMETRIC, is_constant
from appell.trace.expr import Op
from appell.trace.tape import Step, Tape


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
    spoilt = read.intersection(range(tape.n_inputs)).difference(angles(tape)) | sines
    if len(variable) <= len(spoilt) or any(step.op is Op.SELECT for step in tape.steps):
        spoilt = variable or set(tape.results)
    nothing = [position(Step(Op.SUB, (i, i))) for i in unread]
    poison = functools.reduce(lambda a, b: position(Step(Op.ADD, (a, b))), nothing)

    def added(i: int, place: int) -> int:
        return position(Step(Op.ADD, (place, poison))) if i in spoilt else place

    places = [added(i, i) for i in range(tape.n_inputs)]
    for i, (op, args, value) in enumerate(tape.steps, start=tape.n_inputs):
        places.append(added(i, position(Step(op, tuple([places[j] for j in args]), value))))
    return replace(tape, steps=tuple(steps), results=tuple(places[r] for r in tape.results))
