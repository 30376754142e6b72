"""Storing large results: from values that lie in memory, vector by vector, to the rows of an output.

Values of a long tape come in the order of a recursion. Stored as they come, they touch every line of a row several
times, long after it has left the inner caches. So they are remembered, and this loop writes them at the end, from front
to back: it transposes as many neighbours as there are lanes into one vector per lane.

Rows start anywhere in a cache line. Vectors as long as a line would cross a border every time (line_stores.py). Of
shorter ones only some cross; they are written directly. Results larger than the caches bypass those of AMD's
processors: they are collected in a buffer that fits the innermost cache and copied to their place by whole lines, which
need not be read first. Intel's processors are slower for it (on Cascade Lake by a third).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from appell.kernels.llvm.emit import LINE
from appell.kernels.llvm.llvm_writer import Real, Writer, function
from appell.kernels.llvm.transposition import transposed_from
from appell.kernels.llvm.vector_loop import end_vector_loop, open_vector_loop, row_arguments

PIECE = 128
"""Numbers of a row that are transposed before they are copied, if they are."""
SPARE = 64
"""Further bytes per lane of the buffer, so that its lanes do not compete for the same places of the cache."""
BYPASS = 1 << 24
"""Bytes of results of one call from which on AMD's processors write them past the caches."""


def row_stores(real: Real, lanes: int, frame: int) -> str:
    """Return @store_rows: it fills the rows of one port for the vectors from %first to %stop.

    %shared0 is the memory of the first of them, `frame` bytes each. The tables are those of :func:`store_tables`. A
    lane of the buffer starts with the line before the piece: whole lines of memory begin there, except in the first
    piece, and end before the piece does, except in the last.
    """
    w = Writer(real, lanes)
    pitch = LINE + (PIECE + lanes) * real.size + SPARE
    w.do(f"%buffer = alloca [{lanes * pitch} x i8], align 64")
    rows = open_vector_loop(w, 1, "%first", ("shared",))[0]
    w.do("br label %piece", "piece:", "%p = phi i64 [ 0, %body ], [ %p_next, %copied ]")
    w.do("%piece_at = getelementptr [6 x i32], ptr %pieces, i64 %p")
    at, length, first, end, first_zero, end_zero = (_number(w, "%piece_at", k) for k in range(6))
    for lane, row in enumerate(rows):
        w.do(f"%lane{lane} = getelementptr inbounds i8, ptr %buffer, i64 {lane * pitch + LINE}")
        w.do(f"%to{lane} = getelementptr i8, ptr {row}, i64 {at}")
        w.do(f"%put{lane} = select i1 %bypass, ptr %lane{lane}, ptr %to{lane}")

    w.do(f"%some = icmp ult i64 {first}, {end}", "br i1 %some, label %group, label %grouped")
    w.do("group:", f"%g = phi i64 [ {first}, %piece ], [ %g_next, %group ]")
    w.do(f"%group_at = getelementptr [{lanes + 1} x i32], ptr %groups, i64 %g")
    place, *sources = (_number(w, "%group_at", k) for k in range(lanes + 1))
    slots = [w.emit(f"getelementptr inbounds i8, ptr %shared, i64 {source}") for source in sources]
    for lane, vector in enumerate(transposed_from(w, slots)):
        _store(w, vector, w.emit(f"getelementptr i8, ptr %put{lane}, i64 {place}"))
    w.do("%g_next = add i64 %g, 1", f"%g_more = icmp ult i64 %g_next, {end}")
    w.do("br i1 %g_more, label %group, label %grouped", "grouped:")

    w.do(f"%some_zero = icmp ult i64 {first_zero}, {end_zero}", "br i1 %some_zero, label %zero, label %zeroed")
    w.do("zero:", f"%z = phi i64 [ {first_zero}, %grouped ], [ %z_next, %zero ]")
    w.do("%zero_at = getelementptr i32, ptr %zeros, i64 %z")
    place = _number(w, "%zero_at", 0)
    for lane in range(lanes):
        _store(w, "zeroinitializer", w.emit(f"getelementptr i8, ptr %put{lane}, i64 {place}"))
    w.do("%z_next = add i64 %z, 1", f"%z_more = icmp ult i64 %z_next, {end_zero}")
    w.do("br i1 %z_more, label %zero, label %zeroed", "zeroed:")

    w.do("%p_next = add i64 %p, 1", "%p_more = icmp ult i64 %p_next, %n_pieces", "%is_first = icmp eq i64 %p, 0")
    w.do("br i1 %bypass, label %copy, label %copied", "copy:")
    for lane in range(lanes):
        to = f"%to{lane}"
        address = w.emit(f"ptrtoint ptr {to} to i64")
        before = w.emit(f"sub i64 0, {w.emit(f'and i64 {address}, {LINE - 1}')}")
        beyond = w.emit(f"and i64 {w.emit(f'add i64 {address}, {length}')}, {LINE - 1}")
        start = w.emit(f"select i1 %is_first, i64 0, i64 {before}")
        stop = w.emit(f"select i1 %p_more, i64 {w.emit(f'sub i64 {length}, {beyond}')}, i64 {length}")
        w.do(f"call void @copy_row(ptr {to}, ptr %lane{lane}, i64 {start}, i64 {stop}, i1 %bypass)")
        for k in range(0, LINE, real.size * lanes):  # the line before the next piece
            end_of_piece = w.emit(f"getelementptr i8, ptr %lane{lane}, i64 {PIECE * real.size - LINE + k}")
            kept = w.emit(f"load {w.vector}, ptr {end_of_piece}, align {real.size}")
            _store(w, kept, w.emit(f"getelementptr i8, ptr %lane{lane}, i64 {k - LINE}"))
    w.do("br label %copied", "copied:", "br i1 %p_more, label %piece, label %stored", "stored:")
    end_vector_loop(w, "%stop", ("shared",), frame)
    tables = "ptr %pieces, i64 %n_pieces, ptr %groups, ptr %zeros, ptr %shared0, i1 %bypass"
    head = f"internal void @store_rows({row_arguments(1, lanes, 'ptr')}, i64 %first, i64 %stop, {tables}) noinline"
    return function(head, w.lines) + _copy_row(real, lanes)


def one_row_store(real: Real) -> str:
    """Return @store_row: it fills the only row of one port, number by number, from the first lane of the frame.

    %places is the table of :func:`one_row_table`.
    """
    w = Writer(real, 1)
    w.do("br label %number", "number:", "%j = phi i64 [ 0, %entry ], [ %next, %number ]")
    w.do("%place_at = getelementptr i32, ptr %places, i64 %j", f"%to = getelementptr {real.name}, ptr %row, i64 %j")
    place = w.emit(f"getelementptr inbounds i8, ptr %shared, i64 {_number(w, '%place_at', 0)}")
    x = w.emit(f"load {real.name}, ptr {place}, align {real.size}")
    w.do(f"store {real.name} {x}, ptr %to, align {real.size}", "%next = add i64 %j, 1")
    w.do("%more = icmp ult i64 %next, %count", "br i1 %more, label %number, label %end", "end:", "ret void")
    return function("internal void @store_row(ptr %row, ptr %places, i64 %count, ptr %shared) noinline", w.lines)


def one_row_table(name: str, slots: Sequence[int], size: int) -> str:
    """Return the table of the places in a frame of values that lie in some slots of a size in bytes."""
    return f"@{name} = internal constant [{len(slots)} x i32] [{', '.join(f'i32 {slot * size}' for slot in slots)}]\n"


def _copy_row(real: Real, lanes: int) -> str:
    """Return @copy_row: the bytes from %start to %stop, whole lines of memory as such, single numbers around them."""
    w = Writer(real, lanes)
    number, vector, whole = (real.name, real.size, 1), (w.vector, lanes * real.size), LINE // (lanes * real.size)
    w.do("%address = ptrtoint ptr %to to i64", "%first = add i64 %address, %start", "%over = sub i64 0, %first")
    w.do(f"%skip = and i64 %over, {LINE - 1}", "%aligned = add i64 %start, %skip")
    w.do("%head = call i64 @llvm.smin.i64(i64 %aligned, i64 %stop)")
    before = _copies(w, "before", "entry", ("%start", "%head"), number)
    w.do("br i1 %bypass, label %past, label %cached")
    ends = []
    for way, hint in (("cached", ""), ("past", ", !nontemporal !2")):
        w.do(f"{way}:")
        lines = _copies(w, f"{way}_lines", way, (before, "%stop"), (*vector, 2 * whole), hint)
        line = _copies(w, f"{way}_line", f"{way}_lines_end", (lines, "%stop"), (*vector, whole), hint)
        ends.append(f"[ {line}, %{way}_line_end ]")
        w.do("br label %after_lines")
    w.do("after_lines:", f"%rest = phi i64 {', '.join(ends)}")
    _copies(w, "after", "after_lines", ("%rest", "%stop"), number)
    w.do("ret void")
    arguments = "ptr %to, ptr noalias %from, i64 %start, i64 %stop, i1 %bypass"
    return function(f"internal void @copy_row({arguments}) noinline", w.lines)


def _copies(
    w: Writer, name: str, here: str, bounds: tuple[str, str], unit: tuple[str, int, int], hint: str = ""
) -> str:
    """Append a loop that copies some values of a type and size per turn, while as many are left; return where it ends.

    It follows the block `here` and ends in the block with its name and `_end`.
    """
    (start, stop), (kind, size, count) = bounds, unit
    w.do(f"%{name}_last = sub i64 {stop}, {count * size}", f"%{name}_some = icmp sle i64 {start}, %{name}_last")
    w.do(f"br i1 %{name}_some, label %{name}, label %{name}_end")
    w.do(f"{name}:", f"%{name}_i = phi i64 [ {start}, %{here} ], [ %{name}_next, %{name} ]")
    for side in ("from", "to"):
        w.do(f"%{name}_{side} = getelementptr i8, ptr %{side}, i64 %{name}_i")
    moved = []
    for k in range(count):
        at = w.emit(f"getelementptr i8, ptr %{name}_from, i64 {k * size}")
        moved.append(w.emit(f"load {kind}, ptr {at}, align {w.real.size}"))
    for k, value in enumerate(moved):
        at = w.emit(f"getelementptr i8, ptr %{name}_to, i64 {k * size}")
        w.do(f"store {kind} {value}, ptr {at}, align {size if hint else w.real.size}{hint}")
    w.do(f"%{name}_next = add i64 %{name}_i, {count * size}", f"%{name}_more = icmp sle i64 %{name}_next, %{name}_last")
    w.do(f"br i1 %{name}_more, label %{name}, label %{name}_end", f"{name}_end:")
    w.do(f"%{name}_at = phi i64 [ {start}, %{here} ], [ %{name}_next, %{name} ]")
    return f"%{name}_at"


def _number(w: Writer, table: str, k: int) -> str:
    at = w.emit(f"getelementptr i32, ptr {table}, i64 {k}")
    return w.emit(f"zext i32 {w.emit(f'load i32, ptr {at}, align 4')} to i64")


def _store(w: Writer, vector: str, place: str) -> None:
    w.do(f"store {w.vector} {vector}, ptr {place}, align {w.real.size}")


def store_tables(name: str, slots: Sequence[int], zero: set[int], real: Real, lanes: int) -> tuple[str, str]:
    """Return the tables of a port whose values lie in some slots, of which some are always zero, and their arguments.

    A piece is its place in the row, its length, and which groups of values and of zeros it has; a group is its place in
    the piece and those of its values in memory, all in bytes. The last group may repeat some of the one before.
    """
    starts = [*range(0, max(len(slots) - lanes + 1, 1), PIECE)]
    if len(slots) - starts[-1] < lanes and len(starts) > 1:
        starts.pop()
    pieces: list[str] = []
    groups: list[str] = []
    zeros: list[str] = []
    for start, end in pairwise([*starts, len(slots)]):
        before = len(groups), len(zeros)
        for at in [*range(start, end - lanes, lanes), end - lanes]:
            place, own = (at - start) * real.size, slots[at : at + lanes]
            if zero.issuperset(own):
                zeros.append(f"i32 {place}")
            else:
                numbers = [place, *(slot * lanes * real.size for slot in own)]
                groups.append(f"[{lanes + 1} x i32] [{', '.join(f'i32 {x}' for x in numbers)}]")
        numbers = [start * real.size, (end - start) * real.size, before[0], len(groups), before[1], len(zeros)]
        pieces.append(f"[6 x i32] [{', '.join(f'i32 {x}' for x in numbers)}]")
    tables = {"pieces": ("[6 x i32]", pieces), "groups": (f"[{lanes + 1} x i32]", groups), "zeros": ("i32", zeros)}
    text = "".join(
        f"@{name}_{key} = internal constant [{len(rows)} x {kind}] [{', '.join(rows)}]\n"
        for key, (kind, rows) in tables.items()
    )
    return text, f"ptr @{name}_pieces, i64 {len(pieces)}, ptr @{name}_groups, ptr @{name}_zeros"
