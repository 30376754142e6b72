"""Traced scalars: arithmetic that is recorded instead of executed.

An :class:`Expr` is one value of a traced program: an input, a constant, or an operation on earlier values. Equal
operations are the same object (hash consing), and :mod:`appell.trace.rules` rewrites each one as it is made, so a
recursion run on expressions leaves behind only the operations that its robot needs. Constants outside expressions stay
plain floats: arithmetic between two floats is done by Python and never seen here.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from appell.errors import TraceError
from appell.spatial import scalar

Value = Any
"""A traced value or a plain number."""


class Op(enum.IntEnum):
    """The operations of a program."""

    INPUT = 0
    CONST = 1
    ADD = 2
    SUB = 3
    MUL = 4
    DIV = 5
    NEG = 6
    SQRT = 7
    SIN = 8
    COS = 9
    SIGN = 10
    SELECT = 11


ARITY = dict.fromkeys((Op.ADD, Op.SUB, Op.MUL, Op.DIV), 2) | dict.fromkeys(
    (Op.NEG, Op.SQRT, Op.SIN, Op.COS, Op.SIGN), 1
)
ARITY[Op.SELECT] = 3
EVALUATE: dict[Op, Callable[..., Any]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.NEG: lambda a: -a,
    Op.SQRT: scalar.sqrt,
    Op.SIN: scalar.sin,
    Op.COS: scalar.cos,
    Op.SIGN: scalar.sign,
    Op.SELECT: scalar.select,
}
"""What each operation means on numbers; kernels and exports are checked against it."""


class Graph:
    """The expressions of one program, each made once and numbered in order of making."""

    def __init__(self) -> None:
        self.nodes: list[Expr] = []
        self._known: dict[tuple[Any, ...], Expr] = {}
        self.inputs: list[Expr] = []

    def input(self) -> Expr:
        """Return a new input."""
        expr = Expr(self, Op.INPUT, (), len(self.nodes), float(len(self.inputs)))
        self.nodes.append(expr)
        self.inputs.append(expr)
        return expr

    def unknown(self) -> Expr:
        """Return a placeholder, which is not an input of the program and must be substituted in the end."""
        expr = Expr(self, Op.INPUT, (), len(self.nodes), -1.0)
        self.nodes.append(expr)
        return expr

    def inputs_like(self, *sizes: int) -> tuple[tuple[Expr, ...], ...]:
        """Return tuples of new inputs of the given sizes."""
        return tuple(tuple(self.input() for _ in range(size)) for size in sizes)

    def constant(self, value: float) -> Expr:
        """Return the expression of a number."""
        if not math.isfinite(value):
            raise TraceError(f"a constant of the program is {value}; every constant must be finite")
        key = (Op.CONST, value)
        expr = self._known.get(key)
        if expr is None:
            expr = self._known[key] = Expr(self, Op.CONST, (), len(self.nodes), value)
            self.nodes.append(expr)
        return expr

    def node(self, op: Op, *args: Expr) -> Expr:
        """Return the one expression of an operation on expressions."""
        key = (op, args[0].index, args[1].index) if len(args) == 2 else (op, *[arg.index for arg in args])
        expr = self._known.get(key)
        if expr is None:
            expr = self._known[key] = Expr(self, op, args, len(self.nodes), 0.0)
            self.nodes.append(expr)
        return expr


class Expr:
    """One value of a traced program; supports + − · / and the functions of :mod:`appell.spatial.scalar`."""

    __array_ufunc__ = None  # a NumPy scalar on the left defers to the reflected methods below
    __slots__ = ("args", "graph", "index", "op", "value")

    def __init__(self, graph: Graph, op: Op, args: tuple[Expr, ...], index: int, value: float) -> None:
        self.graph, self.op, self.args, self.index, self.value = graph, op, args, index, value

    def __repr__(self) -> str:
        if self.op is Op.CONST:
            return f"{self.value:g}"
        return f"{self.op.name.lower()}{int(self.value) if self.op is Op.INPUT else self.args}"

    def __add__(self, other: Value) -> Value:
        return rules.add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Value) -> Value:
        return rules.sub(self, other)

    def __rsub__(self, other: Value) -> Value:
        return rules.sub(other, self)

    def __mul__(self, other: Value) -> Value:
        return rules.mul(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Value) -> Value:
        return rules.div(self, other)

    def __rtruediv__(self, other: Value) -> Value:
        return rules.div(other, self)

    def __neg__(self) -> Value:
        return rules.neg(self)

    def __pos__(self) -> Expr:
        return self

    # NumPy's functions call these on arrays of expressions, such as the position that a user's function is traced with

    def sin(self) -> Value:
        """Return the sine."""
        return rules.sin(self)

    def cos(self) -> Value:
        """Return the cosine."""
        return rules.cos(self)

    def sqrt(self) -> Value:
        """Return the square root."""
        return scalar.sqrt(self)

    def __pow__(self, n: int) -> Value:
        if not isinstance(n, int) or n < 1:
            return NotImplemented
        return self if n == 1 else self * self ** (n - 1)

    def __bool__(self) -> bool:
        raise TraceError("a traced program cannot branch on a value; write the recursion without `if` on scalars")


def needed(results: Sequence[Expr]) -> list[Expr]:
    """Return the expressions that results are made of, themselves included, in order of making."""
    found: set[Expr] = set()
    pending = list(results)
    while pending:
        expr = pending.pop()
        if expr not in found:
            found.add(expr)
            pending += expr.args
    return sorted(found, key=attrgetter("index"))


from appell.trace import rules  # noqa: E402  (rules build expressions: the two halves of one thing)

scalar.sin.register(Expr, rules.sin)
scalar.cos.register(Expr, rules.cos)
scalar.sqrt.register(Expr, lambda x: x.graph.node(Op.SQRT, x))
scalar.sign.register(Expr, rules.sign)
scalar.select.register(Expr, rules.select)
