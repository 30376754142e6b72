"""The function that NumPy calls: strides, remainders and rows that do not lie side by side.

NumPy hands a generalised-ufunc loop the addresses of the first row of every argument, the number of rows, and two kinds
of stride: from row to row and from number to number within a row. Where the numbers of every row lie side by side,
`@rows` reads them in place; otherwise `@copy` gathers a vector's worth of rows on the stack first and scatters the
results.
"""

from __future__ import annotations

from typing import Protocol

from appell.trace.tape import Port

STACK_LIMIT = 1 << 18
"""Bytes of stack a kernel may use for gathered rows; a larger program must be given rows that lie side by side."""


class HasPorts(Protocol):
    """Anything that says what a program takes and gives."""

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Return the input ports."""

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Return the output ports."""


def gathers(tape: HasPorts, size: int, lanes: int) -> bool:
    """Return whether a kernel of the tape can gather rows itself."""
    return lanes * size * sum(port.size for port in (*tape.inputs, *tape.outputs)) <= STACK_LIMIT


def loop(tape: HasPorts, real: str, size: int, lanes: int) -> str:
    """Return the LLVM text of `@loop` and its helper."""
    ports = (*tape.inputs, *tape.outputs)
    lines = ["%n = load i64, ptr %dims", "%some = icmp ne i64 %n, 0", "br i1 %some, label %setup, label %end", "setup:"]
    where = len(ports)
    checks: list[str] = []
    strides: list[tuple[str, str]] = []
    for k, port in enumerate(ports):
        lines += _fetch(f"p{k}", "ptr", "%args", k) + _fetch(f"s{k}", "i64", "%steps", k)
        expected, own = size * port.size, []
        for d, extent in enumerate(port.shape):
            lines += _fetch(f"c{k}_{d}", "i64", "%steps", where)
            where += 1
            expected //= max(extent, 1)
            own.append(f"%c{k}_{d}")
            if extent > 1:
                lines.append(f"%ok{k}_{d} = icmp eq i64 %c{k}_{d}, {expected}")
                checks.append(f"%ok{k}_{d}")
        strides.append(tuple(["0", "0", *own][-2:]))  # type: ignore[arg-type]  # always two
    lines.append("%final = sub i64 %n, 1")
    for lane in range(lanes):
        lines.append(f"%row{lane} = call i64 @llvm.umin.i64(i64 {lane}, i64 %final)")
    lines += [
        f"%last = call i64 @llvm.usub.sat.i64(i64 %n, i64 {lanes})",
        f"%up = add i64 %n, {lanes - 1}",
        f"%count = udiv i64 %up, {lanes}",
    ]
    whole = "true"
    for index, check in enumerate(checks):
        lines.append(f"%all{index} = and i1 {whole}, {check}")
        whole = f"%all{index}"
    rows = ", ".join(f"i64 %row{lane}" for lane in range(lanes))
    direct = ", ".join(f"ptr %p{k}, i64 %s{k}" for k in range(len(ports)))
    lines += [f"br i1 {whole}, label %direct, label %gathered", "direct:"]
    lines += [f"call void @rows({direct}, {rows}, i64 %last, i64 %count, ptr @constants)", "br label %end"]
    lines += _gathered(tape, real, size, lanes, strides)
    lines += ["end:", "ret void"]
    body = "\n".join(line if line.endswith(":") else f"  {line}" for line in lines)
    return f"define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) {{\nentry:\n{body}\n}}\n{_copy(real, size)}"


def _fetch(name: str, kind: str, table: str, index: int) -> list[str]:
    return [f"%{name}_slot = getelementptr i64, ptr {table}, i64 {index}", f"%{name} = load {kind}, ptr %{name}_slot"]


def _gathered(tape: HasPorts, real: str, size: int, lanes: int, strides: list[tuple[str, str]]) -> list[str]:
    ports = (*tape.inputs, *tape.outputs)
    if not gathers(tape, size, lanes):
        return ["gathered:", "call void @llvm.trap()", "unreachable"]
    lines = ["gathered:"]
    lines += [f"%g{k} = alloca [{lanes * max(port.size, 1)} x {real}], align 64" for k, port in enumerate(ports)]
    lines += ["br label %turn", "turn:", "%i = phi i64 [ 0, %gathered ], [ %next, %turn ]"]
    lines += [f"%wanted = mul i64 %i, {lanes}", "%start = call i64 @llvm.umin.i64(i64 %wanted, i64 %last)"]
    for k in range(len(ports)):
        lines += [f"%at{k} = mul i64 %start, %s{k}", f"%from{k} = getelementptr i8, ptr %p{k}, i64 %at{k}"]
    inputs, outputs = range(len(tape.inputs)), range(len(tape.inputs), len(ports))
    for k in inputs:
        lines.append(
            _call_copy(
                f"%g{k}",
                _dense(ports[k].shape, size),
                f"%from{k}",
                (f"%s{k}", *strides[k]),
                ports[k].shape,
                lanes,
                "src",
            )
        )
    dense = ", ".join(f"ptr %g{k}, i64 {size * port.size}" for k, port in enumerate(ports))
    each = ", ".join(f"i64 {lane}" for lane in range(lanes))
    lines.append(f"call void @rows({dense}, {each}, i64 0, i64 1, ptr @constants)")
    for k in outputs:
        lines.append(
            _call_copy(
                f"%from{k}",
                (f"%s{k}", *strides[k]),
                f"%g{k}",
                _dense(ports[k].shape, size),
                ports[k].shape,
                lanes,
                "dst",
            )
        )
    lines += ["%next = add i64 %i, 1", "%more = icmp ult i64 %next, %count", "br i1 %more, label %turn, label %end"]
    return lines


def _dense(shape: tuple[int, ...], size: int) -> tuple[str, str, str]:
    """Return the strides, row to row and within a row, of rows side by side."""
    rows, columns = ((1, 1, *shape))[-2:]
    return str(rows * columns * size), str(columns * size), str(size)


def _call_copy(
    dst: str, to: tuple[str, ...], src: str, since: tuple[str, ...], shape: tuple[int, ...], lanes: int, clamped: str
) -> str:
    rows, columns = ((1, 1, *shape))[-2:]
    bounds = ("%final", str(lanes - 1)) if clamped == "dst" else (str(lanes - 1), "%final")
    numbers = (*to, bounds[0], *since, bounds[1], str(rows), str(columns), str(lanes))
    values = [f"i64 {x}" for x in numbers]
    return f"call void @copy(ptr {dst}, {', '.join(values[:4])}, ptr {src}, {', '.join(values[4:])})"


def _copy(real: str, size: int) -> str:
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
  %x = load {real}, ptr %from, align {size}
  store {real} %x, ptr %to, align {size}
  %next = add i64 %k, 1
  %more = icmp ult i64 %next, %total
  br i1 %more, label %body, label %end
end:
  ret void
}}
declare i64 @llvm.usub.sat.i64(i64, i64)
declare void @llvm.trap()
"""
