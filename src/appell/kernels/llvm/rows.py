"""Rows of inputs and outputs of long tapes: to and from the frames of vectors, in which their values lie.

A port of an input is transposed into the frames, and angles are reduced to the fast range of the sines.

Values of a long tape come in the order of a recursion. Stored as they come, they touch every line of a row several
times, long after it has left the inner caches. So they are remembered, and a loop writes them at the end, from front to
back: it transposes as many neighbours as there are lanes into one vector per lane.

Rows start anywhere in a cache line. Of vectors shorter than a line only some cross a border; they are written directly.
Results larger than the caches bypass those of AMD's processors: they are collected in a buffer that fits the innermost
cache and copied to their place by whole lines, which need not be read first. Intel's processors are slower for it (on
Cascade Lake by a third).

A vector as long as a line would cross a border every time, which takes twice as long. Each lane therefore keeps the
vector of the group before, and picks the numbers of the next line from the two of them: one instruction, whose indices
follow from where the row starts. The first and the last line of a row are stored in part. A processor must own a line
before it writes to it: on Intel's processors, a prefetch some groups ahead saves a tenth to a third of the time, the
more the larger the results; AMD's are slower with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from appell.kernels.llvm import emit
from appell.kernels.llvm.emit import LINE, transposed_from
from appell.kernels.llvm.llvm_writer import (
    DOUBLE,
    Real,
    Writer,
    end_vector_loop,
    from_file,
    function,
    open_vector_loop,
    row_arguments,
)


def load_port(name: str, size: int, place: int, real: Real, lanes: int, frame: int) -> str:
    """Return a function that transposes the numbers of a port from a place of the frames on, `frame` bytes each.

    %shared0 is the frame of the vector %first. As many numbers as there are lanes are transposed at once. Those left
    over are loaded in pairs or, if there are more, together with some before them.
    """
    w = Writer(real, lanes)
    rows = open_vector_loop(w, 1, "%first", ("shared",))[0]
    whole, rest = divmod(size, lanes)
    if whole:
        w.do("br label %group", "group:", "%g = phi i64 [ 0, %body ], [ %g_next, %group ]")
        w.do(f"%at = mul i64 %g, {lanes * real.size}", f"%to = mul i64 %g, {lanes * lanes * real.size}")
        _transpose(w, rows, "%at", w.emit(f"add i64 %to, {place}"))
        w.do("%g_next = add i64 %g, 1", f"%g_more = icmp ult i64 %g_next, {whole}")
        w.do("br i1 %g_more, label %group, label %rest", "rest:")
    if whole and rest > 2:  # more than a pair
        _transpose(w, rows, f"{(size - lanes) * real.size}", f"{place + (size - lanes) * lanes * real.size}")
    elif rest:
        for k, value in enumerate(emit.load(w, rows, range(size - rest, size)), start=size - rest):
            _put(w, value, f"{place + k * lanes * real.size}")
    end_vector_loop(w, "%stop", ("shared",), frame)
    head = f"internal void @{name}({row_arguments(1, lanes, 'ptr')}, i64 %first, i64 %stop, ptr %shared0) noinline"
    return function(head, w.lines)


def _transpose(w: Writer, rows: list[str], at: str, to: str) -> None:
    """Append the transposition of as many numbers of each row as there are lanes, `at` bytes into it, to a frame."""
    places = [w.emit(f"getelementptr i8, ptr {row}, i64 {at}") for row in rows]
    start = w.emit(f"getelementptr i8, ptr %shared, i64 {to}")
    for k, vector in enumerate(transposed_from(w, places, w.real.size)):
        place = w.emit(f"getelementptr i8, ptr {start}, i64 {k * w.lanes * w.real.size}")
        w.do(f"store {w.vector} {vector}, ptr {place}, align {w.lanes * w.real.size}")


def _put(w: Writer, vector: str, to: str) -> None:
    place = w.emit(f"getelementptr i8, ptr %shared, i64 {to}")
    w.do(f"store {w.vector} {vector}, ptr {place}, align {w.lanes * w.real.size}")


def reduce_angles(name: str, slots: list[int], real: Real, lanes: int, frame: int) -> str:
    """Return a function that reduces the angles in %n frames, in lanes where their sizes sum to beyond the bound."""
    w = Writer(real, lanes)
    size = lanes * real.size
    w.do("br label %body", "body:", "%i = phi i64 [ 0, %entry ], [ %next, %near ]")
    w.do("%shared = phi ptr [ %shared0, %entry ], [ %shared_next, %near ]")
    sums: list[str] = []
    for count, slot in enumerate(slots):
        place = w.emit(f"getelementptr inbounds i8, ptr %shared, i64 {slot * size}")
        angle = emit.magnitude(w, w.emit(f"load {w.vector}, ptr {place}, align {size}"))
        if count < 2:  # two sums side by side hide the latency of one
            sums.append(angle)
        else:
            sums[count % 2] = w.emit(f"fadd {w.vector} {sums[count % 2]}, {angle}")
    total = sums[0] if len(sums) == 1 else w.emit(f"fadd {w.vector} {sums[0]}, {sums[1]}")
    mask = w.emit(f"bitcast <{lanes} x i1> {emit.is_beyond(w, total)} to i{lanes}")
    w.do(f"%far = icmp ne i{lanes} {mask}, 0", "br i1 %far, label %reduce, label %near, !prof !0")
    w.do("reduce:", f"%lanes = zext i{lanes} {mask} to i64")
    w.do(f"call void @{name}_of_frame(ptr %shared, i64 %lanes)", "br label %near", "near:")
    w.do(f"%shared_next = getelementptr inbounds i8, ptr %shared, i64 {frame}")
    w.do("%next = add i64 %i, 1", "%more = icmp ult i64 %next, %n", "br i1 %more, label %body, label %end")
    w.do("end:", "ret void")
    head = f"internal void @{name}(ptr %shared0, i64 %n) noinline"
    return function(head, w.lines) + _reduce_frame(name, slots, real, lanes)


def _reduce_frame(function_name: str, slots: list[int], real: Real, lanes: int) -> str:
    """Return the function of one frame: every angle of some lanes, number by number."""
    places = [f"i64 {(slot * lanes + lane) * real.size}" for slot in slots for lane in range(lanes)]
    reduced = "  %reduced = call double @reduce(double %x)"
    if real is not DOUBLE:
        reduced = "  %wide = fpext float %x to double\n  %y = call double @reduce(double %wide)\n"
        reduced += "  %reduced = fptrunc double %y to float"
    about = {"name": function_name, "real": real.name, "size": real.size, "reduced": reduced, "last_lane": lanes - 1}
    return from_file("reduce_frame", **about, count=len(places), places=", ".join(places))


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


ZERO = -1
"""Mark of a group of numbers that are always zero."""


AHEAD = 4
"""Groups by which lines are prefetched in advance."""


def line_stores(real: Real, frame: int, *, prefetches: bool) -> str:
    """Return @store_rows: it fills the rows of one port for the vectors from %first to %stop.

    %shared0 is the memory of the first of them, `frame` bytes each. %groups is the table of :func:`line_tables`, of
    %full groups and a last one, of which %rest numbers belong to the row. `prefetches`: lines are prefetched.
    """
    lanes = LINE // real.size
    w = Writer(real, lanes)
    counting = f"<{', '.join(f'{real.integer} {k}' for k in range(lanes))}>"
    rows = open_vector_loop(w, 1, "%first", ("shared",))[0]
    skews = []
    for lane, row in enumerate(rows):
        w.do(f"%address{lane} = ptrtoint ptr {row} to i64", f"%into{lane} = and i64 %address{lane}, {LINE - 1}")
        w.do(f"%back{lane} = sub i64 0, %into{lane}", f"%line{lane} = getelementptr i8, ptr {row}, i64 %back{lane}")
        skews.append(_spread_integer(w, w.emit(f"lshr i64 %into{lane}, {real.size.bit_length() - 1}")))
        shift = w.emit(f"sub {w.integers} splat ({real.integer} {lanes}), {skews[-1]}")
        w.do(f"%picks{lane} = add {w.integers} {counting}, {shift}")
    first = _group(w, "%groups")
    for lane, vector in enumerate(first):
        inside = w.emit(f"icmp uge {w.integers} {counting}, {skews[lane]}")
        _store_part(w, _picked(w, lane, vector, vector), f"%line{lane}", inside)
    w.do("br label %group")

    w.do("group:", "%g = phi i64 [ 1, %body ], [ %g_next, %written ]")
    for lane in range(lanes):
        w.do(f"%before{lane} = phi {w.vector} [ {first[lane]}, %body ], [ %now{lane}, %written ]")
    w.do(f"%group_at = getelementptr [{lanes} x i32], ptr %groups, i64 %g", f"%line_at = mul i64 %g, {LINE}")
    w.do("%mark = load i32, ptr %group_at, align 4", f"%is_zero = icmp eq i32 %mark, {ZERO}")
    for lane in range(lanes if prefetches else 0):
        at = w.emit(f"getelementptr i8, ptr %line{lane}, i64 %line_at")
        ahead = w.emit(f"getelementptr i8, ptr {at}, i64 {AHEAD * LINE}")
        w.do(f"call void @llvm.prefetch.p0(ptr {ahead}, i32 1, i32 3, i32 1)")
    w.do("br i1 %is_zero, label %joined, label %some", "some:")
    turned = _group(w, "%group_at")
    w.do("br label %joined", "joined:")
    for lane, vector in enumerate(turned):
        w.do(f"%now{lane} = phi {w.vector} [ zeroinitializer, %group ], [ {vector}, %some ]")
    lines = [_picked(w, lane, f"%before{lane}", f"%now{lane}") for lane in range(lanes)]
    places = [w.emit(f"getelementptr i8, ptr %line{lane}, i64 %line_at") for lane in range(lanes)]
    w.do("%is_last = icmp eq i64 %g, %full", "br i1 %is_last, label %ending, label %inner", "inner:")
    w.do("br i1 %bypass, label %past, label %cached")
    for way, hint in (("cached", ""), ("past", ", !nontemporal !2")):
        w.do(f"{way}:")
        for line, place in zip(lines, places, strict=True):
            w.do(f"store {w.vector} {line}, ptr {place}, align {LINE}{hint}")
        w.do("br label %written")
    w.do("written:", "%g_next = add i64 %g, 1", "br label %group")

    w.do("ending:")
    for lane in range(lanes):
        left = w.emit(f"add {w.integers} {skews[lane]}, {_spread_integer(w, '%rest')}")
        _store_part(w, lines[lane], places[lane], w.emit(f"icmp ult {w.integers} {counting}, {left}"))
        over = w.emit(f"add {w.integers} {counting}, splat ({real.integer} {lanes})")
        beyond = w.emit(f"getelementptr i8, ptr {places[lane]}, i64 {LINE}")
        last = _picked(w, lane, f"%now{lane}", f"%now{lane}")
        _store_part(w, last, beyond, w.emit(f"icmp ult {w.integers} {over}, {left}"))
    end_vector_loop(w, "%stop", ("shared",), frame)
    tables = "ptr %groups, i64 %full, i64 %rest, ptr %shared0, i1 %bypass"
    head = f"internal void @store_rows({row_arguments(1, lanes, 'ptr')}, i64 %first, i64 %stop, {tables}) noinline"
    return function(head, w.lines) + _declarations(w)


def _spread_integer(w: Writer, number: str) -> str:
    """Append an integer of 64 bits in every lane."""
    narrow = number if w.real.size == 8 else w.emit(f"trunc i64 {number} to {w.real.integer}")
    first = w.emit(f"insertelement {w.integers} poison, {w.real.integer} {narrow}, i32 0")
    return w.emit(f"shufflevector {w.integers} {first}, {w.integers} poison, <{w.lanes} x i32> zeroinitializer")


def _group(w: Writer, table: str) -> list[str]:
    """Append the loads of a group of values, whose places are at `table`, and their transposition."""
    slots = []
    for k in range(w.lanes):
        at = w.emit(f"getelementptr i32, ptr {table}, i64 {k}")
        source = w.emit(f"zext i32 {w.emit(f'load i32, ptr {at}, align 4')} to i64")
        slots.append(w.emit(f"getelementptr inbounds i8, ptr %shared, i64 {source}"))
    return transposed_from(w, slots)


def _picked(w: Writer, lane: int, before: str, now: str) -> str:
    """Append the numbers of one line of a lane's row, from two groups in succession."""
    return w.emit(
        f"call {w.vector} @llvm.x86.avx512.vpermi2var.{_suffix(w)}.512"
        f"({w.vector} {before}, {w.integers} %picks{lane}, {w.vector} {now})"
    )


def _store_part(w: Writer, vector: str, place: str, inside: str) -> None:
    flags = f"<{w.lanes} x i1>"
    w.do(f"call void @llvm.masked.store.{_kind(w)}.p0({w.vector} {vector}, ptr {place}, i32 {LINE}, {flags} {inside})")


def _suffix(w: Writer) -> str:
    return "pd" if w.real.size == 8 else "ps"


def _kind(w: Writer) -> str:
    return f"v{w.lanes}f{8 * w.real.size}"


def _declarations(w: Writer) -> str:
    return (
        f"declare {w.vector} @llvm.x86.avx512.vpermi2var.{_suffix(w)}.512({w.vector}, {w.integers}, {w.vector})\n"
        f"declare void @llvm.masked.store.{_kind(w)}.p0({w.vector}, ptr, i32, <{w.lanes} x i1>)\n"
    )


def line_tables(name: str, slots: Sequence[int], zero: set[int], real: Real) -> tuple[str, str]:
    """Return the table of a port whose values lie in some slots, of which some are always zero, and its arguments.

    A group is the places of its values in memory, in bytes. The last one may be short, and even empty.
    """
    lanes = LINE // real.size
    full, rest = divmod(len(slots), lanes)
    groups = []
    for at in range(0, len(slots) + 1, lanes):
        own = slots[at : at + lanes]
        places = [slot * LINE for slot in own] + [0] * (lanes - len(own))
        numbers = [ZERO] * lanes if at and zero.issuperset(own) else places
        groups.append(f"[{lanes} x i32] [{', '.join(f'i32 {x}' for x in numbers)}]")
    text = f"@{name}_groups = internal constant [{len(groups)} x [{lanes} x i32]] [{', '.join(groups)}], align 64\n"
    return text, f"ptr @{name}_groups, i64 {full}, i64 {rest}"
