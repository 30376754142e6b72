"""Storing large results: from values that lie in memory, vector by vector, to the rows of an output in their order.

Values of a long tape come in the order of a recursion. Stored as they come, they touch every line of a row several
times, long after it has left the inner caches. So they are remembered, and a loop at the end reads as many neighbours
as a cache line holds, transposes them, and writes each lane's row from its beginning to its end.
"""

from __future__ import annotations

from collections.abc import Sequence

from appell.kernels.llvm import emit
from appell.kernels.llvm.llvm_writer import Real, Writer, function
from appell.kernels.llvm.vector_loop import end_vector_loop, open_vector_loop, row_arguments

LINE = 64
"""Bytes of a cache line."""


def _width(real: Real, lanes: int) -> int:
    """Return how many numbers of a row are written at a time: vectors that fill a cache line."""
    return lanes * max(1, LINE // (lanes * real.size))


def row_stores(real: Real, lanes: int, frame: int) -> str:
    """Return @store_rows: it fills the rows of one port for the vectors from %first to %stop.

    %shared0 is the memory of the first of them, `frame` bytes each. A row of the table is a place in the port's rows,
    and the places in memory of the values that go there, in bytes.
    """
    w, width = Writer(real, lanes), _width(real, lanes)
    rows = open_vector_loop(w, 1, "%first", ("shared",))[0]
    w.do("br label %group", "group:", "%g = phi i64 [ 0, %body ], [ %g_next, %group ]")
    w.do(f"%entry_at = getelementptr [{width + 1} x i32], ptr %table, i64 %g")
    place, *sources = (_number(w, k) for k in range(width + 1))
    values = []
    for source in sources:
        at = w.emit(f"getelementptr inbounds i8, ptr %shared, i64 {source}")
        values.append(w.emit(f"load {w.vector}, ptr {at}, align {lanes * real.size}"))
    turned = [emit.transposed(w, values[k : k + lanes]) for k in range(0, width, lanes)]
    for row, *vectors in zip(rows, *turned, strict=True):
        at = w.emit(f"getelementptr inbounds i8, ptr {row}, i64 {place}")
        for k, vector in enumerate(vectors):
            here = w.emit(f"getelementptr inbounds i8, ptr {at}, i64 {k * lanes * real.size}")
            w.do(f"store {w.vector} {vector}, ptr {here}, align {real.size}")
    w.do("%g_next = add i64 %g, 1", "%g_more = icmp ult i64 %g_next, %groups")
    w.do("br i1 %g_more, label %group, label %stored", "stored:")
    end_vector_loop(w, "%stop", ("shared",), frame)
    arguments = "i64 %first, i64 %stop, ptr %table, i64 %groups, ptr %shared0"
    return function(f"internal void @store_rows({row_arguments(1, lanes, 'ptr')}, {arguments}) noinline", w.lines)


def _number(w: Writer, k: int) -> str:
    at = w.emit(f"getelementptr i32, ptr %entry_at, i64 {k}")
    return w.emit(f"zext i32 {w.emit(f'load i32, ptr {at}, align 4')} to i64")


def store_table(name: str, slots: Sequence[int], real: Real, lanes: int) -> str:
    """Return the table of a port whose values lie in some slots; the last group may repeat some of the one before."""
    width = _width(real, lanes)
    starts = [*range(0, len(slots) - width, width), len(slots) - width]
    rows = []
    for start in starts:
        numbers = [start * real.size, *(slot * lanes * real.size for slot in slots[start : start + width])]
        rows.append(f"[{width + 1} x i32] [{', '.join(f'i32 {x}' for x in numbers)}]")
    return f"@{name} = internal constant [{len(starts)} x [{width + 1} x i32]] [{', '.join(rows)}]\n"


def n_groups(size: int, real: Real, lanes: int) -> int:
    """Return the rows of the table of a port."""
    return -(-size // _width(real, lanes))
