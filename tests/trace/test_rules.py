"""Rewriting keeps the value: whatever is traced means what the same arithmetic on numbers gives."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from appell.spatial import scalar
from appell.trace.expr import Expr, Graph, Op
from appell.trace.tape import Port, trace

X = (0.7, -1.3, 2.1)
"""Values of the three inputs: signs mixed, no two sums alike."""
CONSTANTS = (0.0, 1.0, -1.0, 2.0, -0.5, 3.7)
BINARY: dict[str, Callable[..., Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}
UNARY: dict[str, Callable[..., Any]] = {
    "neg": lambda a: -a,
    "sin": scalar.sin,
    "cos": scalar.cos,
    "sign": scalar.sign,
    "sqrt": lambda a: scalar.sqrt(a * a),
}

# A recipe is nested tuples: an input's number, a constant, (unary, recipe) or (binary, recipe, recipe).
LEAVES = st.one_of(st.integers(0, 2).map(lambda k: ("x", k)), st.sampled_from(CONSTANTS).map(lambda c: ("c", c)))
RECIPES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(list(BINARY)), inner, inner), st.tuples(st.sampled_from(list(UNARY)), inner)
    ),
    max_leaves=12,
)


def work(recipe, inputs):
    """Do a recipe's arithmetic on numbers or on expressions."""
    op, *args = recipe
    if op == "x":
        return inputs[args[0]]
    if op == "c":
        return args[0]
    values = [work(arg, inputs) for arg in args]
    return BINARY[op](*values) if op in BINARY else UNARY[op](*values)


def tape_of(recipe):
    return trace("f", lambda x: (work(recipe, x),), [Port("x", (3,))], [Port("y", (1,))])


def careful(recipe):
    """Return the value and a bound of the sizes met on the way, or None where the arithmetic is ill conditioned."""
    op, *args = recipe
    if op in ("x", "c"):
        value = work(recipe, X)
        return value, abs(value)
    parts = [careful(arg) for arg in args]
    if any(part is None for part in parts):
        return None
    values, sizes = zip(*parts, strict=True)
    near_zero = [abs(v) <= 1e-6 * s for v, s in parts]
    if (op == "/" and (near_zero[1] or values[1] == 0.0)) or (op in ("sign", "sqrt") and near_zero[0]):
        return None
    value = BINARY[op](*values) if op in BINARY else UNARY[op](*values)
    if op in ("+", "-"):
        size = sum(sizes)
    elif op == "*":
        size = math.prod(sizes)
    elif op == "/":
        size = sizes[0] / abs(values[1]) * (sizes[1] / abs(values[1]))
    else:
        size = max(1.0, sizes[0])
    return (value, size) if size < 1e6 else None


@settings(max_examples=300)
@given(recipe=RECIPES)
@example(recipe=("-", ("+", ("x", 0), ("c", 2.0)), ("x", 0)))  # a sum that leaves its constant
@example(recipe=("+", ("neg", ("-", ("+", ("x", 0), ("c", 2.0)), ("x", 0))), ("c", 3.7)))
@example(recipe=("sin", ("-", ("+", ("x", 0), ("c", 2.0)), ("x", 0))))
@example(recipe=("/", ("x", 0), ("-", ("+", ("x", 1), ("c", 2.0)), ("x", 1))))
@example(recipe=("sign", ("*", ("c", -0.5), ("x", 1))))
def test_a_traced_expression_has_the_value_of_its_arithmetic(recipe):
    expected = careful(recipe)
    if expected is not None:
        value, size = expected
        assert tape_of(recipe).run(X)[0] == pytest.approx(value, rel=0, abs=1e-12 * max(size, 1.0))


def x_y():
    graph = Graph()
    return graph.input(), graph.input()


RULES = {
    "x + 0 = x": lambda x, y: (x + 0.0, x),
    "x − x = 0": lambda x, y: (x - x, 0.0),
    "0 − x = −x": lambda x, y: (0.0 - x, -x),
    "x·0 = 0": lambda x, y: (x * 0.0, 0.0),
    "x·1 = x": lambda x, y: (x * 1.0, x),
    "−−x = x": lambda x, y: (operator.neg(-x), x),
    "0 / x = 0": lambda x, y: (0.0 / x, 0.0),
    "x / 2 = ½·x": lambda x, y: (x / 2.0, 0.5 * x),
    "x + y = y + x": lambda x, y: (x + y, y + x),
    "x·y = y·x": lambda x, y: (x * y, y * x),
    "y − x = −(x − y)": lambda x, y: (y - x, -(x - y)),
    "−x + y = y − x": lambda x, y: (-x + y, y - x),
    "x + −y = x − y": lambda x, y: (x + -y, x - y),
    "x − −y = x + y": lambda x, y: (x - -y, x + y),
    "−x − y = −(x + y)": lambda x, y: (-x - y, -(x + y)),
    "−x·y = −(x·y)": lambda x, y: (-x * y, -(x * y)),
    "x·−y = −(x·y)": lambda x, y: (x * -y, -(x * y)),
    "−2·x = −(2·x)": lambda x, y: (-2.0 * x, -(2.0 * x)),
    "x / −y = −(x / y)": lambda x, y: (x / -y, -(x / y)),
    "−x / y = −(x / y)": lambda x, y: (-x / y, -(x / y)),
    "(x − y) + y = x": lambda x, y: ((x - y) + y, x),
    "x + (y − x) = y": lambda x, y: (x + (y - x), y),
    "(x + y) − y = x": lambda x, y: ((x + y) - y, x),
    "x − (x + y) = −y": lambda x, y: (x - (x + y), -y),
    "x − (x − y) = y": lambda x, y: (x - (x - y), y),
    "(x − y) − x = −y": lambda x, y: ((x - y) - x, -y),
    "(x + 2) − x = 2": lambda x, y: ((x + 2.0) - x, 2.0),
    "x − (x + 2) = −2": lambda x, y: (x - (x + 2.0), -2.0),
    "(2 − x) + x = 2": lambda x, y: ((2.0 - x) + x, 2.0),
    "(x + 2) + 3 = x + 5": lambda x, y: ((x + 2.0) + 3.0, x + 5.0),
    "2·(3·x) = 6·x": lambda x, y: (2.0 * (3.0 * x), 6.0 * x),
    "2·x + 3·x = 5·x": lambda x, y: (2.0 * x + 3.0 * x, 5.0 * x),
    "3·x − 2·x = x": lambda x, y: (3.0 * x - 2.0 * x, x),
    "x + 2·x = 3·x": lambda x, y: (x + 2.0 * x, 3.0 * x),
    "sin −x = −sin x": lambda x, y: (scalar.sin(-x), -scalar.sin(x)),
    "cos −x = cos x": lambda x, y: (scalar.cos(-x), scalar.cos(x)),
    "sign −x = −sign x": lambda x, y: (scalar.sign(-x), -scalar.sign(x)),
    "x > 0 ? y : y = y": lambda x, y: (scalar.select(x, y + 1.0, 1.0 + y), y + 1.0),
    "2·x > 0 = x > 0": lambda x, y: (scalar.select(2.0 * x, x, y), scalar.select(x, x, y)),
    "sign 2·x = sign x": lambda x, y: (scalar.sign(2.0 * x), scalar.sign(x)),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_makes_one_expression_of_its_two_sides(rule):
    left, right = RULES[rule](*x_y())
    assert left is right if isinstance(right, Expr) else left == right


def test_a_constant_that_rules_leave_is_a_plain_number():
    x, _ = x_y()
    assert isinstance((x + 2.0) - x, float)


def test_equal_operations_are_one_object():
    x, y = x_y()
    assert scalar.sin(x * y + 1.0) is scalar.sin(y * x + 1.0)


def test_inputs_are_all_different():
    x, y = x_y()
    assert x is not y
    assert (x - y).op is Op.SUB


def test_constants_of_one_value_are_one_object():
    graph = Graph()
    assert graph.constant(2.5) is graph.constant(2.5)


def test_a_numpy_number_on_the_left_is_a_number():
    x, _ = x_y()
    assert np.float64(2.0) * x is 2.0 * x


def test_numbers_stay_numbers_until_they_meet_an_expression():
    x, _ = x_y()
    before = len(x.graph.nodes)
    assert (2.0 + 3.0) * 1.0 == 5.0
    assert len(x.graph.nodes) == before
