"""Long tapes: the schedule of registers is sound, and scheduled code is the tape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from appell.kernels.llvm import emit, scheduled
from appell.kernels.llvm.llvm_writer import DOUBLE
from appell.kernels.llvm.module import modules
from appell.kernels.llvm.schedule import Instruction, Kind, Move, instructions, schedule
from appell.kernels.llvm.scheduled import LONG
from appell.kernels.llvm.target import host
from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.spatial.scalar import cos, sin
from appell.trace.expr import Op
from appell.trace.tape import Port, Step, Tape, trace

REGISTERS = 13
SIZE = 24


@pytest.fixture(scope="module")
def tape() -> Tape:
    """A program of some thousand steps: angles turned by one another, mixed across all inputs, one input unread."""

    def program(q, v):
        carried = list(v)
        for k in range(SIZE * 9):
            c, s = cos(q[k % (SIZE - 1)] + 0.1 * (k % 5)), sin(q[k % (SIZE - 1)] + 0.1 * (k % 5))
            a, b, d = k % SIZE, (k * 7 + 1) % SIZE, (k * 5 + 3) % SIZE
            carried[a] = c * carried[a] - s * carried[b] + 0.3 * carried[d] / (2.0 + c * s)
            carried[b] = -(s * carried[a]) + 0.2 * c * carried[b] + 0.01 * k
        return (carried,)

    made = trace("long", program, (Port("q", (SIZE,)), Port("v", (SIZE,))), (Port("x", (SIZE,)),))
    assert len(made.steps) > LONG
    return made


def test_a_plan_has_every_value_in_a_register_when_it_is_read(tape: Tape) -> None:
    made = schedule(tape, REGISTERS, 8)
    shared: dict[int, int] = {}
    for part in made.parts:
        known: set[int] = set()
        own: dict[int, int] = {}
        for thing in part:
            if isinstance(thing, Move):
                memory = shared if thing.is_shared else own
                if thing.is_load:
                    assert memory[thing.slot] == thing.value
                    known.add(thing.value)
                else:
                    assert thing.value in known
                    memory[thing.slot] = thing.value
            else:
                assert set(thing.reads) <= known
                known.update(thing.makes)


def test_what_is_read_as_settled_is_not_written_in_the_same_part(tape: Tape) -> None:
    settled = 0
    for part in schedule(tape, REGISTERS, 8).parts:
        moves = [thing for thing in part if isinstance(thing, Move) and thing.is_shared]
        read = {move.slot for move in moves if move.is_settled}
        assert not read & {move.slot for move in moves if not move.is_load}
        settled += len(read)
    assert settled > 0


def test_a_plan_makes_every_value_once_and_stores_every_result_once(tape: Tape) -> None:
    things = [x for part in schedule(tape, REGISTERS, 8).parts for x in part if isinstance(x, Instruction)]
    makes = [i for thing in things for i in thing.makes]
    stored = [k for thing in things if not thing.makes for k in thing.what]
    assert len(makes) == len(set(makes))
    assert sorted(stored) == list(range(SIZE))


def test_constants_before_all_other_results_are_stored(tape: Tape) -> None:
    lanes, (port,) = 4, tape.outputs
    n = 5 * lanes  # several groups that are constants alone
    zero = tape.n_inputs + len(tape.steps)
    more = replace(
        tape,
        steps=(*tape.steps, Step(Op.CONST, (), 0.0)),
        outputs=(Port(port.name, (n + port.size,)),),
        results=(*[zero] * n, *tape.results),
    )
    line = instructions(more, lanes)
    stored = [k for x in line if x.kind is Kind.OUTPUT for k in x.what]
    assert sorted(stored) == list(range(n + port.size))


def test_a_long_tape_is_planned_in_several_parts(tape: Tape) -> None:
    assert len(schedule(tape, REGISTERS, 8).parts) > 1


@pytest.mark.parametrize("samples", [1, 7, 8, 9, 30])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_large_results_of_planned_code_are_the_tapes(tape: Tape, rng: np.random.Generator, samples: int, kind) -> None:
    # an output whose last vector is not full, with constants, inputs and repeated values; a small one; one of pairs
    results = (*tape.results * 9, *range(tape.n_inputs), *(tape.results[0],) * 3)
    large, zero = len(results) + 1, tape.n_inputs + len(tape.steps)
    outputs = (Port("large", (large,)), Port("one", (1,)), Port("some", (11,)))
    wide = replace(
        tape,
        outputs=outputs,
        steps=(*tape.steps, Step(Op.CONST, (), 0.5)),
        results=(*results, zero, zero, *tape.results[:10], zero),
    )
    kernel = Kernel(ProgramSpec(tape.name, tape.inputs, wide.outputs, wide.digest, lambda: wide))
    q, v = rng.normal(size=(2, samples, SIZE)).astype(kind)
    expected = np.array([np.broadcast_to(x, samples) for x in wide.run(*(list(x.astype(float).T) for x in (q, v)))]).T
    near = 1e-11 if kind is np.float64 else 2e-3
    for found, start, port in zip(kernel(q, v), (0, large, large + 1), outputs, strict=True):
        np.testing.assert_allclose(found, expected[:, start : start + port.size], rtol=near, atol=near)


@pytest.mark.parametrize("bypass", [1, 1 << 40])
@pytest.mark.parametrize("start", [0, 3, 8])
def test_rows_are_written_whole_and_nowhere_else(tape, rng, monkeypatch, bypass, start) -> None:
    monkeypatch.setattr(scheduled, "BYPASS", bypass)
    zero = tape.n_inputs + len(tape.steps)
    results = (*tape.results * 9, *[zero] * 100, *tape.results[:5], *[zero] * 30)  # rows of three pieces
    wide = replace(
        tape, outputs=(Port("x", (len(results),)),), steps=(*tape.steps, Step(Op.CONST, (), 0.0)), results=results
    )
    kernel = Kernel(ProgramSpec(tape.name, tape.inputs, wide.outputs, f"{wide.digest} {bypass}", lambda: wide))
    q, v = rng.normal(size=(2, 21, SIZE))
    expected = np.array([np.broadcast_to(x, 21) for x in wide.run(list(q.T), list(v.T))]).T
    memory = np.full(start + expected.size + 11, np.nan)  # starts anywhere in a cache line
    place = memory[start : start + expected.size].reshape(expected.shape)
    kernel(q, v, out=place)
    np.testing.assert_allclose(place, expected, rtol=1e-11, atol=1e-11)
    assert np.isnan(memory[:start]).all()
    assert np.isnan(memory[start + expected.size :]).all()


@pytest.mark.parametrize("samples", [1, 3, 4, 33, 70])
def test_planned_code_is_the_tape(tape: Tape, rng: np.random.Generator, samples: int) -> None:
    kernel = Kernel(ProgramSpec(tape.name, tape.inputs, tape.outputs, tape.digest, lambda: tape))
    q, v = rng.normal(size=(2, samples, SIZE))
    expected = np.array(tape.run(list(q.T), list(v.T))).T
    np.testing.assert_allclose(kernel(q, v), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("together", [1, 2])
def test_parts_in_modules_of_their_own_are_the_tape(tape, rng, monkeypatch, together: int) -> None:
    monkeypatch.setattr(scheduled, "TOGETHER", together)
    assert len(list(modules(tape, DOUBLE, host()))) > 2
    q, v = rng.normal(size=(2, 33, SIZE))
    expected = np.array(tape.run(list(q.T), list(v.T))).T
    for _ in range(2):  # compiled, then from the cache
        kernel = Kernel(ProgramSpec(tape.name, tape.inputs, tape.outputs, f"{tape.digest} {together}", lambda: tape))
        np.testing.assert_allclose(kernel(q, v), expected, rtol=1e-11, atol=1e-12)


def test_planned_code_reduces_angles_beyond_the_fast_range(tape: Tape, rng: np.random.Generator) -> None:
    kernel = Kernel(ProgramSpec(tape.name, tape.inputs, tape.outputs, tape.digest, lambda: tape))
    q, v = rng.normal(size=(2, 70, SIZE))
    far = q.copy()
    far[40, 3] += 2.0 * np.pi * 2**20
    near = kernel(q, v)
    np.testing.assert_allclose(kernel(far, v), near, rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(kernel(far, v)[:32], near[:32])


def test_planned_code_passes_on_not_a_number_of_an_input_that_no_step_reads(
    tape: Tape, rng: np.random.Generator
) -> None:
    kernel = Kernel(ProgramSpec(tape.name, tape.inputs, tape.outputs, tape.digest, lambda: tape))
    q, v = rng.normal(size=(2, 5, SIZE))
    q[2, SIZE - 1] = np.nan
    assert np.isnan(kernel(q, v)).all(axis=1).tolist() == [False, False, True, False, False]


def test_not_a_number_of_an_unread_input_reaches_many_results_through_inputs_and_sines(tape, rng) -> None:
    made = [i for i, step in enumerate(tape.steps, start=tape.n_inputs) if step.op is not Op.CONST]
    many = replace(tape, outputs=(Port("x", (len(made),)),), results=tuple(made))
    added = emit.poisoned(many)
    assert len(added.steps) - len(many.steps) < len(made)
    kernel = Kernel(ProgramSpec(tape.name, tape.inputs, many.outputs, many.digest, lambda: many))
    q, v = rng.normal(size=(2, 5, SIZE))
    expected = np.array(many.run(list(q.T), list(v.T))).T
    np.testing.assert_allclose(kernel(q, v), expected, rtol=1e-11, atol=1e-11)
    q[2, SIZE - 1] = np.nan
    found = np.isnan(kernel(q, v))
    assert found[2].all()
    assert not found[[0, 1, 3, 4]].any()
