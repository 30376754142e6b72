"""Derivatives of traced programs, as traced programs.

Forward mode on expressions: every operation's tangent is written down with the same rewriting rules, so a tangent that
is zero costs nothing and a shared factor is shared. On a recursion along a tree this finds by itself that a joint's
motion leaves everything behind it unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from appell.spatial import scalar
from appell.trace.expr import Expr, Op

Value = Any
Direction = Sequence[tuple[Expr, Value]]
"""A rate for some of the inputs."""


def jacobian(
    results: Sequence[Value], variables: Sequence[Expr], held: Sequence[Expr] = ()
) -> tuple[tuple[Value, ...], ...]:
    """Return ∂resultsᵢ/∂variablesⱼ as rows of traced values, taking the values `held` for constants.

    >>> from appell.trace.expr import Graph
    >>> x, y = (graph := Graph()).input(), graph.input()
    >>> jacobian([x * y], [x, y]) == ((y, x),)
    True
    """
    return along(results, [[(variable, 1.0)] for variable in variables], held)


def along(
    results: Sequence[Value], directions: Sequence[Direction], held: Sequence[Expr] = ()
) -> tuple[tuple[Value, ...], ...]:
    """Return the rates of the results (rows) along directions (columns), each a rate for some of the inputs."""
    fixed = {expr.index for expr in held}
    columns = [_tangents(results, direction, fixed) for direction in directions]
    return tuple(zip(*columns, strict=True)) if columns else tuple(() for _ in results)


def _tangents(results: Sequence[Value], direction: Direction, held: set[int]) -> list[Value]:
    traced = [r for r in results if isinstance(r, Expr)]
    tangents: dict[int, Value] = {variable.index: rate for variable, rate in direction}
    if not traced or not tangents:
        return [0.0 for _ in results]
    for expr in traced[0].graph.nodes[min(tangents) + 1 : max(r.index for r in traced) + 1]:
        moving = [tangents.get(arg.index, 0.0) for arg in expr.args]
        if expr.index not in held and any(not _is_zero(d) for d in moving):
            tangent = _RULES[expr.op](expr, *moving)
            if not _is_zero(tangent):
                tangents[expr.index] = tangent
    return [tangents.get(r.index, 0.0) if isinstance(r, Expr) else 0.0 for r in results]


def _is_zero(x: Value) -> bool:
    return not isinstance(x, Expr) and x == 0.0


def _sine(expr: Expr, d: Value) -> Value:
    return expr.graph.node(Op.COS, expr.args[0]) * d


def _selected(expr: Expr, _: Value, chosen: Value, other: Value) -> Value:
    return scalar.select(expr.args[0], chosen, other)


def _cosine(expr: Expr, d: Value) -> Value:
    return -(expr.graph.node(Op.SIN, expr.args[0]) * d)


_RULES: dict[Op, Callable[..., Value]] = {
    Op.ADD: lambda e, dx, dy: dx + dy,
    Op.SUB: lambda e, dx, dy: dx - dy,
    Op.MUL: lambda e, dx, dy: dx * e.args[1] + e.args[0] * dy,
    Op.DIV: lambda e, dx, dy: (dx - e * dy) / e.args[1],
    Op.NEG: lambda e, d: -d,
    Op.SQRT: lambda e, d: 0.5 * d / e,
    Op.SIN: _sine,
    Op.COS: _cosine,
    Op.SIGN: lambda e, d: 0.0,
    Op.SELECT: _selected,
}
