"""Tapes: laid without dead code, verified, counted and run."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from appell.errors import TraceError
from appell.spatial import scalar
from appell.trace.expr import ARITY, EVALUATE, Op
from appell.trace.tape import Count, Port, Step, Tape, count, trace, verify

IN, OUT = [Port("x", (2,))], [Port("y", (1,))]


def program(x):
    unused = scalar.sin(x[0]) * x[1]
    kept = x[0] * x[1] + 3.0
    assert unused is not kept
    return (kept,)


@pytest.fixture
def tape():
    """Return the tape of x₀·x₁ + 3: MUL, CONST, ADD at positions 2, 3 and 4."""
    return trace("f", program, IN, OUT)


def test_steps_that_no_result_needs_are_left_out(tape):
    assert [step.op for step in tape.steps] == [Op.MUL, Op.CONST, Op.ADD]


def test_a_tape_runs_on_floats(tape):
    assert tape.run([2.0, 5.0]) == [13.0]


def test_a_tape_runs_on_arrays(tape):
    np.testing.assert_array_equal(tape.run([np.array([2.0, 0.0]), np.array([5.0, 7.0])])[0], [13.0, 3.0])


def test_a_tape_runs_on_complex_numbers(tape):
    assert tape.run([2.0 + 1j, 5.0])[0] == 13.0 + 5j


def test_a_tape_refuses_a_wrong_number_of_inputs(tape):
    with pytest.raises(TraceError, match=r"tape 'f': expected 2 scalar inputs, got 3"):
        tape.run([1.0, 2.0, 3.0])


def test_a_tape_of_constants_has_no_arithmetic():
    tape = trace("f", lambda x: (2.0,), IN, OUT)
    assert [step.op for step in tape.steps] == [Op.CONST]


def test_a_result_may_be_an_input():
    assert trace("f", lambda x: (x[1],), IN, OUT).run([1.0, 2.0]) == [2.0]


def test_nested_results_are_laid_in_order():
    tape = trace("f", lambda x: ((x[0], 1.0), [x[1], 2.0]), IN, [Port("y", (2, 2))])
    assert tape.run([3.0, 4.0]) == [3.0, 1.0, 4.0, 2.0]


def test_a_program_must_give_as_many_results_as_it_says():
    with pytest.raises(TraceError, match=r"program 'f': expected 1 scalar results, got 2"):
        trace("f", lambda x: (x[0], x[1]), IN, OUT)


def test_a_program_cannot_branch_on_a_value():
    with pytest.raises(TraceError, match="cannot branch on a value"):
        trace("f", lambda x: (x[0] if x[0] else x[1],), IN, OUT)


def test_a_program_cannot_hold_a_constant_that_is_not_finite():
    with pytest.raises(TraceError, match="must be finite"):
        trace("f", lambda x: (x[0] + float("inf"),), IN, OUT)


def test_the_digest_depends_on_the_operations_and_not_on_the_name(tape):
    assert trace("g", program, IN, OUT).digest == tape.digest
    assert trace("f", lambda x: (x[0] * x[1] + 3.5,), IN, OUT).digest != tape.digest


def test_verification_returns_a_good_tape(tape):
    assert verify(tape) is tape


MALFORMED: dict[str, dict[str, Any]] = {
    "an input among the steps": {"steps": (Step(Op.INPUT, ()),), "results": (2,)},
    "MUL takes 2 values, got 1": {"steps": (Step(Op.MUL, (0,)),), "results": (2,)},
    "NEG takes 1 values, got 2": {"steps": (Step(Op.NEG, (0, 1)),), "results": (2,)},
    "CONST takes 0 values, got 1": {"steps": (Step(Op.CONST, (0,), 1.0),), "results": (2,)},
    "reads \\(0, 2\\), not all earlier": {"steps": (Step(Op.ADD, (0, 2)),), "results": (2,)},
    "reads \\(-1, 0\\), not all earlier": {"steps": (Step(Op.ADD, (-1, 0)),), "results": (2,)},
    "constant nan is not finite": {"steps": (Step(Op.CONST, (), float("nan")),), "results": (2,)},
    "expected 1 results, got 2": {"steps": (Step(Op.NEG, (0,)),), "results": (2, 2)},
    "refers to a position that does not exist": {"steps": (), "results": (2,)},
    "1 steps are unused, the first at 3": {
        "steps": (Step(Op.NEG, (0,)), Step(Op.NEG, (1,))),
        "results": (2,),
    },
}


@pytest.mark.parametrize("complaint", MALFORMED)
def test_verification_refuses(complaint):
    with pytest.raises(TraceError, match=f"tape 'f'.*{complaint}"):
        verify(Tape("f", tuple(IN), tuple(OUT), **MALFORMED[complaint]))


def test_every_operation_but_inputs_and_constants_has_an_arity_and_a_meaning():
    assert set(ARITY) == set(EVALUATE) == set(Op) - {Op.INPUT, Op.CONST}


def test_a_tape_is_frozen(tape):
    with pytest.raises(dataclasses.FrozenInstanceError):
        tape.name = "other"


def test_counts_are_of_multiplications_additions_and_trigonometric_calls():
    def counted(x):
        c, s = scalar.cos(x[0]), scalar.sin(x[0])
        return (c * x[1] - s / x[1] + scalar.sqrt(x[0] * x[0] + 1.0),)

    assert count(trace("f", counted, IN, OUT)) == Count(multiplications=4, additions=3, trigonometric=2)


def test_signs_and_constants_are_free():
    assert count(trace("f", lambda x: (-x[0],), IN, OUT)) == Count(0, 0, 0)


def test_a_shared_operation_counts_once():
    assert count(trace("f", lambda x: (x[0] * x[1], x[1] * x[0]), IN, [Port("y", (2,))])) == Count(1, 0, 0)
