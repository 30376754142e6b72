"""JAX of values: how operations are spelled, and the lines that compute a tape.

A short tape is written out, one value per line. XLA takes a time to compile straight-line code that grows faster than
its length, and computes values again in every kernel that it fuses them into. So a long tape becomes data: its values
stand in one array, inputs and constants first; each row of a table takes `WIDTH` pairs of earlier values and appends
their sums, differences, products or quotients; a ``lax.scan`` does row after row. Sines, cosines, roots, signs and
choices are few, and are done in one go each time that all arguments up to there are known. Rows are filled from the
longest chains of operations first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from appell.kernels.text.python_text import ARITHMETIC, written_out
from appell.trace.expr import Op
from appell.trace.tape import Tape

WIDTH = 16
"""Operations in a row: more are left empty than filled in a wider one, for robots have long chains of them."""
KINDS = (Op.ADD, Op.SUB, Op.MUL, Op.DIV)
"""What a row can do; −x is 0 − x."""
FUNCTIONS = (Op.SIN, Op.COS, Op.SQRT, Op.SIGN, Op.SELECT)


@dataclass(frozen=True)
class Rows:
    """Rows of operations: for each its kind, by its place in :data:`KINDS`, and where its two operands stand."""

    kinds: tuple[tuple[int, ...], ...]
    first: tuple[tuple[int, ...], ...]
    second: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Applied:
    """A function of some values, all at once: where its first arguments stand, then its second, its third."""

    op: Op
    places: tuple[tuple[int, ...], ...]


@dataclass
class Table:
    """A tape as data: the constants behind the inputs, the stages in their order, and where the results stand."""

    constants: list[float]
    stages: list[Rows | Applied] = field(default_factory=list)
    results: tuple[int, ...] = ()


def table(tape: Tape, width: int = WIDTH) -> Table:
    """Return a tape as a table.

    >>> from appell.trace.tape import Port, trace
    >>> from appell.spatial.scalar import sin
    >>> made = table(trace("f", lambda x: (sin(x[0]) * x[1] + 2.0,), [Port("x", (2,))], [Port("y", (1,))]), width=2)
    >>> made.constants, made.stages[0], made.results
    ([0.0, 2.0], Applied(op=<Op.SIN: 8>, places=((0,),)), (7,))
    """
    first, steps = tape.n_inputs, dict(enumerate(tape.steps, tape.n_inputs))
    made = Table([0.0])
    place = {i: i for i in range(first)}
    for i, step in steps.items():
        if step.op is Op.CONST:
            place[i] = first + len(made.constants)
            made.constants.append(step.value)
    size = first + len(made.constants)
    for values in _waves(tape):
        for op in FUNCTIONS:
            if chosen := [i for i in values if steps[i].op is op]:
                arguments = zip(*(steps[i].args for i in chosen), strict=True)
                made.stages.append(Applied(op, tuple(tuple(place[j] for j in one) for one in arguments)))
                place |= {i: size + k for k, i in enumerate(chosen)}
                size += len(chosen)
        rows = _rows(tape, [i for i in values if steps[i].op not in FUNCTIONS], width)
        for row in rows:
            place |= {i: size + k for k, i in enumerate(row)}
            size += width
        if rows:
            made.stages.append(_stage(tape, rows, place, width))
    made.results = tuple(place[i] for i in tape.results)
    return made


def _waves(tape: Tape) -> list[list[int]]:
    """Return the operations by how many functions come before them and in them, one after another."""
    depth = [0] * tape.n_inputs
    waves: list[list[int]] = []
    for i, step in enumerate(tape.steps, tape.n_inputs):
        depth.append(max((depth[j] for j in step.args), default=0) + (step.op in FUNCTIONS))
        if step.op is not Op.CONST:
            waves += [[] for _ in range(depth[i] + 1 - len(waves))]
            waves[depth[i]].append(i)
    return waves


def _rows(tape: Tape, values: list[int], width: int) -> list[list[int]]:
    """Return operations in rows, each after those that it needs; of those at hand the ones with most to follow."""
    own, steps, first = set(values), tape.steps, tape.n_inputs
    follow, waits = dict.fromkeys(values, 0), dict.fromkeys(values, 0)
    users: dict[int, list[int]] = {i: [] for i in values}
    for i in reversed(values):
        needed = own & set(steps[i - first].args)
        waits[i] = len(needed)
        for j in needed:
            follow[j] = max(follow[j], follow[i] + 1)
            users[j].append(i)
    ready = [(-follow[i], i) for i in values if not waits[i]]
    heapq.heapify(ready)
    rows = []
    while ready:
        row = [heapq.heappop(ready)[1] for _ in range(min(width, len(ready)))]
        rows.append(row)
        for user in (user for i in row for user in users[i]):
            waits[user] -= 1
            if not waits[user]:
                heapq.heappush(ready, (-follow[user], user))
    return rows


def _stage(tape: Tape, rows: list[list[int]], place: dict[int, int], width: int) -> Rows:
    zero = tape.n_inputs

    def padded(numbers: Iterable[int], blank: int) -> tuple[int, ...]:
        filled = list(numbers)
        return (*filled, *[blank] * (width - len(filled)))

    kinds, first, second = [], [], []
    for row in rows:
        steps = [tape.steps[i - tape.n_inputs] for i in row]
        is_minus = [step.op is Op.NEG for step in steps]
        kinds.append(padded((KINDS.index(Op.SUB if step.op is Op.NEG else step.op) for step in steps), 0))
        first.append(padded((zero if m else place[s.args[0]] for s, m in zip(steps, is_minus, strict=True)), zero))
        second.append(padded((place[step.args[-1]] for step in steps), zero))
    return Rows(tuple(kinds), tuple(first), tuple(second))


EXPRESSIONS = ARITHMETIC | {
    Op.SQRT: "jnp.sqrt({0})",
    Op.SIN: "jnp.sin({0})",
    Op.COS: "jnp.cos({0})",
    Op.SIGN: "jnp.sign({0})",
    Op.SELECT: "_select({0}, {1}, {2})",
}
"""What each operation is in JAX."""
LONG = 500
"""The most steps of a tape that is written out; XLA compiles the next ones for seconds, then for minutes."""


def computed(tape: Tape, names: Sequence[str], sizes: Iterable[int]) -> tuple[list[str], list[str]]:
    """Return the lines that compute a tape whose inputs have some names, and the text of arrays of some of its results.

    The arrays have results of these sizes along their first axis, one after the other.
    """
    is_short = len(tape.steps) <= LONG
    lines, results = written_out(tape, names, EXPRESSIONS) if is_short else _looped(tape, names)
    arrays, start = [], 0
    for size in sizes:
        own = ", ".join(results[start : start + size])
        arrays.append(f"_stack([{own}], blank)" if is_short else f"x[jnp.array([{own}], int)]")
        start += size
    return lines, arrays


def _looped(tape: Tape, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines of a long tape: its table; and the places of its results in x."""
    made = table(tape, WIDTH)
    lines = [f"x = _start([{', '.join(names)}], {made.constants!r}, blank)"]
    for stage in made.stages:
        if isinstance(stage, Rows):
            for name, rows in (("kinds", stage.kinds), ("first", stage.first), ("second", stage.second)):
                lines += [f"{name} = [", *(f"    {list(row)!r}," for row in rows), "]"]
            lines.append("x = _loop(x, kinds, first, second)")
        else:
            places = ", ".join(f"{list(place)!r}" for place in stage.places)
            lines.append(f"x = _apply({EXPRESSIONS[stage.op].partition('(')[0]}, x, {places})")
    return lines, [str(i) for i in made.results]
