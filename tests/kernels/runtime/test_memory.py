"""Memory of results is used again, and never while anything can still see it."""

from __future__ import annotations

import copy
import ctypes
import gc
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import appell
from appell.kernels.llvm.entries import LARGE
from appell.kernels.runtime import memory

ROWS = 2000
"""Rows whose torques are a large result of two joints; beside them are derivatives, which are larger."""


@pytest.fixture(autouse=True)
def store(monkeypatch):
    """Return a store without blocks."""
    made = memory._Store(1 << 26)
    monkeypatch.setattr(memory, "store", made)
    return made


@pytest.fixture(scope="module")
def robot():
    return appell.load("two-link")


def address(x: Any) -> int:
    return int(x.__array_interface__["data"][0])


def filled(value: float, shape: tuple[int, ...] = (100, 100)) -> Any:
    x = memory.empty(shape, np.float64)
    x[...] = value
    return x


def test_memory_of_a_result_that_is_gone_is_used_again(robot):
    q = np.ones((8 * ROWS, 2))
    first = robot.gravity(q)
    place = address(first)
    del first
    assert address(robot.gravity(q)) == place


def test_results_begin_on_a_cache_line():
    assert {address(filled(1.0)) % 64 for _ in range(5)} == {0}


class Table(np.ndarray):
    """A subclass, whose views are of its own class."""


class Holder:
    """An object that exports an array by its interface."""

    def __init__(self, x: Any) -> None:
        self.__array_interface__, self.kept = x.__array_interface__, x


VIEWS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "itself": (lambda x: x, np.asarray),
    "slice": (lambda x: x[50:60, ::3], np.asarray),
    "slice of a slice": (lambda x: x[10:][10:][:, 1], np.asarray),
    "transposed": (lambda x: x.T, np.asarray),
    "reshaped": (lambda x: x.reshape(-1)[7:9], np.asarray),
    "view of bytes": (lambda x: x.view(np.uint8), lambda x: x.view(np.float64)),
    "subclass": (lambda x: x.view(Table)[1:], np.asarray),
    "subclass, then array": (lambda x: np.asarray(x.view(Table)), np.asarray),
    "iterator": (lambda x: x.flat, lambda x: np.asarray(x.copy())),
    "memoryview": (memoryview, np.asarray),
    "part of a memoryview": (lambda x: memoryview(x)[3:5], np.asarray),
    "DLPack": (np.from_dlpack, np.asarray),
    "DLPack capsule": (lambda x: x.__dlpack__(), None),  # type: ignore[dict-item]
    "ctypes pointer": (
        lambda x: x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
        lambda p: np.array(p[:9]),
    ),
    "ctypes array": ((ctypes.c_double * 9).from_buffer, np.asarray),
    "array interface": (Holder, np.asarray),
    "broadcast": (lambda x: np.broadcast_to(x, (2, 100, 100)), np.asarray),
    "iterator of rows": (iter, lambda rows: np.asarray(next(rows))),
    "record": (lambda x: np.rec.array(x.view([("a", float)]), copy=False), lambda r: r["a"]),
}


@pytest.mark.parametrize("view", VIEWS)
def test_memory_that_something_can_see_is_not_used_again(view):
    see, read = VIEWS[view]
    x = filled(1.0)
    seen = see(x)
    del x
    gc.collect()
    for _ in range(3):
        filled(2.0)
    if read is None:
        seen = _from_capsule(seen)
        read = np.asarray
    assert (np.asarray(read(seen)) == 1.0).all()


def _from_capsule(capsule: Any) -> Any:
    class Producer:
        def __dlpack__(self, **options: Any) -> Any:
            return capsule

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    return np.from_dlpack(Producer())


@pytest.mark.parametrize("view", [name for name in VIEWS if name != "DLPack capsule"])
def test_memory_is_used_again_once_nothing_can_see_it(view, store):
    seen = VIEWS[view][0](filled(1.0))
    assert store.size == 0
    del seen
    gc.collect()
    assert store.size == 80_000


def test_torch_keeps_what_it_sees():
    torch = pytest.importorskip("torch")
    seen = torch.from_numpy(filled(1.0))[3:]
    filled(2.0)
    assert bool((seen == 1.0).all())


def test_results_are_copied_and_pickled_like_other_arrays():
    x = filled(3.0)
    for other in (pickle.loads(pickle.dumps(x)), pickle.loads(pickle.dumps(x, 5)), copy.deepcopy(x), x.copy()):
        assert not np.shares_memory(x, other)
        np.testing.assert_array_equal(x, other)
    kept: list[Any] = []
    data = pickle.dumps(x, 5, buffer_callback=kept.append)
    del x
    filled(4.0)
    assert (pickle.loads(data, buffers=kept) == 3.0).all()


def test_an_array_in_a_cycle_gives_its_memory_back(store):
    cycle: list[Any] = [filled(1.0)]
    cycle.append(cycle)
    del cycle
    gc.collect()
    assert store.size == 80_000


def test_a_thread_that_outlives_the_name_keeps_the_memory():
    x, go, sums = filled(1.0), threading.Event(), []

    def late(part: Any) -> None:
        go.wait()
        sums.append(part.sum())

    thread = threading.Thread(target=late, args=(x[1:],))
    thread.start()
    del x
    filled(2.0)
    go.set()
    thread.join()
    assert sums == [9900.0]


def test_many_threads_get_memory_of_their_own(robot, rng):
    q = rng.normal(size=(ROWS, 2))
    expected = robot.inverse_dynamics_derivatives(q, q, q)

    def kept(k: int) -> bool:
        own = []
        for _ in range(20):
            own.append(robot.inverse_dynamics_derivatives(q * (1.0 if k % 2 else 2.0), q, q))
            own[k % 3 :] = own[-1:]
        same = all(np.array_equal(x, y) for x, y in zip(own[-1], expected, strict=True))
        return same == bool(k % 2)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(kept, range(32)))


def test_what_is_kept_is_bounded(store, monkeypatch):
    monkeypatch.setattr(store, "limit", 200_000)
    arrays = [filled(1.0) for _ in range(10)]
    assert store.size == 0
    arrays.clear()
    assert store.size == 160_000
    filled(1.0, (150, 150))
    assert store.size == 180_000  # the one used last is kept, and the others go
    filled(1.0, (400, 400))
    assert store.size == 180_000


def test_few_blocks_are_kept_however_small(store):
    arrays = [memory.empty((LARGE + 64 * k,), np.uint8) for k in range(200)]
    arrays.clear()
    assert len(store._blocks) == 64


def test_a_block_is_not_used_for_much_less_than_its_size():
    place = address(filled(1.0, (300, 300)))
    assert address(filled(1.0, (200, 200))) != place


def test_nothing_waits_for_the_lock(store):
    x = filled(1.0)
    with store._lock:
        del x
        filled(2.0)
    assert store.size == 0


@pytest.mark.parametrize("shape", [(0,), (3, 0), (7,), (2, 3)])
def test_small_results_are_left_to_numpy(shape):
    assert memory.empty(shape, np.float32).base is None


def test_places_that_may_be_the_same_memory_are_found():
    x, y = filled(1.0), filled(2.0)
    own = np.empty((5, 5))
    assert memory.apart((x, own, [1.0]), (y, None))
    for a, b in ((x, x), (x[1:], x), (x, x.T), (own, own[:2]), (own[1:], own[:3]), (x[3:].T, x[:, 1:])):
        assert not memory.apart((y, a), (b,))
    foreign = np.frombuffer(bytearray(32))
    assert not memory.apart((foreign,), (np.asarray(foreign.data),))


@pytest.mark.parametrize(("text", "expected"), [("0", "0"), ("16", str(16 << 20))])
def test_the_environment_sets_the_bound(text, expected):
    program = "from appell.kernels.runtime import memory; print(memory.store.limit)"
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "APPELL_MEMORY": text},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == expected


def test_a_wrong_environment_is_named():
    found = subprocess.run(
        [sys.executable, "-c", "import appell"],
        env={**os.environ, "APPELL_MEMORY": "much"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "APPELL_MEMORY is 'much'; expected an integer number of MiB" in found.stderr


FORK = """
import os
import numpy as np
import appell
from appell.kernels.runtime import memory

robot, q = appell.load("two-link"), np.ones((20_000, 2))
held = robot.gravity(q)
robot.gravity(2.0 * q)
memory.store._lock.acquire()  # as by a thread of the parent
child = os.fork()
if child == 0:
    expected = held.copy()
    del held
    again = [robot.gravity(q) for _ in range(3)]
    place = again.pop().ctypes.data
    right = all(np.array_equal(x, expected) for x in again) and robot.gravity(q).ctypes.data == place
    os._exit(0 if right else 1)
memory.store._lock.release()
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
raise SystemExit(code or not np.array_equal(held, robot.gravity(q)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_keeps_memory_of_its_own():
    assert subprocess.run([sys.executable, "-c", FORK], check=False, timeout=120).returncode == 0
