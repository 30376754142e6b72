"""Programs of two sorts, small and without a robot: passes over items, and nested loops; and what they give."""

from __future__ import annotations

from typing import Any

import numpy as np

from appell.program.nodes import (
    Begin,
    Block,
    Copy,
    Entry,
    Fields,
    Item,
    Items,
    Loop,
    Program,
    Share,
    Stage,
    Start,
    Sweep,
    Walk,
    verify,
)
from appell.spatial.scalar import cos, select, sin
from appell.trace.tape import Port, trace

N = 5


def stage(step: Any, sizes: list[int], count: int, *shares: tuple[Share, ...]) -> Stage:
    """Return a traced step of flat inputs of some sizes."""
    tape = trace("step", step, [Port(f"x{k}", (size,)) for k, size in enumerate(sizes)], [Port("r", (count,))])
    return Stage(tape, *shares)


def passes() -> Program:
    """Return a program on a tree 1 ← 2 ← 3, 1 ← 4 ← 5 with every kind of pass.

    Per item sin(x + its constant) plus its parent's, all added up at the root; a walk from every item writes the sum of
    its value and its ancestors' on the way; the root's sum comes last.
    """
    items = [Item(0, 0, (0,), ())]
    items += [Item(1, parent, (k,), (0.1 * k,)) for k, parent in enumerate((0, 1, 2, 1, 4))]
    own = Share("x", 1, 0)
    table = Items(tuple(items), {"value": 1, "total": 1}, {"value": (2.0,)})
    out = Sweep(
        table,
        inward=False,
        fields=Fields(parent=("value",), writes=("value",), sums=("total",)),
        stages=(None, stage(lambda c, x, p: (sin(x[0] + c[0]) + p[0], x[0]), [1, 1, 1], 2, (own,))),
    )
    walk = Walk(
        table,
        fields=Fields(own=("value",)),
        state=1,
        starts=tuple(Start(k + 1, 0, k) for k in range(N)),
        first=(stage(lambda c, v: (v[0], v[0]), [1, 1], 2, (), (Share("sums", 1, 0, N, start=1),)),),
        stages=(
            None,
            stage(lambda c, v, s: (s[0] + v[0], s[0] + v[0]), [1, 1, 1], 2, (), (Share("sums", 1, 0, N, start=1),)),
        ),
    )
    root = stage(lambda t: (t[0],), [1], 1, (), (Share("total", 1),))
    last = Sweep(table, inward=True, fields=Fields(own=("total",)), stages=(root, None))
    outputs = (Port("sums", (N, N)), Port("total", ()))
    return Program("small", (Port("x", (N,)),), outputs, (Copy("", "sums"), Begin(table), out, walk, last))


def expected(x: Any) -> tuple[Any, Any]:
    """Return the results by NumPy."""
    parents = (-1, 0, 1, 0, 3)
    value, sums = np.empty(N), np.zeros((N, N))
    for k, parent in enumerate(parents):
        value[k] = np.sin(x[k] + 0.1 * k) + (value[parent] if parent >= 0 else 2.0)
    for k in range(N):
        total, j = 0.0, k
        while j >= 0:
            total += value[j]
            sums[j, k] = total
            j = parents[j]
    return sums, x.sum()


SIZE = 2
WEIGHTS = ((0.5, 0.1), (0.25, -0.2), (1.5, 0.0))


def loops() -> Program:
    """Return a program of nested loops: x moves through steps in stages with weights, driven by a stream.

    A slot with an axis keeps the states of the stages; a backward loop takes s to ½ sin(s + x₀) + x₁ of each. Every
    kept state is an entry of a stream.
    """
    x, s, drive, weights, rate = Port("x", (SIZE,)), Port("s", ()), Port("d", (1,)), Port("w", (2,)), Port("rate", ())

    def moved(x: Any, drive: Any, weights: Any, rate: Any) -> Any:
        share, turn = weights
        return [y + share * rate[0] * drive[0] + turn * sin(z) for y, z in zip(x, reversed(x), strict=True)]

    stage = trace("stage", moved, (x, drive, weights, rate), (x,))
    clip = trace("clip", lambda x: [select(x[0] - 9.0, 9.0, x[0]), x[1]], (x,), (x,))
    add = trace("add", lambda s, x: (0.5 * sin(s[0] + x[0]) + x[1],), (s, x), (s,))
    stages = Loop(
        "stage",
        (Copy("state", "states"), Block(stage, ("state", "drive", "stage", "rate"), ("state",))),
        rows=WEIGHTS,
    )
    back = Loop("stage", (Block(add, ("sum", "states"), ("sum",)),), n=3, is_backward=True)
    step = Loop("step", (stages, back, Block(clip, ("state",), ("state",))))
    kept = Loop("kept", (step, Copy("state", "path"), Copy("sum", "sums")))
    inputs = (x, Port("drive", (1,), ("kept", "step")), rate)
    outputs = (Port("path", (SIZE,), ("kept",)), Port("sums", (), ("kept",)))
    slots = (Port("state", (SIZE,)), Port("sum", ()), Port("states", (SIZE,), ("stage",)))
    return verify(Program("stepping", inputs, outputs, (Copy("x", "state"), kept), slots))


def stepped(x: Any, drive: Any, rate: Any) -> Any:
    """Return the results by NumPy."""
    x, total, path, sums = np.array(x), 0.0, [], []
    for entries in drive:
        for d in entries[:, 0]:
            states = []
            for share, turn in WEIGHTS:
                states.append(x)
                x = x + share * rate * d + turn * np.sin(x[::-1])
            for y in reversed(states):
                total = 0.5 * np.sin(total + y[0]) + y[1]
            x = np.minimum(x, [9.0, np.inf])
        path.append(x)
        sums.append(total)
    return np.array(path), np.array(sums)


def mixed() -> Program:
    """Return a program of passes inside a loop, on items with shares of one number and of two.

    y moves by a stream u, turn by turn and back: outward, each item's state grows by its parent's sum; inward the sums
    come together. Every state is an entry of a stream; the last one and the root's sum are results.
    """
    rows = (Item(0, 0, (0,), ()), Item(1, 0, (0,), (0.5,)), Item(2, 1, (1,), (0.2, -0.3)), Item(1, 2, (3,), (1.5,)))
    table = Items(rows, {"sum": 1, "total": 2}, {"sum": (0.3,), "total": (0.0, 1.0)})

    def moved(c: Any, y: Any, u: Any, parent: Any) -> Any:
        after = [a * 0.5 + k * sin(b + parent[0]) for k, a, b in zip(c, y, u, strict=True)]
        return (sum(after, start=parent[0]), 0.0, 0.0, *after, *after)

    def stages(size: int) -> tuple[Stage, Stage]:
        y, u, path = (Share(name, size, 0) for name in ("now", "u", "path"))
        out = stage(moved, [size, size, size, 1], 3 + 2 * size, (y, u), (y, path))
        back = stage(lambda t, s: (t[0] + s[0], t[1], t[0]), [2, 1], 3)
        return out, back

    (one, back), (two, _) = stages(1), stages(2)
    fields = Fields(parent=("sum",), writes=("sum", "total"))
    outward = Sweep(table, False, fields, (None, one, two))
    inward = Sweep(table, True, Fields(own=("total", "sum"), adds=("total",), sums=("sum",)), (None, back, back))
    end = trace("end", lambda s, t: (cos(s[0]) * t[1],), (Port("s", (1,)), Port("t", (2,))), (Port("end", ()),))
    body = (Begin(table), outward, inward)
    nodes = (
        Copy("y", "now"),
        Loop("turn", body),
        Copy("now", "y"),
        Block(end, (Entry(table, "sum", 0), Entry(table, "total", 0)), ("end",)),
    )
    y, u = Port("y", (4,)), Port("u", (4,), ("turn",))
    outputs = (Port("path", (4,), ("turn",)), y, Port("end", ()))
    return verify(Program("mixed", (y, u), outputs, nodes, (Port("now", (4,)),)))
