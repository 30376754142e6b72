"""The rewriting rules, by which operations are simplified when they are recorded.

Each function tries its rules from the top; a rule is one line, its left side in the comment. x, y are expressions, c, d
numbers. Every rule leaves at most as many multiplications and additions as it found. Three normal forms make equal
things look equal: operands in order of making, constants positive, and minus signs carried outward, where a sum absorbs
them. Products with zero are zero even for values that are not finite: callers detect NaN elsewhere, since every
relevant input reaches an output by another path. A rule that leaves a constant gives it as a plain number, so that
constants are among the arguments of expressions but never the expressions that rules are given.
"""

from __future__ import annotations

import math
from typing import Any

from appell.trace import expr as _expr

Value = Any


def add(x: Value, y: Value) -> Value:
    """Return x + y, simplified."""
    Expr, Op = _expr.Expr, _expr.Op
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
    Expr, Op = _expr.Expr, _expr.Op
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
    Expr, Op = _expr.Expr, _expr.Op
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
    Expr, Op = _expr.Expr, _expr.Op
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
    Expr, Op = _expr.Expr, _expr.Op
    if not isinstance(x, Expr):
        return -x
    if x.op is Op.NEG:  # −−x
        return x.args[0]
    return x.graph.node(Op.NEG, x)


def sin(x: Value) -> Value:
    """Return sin x: odd, and by quarter turns a cosine."""
    Op = _expr.Op
    if x.op is Op.NEG:  # sin −x
        return neg(sin(x.args[0]))
    y, quarters = _quarters(x)
    if quarters:  # sin(y + k·π/2)
        return (sin(y), cos(y), neg(sin(y)), neg(cos(y)))[quarters % 4]
    return x.graph.node(Op.SIN, x)


def cos(x: Value) -> Value:
    """Return cos x: even, and by quarter turns a sine."""
    Op = _expr.Op
    if x.op is Op.NEG:  # cos −x
        return cos(x.args[0])
    y, quarters = _quarters(x)
    if quarters:  # cos(y + k·π/2)
        return (cos(y), neg(sin(y)), neg(cos(y)), sin(y))[quarters % 4]
    return x.graph.node(Op.COS, x)


def _quarters(x: Any) -> tuple[Any, int]:
    """Return y and k for x = y + k·π/2 with k ≠ 0, to rounding; else x and 0."""
    if x.op is _expr.Op.ADD and x.args[1].op is _expr.Op.CONST:
        quarters = x.args[1].value / (0.5 * math.pi)
        if round(quarters) and abs(quarters - round(quarters)) < 1e-15 * abs(quarters):
            return x.args[0], round(quarters)
    return x, 0


def sign(x: Value) -> Value:
    """Return the sign of x, which is odd and independent of positive factors."""
    Op = _expr.Op
    if x.op is Op.NEG:
        return neg(sign(x.args[0]))
    if x.op is Op.MUL and x.args[0].op is Op.CONST:
        return sign(x.args[1])
    return x.graph.node(Op.SIGN, x)


def select(condition: Value, chosen: Value, other: Value) -> Value:
    """Return one of two values, by whether the condition is above zero; equal values need no choice."""
    Expr, Op = _expr.Expr, _expr.Op
    values = [x if isinstance(x, Expr) else condition.graph.constant(float(x)) for x in (chosen, other)]
    if values[0] is values[1]:
        return _plain(values[0])
    if condition.op is Op.MUL and condition.args[0].op is Op.CONST:  # c·x > 0, c positive as all constants are
        condition = condition.args[1]
    return condition.graph.node(Op.SELECT, condition, *values)


def _plain(x: Any) -> Value:
    """Return an expression, or the number that it is."""
    return x.value if x.op is _expr.Op.CONST else x


def _merge(x: Any, y: Any, side: float) -> Value | None:
    """Return c·x ± d·x as one product, or None when x and y are not multiples of one value."""
    Op = _expr.Op
    c, u = (x.args[0].value, x.args[1]) if x.op is Op.MUL and x.args[0].op is Op.CONST else (1.0, x)
    d, w = (y.args[0].value, y.args[1]) if y.op is Op.MUL and y.args[0].op is Op.CONST else (1.0, y)
    if u is not w or (u is x and w is y):
        return None
    return mul(u, c + side * d)
