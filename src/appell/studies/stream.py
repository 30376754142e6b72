"""Verbs over more samples than fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from appell.arguments import whole
from appell.errors import InputError


def stream(verb: Callable[..., Any], *arrays: Any, block: int = 65536) -> Iterator[tuple[slice, Any]]:
    """Run a verb over more samples than fit in memory, block by block.

    Parameters
    ----------
    verb
        A verb of a robot, such as ``robot.inverse_dynamics``.
    *arrays
        Its arguments, (n, …) each, such as :class:`numpy.memmap`; only one block of each is read at a time.
    block
        Samples per block.

    Yields
    ------
    slice
        The rows of a block.
    array, or tuple of arrays
        The results of these rows. Their memory is reused for the next block: copy results to keep them.

    Raises
    ------
    InputError
        When the arguments differ in length.

    Examples
    --------
    >>> import appell, numpy as np
    >>> robot = appell.load("two-link")
    >>> q = v = a = np.zeros((100_000, 2))
    >>> max(np.abs(tau).max() for rows, tau in appell.stream(robot.inverse_dynamics, q, v, a, block=8192)) > 0
    np.True_
    """
    size = whole("stream: block", block)
    lengths = {len(array) for array in arrays}
    if len(lengths) != 1:
        raise InputError(f"stream: expected arguments of one length, got lengths {sorted(lengths)}")
    results: Any = None
    for start in range(0, lengths.pop(), size):
        parts = [np.asarray(array[start : start + size]) for array in arrays]
        rows = slice(start, start + len(parts[0]))
        if results is None or len(parts[0]) < size:
            results = verb(*parts)
        else:
            verb(*parts, out=results)
        yield rows, results
