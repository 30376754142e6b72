"""Operation counts by the rules of mata2002: constants and signs are free, sines and cosines are counted apart."""

from __future__ import annotations

from typing import NamedTuple

from appell.trace.expr import Op
from appell.trace.tape import Tape


class Count(NamedTuple):
    """Operations of a program for one sample; for a verb of a robot, with its formulation and model variant."""

    multiplications: int
    additions: int
    trigonometric: int = 0
    formulation: str = ""
    variant: str = ""

    def __str__(self) -> str:
        return f"{self.multiplications} M, {self.additions} A"


def count(tape: Tape) -> Count:
    """Return the multiplications (with divisions and roots), additions (with subtractions) and sines and cosines.

    >>> from appell.trace.tape import Port, trace
    >>> count(trace("f", lambda x: (2.0 * x[0] + x[0] * x[1] - 1.0,), [Port("x", (2,))], [Port("y", (1,))]))
    Count(multiplications=2, additions=2, trigonometric=0, formulation='', variant='')
    """
    totals = dict.fromkeys(Op, 0)
    for step in tape.steps:
        totals[step.op] += 1
    return Count(
        totals[Op.MUL] + totals[Op.DIV] + totals[Op.SQRT],
        totals[Op.ADD] + totals[Op.SUB],
        totals[Op.SIN] + totals[Op.COS],
    )
