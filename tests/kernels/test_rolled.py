"""Programs of loops without a robot: native code and C give the plain meaning."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from appell.kernels.rolled import Fields, Item, Rolled, Share, Stage, Start, Sweep, Walk
from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.kernels.text.c99 import Function, Sheet, header_text, source_text
from appell.kernels.text.c99_values import REALS
from appell.spatial.scalar import sin
from appell.trace.tape import Port, trace
from tests.support.evaluation import written_out

N = 5


def stage(step: Any, sizes: list[int], count: int, *shares: tuple[Share, ...]) -> Stage:
    """Return a traced step of flat inputs of some sizes."""
    tape = trace("step", step, [Port(f"x{k}", (size,)) for k, size in enumerate(sizes)], [Port("r", (count,))])
    return Stage(tape, *shares)


@pytest.fixture
def program() -> Rolled:
    """Return a program on a tree 1 ← 2 ← 3, 1 ← 4 ← 5 with every kind of pass.

    Per item sin(x + its constant) plus its parent's, all added up at the root; a walk from every item writes the sum of
    its value and its ancestors' on the way; the root's sum comes last.
    """
    items = [Item(0, 0, (0,), ())]
    items += [Item(1, parent, (k,), (0.1 * k,)) for k, parent in enumerate((0, 1, 2, 1, 4))]
    own = Share(0, 1, 0)
    out = Sweep(
        inward=False,
        fields=Fields(parent=("value",), writes=("value",), sums=("total",)),
        stages=(None, stage(lambda c, x, p: (sin(x[0] + c[0]) + p[0], x[0]), [1, 1, 1], 2, (own,))),
    )
    walk = Walk(
        fields=Fields(own=("value",)),
        state=1,
        starts=tuple(Start(k + 1, 0, k) for k in range(N)),
        first=(stage(lambda c, v: (v[0], v[0]), [1, 1], 2, (), (Share(0, 1, 0, N, start=1),)),),
        stages=(
            None,
            stage(lambda c, v, s: (s[0] + v[0], s[0] + v[0]), [1, 1, 1], 2, (), (Share(0, 1, 0, N, start=1),)),
        ),
    )
    root = stage(lambda t: (t[0],), [1], 1, (), (Share(1, 1),))
    last = Sweep(inward=True, fields=Fields(own=("total",)), stages=(root, None))
    outputs = (Port("sums", (N, N)), Port("total", ()))
    base: dict[str, tuple[float, ...]] = {"value": (2.0,)}
    return Rolled(
        "small", (Port("x", (N,)),), outputs, {"value": 1, "total": 1}, base, (out, walk, last), tuple(items), (0,)
    )


def expected(x: Any) -> tuple[Any, Any]:
    """Return the results by NumPy."""
    parents = (-1, 0, 1, 0, 3)
    value, sums = np.empty(N), np.zeros((N, N))
    for k, parent in enumerate(parents):
        value[k] = np.sin(x[k] + 0.1 * k) + (value[parent] if parent >= 0 else 2.0)
    for k in range(N):
        total, j = 0.0, k
        while j >= 0:
            total += value[j]
            sums[j, k] = total
            j = parents[j]
    return sums, x.sum()


def test_the_plain_meaning_is_that_of_numpy(program: Rolled, rng: np.random.Generator) -> None:
    """Run step by step, and unrolled to a tape."""
    x = rng.normal(size=N)
    flat = np.append(*expected(x))
    np.testing.assert_allclose(program.verified().run(x), flat, rtol=1e-14)
    np.testing.assert_allclose(written_out(program).run(x), flat, rtol=1e-14)


def test_native_code_is_the_plain_meaning(program: Rolled, rng: np.random.Generator) -> None:
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


@pytest.mark.parametrize("libm", [True, False], ids=["libm", "alone"])
def test_c_is_the_plain_meaning(
    program: Rolled, compiler: Any, libm: bool, rng: np.random.Generator, tmp_path: Path
) -> None:
    """With sanitizers, every warning an error."""
    ports = (*program.inputs, *program.outputs)
    words = {port.name: port.name for port in ports}
    function = Function("f", program, "a function", words, {p.name: tuple(map(str, p.shape)) for p in ports})
    sheet = Sheet("a test", (), (), (function,))
    (tmp_path / "small.h").write_text(header_text(sheet, "small", REALS["double"], "f"))
    file = tmp_path / "small.c"
    file.write_text(source_text(sheet, "small", REALS["double"], "f", libm=libm))
    compiler.build(
        "-O1", "-fPIC", "-shared", file, "-o", file.with_suffix(".so"), *(["-lm"] if libm else ["-nostdlib"])
    )
    x, sums, total = rng.normal(size=N), np.full((N, N), 7.0), np.empty(1)
    wanted = expected(x)
    call = ctypes.CDLL(str(file.with_suffix(".so"))).f
    call(*(ctypes.c_void_p(array.ctypes.data) for array in (x, sums, total)))
    np.testing.assert_allclose(sums, wanted[0], rtol=1e-14)
    np.testing.assert_allclose(total[0], wanted[1], rtol=1e-14)
