"""What the steps of a tape are for native code: which make no value of their own, and which are no more than sums."""

from __future__ import annotations

import math

from appell.trace.expr import Op
from appell.trace.tape import Tape

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
