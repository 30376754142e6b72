"""Operation counts of programs: those of tapes, as often as they run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from appell.errors import TraceError
from appell.program.nodes import Block, Loop, Node, Program, Sweep, Walk
from appell.trace.count import Count
from appell.trace.count import count as count_tape
from appell.trace.tape import Tape


def count(program: Program, lengths: Mapping[str, int] | None = None) -> Count:
    """Return the operations of a program for one sample, by the rules of :mod:`appell.trace.count`.

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
    times: Counter[int] = Counter()
    tapes: dict[int, Tape] = {}
    for tape, n in _runs(program.nodes, turns, 1):
        times[id(tape)] += n
        tapes[id(tape)] = tape
    rows = [[n * x for x in count_tape(tapes[key])[:3]] for key, n in times.items()]
    return Count(*(sum(column) for column in zip(*rows, strict=True))) if rows else Count(0, 0)


def _runs(nodes: Iterable[Node], turns: Mapping[str, int], times: int) -> Iterator[tuple[Tape, int]]:
    """Yield every tape that runs, with how often."""
    for node in nodes:
        match node:
            case Block(tape, _, _):
                yield tape, times
            case Loop(axis, body):
                yield from _runs(body, turns, times * turns[axis])
            case Sweep():
                steps = (node.stages[item.kind] for item in node.items.rows)
                yield from ((stage.tape, times) for stage in steps if stage is not None)
            case Walk():
                for start in node.starts:
                    yield node.first[start.stage].tape, times
                    j = node.items.rows[start.item].parent
                    while j:
                        stage = node.stages[node.items.rows[j].kind]
                        yield from [(stage.tape, times)] if stage is not None else []
                        j = node.items.rows[j].parent
