"""Verbs of large trees composed of calls of other verbs, because a single program would be too long.

A Jacobian has the vector–Jacobian products of unit weights for its rows, a Hessian the Hessian–vector products of unit
directions for its columns. A step is run on complex numbers whose imaginary parts are tangents.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from appell.kernels.runtime.program_spec import ProgramSpec, write_out
from appell.robot.calls import compile
from appell.robot.calls.call import Call, check_out, explain, prepared
from appell.robot.kind import FILE, Key, Kind
from appell.robot.verbs.embedding import Embedding
from appell.robot.verbs.steps import METHODS, State
from appell.spatial.scalar import Array

TINY = 1e-30
"""The size of the complex step, whose square vanishes."""
Composition = Callable[..., list[Array]]
"""Results from a robot, a caller of its verbs, arguments with equal leading axes, π if given, and the frame, if any."""


def rows(verb: str) -> Composition:
    """Return the Jacobians whose rows are products of a verb with unit weights."""

    def found(kind: Kind, call: Callable[[str], Call], given: list[Array], pi: tuple[Array, ...]) -> list[Array]:
        q, v, x, *others = (part[..., None, :] for part in (*given, *pi))
        return list(call(verb)(q, v, x, np.eye(v.shape[-1], dtype=q.dtype), *others)[:3])

    return found


def hessian(kind: Kind, call: Callable[[str], Call], given: list[Array], pi: tuple[Array, ...]) -> list[Array]:
    """Return the matrix whose columns are products with unit directions."""
    n = kind.facts.sizes["v"]
    units = np.split(np.eye(3 * n, dtype=given[0].dtype), 3, axis=-1)
    found = call("inverse_dynamics_hvp")(*(x[..., None, :] for x in given), *units, *(x[..., None, :] for x in pi))
    return [np.swapaxes(found, -1, -2)]


def columns(
    kind: Kind, call: Callable[[str], Call], given: list[Array], pi: tuple[Array, ...], chosen: tuple[int, ...]
) -> list[Array]:
    """Return some columns of the regressor."""
    return [call("regressor")(*given, *pi)[..., chosen]]


def step(verb: str) -> Composition:
    """Return the next q and v, by a call of the field per stage."""

    def found(kind: Kind, call: Callable[[str], Call], given: list[Array], pi: tuple[Array, ...]) -> list[Array]:
        q, v, tau, dt = given
        field = partial(_field, call("forward_dynamics"), kind.embedding(FILE), tau, pi)
        return _stepped(kind, verb, (q, v), dt[..., 0], field)

    return found


def step_derivatives(verb: str) -> Composition:
    """Return A and B: the tangents of a step, by a call of the field and of its derivatives per stage."""

    def found(kind: Kind, call: Callable[[str], Call], given: list[Array], pi: tuple[Array, ...]) -> list[Array]:
        q, v, tau, dt = given
        n, m = v.shape[-1], tau.shape[-1]
        embedding, unit = kind.embedding(FILE), np.eye(2 * n + m)
        at = embedding.at(_scalars(q[..., None, :]))
        rates = np.stack(np.broadcast_arrays(*at.rates(_scalars(unit[:, :n]), ())), axis=-1)
        start = q[..., None, :] + 1j * TINY * rates, v[..., None, :] + 1j * TINY * unit[:, n : 2 * n]
        slope = TINY * unit[:, 2 * n :]

        def field(q: Array, v: Array) -> Array:
            place, speed = _unit(embedding, q.real[..., 0, :]), v.real[..., 0, :]  # the same of all tangents
            state = (place, speed, tau, *pi)
            by_q, by_v, by_tau = call("forward_dynamics_derivatives")(*state)
            motion = _array(embedding.at(_scalars(q.real)).speeds(_scalars(q.imag)))
            change = motion @ _turned(by_q) + v.imag @ _turned(by_v) + slope @ _turned(by_tau)
            return np.asarray(call("forward_dynamics")(*state)[..., None, :] + 1j * change)

        after, faster = _stepped(kind, verb, start, dt, field)
        motion = _array(embedding.at(_scalars(after.real)).speeds(_scalars(after.imag)))
        both = _turned(np.concatenate([motion, faster.imag], axis=-1)) / TINY
        return [both[..., : 2 * n], both[..., 2 * n :]]

    return found


def _field(dynamics: Call, robot: Embedding, tau: Array, pi: tuple[Array, ...], q: Array, v: Array) -> Array:
    return np.asarray(dynamics(_unit(robot, q), v, tau, *pi))


def _unit(robot: Embedding, q: Array) -> Array:
    """Return q of a stage with unit quaternions; accelerations do not depend on their lengths."""
    return _array(robot.finished(_scalars(q))).astype(q.dtype, copy=False)


def _stepped(
    kind: Kind, verb: str, start: tuple[Array, Array], dt: Array, field: Callable[[Array, Array], Array]
) -> list[Array]:
    embedding = kind.embedding(FILE)

    def rate(q: Any, v: Any) -> Any:
        return _scalars(field(_array(q), _array(v)))

    after = METHODS[verb](embedding, State(*map(_scalars, start)), dt, rate)
    return [_array(embedding.finished(after.q)), _array(after.v)]


def _scalars(x: Any) -> tuple[Array, ...]:
    return tuple(np.moveaxis(np.asarray(x), -1, 0))


def _array(x: Any) -> Array:
    return np.stack(np.broadcast_arrays(*x), axis=-1)


def _turned(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


COMPOSED: dict[str, Composition] = {
    "inverse_dynamics_derivatives": rows("inverse_dynamics_vjp"),
    "forward_dynamics_derivatives": rows("forward_dynamics_vjp"),
    "inverse_dynamics_hessian": hessian,
    "base_regressor": columns,
    **{verb: step(verb) for verb in METHODS},
    **{f"{verb}_derivatives": step_derivatives(verb) for verb in METHODS},
}
"""The composed verbs, with their functions."""


def composed(kind: Kind, key: Key) -> Call:
    """Return the callable of a verb: its arguments, π where it is given, then `out` where it is given."""
    inputs, outputs, guards = compile.ports(kind, key)
    spec = ProgramSpec(key.verb, inputs, outputs[: len(outputs) - len(guards)], "", lambda: compile.tape(kind, key))
    about = () if key.about is None else (key.about,)
    made: dict[str, Call] = {}

    def verb_call(verb: str) -> Call:
        if verb not in made:
            other = Key(verb, None, None, key.is_parametric)
            made[verb] = composed(kind, other) if kind.is_composed(other) else prepared(kind, other)
        return made[verb]

    def call(*arguments: Any) -> Any:
        given, out = arguments[: len(inputs)], arguments[len(inputs)] if len(arguments) > len(inputs) else None
        try:
            arrays = [np.asarray(x) for x in given]
            fits = all(x.dtype.kind in "fiub" and x.shape[-1:] == p.shape for x, p in zip(arrays, inputs, strict=True))
            if not fits:
                raise ValueError("an argument does not fit")
            leading = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
        except (ValueError, TypeError, OverflowError, RuntimeError) as error:
            raise explain(kind.model.name, spec, given, out, error) from None
        if out is not None:
            check_out(kind.model.name, spec, given, out)
        single = all(x.dtype == np.float32 for x in arrays)
        own = [np.broadcast_to(x, (*leading, x.shape[-1])).astype(np.float32 if single else float) for x in arrays]
        count = len(inputs) - key.is_parametric
        found = COMPOSED[key.verb](kind, verb_call, own[:count], tuple(own[count:]), *about)
        return write_out([x.astype(own[0].dtype, copy=False) for x in found], out)

    return call
