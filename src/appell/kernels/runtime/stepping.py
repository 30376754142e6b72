"""Programs of many steps called on many rows: shared among threads, in calls short enough for Ctrl-C."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np

from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.memory import empty
from appell.kernels.runtime.threads import available, in_threads
from appell.spatial.scalar import Array

_SPLIT = 1 << 12
"""Rows times steps below which starting threads costs more than it saves."""
_BLOCK, _ROWS, _LANES = 1 << 25, 64, 8
"""Rows times steps of one native call, times the square of the numbers of a state and its drives: some ten
milliseconds, since Ctrl-C acts between calls; the rows of a call are a multiple of the second number; and how many
rows cost as much as one."""


def run_steps(
    kernel: Kernel, states: Sequence[Array], fixed: Sequence[Array], drives: Sequence[Array], kept: range
) -> tuple[list[Array], Array]:
    """Return the states at the steps in `kept`, and per row for how many steps its state stayed finite.

    The kernel is that of a program of :func:`appell.program.stepping.stepping` that keeps intervals. `states` and
    `fixed` are (rows, n), `drives` (rows, steps, n): all of one type, their last axis side by side; other strides are
    free, and zero where a row or a step is shared. `kept` starts at 0 and ends at the last step.
    """
    rows, kind = states[0].shape[0], states[0].dtype
    results: list[Array] = [empty((rows, len(kept), state.shape[1]), kind) for state in states]
    lasted = np.zeros(rows, np.int64)
    work = _BLOCK // sum(stream.shape[-1] for stream in (*states, *drives)) ** 2
    height = max(work // kept[-1] // _ROWS, 1) * _ROWS
    length = max(work // min(height, max(rows, _LANES)), 1)
    both = functools.partial(zip, results, strict=True)

    def call(rows: slice, first: int, last: int, now: list[Array]) -> list[Array]:
        """Run the steps from first to last of some rows; return the states after them."""
        is_whole = not (first % kept.step or last % kept.step)
        every = kept.step if is_whole else last - first
        at = slice(first // kept.step + 1, last // kept.step + 1)
        places = [x[rows, at] if is_whole else np.empty((len(y), 1, y.shape[1]), kind) for x, y in both(now)]
        count = np.empty(len(now[0]), kind)
        streams = (x[rows, first:last] for x in drives)
        intervals = [x.reshape(x.shape[0], -1, every, x.shape[2]) for x in streams]
        with np.errstate(all="ignore"):  # what is not finite is counted
            kernel.evaluate((*now, *(x[rows] for x in fixed), *intervals), (*places, count))
        lasted[rows] += count.astype(np.int64)
        if last % kept.step == 0 and not is_whole:
            for result, place in both(places):
                result[rows, last // kept.step] = place[:, -1]
        return [place[:, -1].copy() for place in places]

    def block(start: int, stop: int) -> Iterator[None]:
        for a in range(start, stop, height):
            rows = slice(a, min(a + height, stop))
            now = [state[rows] for state in states]
            for first, last in _pieces(kept, length):
                now = call(rows, first, last, now)
                yield

    for result, state in both(states):
        result[:, 0] = state
    if rows:
        in_threads(block, rows, min(available(), rows) if rows * kept[-1] >= _SPLIT else 1)
    return results, lasted


def _pieces(kept: range, length: int) -> Iterator[tuple[int, int]]:
    """Yield the first and last step of each native call: whole intervals between kept states, or parts of one."""
    width = max(length - length % kept.step, kept.step)
    for first in range(0, kept[-1], width):
        last = min(first + width, kept[-1])
        part = width if length >= kept.step else length
        yield from ((a, min(a + part, last)) for a in range(first, last, part))


def run_rows(kernel: Kernel, arrays: Sequence[Array], results: Sequence[Array], steps: int) -> None:
    """Run a program of many steps on all rows of some arrays, the results into others."""
    rows, numbers = len(results[0]), sum(x.shape[-1] for x in results)
    height = max(_BLOCK // (steps * numbers**2) // _ROWS, 1) * _ROWS

    def block(start: int, stop: int) -> Iterator[None]:
        for a in range(start, stop, height):
            some = slice(a, min(a + height, stop))
            with np.errstate(all="ignore"):
                kernel.evaluate([x[some] for x in arrays], tuple(y[some] for y in results))
            yield

    if rows:
        in_threads(block, rows, min(available(), rows) if rows * steps >= _SPLIT else 1)
