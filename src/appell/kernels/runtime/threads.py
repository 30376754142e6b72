"""How many threads share a batch, and the sharing."""

from __future__ import annotations

import concurrent.futures
import contextlib
import contextvars
import ctypes
import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from appell.errors import InputError
from appell.once import once
from appell.read.values import shown

WORTH = 2e-4
"""Seconds of work that are worth a thread: waking one and waiting for it takes up to a quarter of that."""


class _Pool:
    """The threads of this process, started when first needed."""

    def __init__(self) -> None:
        self.cell = ctypes.c_int64(_from_environment())  # at an address where native code reads it

    @property
    def count(self) -> int:
        """Return how many threads share a batch."""
        return self.cell.value

    def executor(self) -> ThreadPoolExecutor:
        """Return threads enough for a batch; a forked child has none of its parent's.

        Those of another number stay, waiting: a batch that is under way may still submit work to them.
        """
        size = max(self.count - 1, 1)
        return once(self, (os.getpid(), size), lambda: ThreadPoolExecutor(size, "appell"))

    def resize(self, count: int) -> None:
        """Set how many threads share a batch."""
        self.cell.value = count


def _from_environment() -> int:
    text = os.environ.get("APPELL_THREADS", "")
    if not text:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not text.isdigit() or int(text) < 1:
        raise InputError(f"APPELL_THREADS is '{text}'; expected an integer of at least 1")
    return int(text)


pool = _Pool()


def threads(count: int | None = None) -> int:
    """Set the number of threads that share a batch, if a count is given, and return the current number.

    Parameters
    ----------
    count
        The number of threads, at least 1; None leaves it unchanged. The default is ``APPELL_THREADS``, or all cores.

    Returns
    -------
    int
        The number of threads.

    Raises
    ------
    InputError
        When the count is not a positive integer.

    Examples
    --------
    >>> import appell
    >>> before = appell.threads()
    >>> appell.threads(1)
    1
    >>> _ = appell.threads(before)
    """
    if count is not None:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InputError(f"threads: expected an integer of at least 1, got {shown(count)}")
        pool.resize(count)
    return pool.count


_is_alone = contextvars.ContextVar("is_alone", default=False)


@contextlib.contextmanager
def in_one_thread() -> Iterator[None]:
    """Run the batches of this context in one thread each, where the caller's own workers already use every core."""
    token = _is_alone.set(True)
    try:
        yield
    finally:
        _is_alone.reset(token)


def available() -> int:
    """Return how many threads a batch of this context may use."""
    return 1 if _is_alone.get() else pool.count


def workers(seconds: float) -> int:
    """Return how many threads to share some work among: as many as have :data:`WORTH` of it each."""
    return max(min(available(), int(seconds / WORTH)), 1)


def share(
    call: Callable[..., Any], arrays: Sequence[Any], core: Sequence[int], outputs: Sequence[Any], size: int, parts: int
) -> None:
    """Run a gufunc on blocks of up to `size` along the first axis, shared among as many threads as there are parts.

    `core` counts each input's own dimensions.
    """
    rows = outputs[0].shape[0]
    leading = max(array.ndim - own for array, own in zip(arrays, core, strict=True))

    def work(start: int, stop: int) -> Iterator[None]:
        for a in range(start, stop, size):
            b = min(a + size, stop)
            # an input takes part in the split if it has all leading axes and is not broadcast along the first
            parts = [
                array[a:b] if array.ndim - own == leading and array.shape[0] == rows else array
                for array, own in zip(arrays, core, strict=True)
            ]
            call(*parts, out=tuple(output[a:b] for output in outputs))
            yield

    in_threads(work, rows, parts)


def in_threads(work: Callable[[int, int], Iterator[None]], rows: int, parts: int) -> None:
    """Run `work(first row, last row)` on equal parts of the rows: the first part here, the others in threads.

    Native code does not look for signals. `work` therefore yields between calls of it, each of milliseconds: that is
    where Python raises KeyboardInterrupt. An exception in one part ends the others at their next yield.
    """
    if parts == 1:
        for _ in work(0, rows):
            pass
        return
    bounds = [rows * k // parts for k in range(parts + 1)]
    stopped = threading.Event()

    def run(start: int, stop: int) -> None:
        for _ in work(start, stop):
            if stopped.is_set():
                return

    # each in a copy of this context, which holds what NumPy is to do on overflow and the like
    jobs = [
        pool.executor().submit(contextvars.copy_context().run, run, a, b) for a, b in itertools.pairwise(bounds[1:])
    ]
    try:
        run(bounds[0], bounds[1])
        for job in jobs:
            job.result()
    finally:
        stopped.set()
        concurrent.futures.wait(jobs)
