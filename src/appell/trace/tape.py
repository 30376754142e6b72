"""The tape: a straight-line program for counting, differentiation and compilation.

A tape holds only the operations its outputs need. Values are numbered by position: first the inputs, then one value per
step, each step reading earlier positions only.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from appell.errors import TraceError
from appell.trace.expr import ARITY, EVALUATE, Expr, Graph, Op, needed


class Step(NamedTuple):
    """One operation: what it does, the positions it reads, and its number if it is a constant."""

    op: Op
    args: tuple[int, ...]
    value: float = 0.0


class Port(NamedTuple):
    """A named array argument of a program and its shape, read in C order.

    A stream has axes before the shape, one per loop that goes along it; the shape is that of one entry.
    """

    name: str
    shape: tuple[int, ...]
    axes: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Return the number of scalars of one entry."""
        return math.prod(self.shape)


def spans(ports: Iterable[Port]) -> Iterator[tuple[Port, range]]:
    """Yield ports with the places of their numbers among those of all.

    >>> [own for _, own in spans([Port("q", (2,)), Port("M", (2, 2))])]
    [range(0, 2), range(2, 6)]
    """
    start = 0
    for port in ports:
        yield port, range(start, start := start + port.size)


@dataclass(frozen=True)
class Tape:
    """A straight-line program: `inputs`, then `steps`, then `results` (positions, in the order of the output ports)."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    steps: tuple[Step, ...]
    results: tuple[int, ...]

    @cached_property
    def n_inputs(self) -> int:
        """Return the number of scalar inputs."""
        return sum(port.size for port in self.inputs)

    @cached_property
    def digest(self) -> str:
        """Return a fingerprint of the program: the same for the same operations, whatever the name."""
        text = repr((self.inputs, self.outputs, [(int(s.op), s.args, s.value) for s in self.steps], self.results))
        return hashlib.sha256(text.encode()).hexdigest()

    def run(self, *arguments: Any) -> list[Any]:
        """Evaluate the tape step by step on numbers of any type: the slow reference of the program.

        Each argument is a flat sequence of the scalars of one input port; returns the flat list of results.
        """
        values: list[Any] = [x for argument in arguments for x in argument]
        if len(values) != self.n_inputs:
            raise TraceError(f"tape '{self.name}': expected {self.n_inputs} scalar inputs, got {len(values)}")
        for step in self.steps:
            values.append(step.value if step.op is Op.CONST else EVALUATE[step.op](*(values[i] for i in step.args)))
        return [values[i] for i in self.results]


Program = Callable[..., Any]
"""A function of tuples of scalars that returns nested tuples of scalars, one tuple per output port."""


def trace(name: str, program: Program, inputs: Sequence[Port], outputs: Sequence[Port]) -> Tape:
    """Run a program on traced scalars and return its tape.

    >>> from appell.trace.tape import Port, trace
    >>> tape = trace("area", lambda x: (x[0] * x[1] * 1.0,), [Port("x", (2,))], [Port("area", (1,))])
    >>> [step.op.name for step in tape.steps], tape.run([3.0, 4.0])
    (['MUL'], [12.0])
    """
    graph = Graph()
    arguments = graph.inputs_like(*(port.size for port in inputs))
    flat = list(flatten(program(*arguments)))
    expected = sum(port.size for port in outputs)
    if len(flat) != expected:
        raise TraceError(f"program '{name}': expected {expected} scalar results, got {len(flat)}")
    return lay(name, graph, flat, inputs, outputs)


def flatten(nested: Any) -> Any:
    """Yield the scalars of nested tuples and lists, in order."""
    if isinstance(nested, tuple | list):
        for item in nested:
            yield from flatten(item)
    else:
        yield nested


def lay(
    name: str,
    graph: Graph,
    results: list[Any],
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    given: Sequence[Expr] | None = None,
) -> Tape:
    """Return the tape of the expressions that the results need, in order of making.

    Its inputs are those of the graph unless other leaves are given.
    """
    roots = [graph.constant(float(r)) if not isinstance(r, Expr) else r for r in results]
    made = needed(roots)
    if any(expr.graph is not graph for expr in made):
        raise TraceError(f"program '{name}' has a value of another program among its own")
    known = graph.inputs if given is None else given
    position = {expr.index: i for i, expr in enumerate(known)}
    steps: list[Step] = []
    for expr in made:
        if expr.op is not Op.INPUT:
            position[expr.index] = len(known) + len(steps)
            steps.append(Step(expr.op, tuple([position[arg.index] for arg in expr.args]), expr.value))
    return Tape(name, tuple(inputs), tuple(outputs), tuple(steps), tuple(position[root.index] for root in roots))


def lay_parts(name: str, graph: Graph, inputs: Sequence[Sequence[Expr]], results: Sequence[Sequence[Any]]) -> Tape:
    """Return the tape of results in parts, each an output, of all inputs of a graph in parts, each an input."""
    sides = (("x", inputs), ("y", results))
    given, made = ([Port(f"{x}{k}", (len(part),)) for k, part in enumerate(parts)] for x, parts in sides)
    return lay(name, graph, [x for part in results for x in part], given, made)


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
