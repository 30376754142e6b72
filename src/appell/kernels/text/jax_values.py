"""JAX of values: how operations are spelled, and the lines that compute a tape.

A short tape is written out, one value per line. A long one is a table that a loop works through
(:mod:`appell.kernels.text.jax_loop`), since XLA would compile it for minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from appell.kernels.text.jax_loop import WIDTH, Rows, table
from appell.kernels.text.python_text import ARITHMETIC, written_out
from appell.trace.expr import Op
from appell.trace.tape import Tape

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
