"""Derivatives of traced programs, as traced programs.

Forward mode on expressions: every operation's tangent is written down with the same rewriting rules, so a tangent that
is zero costs nothing and a shared factor is shared. On a recursion along a tree this finds by itself that a joint's
motion leaves everything behind it unchanged.

Reverse mode: from the last operation to the first, each adds its share of the weight to the weights of its arguments,
by the same rules. The gradient of a program costs a small multiple of the program, however many variables there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from appell.spatial import scalar
from appell.trace.expr import EVALUATE, Expr, Op, needed
from appell.trace.tape import Port, Tape, trace

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


def gradient(results: Sequence[Value], weights: Sequence[Value], variables: Sequence[Expr]) -> list[Value]:
    """Return Σᵢ weightsᵢ·∂resultsᵢ/∂variablesⱼ; the weights are taken for constants.

    >>> from appell.trace.expr import Graph
    >>> x, y, w = (graph := Graph()).input(), graph.input(), graph.input()
    >>> gradient([x * y], [w], [x, y]) == [y * w, x * w]
    True
    """
    moving = {variable.index for variable in variables}
    nodes = needed([r for r in results if isinstance(r, Expr)])
    for expr in nodes:  # those that a variable moves
        if any(arg.index in moving for arg in expr.args):
            moving.add(expr.index)
    adjoints: dict[int, Value] = {}

    def add(expr: Any, share: Value) -> None:
        if isinstance(expr, Expr) and expr.index in moving:
            adjoints[expr.index] = adjoints.get(expr.index, 0.0) + share

    for result, weight in zip(results, weights, strict=True):
        add(result, weight)
    for expr in reversed(nodes):
        weight = adjoints.get(expr.index, 0.0)
        if expr.args and (isinstance(weight, Expr) or weight != 0.0):
            known = [arg.value if arg.op is Op.CONST else arg for arg in expr.args]
            for arg, share in zip(expr.args, _SHARES[expr.op](weight, expr, *known), strict=True):
                add(arg, share)
    return [adjoints.get(variable.index, 0.0) for variable in variables]


def adjoint_ports(inputs: Sequence[Port], outputs: Sequence[Port]) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """Return the inputs and outputs of the adjoint of a program: weights follow the inputs, each a row of numbers.

    >>> [(port.name, port.size) for port in adjoint_ports([Port("q", (2,))], [Port("M", (2, 2))])[0]]
    [('q', 2), ('w_M', 4)]
    """
    weights = tuple(Port(f"w_{port.name}", (port.size,)) for port in outputs)
    return (*inputs, *weights), tuple(Port(f"by_{port.name}", (port.size,)) for port in inputs)


def adjoint(tape: Tape, count: int) -> Tape:
    """Return the program of Σ wᵀ∂y/∂x by every input x, for weights w of the first `count` outputs y.

    The outputs after these, which no weight enters, follow the gradients. The adjoint of an adjoint has second
    derivatives.

    >>> square = trace("square", lambda x: (x[0] * x[0],), [Port("x", (1,))], [Port("y", ())])
    >>> adjoint(square, 1).run([3.0], [1.0]), adjoint(adjoint(square, 1), 1).run([3.0], [1.0], [1.0])
    ([6.0], [2.0, 6.0])
    """
    inputs, gradients = adjoint_ports(tape.inputs, tape.outputs[:count])
    n = sum(port.size for port in tape.outputs[:count])

    def program(*arguments: Sequence[Expr]) -> tuple[list[Value], list[Value]]:
        own = arguments[: len(tape.inputs)]
        variables = [x for argument in own for x in argument]
        weights = [x for argument in arguments[len(tape.inputs) :] for x in argument]
        values = tape.run(*own)
        return gradient(values[:n], weights, variables), values[n:]

    return trace(tape.name, program, inputs, (*gradients, *tape.outputs[count:]))


def _quotient(w: Value, e: Expr, x: Value, y: Value) -> tuple[Value, Value]:
    if not isinstance(x, Expr):  # ∂(c/y)/∂y = −e²/c, without another division
        return 0.0, -(w * e * e * (1.0 / x))
    share = w / y
    return share, -(share * e)


_SHARES: dict[Op, Callable[..., tuple[Value, ...]]] = {
    Op.ADD: lambda w, e, x, y: (w, w),
    Op.SUB: lambda w, e, x, y: (w, -w),
    Op.MUL: lambda w, e, x, y: (w * y, w * x),
    Op.DIV: _quotient,
    Op.NEG: lambda w, e, x: (-w,),
    Op.SQRT: lambda w, e, x: (0.5 * w / e,),
    Op.SIN: lambda w, e, x: (w * scalar.cos(x),),
    Op.COS: lambda w, e, x: (-(w * scalar.sin(x)),),
    Op.SIGN: lambda w, e, x: (0.0,),
    Op.SELECT: lambda w, e, c, x, y: (0.0, scalar.select(c, w, 0.0), scalar.select(c, 0.0, w)),
}
"""Per operation its shares of a weight w, for its value e and its arguments."""
