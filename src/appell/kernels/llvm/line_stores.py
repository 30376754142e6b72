"""Storing large results with vectors as long as a cache line: every line of a row is written once, as a whole.

As row_stores.py does, a loop transposes as many neighbours of a row as there are lanes into one vector per lane. Rows
start anywhere in a line, so a vector stored as it is would cross a border every time, which takes twice as long. Each
lane therefore keeps the vector of the group before, and picks the numbers of the next line from the two of them: one
instruction, whose indices follow from where the row starts. The first and the last line of a row are stored in part.

A processor must own a line before it writes to it. On Intel's processors, a prefetch some groups ahead saves a tenth to
a third of the time, the more the larger the results; AMD's are slower with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from appell.kernels.llvm.emit import LINE
from appell.kernels.llvm.llvm_writer import Real, Writer, function
from appell.kernels.llvm.transposition import transposed_from
from appell.kernels.llvm.vector_loop import end_vector_loop, open_vector_loop, row_arguments

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
        skews.append(_spread(w, w.emit(f"lshr i64 %into{lane}, {real.size.bit_length() - 1}")))
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
        left = w.emit(f"add {w.integers} {skews[lane]}, {_spread(w, '%rest')}")
        _store_part(w, lines[lane], places[lane], w.emit(f"icmp ult {w.integers} {counting}, {left}"))
        over = w.emit(f"add {w.integers} {counting}, splat ({real.integer} {lanes})")
        beyond = w.emit(f"getelementptr i8, ptr {places[lane]}, i64 {LINE}")
        last = _picked(w, lane, f"%now{lane}", f"%now{lane}")
        _store_part(w, last, beyond, w.emit(f"icmp ult {w.integers} {over}, {left}"))
    end_vector_loop(w, "%stop", ("shared",), frame)
    tables = "ptr %groups, i64 %full, i64 %rest, ptr %shared0, i1 %bypass"
    head = f"internal void @store_rows({row_arguments(1, lanes, 'ptr')}, i64 %first, i64 %stop, {tables}) noinline"
    return function(head, w.lines) + _declarations(w)


def _spread(w: Writer, number: str) -> str:
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
