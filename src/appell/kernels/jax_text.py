"""JAX of tapes: a module of pure functions that jit, grad, jacfwd and vmap take."""

from __future__ import annotations

from appell.kernels.c99 import Function
from appell.kernels.python_text import ARITHMETIC, Dialect, documentation
from appell.trace.expr import Op

EXPRESSIONS = ARITHMETIC | {
    Op.SQRT: "jnp.sqrt({0})",
    Op.SIN: "jnp.sin({0})",
    Op.COS: "jnp.cos({0})",
    Op.SIGN: "jnp.sign({0})",
}
"""What each operation is in JAX."""

PREAMBLE = '''
import jax.numpy as jnp


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
'''
REMARKS = (
    "",
    "Pure functions: jax.jit, grad, jacfwd, jacrev and vmap take them. Arguments may have leading axes, which broadcast.",
    "JAX computes in single precision unless told: jax.config.update('jax_enable_x64', True). Nothing is looked at: q is",
    "trusted to be a configuration, its quaternions of unit length. The derivative of sign is zero.",
)


def _lines(function: Function, words: list[str], values: list[str]) -> list[str]:
    inputs, outputs = function.tape.inputs, function.tape.outputs
    names = ", ".join(port.name for port in inputs)
    given = ", ".join(f"{port.name}=({port.name}, {port.size})" for port in inputs)
    results = ", ".join(f"_result(r{k}, leading, {port.shape!r})" for k, port in enumerate(outputs))
    body = [f"leading, {names} = _inputs({given})", *values, f"return {results}"]
    return [f"def {function.name}({names}):", *documentation(words, "    "), *(f"    {line}" for line in body)]


JAX = Dialect("jax", EXPRESSIONS, REMARKS, PREAMBLE, _lines)
"""The target."""
