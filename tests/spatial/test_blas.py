"""BLAS has one thread inside the context and as many as before after it, whichever thread leaves first."""

from __future__ import annotations

import contextlib
import threading

import pytest

from appell.spatial.blas import _controller, one_blas_thread


def numbers() -> set[int]:
    return {library["num_threads"] for library in _controller().info() if library["user_api"] == "blas"}


@pytest.fixture
def before() -> set[int]:
    """Return how many threads the BLAS libraries have, two where they can be set."""
    _controller().limit(limits=2, user_api="blas")
    return numbers()


def test_the_number_of_threads_is_restored_after_an_error_and_after_a_second_entry(before: set[int]) -> None:
    with one_blas_thread():
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            raise ZeroDivisionError
        assert numbers() <= {1}
    assert numbers() == before


@pytest.mark.parametrize("is_first_to_leave", [True, False])
def test_the_number_of_threads_is_restored_after_two_threads(is_first_to_leave: bool, before: set[int]) -> None:
    is_in, leave = threading.Event(), threading.Event()

    @one_blas_thread()
    def beside() -> None:
        is_in.set()
        assert leave.wait(10.0)

    thread = threading.Thread(target=beside)
    with contextlib.ExitStack() as rest, one_blas_thread():
        thread.start()
        rest.callback(thread.join)
        rest.callback(leave.set)
        assert is_in.wait(10.0)
        assert numbers() <= {1}
        if is_first_to_leave:
            leave.set()
            thread.join()
            assert numbers() <= {1}
    assert numbers() == before
