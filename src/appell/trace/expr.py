"""Traced scalars: arithmetic that is recorded instead of executed.

An :class:`Expr` is one value of a traced program: an input, a constant, or an operation on earlier values. Equal
operations are the same object (hash consing), and rules rewrite each one as it is made, so a recursion run on
expressions leaves behind only the operations that its robot needs. Constants outside expressions stay plain floats:
arithmetic between two floats is done by Python and never seen here.

Each function tries its rules from the top; a rule is one line, its left side in the comment. x, y are expressions, c, d
numbers. Every rule leaves at most as many multiplications and additions as it found. Three normal forms make equal
things look equal: operands in order of making, constants positive, and minus signs carried outward, where a sum absorbs
them. Products with zero are zero even for values that are not finite: callers detect NaN elsewhere, since every
relevant input reaches an output by another path. A rule that leaves a constant gives it as a plain number, so that
constants are among the arguments of expressions but never the expressions that rules are given.
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
        return add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Value) -> Value:
        return sub(self, other)

    def __rsub__(self, other: Value) -> Value:
        return sub(other, self)

    def __mul__(self, other: Value) -> Value:
        return mul(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Value) -> Value:
        return div(self, other)

    def __rtruediv__(self, other: Value) -> Value:
        return div(other, self)

    def __neg__(self) -> Value:
        return neg(self)

    def __pos__(self) -> Expr:
        return self

    # NumPy's functions call these on arrays of expressions, such as the position that a user's function is traced with

    def sin(self) -> Value:
        """Return the sine."""
        return scalar.sin(self)

    def cos(self) -> Value:
        """Return the cosine."""
        return scalar.cos(self)

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


def add(x: Value, y: Value) -> Value:
    """Return x + y, simplified."""
    if not isinstance(x, Expr):
        x, y = y, x
    if not isinstance(y, Expr):
        if y == 0.0:  # x + 0
            return x
        if x.op is Op.ADD and x.args[1].op is Op.CONST:  # (x + c) + d
            return add(x.args[0], x.args[1].value + float(y))
        if x.op is Op.NEG:  # −x + c = c − x
            return sub(y, x.args[0])
        if x.op is Op.SUB and x.args[0].op is Op.CONST:  # (c − x) + d
            return sub(x.args[0].value + float(y), x.args[1])
        return x.graph.node(Op.ADD, x, x.graph.constant(float(y)))
    if x.op is Op.NEG:  # −x + y = y − x
        return sub(y, x.args[0])
    if y.op is Op.NEG:  # x + −y = x − y
        return sub(x, y.args[0])
    if x.op is Op.SUB and x.args[1] is y:  # (x − y) + y
        return _plain(x.args[0])
    if y.op is Op.SUB and y.args[1] is x:  # x + (y − x)
        return _plain(y.args[0])
    merged = _merge(x, y, 1.0)
    if merged is not None:  # c·x + d·x = (c + d)·x
        return merged
    if x.index > y.index:
        x, y = y, x
    return x.graph.node(Op.ADD, x, y)


def sub(x: Value, y: Value) -> Value:
    """Return x − y, simplified."""
    if not isinstance(y, Expr):
        return add(x, -y)
    if y.op is Op.NEG:  # x − −y = x + y
        return add(x, y.args[0])
    if not isinstance(x, Expr):
        if x == 0.0:  # 0 − y
            return neg(y)
        return y.graph.node(Op.SUB, y.graph.constant(float(x)), y)
    if x is y:  # x − x
        return 0.0
    if x.op is Op.NEG:  # −x − y = −(x + y)
        return neg(add(x.args[0], y))
    if x.op is Op.ADD and y in x.args:  # (x + y) − y
        return _plain(x.args[0] if x.args[1] is y else x.args[1])
    if y.op is Op.ADD and x in y.args:  # x − (x + y)
        return neg(_plain(y.args[0] if y.args[1] is x else y.args[1]))
    if y.op is Op.SUB and y.args[0] is x:  # x − (x − y)
        return y.args[1]
    if x.op is Op.SUB and x.args[0] is y:  # (x − y) − x
        return neg(x.args[1])
    merged = _merge(x, y, -1.0)
    if merged is not None:  # c·x − d·x = (c − d)·x
        return merged
    if x.index > y.index:  # x − y and y − x are one value and its opposite
        return neg(x.graph.node(Op.SUB, y, x))
    return x.graph.node(Op.SUB, x, y)


def mul(x: Value, y: Value) -> Value:
    """Return x·y, simplified."""
    if not isinstance(x, Expr):
        x, y = y, x
    if not isinstance(y, Expr):
        c = float(y)
        if c == 0.0:  # x·0
            return 0.0
        if c == 1.0:  # x·1
            return x
        if c < 0.0:  # −c·x = −(c·x)
            return neg(mul(x, -c))
        if x.op is Op.NEG:  # c·−x
            return neg(mul(x.args[0], c))
        if x.op is Op.MUL and x.args[0].op is Op.CONST:  # c·(d·x)
            return mul(x.args[1], x.args[0].value * c)
        return x.graph.node(Op.MUL, x.graph.constant(c), x)
    if x.op is Op.NEG:  # −x·y
        return neg(mul(x.args[0], y))
    if y.op is Op.NEG:  # x·−y
        return neg(mul(x, y.args[0]))
    if x.index > y.index:
        x, y = y, x
    return x.graph.node(Op.MUL, x, y)


def div(x: Value, y: Value) -> Value:
    """Return x / y, simplified."""
    if not isinstance(y, Expr):  # x / c = x·(1/c)
        return mul(x, 1.0 / y)
    if not isinstance(x, Expr):
        if x == 0.0:  # 0 / y
            return 0.0
        x = y.graph.constant(float(x))
    if y.op is Op.NEG:  # x / −y
        return neg(div(x, y.args[0]))
    if x.op is Op.NEG:  # −x / y
        return neg(div(x.args[0], y))
    return y.graph.node(Op.DIV, x, y)


def neg(x: Value) -> Value:
    """Return −x, simplified."""
    if not isinstance(x, Expr):
        return -x
    if x.op is Op.NEG:  # −−x
        return x.args[0]
    return x.graph.node(Op.NEG, x)


def sin(x: Value) -> Value:
    """Return sin x: odd, and by quarter turns a cosine."""
    if x.op is Op.NEG:  # sin −x
        return neg(sin(x.args[0]))
    y, quarters = _quarters(x)
    if quarters:  # sin(y + k·π/2)
        return (sin(y), cos(y), neg(sin(y)), neg(cos(y)))[quarters % 4]
    return x.graph.node(Op.SIN, x)


def cos(x: Value) -> Value:
    """Return cos x: even, and by quarter turns a sine."""
    if x.op is Op.NEG:  # cos −x
        return cos(x.args[0])
    y, quarters = _quarters(x)
    if quarters:  # cos(y + k·π/2)
        return (cos(y), neg(sin(y)), neg(cos(y)), sin(y))[quarters % 4]
    return x.graph.node(Op.COS, x)


def _quarters(x: Any) -> tuple[Any, int]:
    """Return y and k for x = y + k·π/2 with k ≠ 0, to rounding; else x and 0."""
    if x.op is Op.ADD and x.args[1].op is Op.CONST:
        quarters = x.args[1].value / (0.5 * math.pi)
        if round(quarters) and abs(quarters - round(quarters)) < 1e-15 * abs(quarters):
            return x.args[0], round(quarters)
    return x, 0


def sign(x: Value) -> Value:
    """Return the sign of x, which is odd and independent of positive factors."""
    if x.op is Op.NEG:
        return neg(sign(x.args[0]))
    if x.op is Op.MUL and x.args[0].op is Op.CONST:
        return sign(x.args[1])
    return x.graph.node(Op.SIGN, x)


def select(condition: Value, chosen: Value, other: Value) -> Value:
    """Return one of two values, by whether the condition is above zero; equal values need no choice."""
    values = [x if isinstance(x, Expr) else condition.graph.constant(float(x)) for x in (chosen, other)]
    if values[0] is values[1]:
        return _plain(values[0])
    if condition.op is Op.MUL and condition.args[0].op is Op.CONST:  # c·x > 0, c positive as all constants are
        condition = condition.args[1]
    return condition.graph.node(Op.SELECT, condition, *values)


def _plain(x: Any) -> Value:
    """Return an expression, or the number that it is."""
    return x.value if x.op is Op.CONST else x


def _merge(x: Any, y: Any, side: float) -> Value | None:
    """Return c·x ± d·x as one product, or None when x and y are not multiples of one value."""
    c, u = (x.args[0].value, x.args[1]) if x.op is Op.MUL and x.args[0].op is Op.CONST else (1.0, x)
    d, w = (y.args[0].value, y.args[1]) if y.op is Op.MUL and y.args[0].op is Op.CONST else (1.0, y)
    if u is not w or (u is x and w is y):
        return None
    return mul(u, c + side * d)


scalar.sin.register(Expr, sin)
scalar.cos.register(Expr, cos)
scalar.sqrt.register(Expr, lambda x: x.graph.node(Op.SQRT, x))
scalar.sign.register(Expr, sign)
scalar.select.register(Expr, select)
