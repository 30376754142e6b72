"""From a program to the texts of LLVM modules, with the functions by which compiled code is entered.

`@loop` is the function that NumPy calls. NumPy hands a generalised-ufunc loop the addresses of the first row of every
argument, the number of rows, and two kinds of stride: from row to row and from number to number within a row. Where the
numbers of every row lie side by side, `@rows` reads and writes them in place. An array that is laid out otherwise goes
by way of the stack, a vector's worth of rows at a time: `@columns` transposes it where the rows lie side by side
(Fortran order), `@copy` moves number by number.

`@fast_call` is the C function of a Python callable, for plain arrays. A gufunc takes about a microsecond to look at its
arguments, several times what the dynamics of an arm takes. When every argument is a plain array of the program's
precision and the right size, with its numbers side by side, there is nothing to look for: this function checks just
that, makes the result arrays and runs the tape. Arguments are single samples, or tables with one sample per row and as
many rows as the others. Arrays for the results, given after the arguments, are as plain and apart from all else.
Anything else is passed on, untouched, to the general callable; so is a batch that is worth a second thread or should be
interruptible. A batch of more than some ten microseconds runs with the interpreter's lock released. Where memory cannot
be had, the general callable is called, whose errors have words. The function reads the fields of NumPy's array object
that NumPy's own headers publish as its binary interface.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from appell.kernels.llvm import nodes_ir, scheduled
from appell.kernels.llvm.llvm_writer import (
    HasPorts,
    Real,
    Streams,
    Writer,
    fetch,
    function,
    module_text,
    row_arguments,
    row_choice,
)
from appell.kernels.llvm.target import Target
from appell.program.nodes import Program
from appell.trace.tape import Port


def modules(program: Program, real: Real, target: Target) -> Iterator[str]:
    """Yield the texts of LLVM modules; the first defines `@loop`, and `@fast_call` where there is a short way."""
    lanes = target.lanes(real.size)
    rows: Iterator[str]
    if scheduled.suits(program, target):
        rows = scheduled.rows(program, real, lanes, target)
    else:
        rows = iter([nodes_ir.rows(program, real, target)])
    failures = nodes_ir.UNALLOCATED if program.tables else ""
    short = fast_call_text(program, real, lanes, failures) if has_fast_call(program) else ""
    yield module_text([next(rows), ufunc_loop(program, real, lanes), short], real, lanes)
    yield from (module_text([text], real, lanes) for text in rows)


STACK_LIMIT = 1 << 18
"""Bytes of stack a kernel may use for gathered rows; a larger program must be given rows that lie side by side."""


def gathers(tape: HasPorts, size: int, lanes: int) -> bool:
    """Return whether a kernel of the tape can gather rows itself; entries of streams are always side by side."""
    ports = (*tape.inputs, *tape.outputs)
    return lanes * size * sum(port.size for port in ports) <= STACK_LIMIT and not any(port.axes for port in ports)


def ufunc_loop(tape: HasPorts, real: Real, lanes: int) -> str:
    """Return the LLVM text of `@loop` and its helpers."""
    ports = (*tape.inputs, *tape.outputs)
    lines = [*fetch("n", "i64", "%dims", 0), "%some = icmp ne i64 %n, 0", "br i1 %some, label %setup, label %end"]
    lines += ["setup:"]
    where, whole, streams = len(ports), "true", Streams(tape)
    labels = list(dict.fromkeys(str(x) for port in ports for x in (*port.axes, *port.shape)))
    for axis in streams.axes:
        lines += fetch(f"turns_{axis}", "i64", "%dims", 1 + labels.index(axis))
    strides: list[tuple[str, ...]] = []
    for k, port in enumerate(ports):
        lines += fetch(f"p{k}", "ptr", "%args", k) + fetch(f"p{k}_step", "i64", "%steps", k)
        for axis in port.axes:
            lines += fetch(f"p{k}_by_{axis}", "i64", "%steps", where)
            where += 1
        expected, dense = real.size * port.size, "true"
        for d, extent in enumerate(port.shape):
            lines += fetch(f"c{k}_{d}", "i64", "%steps", where)
            where += 1
            expected //= max(extent, 1)
            if extent > 1:
                lines += [
                    f"%ok{k}_{d} = icmp eq i64 %c{k}_{d}, {expected}",
                    f"%all{k}_{d} = and i1 {dense}, %ok{k}_{d}",
                ]
                dense = f"%all{k}_{d}"
        lines += [f"%dense{k} = and i1 {dense}, true", f"%whole{k} = and i1 {whole}, %dense{k}"]
        whole = f"%whole{k}"
        strides.append((f"%p{k}_step", *["0", "0", *(f"%c{k}_{d}" for d in range(len(port.shape)))][-2:]))
    is_gathering = gathers(tape, real.size, lanes)
    lines += [
        *row_choice(lanes),
        f"br i1 {whole}, label %in_place, label %gathered",
        "in_place:",
        f"call void @rows({row_arguments(len(ports), lanes, 'ptr')}, i64 %count, ptr @constants{streams.arguments})",
        "br label %end",
        "gathered:",
        *(_gathered(tape, real, lanes, strides) if is_gathering else _TRAP),
        "end:",
        "ret void",
    ]
    helpers = _copy(real) + _columns(real, lanes) if is_gathering else ""
    return function("void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data)", lines) + helpers


_TRAP = ("call void @llvm.trap()", "unreachable")


def _gathered(tape: HasPorts, real: Real, lanes: int, strides: list[tuple[str, ...]]) -> list[str]:
    """Return the loop over vectors in which arrays whose rows are not side by side go by way of the stack."""
    ports = (*tape.inputs, *tape.outputs)
    widths = [real.size * (-(-(port.size + lanes - 1) // lanes) * lanes) for port in ports]  # @columns writes beyond
    lines = [f"%g{k} = alloca [{lanes * width} x i8], align 64" for k, width in enumerate(widths)]
    lines += [f"%is_full = icmp uge i64 %n, {lanes}"]
    for k, width in enumerate(widths):
        lines += [
            f"%beside{k} = icmp eq i64 %p{k}_step, {real.size}",
            f"%column{k} = and i1 %beside{k}, %is_full",
            f"%step{k} = select i1 %dense{k}, i64 %p{k}_step, i64 {width}",
        ]
    lines += ["br label %turn", "turn:", "%i = phi i64 [ 0, %gathered ], [ %next, %finish ]"]
    lines += [f"%wanted = mul i64 %i, {lanes}", "%start = call i64 @llvm.umin.i64(i64 %wanted, i64 %last)"]
    for k in range(len(ports)):
        lines += [
            f"%at{k} = mul i64 %start, %p{k}_step",
            f"%from{k} = getelementptr i8, ptr %p{k}, i64 %at{k}",
            f"%used{k} = select i1 %dense{k}, ptr %from{k}, ptr %g{k}",
        ]
    moves = [_move(k, port, widths[k], strides[k], real, lanes, k >= len(tape.inputs)) for k, port in enumerate(ports)]
    places = [f"ptr %used{k}, i64 %step{k}" for k in range(len(ports))]
    rows = [f"i64 %row{lane}" for lane in range(lanes)]
    return [
        *lines,
        *(line for move in moves[: len(tape.inputs)] for line in move),
        f"call void @rows({', '.join(places + rows)}, i64 0, i64 1, ptr @constants)",
        *(line for move in moves[len(tape.inputs) :] for line in move),
        "br label %finish",
        "finish:",
        "%next = add i64 %i, 1",
        "%more = icmp ult i64 %next, %count",
        "br i1 %more, label %turn, label %end",
    ]


def _move(k: int, port: Port, width: int, strides: tuple[str, ...], real: Real, lanes: int, is_out: bool) -> list[str]:
    """Return the lines that move the rows of a port to the stack, or from it, where they need that."""
    rows, columns = (1, 1, *port.shape)[-2:]
    inside = [f"ptr %g{k}", *(f"i64 {x}" for x in (width, columns * real.size, real.size))]
    outside = [f"ptr %from{k}", *(f"i64 {x}" for x in strides)]
    pair = [*outside, *inside] if is_out else [*inside, *outside]
    extents = f"i64 {rows}, i64 {columns}"
    return [
        f"br i1 %dense{k}, label %moved{k}, label %move{k}",
        f"move{k}:",
        f"br i1 %column{k}, label %columns{k}, label %copy{k}",
        f"columns{k}:",
        f"call void @columns({', '.join(pair)}, {extents}, i1 {str(is_out).lower()})",
        f"br label %moved{k}",
        f"copy{k}:",
        f"call void @copy({', '.join(pair)}, {extents}, i64 %row{lanes - 1})",
        f"br label %moved{k}",
        f"moved{k}:",
    ]


_ARGUMENTS = "ptr %dst, i64 %ds, i64 %d0, i64 %d1, ptr %src, i64 %ss, i64 %s0, i64 %s1, i64 %rows, i64 %columns"
"""Of the functions that move rows: for each side its address and its strides from row to row, and from number to
number of the two axes of a row, whose extents follow."""


def _over_numbers(lines: list[str], by: int) -> list[str]:
    """Return a loop over the numbers of a row, `by` of them at a time: %d_at and %s_at are their places."""
    return [
        "%some_rows = icmp ne i64 %rows, 0",
        "%some_columns = icmp ne i64 %columns, 0",
        "%some = and i1 %some_rows, %some_columns",
        "br i1 %some, label %body, label %end",
        "body:",
        "%a = phi i64 [ 0, %entry ], [ %next_a, %done ]",
        "%b = phi i64 [ 0, %entry ], [ %next_b, %done ]",
        *(line for side in "ds" for line in _place_of(side)),
        *lines,
        "br label %done",
        "done:",
        f"%after = add i64 %b, {by}",
        "%is_inside = icmp ult i64 %after, %columns",
        "%next_b = select i1 %is_inside, i64 %after, i64 0",
        "%below = add i64 %a, 1",
        "%next_a = select i1 %is_inside, i64 %a, i64 %below",
        "%more = icmp ult i64 %next_a, %rows",
        "br i1 %more, label %body, label %end",
        "end:",
        "ret void",
    ]


def _place_of(side: str) -> list[str]:
    array = {"d": "%dst", "s": "%src"}[side]
    return [
        f"%{side}_a = mul i64 %a, %{side}0",
        f"%{side}_b = mul i64 %b, %{side}1",
        f"%{side}_ab = add i64 %{side}_a, %{side}_b",
        f"%{side}_at = getelementptr i8, ptr {array}, i64 %{side}_ab",
    ]


def _copy(real: Real) -> str:
    """Return @copy: rows up to the last one, number by number."""
    body = [
        "br label %row",
        "row:",
        "%j = phi i64 [ 0, %body ], [ %next, %row ]",
        *(f"%{side}_j = mul i64 %j, %{side}s" for side in "ds"),
        "%to = getelementptr i8, ptr %d_at, i64 %d_j",
        "%from = getelementptr i8, ptr %s_at, i64 %s_j",
        f"%x = load {real.name}, ptr %from, align {real.size}",
        f"store {real.name} %x, ptr %to, align {real.size}",
        "%next = add i64 %j, 1",
        "%left = icmp ule i64 %next, %end_row",
        "br i1 %left, label %row, label %finished",
        "finished:",
    ]
    return function(f"internal void @copy({_ARGUMENTS}, i64 %end_row) noinline", _over_numbers(body, 1))


def _columns(real: Real, lanes: int) -> str:
    """Return @columns: as many rows as lanes, of which one side has them side by side: %dst if %out.

    A block has as many numbers as lanes. Of the last block there are fewer: on the side of columns the last one stands
    for those that are not there. Stores begin with those, so that the right one stays; on the stack, numbers
    beyond the row are overwritten by the blocks that follow, or belong to nobody.
    """
    w = Writer(real, lanes)
    w.do("%last_column = sub i64 %columns, 1", "%left = sub i64 %last_column, %b")
    for side, condition in (("d", "i1 %out"), ("s", "i1 %in")):
        if side == "s":
            w.do("%in = xor i1 %out, true")
        w.do(f"%{side}_step = select {condition}, i64 %{side}1, i64 %{side}s")
        w.do(f"%{side}_most = select {condition}, i64 %left, i64 {lanes}")
    rows = [w.emit(f"load {w.vector}, ptr {_nth(w, 's', j)}, align {real.size}") for j in range(lanes)]
    half = lanes // 2
    while half:
        pairs = [(i, i + half) for i in range(lanes) if not i & half]
        for i, j in pairs:
            low = [x if not x & half else lanes + x - half for x in range(lanes)]
            high = [x + half if not x & half else lanes + x for x in range(lanes)]
            rows[i], rows[j] = w.shuffle(rows[i], rows[j], lanes, low), w.shuffle(rows[i], rows[j], lanes, high)
        half //= 2
    for j in reversed(range(lanes)):
        w.do(f"store {w.vector} {rows[j]}, ptr {_nth(w, 'd', j)}, align {real.size}")
    return function(f"internal void @columns({_ARGUMENTS}, i1 %out) noinline", _over_numbers(w.lines, lanes))


def _nth(w: Writer, side: str, j: int) -> str:
    """Append the address of the j-th vector of a block, or of the last that there is."""
    index = w.emit(f"call i64 @llvm.umin.i64(i64 {j}, i64 %{side}_most)")
    far = w.emit(f"mul i64 {index}, %{side}_step")
    return w.emit(f"getelementptr i8, ptr %{side}_at, i64 {far}")


LAYOUT = {
    "type": (8, "ptr"),
    "data": (16, "ptr"),
    "ndim": (24, "i32"),
    "shape": (32, "ptr"),
    "descr": (56, "ptr"),
    "flags": (64, "i32"),
}
"""Byte offsets and types of the fields of an array object on a 64-bit machine."""
LARGE = 1 << 16
"""Bytes from which on a new result is lent (:mod:`appell.kernels.runtime.memory`)."""
ITEMS = 3
"""Words before the items of a tuple: its references, type and size."""
FUNCTIONS = {
    "call": "PyObject_Vectorcall",
    "call_one": "PyObject_CallOneArg",
    "number": "PyLong_FromSsize_t",
    "tuple": "PyTuple_New",
    "set": "PyTuple_SetItem",
    "release": "Py_DecRef",
    "hold": "Py_IncRef",
    "unlock": "PyEval_SaveThread",
    "lock": "PyEval_RestoreThread",
    "clear": "PyErr_Clear",
}
CONTEXT = ("array", "kind", "new", *FUNCTIONS, "tuples", "none", "threads")
"""The addresses in `@context`: the array type, the type of numbers, PyArray_New, functions of Python, the tuple type,
None, and the number of threads."""
_WELL_BEHAVED = 0x0001 | 0x0100
"""NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED."""
_WRITEABLE = 0x0400
"""NPY_ARRAY_WRITEABLE."""
_HELD = 1 << 14
"""Numbers read and written, some ten microseconds of work, up to which the interpreter's lock is kept."""
_TRIED = 1 << 16
"""Numbers from which on a batch is left to the general way, if there are threads, until its speed is measured."""
_MOST = 1 << 22
"""Numbers of the largest batch, milliseconds to tens of them: Ctrl-C acts between calls."""


def has_fast_call(tape: HasPorts) -> bool:
    """Return whether programs with these ports have a short way: vectors in, arrays out."""
    has_axes = any(port.axes for port in (*tape.inputs, *tape.outputs))
    is_plain = all(port.shape for port in tape.outputs) and all(len(port.shape) == 1 for port in tape.inputs)
    return is_plain and not has_axes


def fast_call_text(tape: HasPorts, real: Real, lanes: int, failures: str = "") -> str:
    """Return the LLVM text of `@fast_call`, the C function, and of `@context`, the addresses it is given at loading.

    `failures` is the counter of calls of `@rows` that failed, if they can.
    """
    inputs, outputs, size = tape.inputs, tape.outputs, real.size
    lines = [f"%{name}{k} = alloca ptr" for k in range(len(outputs)) for name in ("chosen", "kept")]
    lines += [f"store ptr null, ptr %{name}{k}" for k in range(len(outputs)) for name in ("chosen", "kept")]
    lines += [f"%extents{k} = alloca [{1 + len(port.shape)} x i64]" for k, port in enumerate(outputs)]
    lines += [line for index, name in enumerate(CONTEXT) for line in fetch(name, "ptr", "@context", index)]
    lines += [
        f"%has_out = icmp eq i64 %given, {len(inputs) + 1}",
        f"%is_alone = icmp eq i64 %given, {len(inputs)}",
        "%right = or i1 %has_out, %is_alone",
        "br i1 %right, label %check, label %general",
        "check:",
    ]
    rows = "-1"  # none has any yet
    for k, port in enumerate(inputs):
        lines += [*fetch(f"a{k}", "ptr", "%args", k), *_plain(f"{k}", f"%a{k}", _WELL_BEHAVED)]
        lines += _rows(k, port.size, size, rows)
        rows = f"%rows{k}"
    each = sum(port.size for port in (*inputs, *outputs))
    lines += [
        f"%is_batch = icmp ne i64 {rows}, -1",
        "%axes = zext i1 %is_batch to i64",
        f"%n = select i1 %is_batch, i64 {rows}, i64 1",
        "%before_n = sub i64 %n, 1",
        "%n_threads = load i64, ptr %threads",
        "%is_alone_here = icmp eq i64 %n_threads, 1",
        "%limit_now = load i64, ptr @limit",
        f"%most = select i1 %is_alone_here, i64 {max(_MOST // each, 1)}, i64 %limit_now",
        "%is_short = icmp ult i64 %before_n, %most",
        "br i1 %is_short, label %places, label %general",
        "places:",
        "br i1 %has_out, label %with_out, label %run",
        "with_out:",
        *fetch("out", "ptr", "%args", len(inputs)),
        *_items(outputs),
    ]
    for k, port in enumerate(outputs):
        lines += [
            f"%bytes_o{k} = mul i64 %n, {size * port.size}",
            *(f"%kept{k}_{j} = load ptr, ptr %kept{j}" for j in range(k)),
        ]
        others = [(f"%data{j}", f"%bytes{j}") for j in range(len(inputs))]
        lines += _place(k, port, others + [(f"%kept{k}_{j}", f"%bytes_o{j}") for j in range(k)])
    steps = [f"ptr %data{k}, i64 %step{k}" for k in range(len(inputs))]
    steps += [f"ptr %at{k}, i64 {size * port.size}" for k, port in enumerate(outputs)]
    choice = [f"i64 %row{lane}" for lane in range(lanes)]
    run = f"call void @rows({', '.join(steps + choice)}, i64 %last, i64 %count, ptr @constants)"
    counted = f"load atomic i64, ptr @{failures} monotonic, align 8" if failures else "add i64 0, 0"
    lines += [
        "br label %run",
        "run:",
        *(line for k, port in enumerate(outputs) for line in _extents(k, port)),
        *_made(outputs, real),
        *row_choice(lanes),
        f"%failures_before = {counted}",
        f"%is_held = icmp ule i64 %n, {max(_HELD // each, 1)}",
        "br i1 %is_held, label %locked, label %unlocked",
        "locked:",
        run,
        "br label %finished",
        "unlocked:",
        "%thread = call ptr %unlock()",
        run,
        "call void %lock(ptr %thread)",
        "br label %finished",
        "finished:",
        f"%failures_after = {counted}",
        "%has_worked = icmp eq i64 %failures_before, %failures_after",
        "br i1 %has_worked, label %return, label %fail",
        "return:",
        "ret ptr %result",
        "fail:",
        "call void %release(ptr %result)",
        "br label %general",
        "none_made:",
        "call void %clear()",
        "br label %general",
        "general:",
        *fetch("whole_way", "ptr", "%self", ITEMS),
        "%passed = call ptr %call(ptr %whole_way, ptr %args, i64 %given, ptr null)",
        "ret ptr %passed",
    ]
    limit = f"@limit = global i64 {max(_TRIED // each, 1)}\n"
    head = limit + f"@context = global [{len(CONTEXT)} x ptr] zeroinitializer\n"
    return head + function("ptr @fast_call(ptr %self, ptr %args, i64 %given)", lines)


def _plain(mark: str, array: str, flags: int) -> list[str]:
    """Return the lines that go on, with %ndim…, %shape… and %data… at hand, if an object is a plain array."""
    return [
        *_field(array, "type", f"type{mark}"),
        f"%is_array{mark} = icmp eq ptr %type{mark}, %array",
        f"br i1 %is_array{mark}, label %look{mark}, label %general",
        f"look{mark}:",
        *(x for name in ("ndim", "descr", "flags", "shape", "data") for x in _field(array, name, f"{name}{mark}")),
        f"%is_kind{mark} = icmp eq ptr %descr{mark}, %kind",
        f"%behaves{mark} = and i32 %flags{mark}, {flags}",
        f"%is_plain{mark} = icmp eq i32 %behaves{mark}, {flags}",
        f"%both{mark} = and i1 %is_kind{mark}, %is_plain{mark}",
        f"br i1 %both{mark}, label %sized{mark}, label %general",
        f"sized{mark}:",
    ]


def _rows(k: int, length: int, size: int, before: str) -> list[str]:
    """Return the lines that go on if an input is a row, or a table of as many rows as the tables `before` it.

    A row has a length, of numbers of a size. They make %rows…, the number of rows of the tables so far or −1, %step…
    and %bytes….
    """
    return [
        f"%is_row{k} = icmp eq i32 %ndim{k}, 1",
        f"%is_table{k} = icmp eq i32 %ndim{k}, 2",
        f"%has_axes{k} = or i1 %is_row{k}, %is_table{k}",
        f"br i1 %has_axes{k}, label %long{k}, label %general",
        f"long{k}:",
        f"%more{k} = zext i1 %is_table{k} to i64",
        f"%length{k}_at = getelementptr i64, ptr %shape{k}, i64 %more{k}",
        f"%length{k} = load i64, ptr %length{k}_at",
        f"%fits{k} = icmp eq i64 %length{k}, {length}",
        f"%first{k} = load i64, ptr %shape{k}",
        f"%own{k} = select i1 %is_table{k}, i64 %first{k}, i64 {before}",
        f"%is_same{k} = icmp eq i64 %own{k}, {before}",
        f"%is_first{k} = icmp eq i64 {before}, -1",
        f"%agrees{k} = or i1 %is_same{k}, %is_first{k}",
        f"%good{k} = and i1 %fits{k}, %agrees{k}",
        f"br i1 %good{k}, label %next{k}, label %general",
        f"next{k}:",
        f"%rows{k} = add i64 %own{k}, 0",
        f"%step{k} = select i1 %is_table{k}, i64 {size * length}, i64 0",
        f"%table{k} = mul i64 %first{k}, %step{k}",
        f"%bytes{k} = select i1 %is_table{k}, i64 %table{k}, i64 {size * length}",
    ]


def _place(k: int, port: Port, others: list[tuple[str, str]]) -> list[str]:
    """Return the lines that go on if a place is None, or plain, of its result's shape and apart from other arrays.

    The others are given by address and size in bytes; an address may be null.
    """
    lines = [
        f"%is_none{k} = icmp eq ptr %o{k}, %none",
        f"br i1 %is_none{k}, label %after{k}, label %place{k}",
        f"place{k}:",
        *_plain(f"_o{k}", f"%o{k}", _WELL_BEHAVED | _WRITEABLE),
        f"%wide{k} = zext i32 %ndim_o{k} to i64",
        f"%own_axes{k} = sub i64 %wide{k}, %axes",
        f"%has_axes_o{k} = icmp eq i64 %own_axes{k}, {len(port.shape)}",
        f"br i1 %has_axes_o{k}, label %extent{k}_0, label %general",
    ]
    for d, extent in enumerate(port.shape):
        lines += [
            f"extent{k}_{d}:",
            f"%axis{k}_{d} = add i64 %axes, {d}",
            f"%extent{k}_{d}_at = getelementptr i64, ptr %shape_o{k}, i64 %axis{k}_{d}",
            f"%extent{k}_{d}_is = load i64, ptr %extent{k}_{d}_at",
            f"%matches{k}_{d} = icmp eq i64 %extent{k}_{d}_is, {extent}",
            f"br i1 %matches{k}_{d}, label %extent{k}_{d + 1}, label %general",
        ]
    lines += [
        f"extent{k}_{len(port.shape)}:",
        f"%height{k} = load i64, ptr %shape_o{k}",
        f"%is_high{k} = icmp eq i64 %height{k}, %n",
        f"%is_sized{k} = select i1 %is_batch, i1 %is_high{k}, i1 true",
        f"%end_o{k} = getelementptr i8, ptr %data_o{k}, i64 %bytes_o{k}",
        f"br i1 %is_sized{k}, label %apart{k}_0, label %general",
    ]
    for j, (address, size) in enumerate(others):
        mark = f"{k}_{j}"
        lines += [
            f"apart{mark}:",
            f"%end{mark} = getelementptr i8, ptr {address}, i64 {size}",
            f"%is_before{mark} = icmp ule ptr %end_o{k}, {address}",
            f"%is_after{mark} = icmp ule ptr %end{mark}, %data_o{k}",
            f"%is_apart{mark} = or i1 %is_before{mark}, %is_after{mark}",
            f"br i1 %is_apart{mark}, label %apart{k}_{j + 1}, label %general",
        ]
    return [
        *lines,
        f"apart{k}_{len(others)}:",
        f"store ptr %data_o{k}, ptr %kept{k}",
        f"store ptr %o{k}, ptr %chosen{k}",
        f"br label %after{k}",
        f"after{k}:",
    ]


def _extents(k: int, port: Port) -> list[str]:
    """Return the lines that make %shape_n…, the extents of a new result, and %ndim_n…, their number."""
    lines = [f"store i64 %n, ptr %extents{k}"]
    for d, extent in enumerate(port.shape, start=1):
        lines += [f"%extents{k}_{d} = getelementptr i64, ptr %extents{k}, i64 {d}"]
        lines += [f"store i64 {extent}, ptr %extents{k}_{d}"]
    return [
        *lines,
        f"%shape_n{k} = select i1 %is_batch, ptr %extents{k}, ptr %extents{k}_1",
        f"%ndim_n{k} = select i1 %is_batch, i32 {1 + len(port.shape)}, i32 {len(port.shape)}",
    ]


def _items(ports: Sequence[Port]) -> list[str]:
    """Return the lines that take the places apart as %o0, %o1 …: one array, or a tuple of as many as there are."""
    if len(ports) == 1:
        return ["%o0 = select i1 true, ptr %out, ptr null"]
    return [
        *_field("%out", "type", "type_out"),
        "%is_tuple = icmp eq ptr %type_out, %tuples",
        "br i1 %is_tuple, label %tuple_size, label %general",
        "tuple_size:",
        *fetch("size_out", "i64", "%out", ITEMS - 1),
        f"%is_long = icmp eq i64 %size_out, {len(ports)}",
        "br i1 %is_long, label %items, label %general",
        "items:",
        *(line for k in range(len(ports)) for line in fetch(f"o{k}", "ptr", "%out", ITEMS + k)),
    ]


def _made(ports: Sequence[Port], real: Real) -> list[str]:
    """Return the lines that make %result of the given places, and of new arrays where there are none.

    Several results are in a tuple, which owns each from its making on.
    """
    several = len(ports) > 1
    lines = []
    if several:
        lines += [f"%result = call ptr %tuple(i64 {len(ports)})", "%made = icmp ne ptr %result, null"]
        lines += ["br i1 %made, label %make0, label %none_made", "make0:"]
    for k, port in enumerate(ports):
        name = f"result{k}" if several else "result"
        failed = ["call void %release(ptr %result)"] if several else []
        lines += [
            f"%old{k} = load ptr, ptr %chosen{k}",
            f"%is_new{k} = icmp eq ptr %old{k}, null",
            f"br i1 %is_new{k}, label %new{k}, label %held{k}",
            f"new{k}:",
            f"%size{k} = mul i64 %n, {real.size * port.size}",
            f"%is_large{k} = icmp uge i64 %size{k}, {LARGE}",
            f"%is_lent{k} = and i1 %is_large{k}, %is_batch",
            f"br i1 %is_lent{k}, label %lend{k}, label %fresh_own{k}",
            f"lend{k}:",
            *fetch(f"lender{k}", "ptr", "%self", ITEMS + 1 + k),
            f"%number{k} = call ptr %number(i64 %n)",
            f"%lent{k} = call ptr %call_one(ptr %lender{k}, ptr %number{k})",
            f"call void %release(ptr %number{k})",
            f"br label %made{k}",
            f"fresh_own{k}:",
            f"%owned{k} = call ptr %new({_new(k, real)})",
            f"br label %made{k}",
            f"made{k}:",
            f"%fresh{k} = phi ptr [ %lent{k}, %lend{k} ], [ %owned{k}, %fresh_own{k} ]",
            f"%worked{k} = icmp ne ptr %fresh{k}, null",
            f"br i1 %worked{k}, label %ready{k}, label %failed{k}",
            f"failed{k}:",
            *failed,
            "br label %none_made",
            f"held{k}:",
            f"call void %hold(ptr %old{k})",
            f"br label %ready{k}",
            f"ready{k}:",
            f"%{name} = phi ptr [ %fresh{k}, %made{k} ], [ %old{k}, %held{k} ]",
            *([f"%kept_in{k} = call i32 %set(ptr %result, i64 {k}, ptr %{name})"] if several else []),
            *_field(f"%{name}", "data", f"at{k}"),
        ]
    return lines


def _new(k: int, real: Real) -> str:
    kind = np.dtype(real.code).num
    return f"ptr %array, i32 %ndim_n{k}, ptr %shape_n{k}, i32 {kind}, ptr null, ptr null, i32 0, i32 0, ptr null"


def _field(array: str, field: str, name: str) -> list[str]:
    """Return the lines that load a field of an array object as %name."""
    offset, kind = LAYOUT[field]
    return fetch(name, kind, array, offset, "i8")
