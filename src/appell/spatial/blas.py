"""One thread for the linear algebra of small and medium matrices.

BLAS libraries distribute a product or a decomposition over all cores. For the matrices of a fit, thousands of rows by
tens of columns, synchronising the threads takes longer than the work.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

_SETTER = threading.RLock()
"""Held by the thread that has set the number of BLAS threads."""


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Give BLAS one thread, as a context or as the decorator of a function; it may be entered again.

    Entering takes about 50 µs, too long for single samples. Most BLAS libraries have one setting for the whole process,
    so one Python thread at a time sets and restores it; fits in other threads leave it unchanged meanwhile.

    >>> with one_blas_thread():
    ...     numbers = {library["num_threads"] for library in _controller().info() if library["user_api"] == "blas"}
    >>> numbers <= {1}
    True
    """
    if not _SETTER.acquire(blocking=False):
        yield
        return
    try:
        with _controller().limit(limits=1, user_api="blas"):
            yield
    finally:
        _SETTER.release()


@cache
def _controller() -> Any:
    """Return the BLAS libraries of this process: NumPy's and SciPy's are not the same."""
    import scipy.linalg  # noqa: F401, PLC0415  # SciPy loads its library when it is first used
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415  # looks through all loaded libraries

    return ThreadpoolController()
