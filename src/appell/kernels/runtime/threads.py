"""How many threads share a batch, and the sharing."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from appell.errors import InputError


class _Pool:
    """The threads of this process, started when first needed."""

    def __init__(self) -> None:
        self.count = _from_environment()
        self._executor: ThreadPoolExecutor | None = None
        self._owner = 0

    def executor(self) -> ThreadPoolExecutor:
        if self._executor is None or self._owner != os.getpid():  # a forked child has no threads of its parent's
            self._executor, self._owner = ThreadPoolExecutor(max(self.count - 1, 1), "appell"), os.getpid()
        return self._executor

    def resize(self, count: int) -> None:
        if self._executor is not None and self._owner == os.getpid():
            self._executor.shutdown(wait=False)
        self.count, self._executor = count, None


def _from_environment() -> int:
    text = os.environ.get("APPELL_THREADS", "")
    if not text:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not text.isdigit() or int(text) < 1:
        raise InputError(f"APPELL_THREADS is '{text}'; expected a whole number of at least 1")
    return int(text)


pool = _Pool()


def threads(count: int | None = None) -> int:
    """Set how many threads share a batch, if a count is given; return how many do.

    The default is ``APPELL_THREADS``, or every core.

    >>> import appell
    >>> before = appell.threads()
    >>> appell.threads(1)
    1
    >>> _ = appell.threads(before)
    """
    if count is not None:
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InputError(f"threads: expected a whole number of at least 1, got {count!r}")
        pool.resize(count)
    return pool.count


def share(call: Callable[..., Any], arrays: Sequence[Any], core: Sequence[int], outputs: Sequence[Any]) -> None:
    """Run a gufunc on blocks of the first axis, one per thread; `core` counts each input's own dimensions."""
    rows = outputs[0].shape[0]
    leading = max(array.ndim - own for array, own in zip(arrays, core, strict=True))

    def block(start: int, stop: int) -> None:
        # an input takes part in the split if it has all leading axes and is not broadcast along the first
        parts = [
            array[start:stop] if array.ndim - own == leading and array.shape[0] == rows else array
            for array, own in zip(arrays, core, strict=True)
        ]
        results = tuple(output[start:stop] for output in outputs)
        call(*parts, out=results)

    in_blocks(block, rows, pool.count)


def in_blocks(block: Callable[[int, int], None], rows: int, parts: int) -> None:
    """Call a function on the first and last row of every block: of the first block here, of the others in threads."""
    bounds = [rows * k // parts for k in range(parts + 1)]
    jobs = [pool.executor().submit(block, a, b) for a, b in itertools.pairwise(bounds[1:])]
    block(bounds[0], bounds[1])
    for job in jobs:
        job.result()
