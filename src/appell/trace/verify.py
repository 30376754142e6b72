"""Verification: every tape is checked before it is counted, compiled or exported."""

from __future__ import annotations

import math

from appell.errors import TraceError
from appell.trace.expr import ARITY, Op
from appell.trace.tape import Tape


def verify(tape: Tape) -> Tape:
    """Return the tape if it is well formed; raise a :class:`TraceError` that names the step if it is not.

    A well-formed tape reads only earlier positions, gives each operation as many arguments as it takes, holds finite
    constants, has one result per output scalar, and no step that no result needs.
    """
    here = tape.n_inputs
    for op, args, value in tape.steps:
        expected = ARITY.get(op, 0)
        if op is Op.INPUT:
            raise TraceError(f"tape '{tape.name}', step {here}: an input among the steps")
        if len(args) != expected:
            raise TraceError(f"tape '{tape.name}', step {here}: {op.name} takes {expected} values, got {len(args)}")
        for i in args:
            if not 0 <= i < here:
                raise TraceError(f"tape '{tape.name}', step {here}: {op.name} reads {args}, not all earlier")
        if not math.isfinite(value):
            raise TraceError(f"tape '{tape.name}', step {here}: constant {value} is not finite")
        here += 1
    expected = sum(port.size for port in tape.outputs)
    if len(tape.results) != expected:
        raise TraceError(f"tape '{tape.name}': expected {expected} results, got {len(tape.results)}")
    if any(not 0 <= i < here for i in tape.results):
        raise TraceError(f"tape '{tape.name}': a result refers to a position that does not exist")
    used = set(tape.results).union(*(step.args for step in tape.steps))
    dead = [i for i in range(tape.n_inputs, here) if i not in used]
    if dead:
        raise TraceError(f"tape '{tape.name}': {len(dead)} steps are unused, the first at {dead[0]}")
    return tape
