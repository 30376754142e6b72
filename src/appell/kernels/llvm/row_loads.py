"""Inputs of long tapes: from the rows of a port to the frames of vectors; angles into the fast range of the sines."""

from __future__ import annotations

from appell.kernels.llvm import emit
from appell.kernels.llvm.llvm_writer import DOUBLE, Real, Writer, function
from appell.kernels.llvm.transposition import transposed_from
from appell.kernels.llvm.vector_loop import end_vector_loop, open_vector_loop, row_arguments


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
            _store(w, value, f"{place + k * lanes * real.size}")
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


def _store(w: Writer, vector: str, to: str) -> None:
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
    name, size = real.name, real.size
    places = ", ".join(f"i64 {(slot * lanes + lane) * size}" for slot in slots for lane in range(lanes))
    count = len(slots) * lanes
    narrow = [
        f"%x = load {name}, ptr %place, align {size}",
        *(["%wide = fpext float %x to double"] if real is not DOUBLE else []),
        f"%y = call double @reduce(double {'%x' if real is DOUBLE else '%wide'})",
        *(["%narrow = fptrunc double %y to float"] if real is not DOUBLE else []),
        f"store {name} {'%y' if real is DOUBLE else '%narrow'}, ptr %place, align {size}",
    ]
    lines = [
        "br label %number",
        "number:",
        "%j = phi i64 [ 0, %entry ], [ %next, %done ]",
        f"%lane = and i64 %j, {lanes - 1}",
        "%bit = lshr i64 %lanes, %lane",
        "%is_far = trunc i64 %bit to i1",
        "br i1 %is_far, label %far, label %done",
        "far:",
        f"%at_j = getelementptr [{count} x i64], ptr @{function_name}_places, i64 0, i64 %j",
        "%at = load i64, ptr %at_j",
        "%place = getelementptr i8, ptr %shared, i64 %at",
        *narrow,
        "br label %done",
        "done:",
        "%next = add i64 %j, 1",
        f"%more = icmp ult i64 %next, {count}",
        "br i1 %more, label %number, label %end",
        "end:",
        "ret void",
    ]
    table = f"@{function_name}_places = internal constant [{count} x i64] [{places}]\n"
    head = f"internal void @{function_name}_of_frame(ptr %shared, i64 %lanes) noinline cold"
    return function(head, lines) + table
