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

from collections.abc import Iterable, Iterator

import numpy as np

from appell.kernels.llvm import nodes_ir, scheduled
from appell.kernels.llvm.llvm_writer import (
    HasPorts,
    Real,
    Streams,
    Writer,
    fetch,
    from_file,
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


def _over_numbers(head: str, lines: Iterable[str], by: int) -> str:
    """Return a function with a loop over the numbers of a row, `by` of them at a time."""
    return from_file("over_numbers", head=head, lines="\n".join(lines), by=by)


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
    return _over_numbers(f"internal void @copy({_ARGUMENTS}, i64 %end_row) noinline", body, 1)


def _columns(real: Real, lanes: int) -> str:
    """Return @columns: as many rows as lanes, of which one side has them side by side: %dst if %out.

    A block has as many numbers as lanes. Of the last block there are fewer: on the side of columns the last one stands
    for those that are not there. Stores begin with those, so that the right one stays; on the stack, numbers
    beyond the row are overwritten by the blocks that follow, or are unused.
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
    return _over_numbers(f"internal void @columns({_ARGUMENTS}, i1 %out) noinline", w.lines, lanes)


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
    limit = max(_TRIED // sum(port.size for port in (*tape.inputs, *tape.outputs)), 1)
    head = f"@limit = global i64 {limit}\n@context = global [{len(CONTEXT)} x ptr] zeroinitializer\n"
    lines = _FastCall(tape, real, lanes, failures).lines
    return head + function("ptr @fast_call(ptr %self, ptr %args, i64 %given)", lines)


class _FastCall(Writer):
    """Writes `@fast_call`: whatever is not as it must be goes to the general callable."""

    def __init__(self, tape: HasPorts, real: Real, lanes: int, failures: str) -> None:
        super().__init__(real, lanes)
        self.tape, self._needs = tape, 0
        inputs, outputs = tape.inputs, tape.outputs
        pointers = [f"%{name}{k}" for k in range(len(outputs)) for name in ("chosen", "kept")]
        self.do(*(f"{name} = alloca ptr" for name in pointers), *(f"store ptr null, ptr {name}" for name in pointers))
        self.do(*(f"%extents{k} = alloca [{1 + len(port.shape)} x i64]" for k, port in enumerate(outputs)))
        self.do(*(line for index, name in enumerate(CONTEXT) for line in fetch(name, "ptr", "@context", index)))
        self.do(f"%has_out = icmp eq i64 %given, {len(inputs) + 1}")
        self._need(self.emit(f"or i1 %has_out, {self.emit(f'icmp eq i64 %given, {len(inputs)}')}"))
        self._arguments()
        self._places()
        self._run(failures)
        self.do("none_made:", "call void %clear()", "br label %general", "general:")
        callee = self._fetch("ptr", "%self", ITEMS)
        self.do(f"%passed = call ptr %call(ptr {callee}, ptr %args, i64 %given, ptr null)", "ret ptr %passed")

    def _fetch(self, kind: str, table: str, index: int, unit: str = "i64") -> str:
        """Append the load of an entry of a table, `index` entries as wide as `unit` from its beginning."""
        return self.emit(f"load {kind}, ptr {self.emit(f'getelementptr {unit}, ptr {table}, i64 {index}')}")

    def _field(self, array: str, name: str) -> str:
        """Append the load of a field of an array object."""
        offset, kind = LAYOUT[name]
        return self._fetch(kind, array, offset, "i8")

    def _need(self, condition: str) -> None:
        """Append the branch to the general callable where a condition does not hold."""
        self._needs += 1
        self.do(f"br i1 {condition}, label %on{self._needs}, label %general", f"on{self._needs}:")

    def _plain(self, array: str, flags: int) -> dict[str, str]:
        """Append what goes on if an object is a plain array; return its fields."""
        self._need(self.emit(f"icmp eq ptr {self._field(array, 'type')}, %array"))
        found = {name: self._field(array, name) for name in ("ndim", "descr", "flags", "shape", "data")}
        is_kind = self.emit(f"icmp eq ptr {found['descr']}, %kind")
        behaves = self.emit(f"and i32 {found['flags']}, {flags}")
        is_plain = self.emit(f"icmp eq i32 {behaves}, {flags}")
        self._need(self.emit(f"and i1 {is_kind}, {is_plain}"))
        return found

    # Arguments

    def _arguments(self) -> None:
        """Append the checks of arguments and of the size of the batch: %n samples, if %is_batch."""
        inputs, rows = self.tape.inputs, "-1"  # none has any yet
        self.given: list[tuple[str, str, str]] = []
        for k, port in enumerate(inputs):
            rows = self._rows(self._plain(self._fetch("ptr", "%args", k), _WELL_BEHAVED), port.size, rows)
        self.each = sum(port.size for port in (*inputs, *self.tape.outputs))
        self.do(f"%is_batch = icmp ne i64 {rows}, -1", "%axes = zext i1 %is_batch to i64")
        self.do(f"%n = select i1 %is_batch, i64 {rows}, i64 1")
        before = self.emit("sub i64 %n, 1")
        is_alone = self.emit(f"icmp eq i64 {self.emit('load i64, ptr %threads')}, 1")
        limit = self.emit("load i64, ptr @limit")
        most = self.emit(f"select i1 {is_alone}, i64 {max(_MOST // self.each, 1)}, i64 {limit}")
        self._need(self.emit(f"icmp ult i64 {before}, {most}"))

    def _rows(self, array: dict[str, str], length: int, before: str) -> str:
        """Append what goes on if an array is a row, or a table of as many rows as the tables `before` it.

        Return the number of rows of the tables so far, or −1. The array's address, step and size in bytes are noted.
        """
        is_row, is_table = (self.emit(f"icmp eq i32 {array['ndim']}, {n}") for n in (1, 2))
        self._need(self.emit(f"or i1 {is_row}, {is_table}"))
        last = self.emit(f"getelementptr i64, ptr {array['shape']}, i64 {self.emit(f'zext i1 {is_table} to i64')}")
        fits = self.emit(f"icmp eq i64 {self.emit(f'load i64, ptr {last}')}, {length}")
        first = self.emit(f"load i64, ptr {array['shape']}")
        own = self.emit(f"select i1 {is_table}, i64 {first}, i64 {before}")
        is_same, is_first = self.emit(f"icmp eq i64 {own}, {before}"), self.emit(f"icmp eq i64 {before}, -1")
        self._need(self.emit(f"and i1 {fits}, {self.emit(f'or i1 {is_same}, {is_first}')}"))
        size = self.real.size * length
        step = self.emit(f"select i1 {is_table}, i64 {size}, i64 0")
        table = self.emit(f"mul i64 {first}, {step}")
        self.given.append((array["data"], step, self.emit(f"select i1 {is_table}, i64 {table}, i64 {size}")))
        return own

    # Places for results

    def _places(self) -> None:
        """Append the checks of the places that are given."""
        outputs = self.tape.outputs
        self.do("br i1 %has_out, label %with_out, label %run", "with_out:")
        places = [self._fetch("ptr", "%args", len(self.tape.inputs))]
        if len(outputs) > 1:  # a tuple of as many as there are results
            (out,) = places
            self._need(self.emit(f"icmp eq ptr {self._field(out, 'type')}, %tuples"))
            self._need(self.emit(f"icmp eq i64 {self._fetch('i64', out, ITEMS - 1)}, {len(outputs)}"))
            places = [self._fetch("ptr", out, ITEMS + k) for k in range(len(outputs))]
        sizes: list[str] = []
        for k, port in enumerate(outputs):
            sizes.append(self.emit(f"mul i64 %n, {self.real.size * port.size}"))
            kept = [(self.emit(f"load ptr, ptr %kept{j}"), sizes[j]) for j in range(k)]
            self._place(k, places[k], sizes[k], [(data, size) for data, _, size in self.given] + kept)
        self.do("br label %run", "run:")

    def _place(self, k: int, place: str, size: str, others: list[tuple[str, str]]) -> None:
        """Append what goes on if a place is None, or plain, of its result's shape and apart from other arrays.

        The others are given by address and size in bytes; an address may be null.
        """
        shape = self.tape.outputs[k].shape
        self.do(f"br i1 {self.emit(f'icmp eq ptr {place}, %none')}, label %after{k}, label %place{k}", f"place{k}:")
        array = self._plain(place, _WELL_BEHAVED | _WRITEABLE)
        axes = self.emit(f"zext i32 {array['ndim']} to i64")
        axes = self.emit(f"sub i64 {axes}, %axes")
        self._need(self.emit(f"icmp eq i64 {axes}, {len(shape)}"))
        for d, extent in enumerate(shape):
            at = self.emit(f"getelementptr i64, ptr {array['shape']}, i64 {self.emit(f'add i64 %axes, {d}')}")
            self._need(self.emit(f"icmp eq i64 {self.emit(f'load i64, ptr {at}')}, {extent}"))
        height = self.emit(f"load i64, ptr {array['shape']}")
        is_sized = self.emit(f"select i1 %is_batch, i1 {self.emit(f'icmp eq i64 {height}, %n')}, i1 true")
        end = self.emit(f"getelementptr i8, ptr {array['data']}, i64 {size}")
        self._need(is_sized)
        for address, length in others:
            theirs = self.emit(f"getelementptr i8, ptr {address}, i64 {length}")
            is_before = self.emit(f"icmp ule ptr {end}, {address}")
            is_after = self.emit(f"icmp ule ptr {theirs}, {array['data']}")
            self._need(self.emit(f"or i1 {is_before}, {is_after}"))
        self.do(f"store ptr {array['data']}, ptr %kept{k}", f"store ptr {place}, ptr %chosen{k}")
        self.do(f"br label %after{k}", f"after{k}:")

    # Running

    def _run(self, failures: str) -> None:
        """Append the making of results and the call of `@rows`, with the interpreter's lock released for a long one."""
        outputs, extents = self.tape.outputs, [self._extents(k) for k in range(len(self.tape.outputs))]
        places = self._made(extents)
        self.do(*row_choice(self.lanes))
        counted = f"load atomic i64, ptr @{failures} monotonic, align 8" if failures else "add i64 0, 0"
        before = self.emit(counted)
        is_held = self.emit(f"icmp ule i64 %n, {max(_HELD // self.each, 1)}")
        ports = [f"ptr {data}, i64 {step}" for data, step, _ in self.given]
        ports += [f"ptr {at}, i64 {self.real.size * port.size}" for at, port in zip(places, outputs, strict=True)]
        choice = ", ".join([*ports, *(f"i64 %row{lane}" for lane in range(self.lanes))])
        run = f"call void @rows({choice}, i64 %last, i64 %count, ptr @constants)"
        self.do(f"br i1 {is_held}, label %locked, label %unlocked", "locked:", run, "br label %finished")
        self.do("unlocked:", "%thread = call ptr %unlock()", run, "call void %lock(ptr %thread)", "br label %finished")
        self.do("finished:")
        has_worked = self.emit(f"icmp eq i64 {before}, {self.emit(counted)}")
        self.do(f"br i1 {has_worked}, label %return, label %fail", "return:", "ret ptr %result")
        self.do("fail:", "call void %release(ptr %result)", "br label %general")

    def _extents(self, k: int) -> tuple[str, str]:
        """Append what makes the extents of a new result; return their address and their number."""
        shape = self.tape.outputs[k].shape
        self.do(f"store i64 %n, ptr %extents{k}")
        own = []
        for d, extent in enumerate(shape, start=1):
            own.append(self.emit(f"getelementptr i64, ptr %extents{k}, i64 {d}"))
            self.do(f"store i64 {extent}, ptr {own[-1]}")
        address = self.emit(f"select i1 %is_batch, ptr %extents{k}, ptr {own[0]}")
        return address, self.emit(f"select i1 %is_batch, i32 {1 + len(shape)}, i32 {len(shape)}")

    def _made(self, extents: list[tuple[str, str]]) -> list[str]:
        """Append what makes %result of the given places, and of new arrays where there are none; return the addresses.

        Several results are in a tuple, which owns each from its making on.
        """
        outputs, places = self.tape.outputs, []
        several, number = len(outputs) > 1, np.dtype(self.real.code).num
        if several:
            self.do(f"%result = call ptr %tuple(i64 {len(outputs)})")
            self.do(f"br i1 {self.emit('icmp ne ptr %result, null')}, label %make0, label %none_made", "make0:")
        for k, port in enumerate(outputs):
            name = f"%result{k}" if several else "%result"
            old = self.emit(f"load ptr, ptr %chosen{k}")
            self.do(f"br i1 {self.emit(f'icmp eq ptr {old}, null')}, label %new{k}, label %held{k}", f"new{k}:")
            size = self.emit(f"mul i64 %n, {self.real.size * port.size}")
            is_lent = self.emit(f"and i1 {self.emit(f'icmp uge i64 {size}, {LARGE}')}, %is_batch")
            self.do(f"br i1 {is_lent}, label %lend{k}, label %own{k}", f"lend{k}:")
            lender = self._fetch("ptr", "%self", ITEMS + 1 + k)
            count = self.emit("call ptr %number(i64 %n)")
            lent = self.emit(f"call ptr %call_one(ptr {lender}, ptr {count})")
            self.do(f"call void %release(ptr {count})", f"br label %made{k}", f"own{k}:")
            (shape, ndim), rest = extents[k], "ptr null, ptr null, i32 0, i32 0, ptr null"
            own = self.emit(f"call ptr %new(ptr %array, i32 {ndim}, ptr {shape}, i32 {number}, {rest})")
            self.do(f"br label %made{k}", f"made{k}:")
            fresh = self.emit(f"phi ptr [ {lent}, %lend{k} ], [ {own}, %own{k} ]")
            self.do(
                f"br i1 {self.emit(f'icmp ne ptr {fresh}, null')}, label %ready{k}, label %failed{k}", f"failed{k}:"
            )
            self.do(*(["call void %release(ptr %result)"] if several else []), "br label %none_made", f"held{k}:")
            self.do(f"call void %hold(ptr {old})", f"br label %ready{k}", f"ready{k}:")
            self.do(f"{name} = phi ptr [ {fresh}, %made{k} ], [ {old}, %held{k} ]")
            self.do(*([f"%kept_in{k} = call i32 %set(ptr %result, i64 {k}, ptr {name})"] if several else []))
            places.append(self._field(name, "data"))
        return places
