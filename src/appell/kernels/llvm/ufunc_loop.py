"""The function that NumPy calls: strides, remainders and rows that do not lie side by side.

NumPy hands a generalised-ufunc loop the addresses of the first row of every argument, the number of rows, and two kinds
of stride: from row to row and from number to number within a row. Where the numbers of every row lie side by side,
`@rows` reads them in place; otherwise `@copy` gathers a vector's worth of rows on the stack first and scatters the
results.
"""

from __future__ import annotations

from typing import Protocol

from appell.kernels.llvm.llvm_writer import Real, fetch, function
from appell.kernels.llvm.vector_loop import row_arguments, row_choice
from appell.trace.tape import Port

STACK_LIMIT = 1 << 18
"""Bytes of stack a kernel may use for gathered rows; a larger program must be given rows that lie side by side."""


class HasPorts(Protocol):
    """Anything with the inputs and outputs of a program."""

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Return the input ports."""

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Return the output ports."""


def gathers(tape: HasPorts, size: int, lanes: int) -> bool:
    """Return whether a kernel of the tape can gather rows itself."""
    return lanes * size * sum(port.size for port in (*tape.inputs, *tape.outputs)) <= STACK_LIMIT


def ufunc_loop(tape: HasPorts, real: Real, lanes: int) -> str:
    """Return the LLVM text of `@loop` and its helper."""
    ports = (*tape.inputs, *tape.outputs)
    lines = [*fetch("n", "i64", "%dims", 0), "%some = icmp ne i64 %n, 0", "br i1 %some, label %setup, label %end"]
    lines += ["setup:"]
    where, whole = len(ports), "true"
    strides: list[tuple[str, ...]] = []
    for k, port in enumerate(ports):
        lines += fetch(f"p{k}", "ptr", "%args", k) + fetch(f"p{k}_step", "i64", "%steps", k)
        expected = real.size * port.size
        for d, extent in enumerate(port.shape):
            lines += fetch(f"c{k}_{d}", "i64", "%steps", where)
            where += 1
            expected //= max(extent, 1)
            if extent > 1:
                lines += [
                    f"%ok{k}_{d} = icmp eq i64 %c{k}_{d}, {expected}",
                    f"%all{k}_{d} = and i1 {whole}, %ok{k}_{d}",
                ]
                whole = f"%all{k}_{d}"
        strides.append((f"%p{k}_step", *["0", "0", *(f"%c{k}_{d}" for d in range(len(port.shape)))][-2:]))
    lines += [
        *row_choice(lanes),
        f"br i1 {whole}, label %in_place, label %gathered",
        "in_place:",
        f"call void @rows({row_arguments(len(ports), lanes, 'ptr')}, i64 %count, ptr @constants)",
        "br label %end",
        "gathered:",
        *(_gathered(tape, real, lanes, strides) if gathers(tape, real.size, lanes) else _TRAP),
        "end:",
        "ret void",
    ]
    return function("void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data)", lines) + _copy(real)


_TRAP = ("call void @llvm.trap()", "unreachable")


def _gathered(tape: HasPorts, real: Real, lanes: int, strides: list[tuple[str, ...]]) -> list[str]:
    """Return the loop over vectors whose rows are copied side by side, and the results back."""
    ports = (*tape.inputs, *tape.outputs)
    lines = [f"%g{k} = alloca [{lanes * max(port.size, 1)} x {real.name}], align 64" for k, port in enumerate(ports)]
    lines += ["br label %turn", "turn:", "%i = phi i64 [ 0, %gathered ], [ %next, %turn ]"]
    lines += [f"%wanted = mul i64 %i, {lanes}", "%start = call i64 @llvm.umin.i64(i64 %wanted, i64 %last)"]
    copies = []
    for k, port in enumerate(ports):
        lines += [f"%at{k} = mul i64 %start, %p{k}_step", f"%from{k} = getelementptr i8, ptr %p{k}, i64 %at{k}"]
        rows, columns = ((1, 1, *port.shape))[-2:]
        dense = [f"ptr %g{k}", *(f"i64 {x * real.size}" for x in (port.size, columns, 1)), f"i64 {lanes - 1}"]
        given = [f"ptr %from{k}", *(f"i64 {x}" for x in strides[k]), "i64 %final"]
        sides = [*dense, *given] if k < len(tape.inputs) else [*given, *dense]
        copies.append(f"call void @copy({', '.join(sides)}, i64 {rows}, i64 {columns}, i64 {lanes})")
    dense = [f"ptr %g{k}, i64 {real.size * port.size}" for k, port in enumerate(ports)]
    each = [f"i64 {lane}" for lane in range(lanes)]
    return [
        *lines,
        *copies[: len(tape.inputs)],
        f"call void @rows({', '.join(dense + each)}, i64 0, i64 1, ptr @constants)",
        *copies[len(tape.inputs) :],
        "%next = add i64 %i, 1",
        "%more = icmp ult i64 %next, %count",
        "br i1 %more, label %turn, label %end",
    ]


def _copy(real: Real) -> str:
    """Return @copy: numbers of `lanes` rows between two strided places; row j is min(j, that side's last row)."""
    return f"""
define internal void @copy(
  ptr %dst, i64 %ds, i64 %d0, i64 %d1, i64 %dlast, ptr %src, i64 %ss, i64 %s0, i64 %s1, i64 %slast,
  i64 %rows, i64 %columns, i64 %lanes) noinline {{
entry:
  %per = mul i64 %rows, %columns
  %total = mul i64 %per, %lanes
  %some = icmp ne i64 %total, 0
  br i1 %some, label %body, label %end
body:
  %k = phi i64 [ 0, %entry ], [ %next, %body ]
  %j = udiv i64 %k, %per
  %inner = urem i64 %k, %per
  %a = udiv i64 %inner, %columns
  %b = urem i64 %inner, %columns
  %jd = call i64 @llvm.umin.i64(i64 %j, i64 %dlast)
  %js = call i64 @llvm.umin.i64(i64 %j, i64 %slast)
  %d_j = mul i64 %jd, %ds
  %d_a = mul i64 %a, %d0
  %d_b = mul i64 %b, %d1
  %d_ja = add i64 %d_j, %d_a
  %d_at = add i64 %d_ja, %d_b
  %s_j = mul i64 %js, %ss
  %s_a = mul i64 %a, %s0
  %s_b = mul i64 %b, %s1
  %s_ja = add i64 %s_j, %s_a
  %s_at = add i64 %s_ja, %s_b
  %from = getelementptr i8, ptr %src, i64 %s_at
  %to = getelementptr i8, ptr %dst, i64 %d_at
  %x = load {real.name}, ptr %from, align {real.size}
  store {real.name} %x, ptr %to, align {real.size}
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %total
  br i1 %more, label %body, label %end
end:
  ret void
}}
"""
