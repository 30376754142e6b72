"""Rates and operation counts of programs: every node."""

from __future__ import annotations

import numpy as np
import pytest

from appell.errors import TraceError
from appell.program.adjoint import adjoint
from appell.program.count import count
from appell.program.nodes import Block, Copy, Entry, Program, Sweep, Walk, straight, verify
from appell.program.tangent import tangent
from appell.trace.tape import count as count_tape
from tests.program.test_targets import program as walking
from tests.program.test_targets import stepping
from tests.support.evaluation import written_out
from tests.support.programs import (
    END,
    IN,
    OUT,
    TOTAL,
    X,
    block,
    native,
    numbers,
    passes,
    program,
    results,
    rolled,
    turn,
)

__all__ = ["stepping", "walking"]


def check(made: Program, rng: np.random.Generator, by: list[str]) -> Program:
    """Check the rates of a program against a complex step, in the interpreter and native; return their program."""
    rates = verify(tangent(made, {name: f"d_{name}" for name in by}))
    given = numbers(rates.inputs, rng)
    moved = given | {name: given[name] + 1e-30j * given[f"d_{name}"] for name in by}
    found, wanted = results(rates, given), results(made, moved)
    for name, x in wanted.items():
        np.testing.assert_allclose(found[name], x.imag / 1e-30, rtol=1e-12, atol=1e-12)
        assert np.abs(found[name]).max() > 0.0
    for name, x in native(rates, given).items():
        np.testing.assert_allclose(x, found[name], rtol=1e-11, atol=1e-12)
    return rates


def test_blocks_and_loops(rng: np.random.Generator, stepping: Program) -> None:
    """Nested loops, streams, arrays of entries."""
    check(stepping, rng, ["x", "drive", "rate"])
    check(rolled(), rng, ["x", "drive"])
    rates = check(rolled(), rng, ["x"])
    assert [port.name for port in rates.inputs] == ["x", "drive", "rate", "d_x"]


def test_sweeps_and_walks(rng: np.random.Generator, walking: Program) -> None:
    """Fields, sums at the root, states, a field of one item that a block reads."""
    check(walking, rng, ["x"])
    items, nodes = passes()
    read = block(lambda v: (v[0] * v[0], v[0]), [], ["end"], [1, 2])
    made = program(
        (*nodes, Block(read.tape, (Entry(items, "load", 2),), ("end",))), inputs=[IN], outputs=[OUT, TOTAL, END]
    )
    check(made, rng, ["x"])


def test_second_derivatives(rng: np.random.Generator) -> None:
    """The rates of gradients, over sweeps and loops."""
    _, nodes = passes()
    made = program(nodes, inputs=[IN], outputs=[OUT, TOTAL])
    check(adjoint(made, ["x"], ["y", "total"]), rng, ["x", "w_y"])
    check(adjoint(rolled(), ["x", "drive"], ["end"]), rng, ["kept_s", "w_end"])


def test_what_does_not_move_has_no_rate(rng: np.random.Generator) -> None:
    """Results that do not depend on what moves have zeros; nothing is computed for them."""
    inputs, outputs = (X, END._replace(name="z")), (END, END._replace(name="other"))
    made = program((block(turn, ["x"], ["end"]), block(turn, ["z"], ["other"])), inputs=inputs, outputs=outputs)
    rates = verify(tangent(made, {"x": "dx"}))
    assert not results(rates, numbers(rates.inputs, rng))["other"].any()
    assert count(rates).trigonometric == 3


def test_counts(stepping: Program, walking: Program) -> None:
    """Blocks by turns, steps by items and walks; what is written out has no more."""
    tapes = {tape.name: count_tape(tape) for tape in stepping.tapes}
    found = count(stepping, {"kept": 5, "step": 7})
    assert found.multiplications == 35 * (3 * tapes["stage"].multiplications + 3 * tapes["add"].multiplications)
    assert found.trigonometric == 35 * (3 * 2 + 3)
    with pytest.raises(TraceError, match="give the number of turns of loop 'kept'"):
        count(stepping, {"step": 7})
    (sweep,) = (x for x in walking.nodes if isinstance(x, Sweep) and x.stages[1])
    assert count(Program("out", walking.inputs, (), (sweep,))).trigonometric == 5
    (walk,) = (x for x in walking.nodes if isinstance(x, Walk))
    assert count(Program("walk", (), walking.outputs, (walk,))).additions == 1 + 2 + 1 + 2
    assert count(straight(written_out(walking))).trigonometric == count(walking).trigonometric == 5
    assert count(Program("none", (), walking.outputs, (Copy("", "sums"),))).additions == 0
