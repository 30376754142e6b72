"""Gradients of traced programs, as traced programs.

Reverse mode on expressions: from the last operation to the first, each adds its share of the weight to the weights of
its arguments, by the same rewriting rules that make any expression. The gradient of a program costs a small multiple of
the program, however many variables there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from appell.spatial import scalar
from appell.trace.expr import Expr, Op, needed
from appell.trace.tape import Port, Tape, trace

Value = Any


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
            for arg, share in zip(expr.args, _RULES[expr.op](weight, expr, *known), strict=True):
                add(arg, share)
    return [adjoints.get(variable.index, 0.0) for variable in variables]


def adjoint_ports(inputs: Sequence[Port], outputs: Sequence[Port]) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """Return the inputs and outputs of the adjoint of a program: weights follow the inputs, each a row of numbers.

    >>> adjoint_ports([Port("q", (2,))], [Port("M", (2, 2))])[0]
    (Port(name='q', shape=(2,), axes=()), Port(name='w_M', shape=(4,), axes=()))
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


_RULES: dict[Op, Callable[..., tuple[Value, ...]]] = {
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
