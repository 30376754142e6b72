"""Operation counts of programs: those of tapes, as often as they run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from appell.errors import TraceError
from appell.program.nodes import Block, Items, Loop, Node, Program, Stage, Start, Sweep, Walk
from appell.trace.tape import Count, Tape
from appell.trace.tape import count as count_tape


def count(program: Program, lengths: Mapping[str, int] | None = None) -> Count:
    """Return the operations of a program for one sample, by the rules of :mod:`appell.trace.tape`.

    `lengths` has the number of turns of loops where it is known at run time only.

    >>> from appell.program.nodes import straight
    >>> from appell.trace.tape import Port, trace
    >>> square = straight(trace("square", lambda x: (x[0] * x[0],), [Port("x", (1,))], [Port("y", ())]))
    >>> looped = Program("power", square.inputs, square.outputs, (Loop("turn", square.nodes, 5),))
    >>> print(count(looped))
    5 M, 0 A
    """
    turns = program.turns | {**(lengths or {})}
    if missing := next((axis for axis in program.turns if not turns[axis]), None):
        raise TraceError(f"program '{program.name}': give the number of turns of loop '{missing}' to count operations")
    rows = [[times * n for n in count_tape(tape)[:3]] for tape, times in _runs(program.nodes, turns, 1)]
    multiplications, additions, trigonometric = map(sum, zip((0, 0, 0), *rows, strict=True))
    return Count(multiplications, additions, trigonometric)


def _runs(nodes: Iterable[Node], turns: Mapping[str, int], times: int) -> Iterator[tuple[Tape, int]]:
    """Yield every tape that runs, with how often."""
    for node in nodes:
        match node:
            case Block(tape, _, _):
                yield tape, times
            case Loop(axis, body):
                yield from _runs(body, turns, times * turns[axis])
            case Sweep(items):
                yield from _visits(node.stages, (item.kind for item in items.rows), times)
            case Walk(items):
                yield from _visits(node.first, (start.stage for start in node.starts), times)
                kinds = (items.rows[j].kind for start in node.starts for j in _above(items, start))
                yield from _visits(node.stages, kinds, times)


def _visits(stages: Sequence[Stage | None], kinds: Iterable[int], times: int) -> Iterator[tuple[Tape, int]]:
    counts = Counter(kinds)
    return ((stage.tape, times * counts[k]) for k, stage in enumerate(stages) if stage is not None)


def _above(items: Items, start: Start) -> Iterator[int]:
    """Yield the ancestors of the item where a walk begins."""
    j = items.rows[start.item].parent
    while j:
        yield j
        j = items.rows[j].parent
