"""How many threads share a batch, and the sharing."""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import functools
import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from appell.errors import InputError
from appell.messages import shown

WORTH = 1.5e-4
"""Seconds of work that are worth a thread: waking one and waiting for it takes up to a quarter of that."""


class _Worker(threading.Thread):
    """A thread that runs one job after the other. Locks wake it and its caller: they are the fastest way in Python."""

    def __init__(self) -> None:
        super().__init__(name="appell", daemon=True)
        self._wanted, self._finished = threading.Lock(), threading.Lock()
        self._wanted.acquire()
        self._finished.acquire()
        self._job: Callable[[], None] | None = None
        self._error: BaseException | None = None
        self.start()

    def begin(self, job: Callable[[], None]) -> None:
        """Run a job."""
        self._job = job
        self._wanted.release()

    def end(self) -> BaseException | None:
        """Wait for the job, and return its exception if there is one."""
        self._finished.acquire()
        self._job, (error, self._error) = None, (self._error, None)
        return error

    def run(self) -> None:
        """Run jobs until the process ends."""
        while True:
            self._wanted.acquire()
            try:
                if self._job is not None:
                    self._job()
            except BaseException as error:
                self._error = error
            self._finished.release()


class _Pool:
    """The threads of this process, started when first needed."""

    def __init__(self) -> None:
        self.cell = ctypes.c_int64(_from_environment())  # at an address where native code reads it
        self.forget()

    @property
    def count(self) -> int:
        """Return how many threads share a batch."""
        return self.cell.value

    def forget(self) -> None:
        """Start anew: a forked child has none of its parent's threads."""
        self._idle, self._size = list[_Worker](), 0

    def taken(self, count: int) -> list[_Worker]:
        """Return up to so many threads; fewer while other batches use them."""
        found: list[_Worker] = []
        while len(found) < count:
            try:
                found.append(self._idle.pop())
            except IndexError:
                if self._size >= self.count - 1:
                    break
                self._size += 1
                found.append(_Worker())
        return found

    def give(self, workers: Iterable[_Worker]) -> None:
        """Take threads back."""
        self._idle += workers

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
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.forget)


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
    workers = pool.taken(parts - 1)
    bounds = [rows * k // (len(workers) + 1) for k in range(len(workers) + 2)]
    stopped, errors = threading.Event(), list[BaseException | None]()

    def run(start: int, stop: int) -> None:
        for _ in work(start, stop):
            if stopped.is_set():
                return

    # each in a copy of this context, which holds what NumPy is to do on overflow and the like
    for worker, part in zip(workers, itertools.pairwise(bounds[1:]), strict=True):
        worker.begin(functools.partial(contextvars.copy_context().run, run, *part))
    try:
        run(bounds[0], bounds[1])
        for worker in workers:
            errors.append(worker.end())
    except BaseException as error:
        stopped.set()
        for worker in workers[len(errors) :]:
            errors.append(worker.end())
        errors.insert(0, error)
    pool.give(workers)
    for found in errors:
        if found is not None:
            raise found
