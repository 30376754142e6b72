"""A spherical robot as an exporter sees it: a code tells of a leg that does not reach."""

from __future__ import annotations

from functools import partial
from typing import Any

from appell.kernels.c99 import Guard
from appell.loops.spherical import programs
from appell.loops.spherical.mechanism import Mechanism
from appell.loops.spherical.verbs import BODIES, FRAMED, VERBS, N
from appell.recursion.regressor import PER_BODY
from appell.robot.export import Source
from appell.trace.tape import Port, Tape, trace
from appell.trace.verify import verify

REACH = Guard("reach", "{x} > {0}", (0.0,), "OUT_OF_REACH", "a leg does not reach; the results mean nothing")


def spherical_source(robot: Mechanism, bodies: list[str]) -> Source:
    """Return a spherical robot as an exporter sees it; `bodies` are the names of its frames."""
    motors = [f"  {i - 1:<10} {robot.joints[0]}{i}" for i in range(1, N + 1)]
    return Source(
        robot.name,
        tuple(VERBS),
        FRAMED,
        tuple(bodies),
        {"NQ": N, "NV": N, "NU": N, "NP": PER_BODY * BODIES},
        (
            *(f"  q[{i}], v[{i}] {name}: Euler angle [rad], rate [rad/s]" for i, name in enumerate(robot.coordinates)),
            "",
            "Motors, in the order of tau:",
            *motors,
        ),
        lambda verb, frame: _program(robot, verb, None if frame is None else bodies.index(frame)),
    )


def _program(robot: Mechanism, verb: str, body: int | None) -> tuple[Tape, tuple[Guard, ...]]:
    """Return the tape of a verb with the discriminants of the legs as one more result."""
    what = VERBS[verb]
    if verb == "discriminants":
        return what.tape(robot), ()
    inputs, outputs = what.ports
    program = partial(_reaching, robot, what.program, body)
    return verify(trace(verb, program, inputs, (*outputs, Port("reach", (N,))))), (REACH,)


def _reaching(robot: Mechanism, program: Any, body: int | None, q: Any, *others: Any) -> Any:
    results = program(robot, q, *others) if body is None else program(robot, q, body)
    return results, programs.discriminants(robot, q)
