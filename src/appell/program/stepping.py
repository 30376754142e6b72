"""Programs that step a state, many times: rollouts, searches, their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple

from appell.program.nodes import Block, Copy, Loop, Node, Program, inlined
from appell.program.prune import pruned
from appell.program.record import record
from appell.spatial.scalar import select
from appell.trace.expr import Expr, Op
from appell.trace.tape import Port, trace

STEP, INTERVAL = "step", "interval"
"""Axes: of the steps between two states that are kept, and of these."""


class Keep(Enum):
    """Which states a program returns."""

    LAST = "last"
    EVERY = "every"
    INTERVALS = "intervals"
    """The last one of each interval; two axes count the steps."""


class Fragment(NamedTuple):
    """Nodes and the slots that they need."""

    nodes: tuple[Node, ...] = ()
    slots: tuple[Port, ...] = ()

    def __add__(self, other: Any) -> Fragment:
        """Return the nodes of both in succession."""
        return Fragment((*self.nodes, *other.nodes), (*self.slots, *other.slots))


def part(
    name: str, function: Callable[..., Any], inputs: Sequence[tuple[Port, str]], outputs: Sequence[tuple[Port, str]]
) -> Fragment:
    """Return a recorded function whose ports stand for memories; several inputs may stand for one."""
    made = pruned(record(name, function, [port for port, _ in inputs], [port for port, _ in outputs]))
    own, theirs = ({port.name: memory for port, memory in pairs} for pairs in (inputs, outputs))
    return Fragment(*inlined(made, f"{name}_", own, theirs))


def now(name: str) -> str:
    """Return the slot of a state."""
    return f"{name}_now"


class Stepping(NamedTuple):
    """The arguments of a program that repeats a step: its states, what is fixed, and what drives each step."""

    name: str
    states: tuple[Port, ...]
    fixed: tuple[Port, ...]
    drives: tuple[Port, ...]
    keep: Keep

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the axes of what drives the steps."""
        return (INTERVAL, STEP) if self.keep is Keep.INTERVALS else (STEP,)

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Return the inputs: states, what is fixed, and streams."""
        return (*self.states, *self.fixed, *(port._replace(axes=self.axes) for port in self.drives))

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Return the states and, unless only the last ones are kept, for how many steps all of them were finite."""
        if self.keep is Keep.LAST:
            return self.states
        return (*(port._replace(axes=self.axes[:1]) for port in self.states), LASTED)

    def program(self, step: Fragment) -> Program:
        """Return the program of a step, which finds the states in slots (:func:`now`)."""
        names = [port.name for port in self.states]
        begin, end = [Copy(name, now(name)) for name in names], [Copy(now(name), name) for name in names]
        slots = [port._replace(name=now(port.name)) for port in self.states]
        body = step.nodes
        if self.keep is not Keep.LAST:
            slots.append(LASTED._replace(name=now(LASTED.name)))
            body = (*body, _counted(self.states))
        loop = Loop(STEP, (*body, *end) if self.keep is Keep.EVERY else body)
        if self.keep is Keep.INTERVALS:
            loop = Loop(INTERVAL, (loop, *end))
        last = end if self.keep is Keep.LAST else [Copy(now(LASTED.name), LASTED.name)]
        return Program(self.name, self.inputs, self.outputs, (*begin, loop, *last), (*slots, *step.slots))


LASTED = Port("lasted", ())


def _counted(states: Sequence[Port]) -> Block:
    """Return the block that adds 1 to the count after a step whose numbers are all finite: x − x is then a number."""

    def program(count: Any, *values: Sequence[Expr]) -> Any:
        apart = [x.graph.node(Op.SUB, x, x) for part in values for x in part]
        return (count[0] + select(sum(apart, start=1.0), 1.0, 0.0),)

    reads = (now(LASTED.name), *(now(port.name) for port in states))
    return Block(trace(LASTED.name, program, [LASTED, *states], [LASTED]), reads, reads[:1])
