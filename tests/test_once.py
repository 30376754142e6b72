"""What is kept is made once, from any thread, and an error leaves nothing behind."""

from __future__ import annotations

import copy
import os
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from appell.once import Memo, once, once_function, once_property


class Counter:
    """Counts how often its property is computed, slowly."""

    def __init__(self):
        self.made = []

    @once_property
    def value(self):
        """Return an object that only one thread makes."""
        self.made.append(None)
        time.sleep(0.02)
        return object()


def together(call, threads=8):
    barrier = threading.Barrier(threads)

    def run(_):
        barrier.wait()
        return call()

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))


def test_threads_that_ask_together_get_the_one_value():
    counter = Counter()
    assert len(set(map(id, together(lambda: counter.value)))) == len(counter.made) == 1


def test_a_function_runs_once_per_argument():
    made = []

    @once_function
    def double(x):
        time.sleep(0.02)
        made.append(x)
        return 2 * x

    assert together(lambda: double(3)) == [6] * 8
    assert double(4) == 8
    assert made == [3, 4]


def test_different_keys_are_made_at_the_same_time():
    memo, both = Memo(), threading.Barrier(2, timeout=10)
    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(lambda key: memo(key, lambda: both.wait() * 0 + key), (1, 2))) == [1, 2]


def test_a_value_may_need_others_of_the_same_object():
    memo = Memo()
    assert memo("sum", lambda: memo("one", lambda: 1) + memo("two", lambda: 2)) == 3


def test_an_error_leaves_nothing_and_the_next_thread_tries_again():
    memo = Memo()
    tries: list[None] = []

    def make():
        tries.append(None)
        time.sleep(0.01)
        if len(tries) == 1:
            raise KeyboardInterrupt
        return "made"

    def ask():
        try:
            return memo("key", make)
        except KeyboardInterrupt:
            return "interrupted"

    assert sorted(together(ask)) == ["interrupted", *["made"] * 7]
    assert len(tries) == 2


def test_copies_and_pickles_make_their_own():
    counter, memo = Counter(), Memo()
    memo("key", threading.Lock)  # which cannot be pickled
    for other in (copy.copy(memo), pickle.loads(pickle.dumps(memo))):
        assert other("key", lambda: "own") == "own"
    lock = once(counter, "key", threading.Lock)
    assert once(counter, "key", threading.Lock) is lock
    assert once(Counter(), "key", threading.Lock) is not lock


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_does_not_wait_for_a_thread_that_it_does_not_have():
    memo, begun, over = Memo(), threading.Event(), threading.Event()

    def make():
        begun.set()
        over.wait(30)
        return "parent"

    thread = threading.Thread(target=memo, args=("key", make))
    thread.start()
    begun.wait()
    child = os.fork()
    if not child:
        os._exit(memo("key", lambda: "child") != "child")
    deadline = time.monotonic() + 20
    found = 0, 0
    while not found[0] and time.monotonic() < deadline:
        found = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    over.set()
    thread.join()
    if not found[0]:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert found == (child, 0)
