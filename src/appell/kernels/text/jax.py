"""JAX of tapes: a module of pure functions that jit, grad, jacfwd and vmap take.

A short program is written out, one value per line. A long one is a table that a loop works through
(:mod:`appell.kernels.text.jax_loop`), since XLA would compile it for minutes.
"""

from __future__ import annotations

from appell.kernels.text.c99 import Function
from appell.kernels.text.jax_loop import WIDTH, Rows, table
from appell.kernels.text.python_text import ARITHMETIC, Dialect, documentation
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
"""The most steps of a program that is written out; XLA compiles the next ones for seconds, then for minutes."""

PREAMBLE = '''
import jax.numpy as jnp
from jax import lax


def _inputs(**given):
    """Return the leading axes that arguments share, and the entries of each along its last axis."""
    entries, leading = [], []
    for name, (x, size) in given.items():
        x = jnp.asarray(x)
        if x.ndim == 0 or x.shape[-1] != size:
            raise ValueError(f"{name}: expected (..., {size}), got {x.shape}")
        leading.append(x.shape[:-1])
        entries.append([x[..., k] for k in range(size)])
    return jnp.broadcast_shapes(*leading), *entries


def _result(values, leading, shape):
    """Return values that stand row by row as an array behind the leading axes."""
    whole = [jnp.broadcast_to(jnp.asarray(x), leading) for x in values]
    return jnp.stack(whole, axis=-1).reshape(leading + shape) if whole else jnp.zeros(leading + shape)


def _start(leading, values, constants):
    """Return all values known at first, one along the first axis each, in the precision of the inputs."""
    kind = jnp.result_type(*values, 0.0)
    known = jnp.array(constants, kind).reshape(-1, *[1] * len(leading))
    whole = [jnp.broadcast_to(x.astype(kind), leading)[None] for x in values]
    return jnp.concatenate([*whole, jnp.broadcast_to(known, (len(constants), *leading))])


def _select(condition, chosen, other):
    """Return `chosen` where the condition is above zero, `other` where it is not."""
    return jnp.where(condition > 0, chosen, other)


def _apply(function, x, *places):
    """Return the values with a function of some of them behind."""
    return jnp.concatenate([x, function(*(x[jnp.array(place)] for place in places))])


def _loop(x, kinds, first, second):
    """Return the values with those of a table behind: row by row sums (0), differences (1), products, quotients."""
    kinds, first, second = jnp.array(kinds), jnp.array(first), jnp.array(second)
    rows, width = kinds.shape
    starts = x.shape[0] + width * jnp.arange(rows)
    x = jnp.concatenate([x, jnp.zeros((rows * width, *x.shape[1:]), x.dtype)])

    def row(x, what):
        start, kind, one, two = what
        kind = kind.reshape(-1, *[1] * (x.ndim - 1))
        a, b = x[one], x[two]
        safe = jnp.where(kind == 3, b, 1)  # what is not divided must not spoil derivatives by a zero
        sums, products = jnp.where(kind == 0, a + b, a - b), jnp.where(kind == 2, a * b, a / safe)
        return lax.dynamic_update_slice_in_dim(x, jnp.where(kind < 2, sums, products), start, 0), None

    return lax.scan(row, x, (starts, kinds, first, second))[0]
'''
REMARKS = (
    "",
    "Pure functions: jax.jit, grad, jacfwd, jacrev and vmap take them. Arguments may have leading axes, which",
    "broadcast. JAX computes in single precision by default; for double: jax.config.update('jax_enable_x64', True).",
    "Arguments are not checked: quaternions in q must have unit length. The derivative of sign is zero.",
)


def _lines(function: Function, words: list[str], values: list[str]) -> list[str]:
    inputs, outputs = function.tape.inputs, function.tape.outputs
    names = ", ".join(port.name for port in inputs)
    given = ", ".join(f"{port.name}=({port.name}, {port.size})" for port in inputs)
    results = ", ".join(f"_result(r{k}, leading, {port.shape!r})" for k, port in enumerate(outputs))
    lines = values if len(function.tape.steps) <= LONG else _looped(function.tape)
    body = [f"leading, {names} = _inputs({given})", *lines, f"return {results}"]
    return [f"def {function.name}({names}):", *documentation(words, "    "), *(f"    {line}" for line in body)]


def _looped(tape: Tape) -> list[str]:
    """Return the lines of a long program: its table, and what each result is of the values."""
    made = table(tape, WIDTH)
    known = ", ".join(f"*{port.name}" for port in tape.inputs)
    lines = [f"x = _start(leading, [{known}], {made.constants!r})"]
    for stage in made.stages:
        if isinstance(stage, Rows):
            for name, rows in (("kinds", stage.kinds), ("first", stage.first), ("second", stage.second)):
                lines += [f"{name} = [", *(f"    {list(row)!r}," for row in rows), "]"]
            lines.append("x = _loop(x, kinds, first, second)")
        else:
            places = ", ".join(f"{list(place)!r}" for place in stage.places)
            lines.append(f"x = _apply({EXPRESSIONS[stage.op].partition('(')[0]}, x, {places})")
    start = 0
    for k, port in enumerate(tape.outputs):
        lines.append(f"r{k} = x[jnp.array({list(made.results[start : start + port.size])!r})]")
        start += port.size
    return lines


JAX = Dialect("jax", EXPRESSIONS, REMARKS, PREAMBLE, _lines)
"""The target."""
