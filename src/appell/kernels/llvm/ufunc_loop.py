"""The function that NumPy calls: strides, remainders and rows that do not lie side by side.

NumPy hands a generalised-ufunc loop the addresses of the first row of every argument, the number of rows, and two kinds
of stride: from row to row and from number to number within a row. Where the numbers of every row lie side by side,
`@rows` reads and writes them in place. An array that is laid out otherwise goes by way of the stack, a vector's worth
of rows at a time: `@columns` transposes it where the rows lie side by side (Fortran order), `@copy` moves number by
number.
"""

from __future__ import annotations

from appell.kernels.llvm.llvm_writer import Real, Writer, fetch, function
from appell.kernels.llvm.vector_loop import HasPorts, Streams, row_arguments, row_choice
from appell.trace.tape import Port

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
