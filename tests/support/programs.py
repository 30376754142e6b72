"""Programs on vectors of two and on a small tree, and their numbers by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.program.nodes import (
    Begin,
    Block,
    Copy,
    Fields,
    Item,
    Items,
    Loop,
    Node,
    Program,
    Share,
    Stage,
    Sweep,
    verify,
)
from appell.program.run import run
from appell.spatial.scalar import cos, sin
from appell.trace.expr import Graph
from appell.trace.tape import Port, flatten, trace

X, Y, END = Port("x", (2,)), Port("y", (2,)), Port("end", (2,))
TURNS = {"step": 4, "save": 3, "kept": 3}
"""Lengths of run-time axes."""


def block(step: Callable[..., Any], reads: Sequence[str], writes: Sequence[str], sizes: Sequence[int] = ()) -> Block:
    """Return a block on vectors of two, or other sizes."""
    ports = [Port(f"p{k}", (size,)) for k, size in enumerate(sizes or [2] * (len(reads) + len(writes)))]
    n = len(ports) - len(writes)
    return Block(trace(step.__name__, step, ports[:n], ports[n:]), tuple(reads), tuple(writes))


def program(
    nodes: Sequence[Node], *slots: Port, inputs: Sequence[Port] = (X,), outputs: Sequence[Port] = (END,)
) -> Program:
    """Return a verified program."""
    return verify(Program("small", tuple(inputs), tuple(outputs), tuple(nodes), slots))


def turn(x: Any) -> Any:
    return sin(x[0] + 2.0 * x[1]), x[0] * cos(x[1])


def mix(x: Any, y: Any) -> Any:
    return x[0] * y[1] + 0.1 * x[1], sin(y[0]) - x[1] * x[1]


def swap(x: Any, y: Any) -> Any:
    return (*y, *x)


def numbers(ports: Sequence[Port], rng: np.random.Generator) -> dict[str, Any]:
    """Return random numbers of inputs."""
    return {port.name: rng.normal(size=(*(TURNS.get(axis, 2) for axis in port.axes), port.size)) for port in ports}


def results(made: Program, given: dict[str, Any]) -> dict[str, Any]:
    """Return the results of a program by name, flat."""
    found, parts = np.array(run(made, *(given[port.name] for port in made.inputs))), {}
    for port in made.outputs:
        size = port.size * int(np.prod([TURNS.get(axis, 2) for axis in port.axes]))
        parts[port.name], found = found[:size], found[size:]
    return parts


def rolled(rows: Sequence[tuple[float, ...]] = ()) -> Program:
    """Return a rollout of run-time length with stages, a stream of drives and a stream of saved states."""

    def stage(s: Any, x0: Any, ds: Any, drive: Any, rate: Any, weights: Any) -> Any:
        rates = turn([a + drive[0] * rate[0] for a in s])
        total = [a + weights[0] * b for a, b in zip(ds, rates, strict=True)]
        return [a + weights[1] * b for a, b in zip(x0, total, strict=True)], total

    stages = Loop(
        "stage",
        (block(stage, ["s", "s0", "ds", "drive", "rate", "stage"], ["s", "ds"], [2, 2, 2, 1, 1, 2, 2, 2]),),
        rows=((0.1, 0.5), (0.2, 0.5), (0.3, 1.0)),
    )
    step = Loop("step", (Copy("s", "s0"), Copy("", "ds"), stages, Copy("s", "path")))
    drive, rate = Port("drive", (1,), ("step",)), Port("rate", (1,))
    slots = [Port(name, (2,)) for name in ("s", "s0", "ds")]
    outputs = (Port("path", (2,), ("step",)), END)
    return program((Copy("x", "s"), step, Copy("s", "end")), *slots, inputs=(X, drive, rate), outputs=outputs)


def native(made: Program, given: dict[str, Any]) -> dict[str, Any]:
    """Return the results of one of eleven equal samples by name, flat, of native code."""
    kernel = Kernel(ProgramSpec("small", made.inputs, made.outputs, repr(made), lambda: made))
    rows = [np.reshape(given[port.name], (*given[port.name].shape[:-1], *port.shape)) for port in made.inputs]
    lengths = [[TURNS.get(axis, 2) for axis in port.axes] for port in made.outputs]
    out = tuple(np.full((11, *n, *port.shape), 7.0) for n, port in zip(lengths, made.outputs, strict=True))
    kernel(*(np.tile(x, (11, *(1,) * x.ndim)) for x in rows), out=out)
    return {port.name: x[5].ravel() for port, x in zip(made.outputs, out, strict=True)}


PARENTS = (0, 1, 2, 1, 4)
"""A tree 1 ← 2 ← 3, 1 ← 4 ← 5, of two classes."""


def step(function: Callable[..., Any], sizes: Sequence[int], *shares: tuple[Share, ...]) -> Stage:
    """Return a step of flat inputs of some sizes."""
    ports = [Port(f"x{k}", (size,)) for k, size in enumerate(sizes)]
    count = len(list(flatten(function(*Graph().inputs_like(*sizes)))))
    return Stage(trace(function.__name__, function, ports, [Port("r", (count,))]), *shares)


def passes(x: str = "x", y: str = "y", total: str = "total") -> tuple[Items, tuple[Node, ...]]:
    """Return sweeps of both directions from x (5) to y (5) and a total.

    Outward v = sin(x + c) + v of the parent; inward a load that is added to the parent's; the sum of all v at the root;
    outward again, with what comes from there.
    """
    rows = [Item(0, 0, (0,), ()), *(Item(1 + k % 2, up, (k,), (0.1 * k,)) for k, up in enumerate(PARENTS))]
    items = Items(tuple(rows), {"v": 1, "load": 1, "sum": 2, "last": 1}, {"v": (2.0,)})
    given, result = Share(x, 1, 0), Share(y, 1, 0)

    def outward(c: Any, x: Any, v: Any) -> Any:
        own = sin(x[0] + c[0]) + v[0]
        return own, own * own, own, x[0]

    def inward(x: Any, v: Any, load: Any) -> Any:
        return load[0] * 0.5 + v[0] * x[0]

    def other(x: Any, v: Any, load: Any) -> Any:
        return 0.3 * load[0] - cos(v[0])

    def again(v: Any, load: Any, last: Any, root: Any) -> Any:
        own = v[0] * load[0] + 0.1 * last[0] * root[1]
        return own, own + root[0]

    first = step(outward, [1, 1, 1], (given,))
    loads = (step(f, [1, 1, 1], (given,)) for f in (inward, other))
    summed = step(lambda total: (total[0] * total[1],), [2], (), (Share(total, 1),))
    last = step(again, [1, 1, 1, 2], (), (result,))
    return items, (
        Begin(items),
        Sweep(items, False, Fields(parent=("v",), writes=("v", "load"), sums=("sum",)), (None, first, first)),
        Sweep(items, True, Fields(own=("v", "load"), adds=("load",)), (None, *loads)),
        Sweep(items, True, Fields(own=("sum",)), (summed, None, None)),
        Sweep(items, False, Fields(("v", "load"), ("last",), ("sum",), ("last",)), (None, last, last)),
    )


IN, OUT, TOTAL = Port("x", (5,)), Port("y", (5,)), Port("total", ())
