"""Rows in and rows out: any strides, any number of samples, `out=`, broadcasting, and rows that keep to themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from appell.kernels.llvm.entries import gathers
from appell.spatial import scalar

COUNTS = range(18)
KINDS = [np.float64, np.float32]


def program(q, v):
    """Return a vector and a matrix of odd sizes."""
    first = (scalar.sin(q[0]) * v[1], q[1] + v[0] * q[2], v[1] - 1.5)
    return first, ((q[0] * v[0], 2.0), (q[2], scalar.cos(q[1])), (v[1], q[0] - v[1]))


def reference(q, v):
    first = np.stack(
        np.broadcast_arrays(np.sin(q[..., 0]) * v[..., 1], q[..., 1] + v[..., 0] * q[..., 2], v[..., 1] - 1.5)
    )
    second = np.stack(
        np.broadcast_arrays(
            q[..., 0] * v[..., 0], 2.0, q[..., 2], np.cos(q[..., 1]), v[..., 1] + 0.0 * q[..., 0], q[..., 0] - v[..., 1]
        )
    )
    return np.moveaxis(first, 0, -1), np.moveaxis(second, 0, -1).reshape(*first.shape[1:], 3, 2)


@pytest.fixture(scope="module")
def kernel(compiled):
    return compiled(program, {"q": (3,), "v": (2,)}, {"f": (3,), "M": (3, 2)})


@pytest.fixture
def check():
    def agrees(found, q, v):
        kind = np.result_type(q, v)
        for x, y in zip(found, reference(np.asarray(q, float), np.asarray(v, float)), strict=True):
            assert x.dtype == kind
            assert x.shape == y.shape
            np.testing.assert_allclose(x, y, rtol=0, atol=40 * np.finfo(kind).eps)

    return agrees


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", COUNTS)
def test_any_number_of_samples_has_every_result(kernel, check, rng, n, kind):
    q, v = rng.normal(size=(n, 3)).astype(kind), rng.normal(size=(n, 2)).astype(kind)
    check(kernel(q, v), q, v)


def unaligned(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)
    moved = raw[1:].view(x.dtype).reshape(x.shape)
    moved[:] = x
    return moved


LAYOUTS: dict[str, Callable[..., Any]] = {
    "Fortran": np.asfortranarray,
    "reversed rows": lambda x: x[::-1].copy()[::-1],
    "reversed columns": lambda x: x[:, ::-1].copy()[:, ::-1],
    "every third row": lambda x: np.repeat(x, 3, axis=0)[::3],
    "every other column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "columns of a wider table": lambda x: np.pad(x, ((0, 0), (2, 5)))[:, 2 : 2 + x.shape[1]],
    "transposed": lambda x: x.T.copy().T,
    "not writeable": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "not aligned": unaligned,
    "of the other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_of_any_layout_are_read(kernel, check, rng, layout, kind):
    q, v = rng.normal(size=(13, 3)).astype(kind), rng.normal(size=(13, 2)).astype(kind)
    check(kernel(LAYOUTS[layout](q), v), q, v)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_sample_of_any_layout_is_read(kernel, check, rng, layout):
    q, v = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    laid = LAYOUTS[layout](q)
    for i in range(5):
        check(kernel(laid[i], v[i]), q[i], v[i])


@pytest.mark.parametrize(
    ("shape_q", "shape_v"),
    [
        ((), ()),
        ((4,), ()),
        ((), (4,)),
        ((1,), (5,)),
        ((3, 1), (4,)),
        ((2, 3, 4), (3, 1)),
        ((0,), ()),
        ((2, 0, 3), (1, 3)),
    ],
)
def test_leading_axes_broadcast(kernel, check, rng, shape_q, shape_v):
    q, v = rng.normal(size=(*shape_q, 3)), rng.normal(size=(*shape_v, 2))
    check(kernel(q, v), q, v)


def test_a_broadcast_view_is_read_in_place(kernel, check, rng):
    q, v = np.broadcast_to(rng.normal(size=3), (9, 3)), rng.normal(size=(9, 2))
    check(kernel(q, v), q, v)


def test_a_row_of_one_number_repeated_is_read(kernel, check, rng):
    q, v = np.broadcast_to(rng.normal(size=(9, 1)), (9, 3)), rng.normal(size=(9, 2))
    check(kernel(q, v), q, v)


def test_whole_numbers_are_taken_for_doubles(kernel):
    q, v = np.arange(12).reshape(4, 3), np.arange(8).reshape(4, 2)
    for x, y in zip(kernel(q, v), kernel(q.astype(float), v.astype(float)), strict=True):
        np.testing.assert_array_equal(x, y)


def test_single_and_double_together_are_double(kernel, rng):
    assert kernel(rng.normal(size=3), rng.normal(size=2).astype(np.float32))[0].dtype == np.float64


PLACES: dict[str, Callable[..., Any]] = {
    "contiguous": np.empty,
    "Fortran": lambda shape, kind: np.empty(shape, kind, order="F"),
    "every other row": lambda shape, kind: np.empty((2 * shape[0], *shape[1:]), kind)[::2],
    "reversed": lambda shape, kind: np.empty(shape, kind)[::-1],
    "inside a wider table": lambda shape, kind: np.empty((*shape[:-1], shape[-1] + 3), kind)[..., 1:-2],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("n", [1, 7, 8, 21])
def test_results_go_where_out_says(kernel, rng, place, kind, n):
    q, v = rng.normal(size=(n, 3)).astype(kind), rng.normal(size=(n, 2)).astype(kind)
    out = (PLACES[place]((n, 3), kind), PLACES[place]((n, 3, 2), kind))
    returned = kernel(q, v, out=out)
    for x, y, expected in zip(out, returned, kernel(q, v), strict=True):
        assert y is x
        np.testing.assert_array_equal(x, expected)


def test_numbers_beside_a_strided_out_are_left_alone(kernel, rng):
    table = np.full((9, 6), 7.0)
    kernel(rng.normal(size=(9, 3)), rng.normal(size=(9, 2)), out=(table[:, 1:4], np.empty((9, 3, 2))))
    assert (table[:, [0, 4, 5]] == 7.0).all()


def test_an_out_that_overlaps_an_input_gets_the_result_of_the_input_as_it_was(compiled, rng):
    kernel = compiled(lambda x: (x[1], x[2], x[0] * 2.0), {"x": (3,)}, {"y": (3,)})
    x = rng.normal(size=(30, 3))
    expected = kernel(x.copy())
    memory = np.concatenate([x, np.zeros((1, 3))])
    kernel(memory[:-1], out=memory[1:])
    np.testing.assert_array_equal(memory[1:], expected)


@pytest.mark.parametrize("n", [1, 8, 9, 30])
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[:], lambda x: x.T.T], ids=["itself", "a view", "a layout"])
def test_an_out_that_is_an_input_gets_the_result_of_the_input_as_it_was(compiled, rng, n, view):
    kernel = compiled(lambda x: (x[1], x[2], x[0] * 2.0), {"x": (3,)}, {"y": (3,)})
    x = rng.normal(size=(n, 3))
    expected = kernel(x.copy())
    kernel(x, out=view(x))
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", ["contiguous", "Fortran"])
def test_not_a_number_stays_in_its_row(kernel, rng, kind, layout):
    q, v = rng.normal(size=(19, 3)).astype(kind), rng.normal(size=(19, 2)).astype(kind)
    spoilt = q.copy(order="F" if layout == "Fortran" else "C")
    spoilt[7, 0] = np.nan
    clean, found = kernel(q, v), kernel(spoilt, v)
    for x, y in zip(found, clean, strict=True):
        np.testing.assert_array_equal(np.delete(x, 7, axis=0), np.delete(y, 7, axis=0))
    assert np.isnan(found[0][7, 0])


@pytest.mark.parametrize("k", range(4))
def test_not_a_number_in_any_input_shows_even_where_no_operation_reads_it(compiled, rng, k):
    kernel = compiled(lambda x: (x[0] * x[1], scalar.sin(x[2])), {"x": (4,)}, {"y": (2,)})
    x = rng.normal(size=(10, 4))
    x[3, k] = np.nan
    found = kernel(x)
    assert np.isnan(found[3]).any()
    assert not np.isnan(np.delete(found, 3, axis=0)).any()


def test_the_sign_of_numbers(compiled):
    kernel = compiled(lambda x: (scalar.sign(x[0]),), {"x": (1,)}, {"y": (1,)})
    x = np.array([2.5, -3.0, 0.0, -0.0, 1e-300, -1e300, np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(kernel(x[:, None])[:, 0], np.sign(x))


def test_a_choice_is_by_what_is_above_zero(compiled):
    kernel = compiled(lambda x: (scalar.select(x[0], x[1], 3.0),), {"x": (2,)}, {"y": (1,)})
    x = np.array([2.5, -3.0, 0.0, -0.0, 1e-300, -1e300, np.inf, -np.inf, np.nan])
    found = kernel(np.stack([x, np.full(9, 7.0)], axis=-1))[:, 0]
    np.testing.assert_array_equal(found, np.where(x > 0.0, 7.0, 3.0))


def test_the_square_root_of_numbers(compiled, rng):
    kernel = compiled(lambda x: (scalar.sqrt(x[0]),), {"x": (1,)}, {"y": (1,)})
    x = rng.uniform(0.0, 10.0, 33)
    np.testing.assert_array_equal(kernel(x[:, None])[:, 0], np.sqrt(x))


def test_a_quotient_is_a_quotient(compiled, rng):
    kernel = compiled(lambda x: (x[0] / x[1],), {"x": (2,)}, {"y": (1,)})
    x = rng.normal(size=(33, 2))
    np.testing.assert_array_equal(kernel(x)[:, 0], x[:, 0] / x[:, 1])


def test_constants_and_copies_are_results_too(compiled):
    kernel = compiled(lambda x: (3.0, x[1], x[1], 0.0, -x[0]), {"x": (2,)}, {"y": (5,)})
    np.testing.assert_array_equal(kernel([[1.0, 2.0]] * 3), [[3.0, 2.0, 2.0, 0.0, -1.0]] * 3)


def test_results_without_axes_are_numbers(compiled, rng):
    kernel = compiled(lambda x: x[0] * x[1], {"x": (2,)}, {"y": ()})
    x = rng.normal(size=(11, 2))
    np.testing.assert_array_equal(kernel(x), x[:, 0] * x[:, 1])


@pytest.fixture(scope="module")
def huge(compiled):
    """Return a kernel whose results are too many to gather on the stack: on a small stack, to compile in no time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("appell.kernels.llvm.entries.STACK_LIMIT", 64)
        made = compiled(lambda x: tuple(tuple(a * b for a in x) for b in x), {"x": (7,)}, {"y": (7, 7)})
        assert not gathers(made.spec, 4, 16)
        yield made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", ["contiguous", *LAYOUTS])
def test_a_program_of_many_results_reads_rows_of_any_layout(huge, rng, layout, kind):
    x = rng.normal(size=(11, 7)).astype(kind)
    laid = x if layout == "contiguous" else LAYOUTS[layout](x)
    np.testing.assert_array_equal(huge(laid), x[:, :, None] * x[:, None, :])


@pytest.mark.parametrize("place", PLACES)
def test_a_program_of_many_results_writes_where_out_says(huge, rng, place):
    x = rng.normal(size=(5, 7))
    out = PLACES[place]((5, 7, 7), float)
    assert huge(x, out=out) is out
    np.testing.assert_array_equal(out, x[:, :, None] * x[:, None, :])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("n", [3, 5000])
def test_a_program_of_many_results_writes_some_of_them_where_out_says(compiled, rng, place, n):
    """As a verb with a guard does, whose value has no place."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("appell.kernels.llvm.entries.STACK_LIMIT", 64)
        made = compiled(
            lambda x: (tuple(tuple(a * b for a in x) for b in x), (x[0],)), {"x": (7,)}, {"y": (7, 7), "g": (1,)}
        )
    x = rng.normal(size=(n, 7))
    out = PLACES[place]((n, 7, 7), float)
    out[...] = np.nan
    found = made(x, out=(out, None))
    assert found[0] is out
    np.testing.assert_array_equal(out, x[:, :, None] * x[:, None, :])
    np.testing.assert_array_equal(found[1], x[:, :1])
