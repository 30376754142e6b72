"""Programs without a robot: native code gives what the interpreter gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from appell.errors import TraceError
from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.program.nodes import (
    Block,
    Copy,
    Loop,
    Program,
)
from appell.program.run import run
from appell.program.verify import verify
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
def test_native_loops_are_those_of_numpy(stepping: Program, rng: np.random.Generator, kind: str) -> None:
    """Each sample has its own stream; strides of axes are free, so streams and inputs may be shared."""
    kernel = Kernel(ProgramSpec("stepping", stepping.inputs, stepping.outputs, repr(stepping), lambda: stepping))
    x, drive = rng.normal(size=(11, SIZE)).astype(kind), rng.normal(size=(11, 3, 2, 1)).astype(kind)
    x[3] = 1e5 if kind == "f8" else 3.0, np.nan
    turned = np.asfortranarray(drive.transpose(2, 0, 1, 3)).transpose(1, 2, 0, 3)
    path, sums = np.empty((11, 3, SIZE), kind), np.empty((11, 3), kind)
    kernel(x, turned, np.array(0.7, kind), out=(path, sums))
    for k in range(11):
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
