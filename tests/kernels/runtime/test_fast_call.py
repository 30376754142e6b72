"""The short way for plain arrays: taken where arrays are laid out as assumed, and left where they are not."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import appell
from appell.kernels.llvm.entries import LAYOUT
from appell.kernels.runtime import callables


@pytest.fixture
def kernel(compiled, monkeypatch):
    """Return a kernel that no cache keeps: its code may be compiled for a wrong layout."""
    monkeypatch.setenv("APPELL_CACHE", "off")
    callables.available.cache_clear()
    yield lambda: compiled(lambda x: (x[0] * x[1] + 1.0, x[1]), {"x": (2,)}, {"y": (2,)})
    callables.available.cache_clear()


@pytest.mark.skipif(not callables.available(), reason="this interpreter lays objects out otherwise")
def test_one_plain_sample_takes_the_short_way_and_all_else_the_general(kernel):
    made, asked = kernel(), []

    def general(*arguments):
        asked.append(arguments)
        return made(*arguments)

    call = made.fast_call(general)
    assert call(np.array([2.0, 3.0])).tolist() == [7.0, 3.0]
    assert asked == []
    for other in ([2.0, 3.0], np.array([2, 3]), np.array([2.0, 0.0, 3.0])[::2], np.array([2.0, 3.0], np.float32)):
        assert call(other).tolist() == [7.0, 3.0]
    assert len(asked) == 4
    assert call(np.array([2.0, 3.0], np.float32)).tolist() == [7.0, 3.0]
    assert len(asked) == 4  # single precision is compiled now


@pytest.mark.skipif(not callables.available(), reason="this interpreter lays objects out otherwise")
def test_the_definition_of_the_builtin_lives_as_long_as_the_builtin(kernel):
    call = (made := kernel()).fast_call(made)
    (definition,) = (x for x in call.__self__ if isinstance(x, callables._Definition))
    assert definition.name == call.__name__.encode()


PLACED = pytest.mark.skipif(not callables.available(), reason="this interpreter lays objects out otherwise")


@pytest.fixture(scope="module")
def two(compiled):
    """Return a kernel of two inputs and two results, of which one is a matrix."""

    def program(x, y):
        return (x[0] * y[0], x[1]), ((x[0], y[0], 1.0), (y[1], y[2], x[1]))

    return compiled(program, {"x": (2,), "y": (3,)}, {"f": (2,), "M": (2, 3)})


@pytest.fixture
def short(two):
    """Return the short way of that kernel, and the calls that it passes on."""
    asked = []

    def general(*arguments):
        asked.append(arguments)
        return two(*arguments[:2], out=arguments[2] if len(arguments) > 2 else None)

    return two.fast_call(general), asked


def expected(x, y):
    x, y = np.broadcast_arrays(np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, 1)]), y)
    one = np.ones(x.shape[:-1], x.dtype)
    matrix = [[x[..., 0], y[..., 0], one], [y[..., 1], y[..., 2], x[..., 1]]]
    return np.stack([x[..., 0] * y[..., 0], x[..., 1]], -1), np.moveaxis(np.array(matrix), (0, 1), (-2, -1)).copy(
        order="C"
    )


SHAPES = [((), ()), ((5,), (5,)), ((5,), ()), ((), (7,)), ((1,), (1,)), ((8,), (8,)), ((19,), (19,))]


@PLACED
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("with_out", [False, True])
@pytest.mark.parametrize(("of_x", "of_y"), SHAPES)
def test_few_rows_take_the_short_way(short, rng, of_x, of_y, with_out, kind):
    call, asked = short
    if kind == np.float32:  # it has a short way once it is compiled
        call(np.ones(2, kind), np.ones(3, kind))
        asked.clear()
    x, y = rng.normal(size=(*of_x, 2)).astype(kind), rng.normal(size=(*of_y, 3)).astype(kind)
    right = expected(x, y)
    out = tuple(np.full_like(z, np.nan) for z in right)
    found = call(x, y, out) if with_out else call(x, y)
    assert asked == []
    for k, value in enumerate(right):
        assert found[k].shape == value.shape
        assert found[k].dtype == kind
        assert found[k] is out[k] or not with_out
        np.testing.assert_array_equal(found[k], value)


@PLACED
@pytest.mark.parametrize("given", [(True, False), (False, True), (False, False)])
def test_places_that_are_none_are_made(short, rng, given):
    call, asked = short
    x, y = rng.normal(size=(4, 2)), rng.normal(size=(4, 3))
    out = tuple(np.empty_like(z) if wanted else None for z, wanted in zip(expected(x, y), given, strict=True))
    for found, place, value in zip(call(x, y, out), out, expected(x, y), strict=True):
        assert place is None or found is place
        np.testing.assert_array_equal(found, value)
    assert asked == []


ROWS = np.zeros((30, 6))
F, M = (lambda: np.empty((4, 2))), (lambda: np.empty((4, 2, 3)))


@PLACED
@pytest.mark.parametrize(
    "out",
    [
        lambda x, y: (x, M()),
        lambda x, y: (F(), np.ndarray((4, 2, 3), buffer=y.base, offset=8)),
        lambda x, y: (ROWS[:4, :2], M()),
        lambda x, y: (np.empty((4, 2), np.float32), M()),
        lambda x, y: (F()[::-1], M()),
        lambda x, y: (np.ndarray((4, 2), buffer=ROWS), np.ndarray((4, 2, 3), buffer=ROWS, offset=56)),
    ],
    ids=["an input", "part of an input", "strided", "of float32", "reversed", "overlapping"],
)
def test_other_places_take_the_general_way(short, rng, out):
    call, asked = short
    x, base = rng.normal(size=(4, 2)), rng.normal(size=40)
    y = np.ndarray((4, 3), buffer=base)
    try:
        call(x, y, out(x, y))
    finally:
        assert len(asked) == 1


@PLACED
@pytest.mark.parametrize(
    ("of_x", "of_y", "out"),
    [
        ((3,), (4,), None),
        ((0,), (0,), None),
        ((2, 2), (2, 2), None),
        ((1 << 19,), (1 << 19,), None),
        ((4,), (4,), ()),
        ((4,), (4,), (None, None, None)),
        ((4,), (4,), [None, None]),
        ((4,), (4,), (np.empty((3, 2)), None)),
        ((4,), (4,), (None, np.empty((4, 3, 2)))),
        ((), (), (np.empty((1, 2)), None)),
    ],
)
def test_what_does_not_fit_is_passed_on(two, of_x, of_y, out):
    asked = []
    call = two.fast_call(lambda *arguments: asked.append(arguments))
    given = np.zeros((*of_x, 2)), np.zeros((*of_y, 3))
    assert call(*given, *(() if out is None else (out,))) is None
    assert len(asked) == 1


@pytest.fixture
def set_threads():
    """Return what sets the number of threads, for one test."""
    before = appell.threads()
    yield appell.threads
    appell.threads(before)


@PLACED
@pytest.mark.parametrize("with_out", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_a_large_batch_takes_the_short_way_unless_there_are_threads(two, short, rng, set_threads, count, with_out):
    call, asked = short
    two._limits["d"].value = 1000  # as if measured
    x, y = rng.normal(size=(1 << 15, 2)), rng.normal(size=(1 << 15, 3))
    right = expected(x, y)
    out = tuple(np.full_like(z, np.nan) for z in right)
    set_threads(count)
    found = call(x, y, out) if with_out else call(x, y)
    assert len(asked) == count - 1
    for k, value in enumerate(right):
        assert found[k] is out[k] or not with_out
        np.testing.assert_array_equal(found[k], value)


@PLACED
def test_other_threads_run_during_a_large_batch(short, rng, set_threads):
    call, _ = short
    x, y = rng.normal(size=(1 << 14, 2)), rng.normal(size=(1 << 14, 3))
    right = expected(x, y)
    set_threads(1)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: call(x, y), range(40)):
            np.testing.assert_array_equal(found[1], right[1])


@PLACED
def test_the_short_way_counts_its_references(short):
    call, _ = short
    x, y = np.zeros((4, 2)), np.zeros((4, 3))
    out = (F(), M())
    long = np.zeros((3000, 2)), np.zeros((3000, 3))
    before = [sys.getrefcount(z) for z in (x, y, out, *out, *long)]
    for _ in range(10):
        call(x, y, out)
        call(x, y)
        call(x, y, (out[0], None))
        held, own = call(*long), (np.zeros(1), np.zeros(1))
        assert [sys.getrefcount(z) for z in (held, *held)] == [sys.getrefcount(z) for z in (own, *own)]
        del held
    assert [sys.getrefcount(z) for z in (x, y, out, *out, *long)] == before


@pytest.mark.parametrize("shift", [-8, 8])
@pytest.mark.parametrize("field", LAYOUT)
def test_arrays_of_another_layout_take_the_general_way(field, shift, kernel, monkeypatch):
    offset, kind = LAYOUT[field]
    monkeypatch.setitem(LAYOUT, field, (offset + shift, kind))
    made = kernel()
    call = made.fast_call(made.__call__)
    assert call == made.__call__
    assert call(np.array([2.0, 3.0])).tolist() == [7.0, 3.0]
