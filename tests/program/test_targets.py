"""Programs without a robot: native code gives what the interpreter gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from appell.errors import TraceError
from appell.kernels.llvm import schedule, scheduled
from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.program.nodes import (
    Block,
    Copy,
    Loop,
    Program,
    verify,
)
from appell.program.record import record
from appell.program.run import run
from appell.spatial.scalar import select, sin
from appell.trace.tape import Port, trace
from tests.support.evaluation import written_out
from tests.support.small_programs import SIZE, N, expected, loops, passes, stepped


@pytest.fixture
def program() -> Program:
    return passes()


@pytest.fixture(scope="module")
def stepping() -> Program:
    return loops()


def test_the_plain_meaning_is_that_of_numpy(program: Program, rng: np.random.Generator) -> None:
    """Step by step, and unrolled to a tape."""
    x = rng.normal(size=N)
    flat = np.append(*expected(x))
    np.testing.assert_allclose(run(verify(program), x), flat, rtol=1e-14)
    np.testing.assert_allclose(written_out(program).run(x), flat, rtol=1e-14)


def test_native_code_is_the_plain_meaning(program: Program, rng: np.random.Generator) -> None:
    """Of more samples than lanes, with angles beyond the fast range, and nothing left from the sample before."""
    kernel = Kernel(ProgramSpec("small", program.inputs, program.outputs, repr(program), lambda: program))
    x = rng.normal(size=(21, N))
    x[4, 2] = 1e7
    x[5, 0] = np.nan
    sums, total = np.full((21, N, N), 7.0), np.full(21, 7.0)
    kernel(x, out=(sums, total))
    for k in range(21):
        wanted = expected(x[k])
        np.testing.assert_allclose(sums[k], wanted[0], rtol=1e-13)
        np.testing.assert_allclose(total[k], wanted[1], rtol=1e-13)


def test_loops_are_those_of_numpy(stepping: Program, rng: np.random.Generator) -> None:
    """Nested, backward, with streams along both axes and rows of numbers."""
    x, drive = rng.normal(size=SIZE), rng.normal(size=(3, 2, 1))
    flat = np.concatenate([part.ravel() for part in stepped(x, drive, 0.7)])
    np.testing.assert_allclose(run(stepping, x, drive, [0.7]), flat, rtol=1e-13)


@pytest.mark.parametrize("kind", ["f8", "f4"])
@pytest.mark.parametrize("longest", [0, 1500], ids=["scheduled", "plain"])
@pytest.mark.parametrize("n", [11, 150])
def test_native_loops_are_those_of_numpy(
    stepping: Program, rng: np.random.Generator, kind: str, longest: int, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each sample has its own stream; strides of axes are free, so streams and inputs may be shared."""
    monkeypatch.setattr(scheduled, "LONG", longest)
    text = f"{stepping!r} {longest}"
    kernel = Kernel(ProgramSpec("stepping", stepping.inputs, stepping.outputs, text, lambda: stepping))
    x, drive = rng.normal(size=(n, SIZE)).astype(kind), rng.normal(size=(n, 3, 2, 1)).astype(kind)
    x[3] = 1e5 if kind == "f8" else 3.0, np.nan
    turned = np.asfortranarray(drive.transpose(2, 0, 1, 3)).transpose(1, 2, 0, 3)
    path, sums = np.empty((n, 3, SIZE), kind), np.empty((n, 3), kind)
    kernel(x, turned, np.array(0.7, kind), out=(path, sums))
    for k in range(n):
        wanted = stepped(x[k].astype(float), drive[k].astype(float), 0.7)
        for found, right in zip((path, sums), wanted, strict=True):
            np.testing.assert_allclose(found[k], right, rtol=0, atol=1e-13 if kind == "f8" else 1e-4)
    alone = np.empty((1, 3, SIZE), kind), np.empty((1, 3), kind)
    kernel(x[5:6], drive[5:6], np.array(0.7, kind), out=alone)
    assert np.array_equal(alone[0][0], path[5])


def test_a_malformed_program_names_the_node(stepping: Program) -> None:
    """By the memory or the block."""

    def fails(nodes: Any, text: str) -> None:
        with pytest.raises(TraceError, match=text):
            verify(replace(stepping, nodes=nodes))

    fails((Copy("x", "nowhere"),), "no memory 'nowhere'")
    fails((Copy("x", "sum"),), "'x' and 'sum' differ in size")
    fails((Copy("state", "x"),), "the input 'x' is written")
    fails((Copy("path", "state"),), "the output 'path' is read")
    fails((Copy("states", "state"),), "'states' has the axis 'stage' and is used outside its loop")
    fails((Loop("turn", ()),), "loop 'turn' has no count and no stream")
    block = next(node for node in stepping.all_nodes if isinstance(node, Block) and node.tape.name == "clip")
    fails((block._replace(reads=("sum",)),), "block 'clip': input 'x' has 2 numbers, memory 1")


def test_a_function_is_cut_where_it_calls_a_program_with_loops(program: Program, rng: np.random.Generator) -> None:
    """What later blocks read of earlier ones is kept; native code has the numbers of the interpreter."""

    def twice(call: Any, x: Any) -> Any:
        early = [sin(y) for y in x]
        _, (total,) = call(program, x)
        sums, (other,) = call(program, [total * y for y in early])
        return [total * early[0] + other * x[1] + early[1] * other, sums[7], 3.0]

    made = verify(record("twice", twice, [Port("x", (N,))], [Port("y", (3,))]))
    x = rng.normal(size=(9, N))
    wanted = []
    for row in x:
        total = expected(row)[1]
        sums, other = expected(total * np.sin(row))
        wanted.append([total * np.sin(row[0]) + other * row[1] + np.sin(row[1]) * other, sums.ravel()[7], 3.0])
    np.testing.assert_allclose([run(made, row) for row in x], wanted, rtol=1e-13)
    kernel = Kernel(ProgramSpec("twice", made.inputs, made.outputs, repr(made), lambda: made))
    np.testing.assert_allclose(kernel(x), wanted, rtol=1e-12, atol=1e-13)


def test_scheduled_blocks_may_write_where_they_read(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memories swap, move on, are read under two names, get constants and a number twice; part by part."""
    monkeypatch.setattr(scheduled, "LONG", 0)
    monkeypatch.setattr(schedule, "LONGEST", 6)
    x, y, z = (Port(name, (3,)) for name in "xyz")

    def turned(a: Any, b: Any, again: Any, c: Any) -> Any:
        mixed = [sin(p) * q + r for p, q, r in zip(a, c, b, strict=True)]
        return b, [p + again[k] for k, p in enumerate(mixed)], [mixed[0], 0.5, mixed[0] * c[2]]

    tape = trace("turned", turned, (x, y, Port("again", (3,)), z), (x, y, z))
    slots = tuple(port._replace(name=f"{port.name}_now") for port in (x, y, z))
    names = tuple(port.name for port in slots)
    body = (Block(tape, (names[0], names[1], names[0], names[2]), names),)
    begin = [Copy(port.name, own) for port, own in zip((x, y, z), names, strict=True)]
    end = [Copy(own, port.name) for port, own in zip((x, y, z), names, strict=True)]
    made = verify(Program("turned", (x, y, z), (x, y, z), (*begin, Loop("turn", body, 5), *end), slots))
    given = rng.normal(size=(3, 19, 3))
    given[0, 4] += 1e8
    found = np.concatenate(Kernel(ProgramSpec("turned", made.inputs, made.outputs, "x", lambda: made))(*given), axis=1)
    np.testing.assert_allclose(found, [run(made, *row) for row in given.transpose(1, 0, 2)], rtol=1e-7)


def conditional() -> Program:
    """Return a program that doubles y three times where x is above zero, in a loop that is else left out."""
    x, y = Port("x", (1,)), Port("y", (2,))
    doubled = trace("doubled", lambda x, y: tuple(select(x[0], 2.0 * b, b) for b in y), [x, y], [y])
    body = (Block(doubled, ("flag", "now"), ("now",)),)
    nodes = (Copy("x", "flag"), Copy("y", "now"), Loop("turn", body, 3, when="flag"), Copy("now", "z"))
    slots = (x._replace(name="flag"), y._replace(name="now"))
    return verify(Program("conditional", (x, y), (y._replace(name="z"),), nodes, slots))


@pytest.mark.parametrize("longest", [0, 1500], ids=["scheduled", "plain"])
def test_a_loop_runs_where_a_sample_fulfils_its_condition(
    longest: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """Alone, or beside some that do not."""
    monkeypatch.setattr(scheduled, "LONG", longest)
    made = conditional()
    kernel = Kernel(ProgramSpec("conditional", made.inputs, made.outputs, f"{made!r} {longest}", lambda: made))
    y = rng.normal(size=(150, 2))
    for x in (np.zeros(150), np.ones(150), (np.arange(150) == 70) * 1.0, np.arange(150) % 40 - 20.0):
        wanted = np.where(x[:, None] > 0.0, 8.0 * y, y)
        assert np.array_equal(kernel(x[:, None], y), wanted)
        assert np.array_equal([run(made, [a], b) for a, b in zip(x, y, strict=True)], wanted)


def test_a_condition_is_one_number() -> None:
    made = conditional()
    *slots, now = made.slots
    nodes = tuple(x._replace(when="now") if isinstance(x, Loop) else x for x in made.nodes)
    with pytest.raises(TraceError, match="the condition of loop 'turn' is no single number"):
        verify(replace(made, nodes=nodes, slots=(*slots, now)))
