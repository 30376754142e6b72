"""JAX of programs: a module of pure functions that jit, grad, jacfwd and vmap take.

Arrays have their own axes first and the leading axes of the arguments behind, so that a batch is computed side by side.
A straight-line program is its values (:mod:`appell.kernels.text.jax_values`); programs with loops are scans
(:mod:`appell.kernels.text.jax_nodes`), of which JAX has derivatives in both modes.
"""

from __future__ import annotations

from appell.kernels.text.c99 import Function
from appell.kernels.text.jax_nodes import Nodes
from appell.kernels.text.jax_values import computed
from appell.kernels.text.python_text import Dialect, documentation

PREAMBLE = '''
import math

import jax.numpy as jnp
from jax import lax


def _inputs(**given):
    """Return zeros with the leading axes that arguments share, and each argument: axes of loops, numbers, leading axes.

    All have one precision. Shapes name the axes of loops.
    """
    arrays = {name: jnp.asarray(x) for name, (x, _) in given.items()}
    leading, lengths = [], {}
    for name, (_, shape) in given.items():
        x = arrays[name]
        own = x.shape[max(x.ndim - len(shape), 0) :]
        lengths = {k: n for k, n in zip(shape, own) if isinstance(k, str)} | lengths
        expected = tuple(lengths.get(n, n) for n in shape)
        if own != expected:
            raise ValueError(f"{name}: expected {'(' + ', '.join(map(str, ('...', *expected))) + ')'}, got {x.shape}")
        leading.append(x.shape[: x.ndim - len(shape)])
    blank = jnp.zeros(jnp.broadcast_shapes(*leading), jnp.result_type(*arrays.values(), 0.0))
    found = []
    for x, (_, shape), lead in zip(arrays.values(), given.values(), leading):
        turns = [n for k, n in zip(shape, x.shape[len(lead) :]) if isinstance(k, str)]
        size = math.prod(n for n in shape if not isinstance(n, str))
        x = x.astype(blank.dtype).reshape(*[1] * (blank.ndim - len(lead)), *lead, *turns, size)
        own = len(turns) + 1
        found.append(jnp.moveaxis(x, tuple(range(-own, 0)), tuple(range(own))))
    return blank, *found


def _result(x, shape, blank):
    """Return an array with the leading axes in front and its numbers in a shape."""
    own = x.ndim - blank.ndim
    x = jnp.moveaxis(x, tuple(range(own)), tuple(range(-own, 0)))
    return x.reshape(*x.shape[:-1], *shape)


def _zeros(blank, *shape):
    return jnp.zeros((*shape, *blank.shape), blank.dtype)


def _whole(x, blank):
    """Return numbers with all leading axes."""
    return jnp.broadcast_to(x, (*x.shape[: x.ndim - blank.ndim], *blank.shape))


def _stack(values, blank):
    """Return values as an array."""
    whole = [jnp.broadcast_to(jnp.asarray(x, blank.dtype), blank.shape) for x in values]
    return jnp.stack(whole) if whole else _zeros(blank, 0)


def _select(condition, chosen, other):
    """Return `chosen` where the condition is above zero, `other` where it is not."""
    return jnp.where(condition > 0, chosen, other)


def _rows(rows, blank):
    """Return constants, one row per turn or item."""
    rows = jnp.array(rows, blank.dtype)
    return rows.reshape(*rows.shape, *[1] * blank.ndim)


def _start(values, constants, blank):
    """Return all values known at first, one along the first axis each."""
    return jnp.concatenate([_stack(values, blank), _whole(_rows(constants, blank), blank)])


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


def _swept(items, span, steps):
    """Return the visits of a sweep: which step, the item, and no start."""
    return [(steps[items[j][0]], j, 0) for j in span if items[j][0] in steps]


def _walked(items, starts, steps):
    """Return the visits of walks: which step, the item, and the number of the start."""
    visits = []
    for j, first, number in starts:
        visits.append((first, j, number))
        while j := items[j][1]:
            visits += [(steps[items[j][0]], j, number)] if items[j][0] in steps else []
    return visits


def _visited(visit, memories, visits):
    """Return the memories after visits, one after the other."""
    return lax.scan(visit, memories, tuple(jnp.array(visits, int).reshape(-1, 3).T))[0]


def _put(x, new, *start):
    """Return an array with other numbers from a place on."""
    new = new.reshape(*[1] * (x.ndim - new.ndim), *new.shape)
    return lax.dynamic_update_slice(x, new, (*start, *[0] * (x.ndim - len(start))))


def _padded(x, start, size):
    """Return places from one on, and as many numbers; those that are added are nowhere."""
    places = jnp.arange(size)
    places = jnp.where(places < x.shape[0], places + start, 1 << 30)
    return places, jnp.concatenate([x, jnp.zeros((size - x.shape[0], *x.shape[1:]), x.dtype)])
'''
REMARKS = (
    "",
    "Pure functions: jax.jit, grad, jacfwd, jacrev and vmap take them. Arguments may have leading axes, which",
    "broadcast. JAX computes in single precision by default; for double: jax.config.update('jax_enable_x64', True).",
    "Arguments are not checked: quaternions in q must have unit length. The derivative of sign is zero.",
)


def _lines(function: Function, words: list[str]) -> list[str]:
    program = function.program
    given = [f"{port.name}=({port.name}, {(*port.axes, *port.shape)!r})" for port in program.inputs]
    names = [port.name for port in program.inputs]
    results = [(name, port) for name, port, is_result in function.arguments() if is_result]
    if program.tape is None:
        lines, arrays = Nodes(program, {port.name: name for name, port in results}).lines, [name for name, _ in results]
    else:
        numbers = [f"{port.name}[{k}]" for port in program.inputs for k in range(port.size)]
        lines, arrays = computed(program.tape, numbers, [port.size for _, port in results])
    returned = (f"_result({x}, {port.shape!r}, blank)" for x, (_, port) in zip(arrays, results, strict=True))
    body = [f"{', '.join(['blank', *names])} = _inputs({', '.join(given)})", *lines, f"return {', '.join(returned)}"]
    return [f"def {function.name}({', '.join(names)}):", *documentation(words, "    "), *(f"    {x}" for x in body)]


JAX = Dialect("jax", REMARKS, PREAMBLE, _lines)
"""The target."""
