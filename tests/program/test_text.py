"""Programs without a robot as C and JAX: what the interpreter gives, of loops, passes and both."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from appell.errors import InputError
from appell.kernels.text import c99_values, jax_values
from appell.kernels.text.c99 import header_text
from appell.kernels.text.c99_values import REALS
from appell.kernels.text.casadi import CASADI
from appell.program.nodes import Program
from appell.program.run import run
from tests.support.exported import in_c, in_python, sheet, watched, written
from tests.support.small_programs import loops, mixed, passes

PROGRAMS: dict[str, tuple[Callable[[], Program], dict[str, int]]] = {
    "passes": (passes, {}),
    "loops": (loops, {"kept": 3, "step": 2}),
    "mixed": (mixed, {"turn": 4}),
}
"""Programs, and how many turns their streams have here."""
LIBM = pytest.mark.parametrize("libm", [True, False], ids=["libm", "alone"])


@pytest.fixture(params=PROGRAMS)
def case(request: pytest.FixtureRequest) -> tuple[Program, dict[str, int]]:
    """Return a program, and the lengths of its streams."""
    make, turns = PROGRAMS[request.param]
    return make(), turns


def given(program: Program, turns: dict[str, int], *leading: int) -> list[NDArray[Any]]:
    """Return random arguments."""
    rng = np.random.default_rng(5)
    ports = program.inputs
    return [rng.normal(size=(*leading, *(turns[axis] for axis in port.axes), *port.shape)) for port in ports]


def meant(program: Program, turns: dict[str, int], arguments: list[Any]) -> list[NDArray[Any]]:
    """Return what the interpreter gives."""
    scalars = [x[..., None] if not port.shape else x for port, x in zip(program.inputs, arguments, strict=True)]
    flat, found = np.array(run(program, *scalars)), []
    for port in program.outputs:
        shape = (*(turns[axis] for axis in port.axes), *port.shape)
        found.append(flat[: int(np.prod(shape))].reshape(shape))
        flat = flat[found[-1].size :]
    return found


def called(program: Program, turns: dict[str, int], arguments: list[Any], dtype: type = np.float64) -> list[Any]:
    """Return the arguments of C: inputs, counts, places of the results."""
    inputs = [float(x) if not x.ndim else x.astype(dtype) for x in arguments]
    results: list[Any] = [np.full(x.shape, np.nan, dtype) for x in meant(program, turns, arguments)]
    return [*inputs, *(turns[axis] for axis in program.axes), *results]


# C


@LIBM
@pytest.mark.parametrize("real", ["double", "float"])
def test_c_gives_what_is_meant(case: Any, compiler: Any, libm: bool, real: str, tmp_path: Path) -> None:
    """Streams and counts are arguments; every warning is an error."""
    program, turns = case
    dtype, within = (np.float64, 1e-14) if real == "double" else (np.float32, 1e-5)
    arguments = [x.astype(dtype).astype(float) for x in given(program, turns)]
    wanted, passed = meant(program, turns, arguments), called(program, turns, arguments, dtype)
    in_c(program, compiler, tmp_path, libm=libm, real=real)(*passed)
    for found, right in zip(passed[-len(wanted) :], wanted, strict=True):
        np.testing.assert_allclose(found, right, rtol=0, atol=within * max(np.abs(right).max(), 1.0))


@LIBM
def test_sanitizers_find_nothing_in_loops(case: Any, compiler: Any, libm: bool, tmp_path: Path) -> None:
    """Neither outside of an array nor undefined, for angles beyond the fast range too."""
    program, turns = case
    arguments = given(program, turns)
    arguments[0][0] = 1e7
    found = watched(program, compiler, tmp_path, *called(program, turns, arguments), libm=libm)
    wanted = np.concatenate([x.ravel() for x in meant(program, turns, arguments)])
    np.testing.assert_allclose(found, wanted, rtol=1e-8)


def test_no_turns_are_none(any_compiler: Any, tmp_path: Path) -> None:
    """Without turns the state stays, and no entry is written."""
    program = mixed()
    y, _ = given(program, {"turn": 1})
    path, after, end = np.full((1, 4), 7.0), np.empty(4), np.empty(1)
    in_c(program, any_compiler, tmp_path)(y, np.empty(0), 0, path, after, end)
    assert np.array_equal(after, y)
    assert np.array_equal(path, np.full((1, 4), 7.0))


def test_results_may_be_stored_where_arguments_are(any_compiler: Any, tmp_path: Path) -> None:
    """The state in its own place, the entries of a stream in those of the other."""
    program, turns = mixed(), {"turn": 4}
    y, u = given(program, turns)
    path, after, _ = meant(program, turns, [y, u])
    in_c(program, any_compiler, tmp_path)(y, u, 4, u, y, np.empty(1))
    np.testing.assert_allclose(u, path, rtol=1e-13)
    np.testing.assert_allclose(y, after, rtol=1e-13)


@LIBM
def test_long_blocks_are_parts_in_loops_too(
    compiler: Any, libm: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each part a function, their values in one array per block."""
    monkeypatch.setattr(c99_values, "LONG", 5)
    monkeypatch.setattr(c99_values, "PART", 4)
    program, turns = loops(), {"kept": 3, "step": 2}
    assert "PART void part2_of_f_0_stage" in written(program, tmp_path, libm=libm).read_text()
    arguments = given(program, turns)
    found = watched(program, compiler, tmp_path, *called(program, turns, arguments), libm=libm)
    wanted = np.concatenate([x.ravel() for x in meant(program, turns, arguments)])
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_the_header_has_counts_and_extents(tmp_path: Path) -> None:
    """Counts behind the inputs, streams as pointers with their lengths in words, and the stack that is needed."""
    text = header_text(sheet(loops()), "f", REALS["double"], "f")
    assert "const double *drive, const double rate, int kepts, int steps, double *path" in text.replace("\n   ", "")
    assert re.search(r"drive +in +the drive; drive\[kepts \* steps \* 1\]", text)
    assert re.search(r"steps +in +number of steps", text)
    assert re.search(r"Keeps \d+ numbers on the stack", text)


# JAX


@pytest.fixture
def jax() -> Any:
    """Return JAX in double precision."""
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        yield jax


FORMS = pytest.mark.parametrize("form", ["written out", "tables"])


@FORMS
def test_jax_gives_what_is_meant(case: Any, jax: Any, form: str, agree: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With leading axes that broadcast, under jit and vmap; short tapes are written out, long ones tables."""
    program, turns = case
    monkeypatch.setattr(jax_values, "LONG", 0 if form == "tables" else 10**6)
    f, many = in_python(program), given(program, turns, 3, 2)
    arguments, one = [many[0], *(x[0] for x in many[1:])], [x[0, 0] for x in many]
    results = jax.jit(f)(*arguments)
    batched = jax.jit(jax.vmap(f, in_axes=(0, *[None] * (len(arguments) - 1))))(*arguments)
    for found, again, right in zip(results, batched, meant(program, turns, one), strict=True):
        agree(found[0, 0], right, 1e-13)
        agree(again, found, 1e-13)


@FORMS
@pytest.mark.parametrize("mode", ["jacfwd", "jacrev"])
def test_derivatives_of_jax_are_those_of_what_is_meant(
    case: Any, jax: Any, form: str, mode: str, agree: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By every argument, in both modes, against complex steps."""
    program, turns = case
    monkeypatch.setattr(jax_values, "LONG", 0 if form == "tables" else 10**6)
    f, arguments = in_python(program), given(program, turns)
    slopes = jax.jit(getattr(jax, mode)(f, argnums=tuple(range(len(arguments)))))(*arguments)
    for k, x in enumerate(arguments):
        for place in list(np.ndindex(x.shape))[:3]:
            moved = [y.astype(complex) for y in arguments]
            moved[k][place] += 1e-30j
            for slope, right in zip(slopes, meant(program, turns, moved), strict=True):
                axes = slope[k].ndim - x.ndim
                agree(slope[k][(slice(None),) * axes + place], right.imag / 1e-30, 1e-12, 1.0)


def test_jax_in_single_precision_stays_there(case: Any, jax: Any) -> None:
    """Constants and memories too."""
    program, turns = case
    results = in_python(program)(*(x.astype(np.float32) for x in given(program, turns)))
    assert {x.dtype for x in results} == {np.dtype(np.float32)}


def test_streams_of_other_lengths_are_refused(jax: Any) -> None:
    """With the name of the argument."""
    program = mixed()
    rows = replace(program, inputs=(*program.inputs, program.inputs[1]._replace(name="w")))
    y, u = given(program, {"turn": 4})
    with pytest.raises(ValueError, match=r"w: expected \(\.\.\., 4, 4\), got \(3, 4\)"):
        in_python(rows)(y, u, u[:3])


def test_casadi_takes_no_loops() -> None:
    """One error, with what takes them."""
    pytest.importorskip("casadi")
    with pytest.raises(InputError, match=r"'f' has loops, .* use 'jax' or 'c'"):
        in_python(loops(), CASADI)
