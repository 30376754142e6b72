"""Derivatives of traced programs against complex steps through the same arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from appell.spatial import scalar
from appell.trace.derive import gradient, jacobian
from appell.trace.tape import Port, trace

X = (0.7, -1.3)
PROGRAMS = {
    "x + y": lambda x, y: x + y,
    "x − y": lambda x, y: x - y,
    "x·y": lambda x, y: x * y,
    "x·x": lambda x, y: x * x,
    "x / y": lambda x, y: x / y,
    "−x·y": lambda x, y: -x * y,
    "√(x² + y²)": lambda x, y: scalar.sqrt(x * x + y * y),
    "sin(x·y)": lambda x, y: scalar.sin(x * y),
    "cos(x + 2)": lambda x, y: scalar.cos(x + 2.0),
    "sign(x)·y": lambda x, y: scalar.sign(x) * y,
    "x·y if x > y else x": lambda x, y: scalar.select(x - y, x * y, x),
    "x·y if y > x else y²": lambda x, y: scalar.select(y - x, x * y, y * y),
    "of no input": lambda x, y: 3.0,
    "all together": lambda x, y: scalar.sin(x) * scalar.cos(y) / (2.0 + x * y) - (x - y) * scalar.sqrt(x),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_derivative_is_that_of_the_arithmetic(name):
    f = PROGRAMS[name]
    tape = trace("f", lambda x: jacobian([f(*x)], x), [Port("x", (2,))], [Port("J", (1, 2))])
    steps = [[complex(x, 1e-30 * (k == i)) for i, x in enumerate(X)] for k in range(2)]
    np.testing.assert_allclose(tape.run(X), [np.imag(f(*step)) / 1e-30 for step in steps], rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_gradient_is_the_weighed_derivative_of_the_arithmetic(name):
    f, w = PROGRAMS[name], 0.37
    program = lambda x, w: gradient([f(*x), x[0] * x[1]], [w[0], 2.0], x)  # noqa: E731
    tape = trace("f", program, [Port("x", (2,)), Port("w", (1,))], [Port("g", (2,))])
    steps = [[complex(x, 1e-30 * (k == i)) for i, x in enumerate(X)] for k in range(2)]
    expected = [w * np.imag(f(*step)) / 1e-30 + 2.0 * X[1 - k] for k, step in enumerate(steps)]
    np.testing.assert_allclose(tape.run(X, [w]), expected, rtol=1e-14, atol=1e-16)


def test_a_derivative_that_is_zero_leaves_no_step():
    tape = trace("f", lambda x: jacobian([x[0] * 3.0], [x[1]]), [Port("x", (2,))], [Port("J", (1, 1))])
    assert tape.run(X) == [0.0]
    assert len(tape.steps) == 1


def test_no_variables_give_empty_rows():
    assert trace("f", lambda x: (jacobian([x[0], x[1]], []), 1.0), [Port("x", (2,))], [Port("y", (1,))]).run(X) == [1.0]
