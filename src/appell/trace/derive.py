"""Derivatives of traced programs, as traced programs.

Forward mode on expressions: every operation's tangent is written down with the same rewriting rules, so a tangent that
is zero costs nothing and a shared factor is shared. On a recursion along a tree this finds by itself that a joint's
motion leaves everything behind it unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from appell.spatial import scalar
from appell.trace.expr import EVALUATE, Expr, Op, needed

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
    nodes = needed([r for r in results if isinstance(r, Expr)])
    columns = [_tangents(results, nodes, direction, fixed) for direction in directions]
    return tuple(zip(*columns, strict=True)) if columns else tuple(() for _ in results)


def substituted(results: Sequence[Value], unknowns: Sequence[Expr], values: Sequence[Value]) -> list[Value]:
    """Return results with values in the place of unknowns: no rule and no derivative before has looked into these.

    All expressions younger than the unknowns are made anew, by rules that find more to simplify than they did the first
    time.

    >>> from appell.trace.expr import Graph
    >>> x, y = (graph := Graph()).input(), graph.unknown()
    >>> substituted(jacobian([x * y], [x])[0], [y], [x * x]) == [x * x]
    True
    """
    known: dict[int, Value] = {unknown.index: x for unknown, x in zip(unknowns, values, strict=True)}
    first = min(known, default=0)
    for expr in needed([r for r in results if isinstance(r, Expr)]):
        if expr.args and expr.index > first:
            arguments = (arg.value if arg.op is Op.CONST else known.get(arg.index, arg) for arg in expr.args)
            known[expr.index] = EVALUATE[expr.op](*arguments)
    return [known.get(r.index, r) if isinstance(r, Expr) else r for r in results]


def substituted_rows(
    rows: Sequence[Sequence[Value]], unknowns: Sequence[Expr], values: Sequence[Value]
) -> list[list[Value]]:
    """Return rows of results with values in the place of unknowns, all of them in one pass."""
    found = iter(substituted([x for row in rows for x in row], unknowns, values))
    return [[next(found) for _ in row] for row in rows]


def _tangents(results: Sequence[Value], nodes: list[Expr], direction: Direction, held: set[int]) -> list[Value]:
    tangents: dict[int, Value] = {variable.index: rate for variable, rate in direction}
    for expr in nodes if tangents else ():
        if expr.index in tangents:  # a variable
            continue
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
