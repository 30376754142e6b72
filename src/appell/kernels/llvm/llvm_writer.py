"""Writing LLVM text: scalar types, exact numbers, and the instructions of one function."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Protocol

from appell.trace.tape import Port


@dataclass(frozen=True)
class Real:
    """A floating-point type of LLVM and the integer type of the same width."""

    name: str
    size: int
    integer: str
    code: str
    """NumPy's letter for it."""


DOUBLE = Real("double", 8, "i64", "d")
SINGLE = Real("float", 4, "i32", "f")


def literal(value: float, real: Real) -> str:
    """Return LLVM's exact spelling of a number: the bits of a double, rounded to the type first.

    >>> literal(1.0, DOUBLE)
    '0x3FF0000000000000'
    """
    if real.size == SINGLE.size:
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def splat(value: float, real: Real) -> str:
    """Return a vector constant with one number in every lane."""
    return f"splat ({real.name} {literal(value, real)})"


def fetch(name: str, kind: str, table: str, index: int, unit: str = "i64") -> list[str]:
    """Return the lines that load %name from a table, `index` entries as wide as `unit` from its beginning."""
    return [f"%{name}_at = getelementptr {unit}, ptr {table}, i64 {index}", f"%{name} = load {kind}, ptr %{name}_at"]


def numbers_table(name: str, rows: Iterable[Iterable[float]], real: Real) -> str:
    """Return the definition of a table of numbers, whose rows are of one length."""
    lines = [[f"{real.name} {literal(x, real)}" for x in row] for row in rows]
    kind = f"[{len(lines[0])} x {real.name}]"
    entries = (f"{kind} [{', '.join(line)}]" if line else f"{kind} zeroinitializer" for line in lines)
    return f"@{name} = internal constant [{len(lines)} x {kind}] [{', '.join(entries)}]\n"


def function(head: str, lines: Iterable[str]) -> str:
    """Return the definition of a function whose first block is `entry`."""
    body = "\n".join(line if line.endswith(":") else f"  {line}" for line in lines)
    return f"define {head} {{\nentry:\n{body}\n}}\n"


def from_file(name: str, /, **values: object) -> str:
    """Return LLVM text that is a file of the folder functions, with ``$name`` where values go."""
    text = (files("appell.kernels.llvm") / "functions" / f"{name}.ll").read_text(encoding="utf-8")
    return Template(text).substitute(values)


def module_text(parts: Iterable[str], real: Real, lanes: int) -> str:
    """Return a module of some definitions, with the intrinsics and metadata that they may use."""
    vector, root = f"<{lanes} x {real.name}>", f"@llvm.sqrt.v{lanes}f{8 * real.size}"
    return "\n".join([*parts, f"declare {vector} @llvm.sqrt({vector})", COMMON]).replace("@llvm.sqrt(", f"{root}(")


COMMON = """declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.usub.sat.i64(i64, i64)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
declare void @llvm.trap()
!0 = !{!"branch_weights", i32 1, i32 1000000}
!1 = !{}
!2 = !{i32 1}"""
"""What every module ends with: `!0` marks a branch that is rarely taken, `!1` a load of constant data, `!2`
a store past the caches."""


class Writer:
    """Collects the instructions of one function on vectors of `lanes` numbers."""

    def __init__(self, real: Real, lanes: int) -> None:
        self.real, self.lanes = real, lanes
        self.vector, self.integers = f"<{lanes} x {real.name}>", f"<{lanes} x {real.integer}>"
        self.lines: list[str] = []
        self._constants: dict[str, int] = {}
        self._entry = 1 if lanes * real.size == 64 else lanes
        self._count = 0

    def emit(self, instruction: str) -> str:
        """Append an instruction that yields a value; return the value's name."""
        name = f"%x{self._count}"
        self._count += 1
        self.lines.append(f"{name} = {instruction}")
        return name

    def do(self, *lines: str) -> None:
        """Append instructions without a value or with a name of their own, and labels."""
        self.lines += lines

    def constant(self, value: float) -> str:
        """Append the load of a number from the table at %k; return its vector.

        LLVM would put a vector constant's address into a register first; an operand read from memory next to a pointer
        that is there anyway costs nothing. Instructions on 512 bits read one number for all lanes, so that the table is
        short; others read whole vectors.
        """
        index = self._constants.setdefault(literal(value, self.real), len(self._constants))
        size = self._entry * self.real.size
        place = self.emit(f"getelementptr inbounds i8, ptr %k, i64 {index * size}")
        if self._entry > 1:
            return self.emit(f"load {self.vector}, ptr {place}, align {size}, !invariant.load !1")
        number = self.emit(f"load {self.real.name}, ptr {place}, align {size}, !invariant.load !1")
        first = self.emit(f"insertelement {self.vector} poison, {self.real.name} {number}, i32 0")
        return self.shuffle(first, "poison", self.lanes, [0] * self.lanes)

    def table(self) -> str:
        """Return the definition of the table that :meth:`constant` loads from."""
        kind = f"<{self._entry} x {self.real.name}>" if self._entry > 1 else self.real.name
        numbers = (f"splat ({self.real.name} {x})" if self._entry > 1 else x for x in self._constants)
        rows = ", ".join(f"{kind} {x}" for x in numbers)
        values = f"[{rows}]" if rows else "zeroinitializer"
        return f"@constants = internal constant [{len(self._constants)} x {kind}] {values}, align 64\n"

    def fma(self, a: str, b: str, c: str) -> str:
        """Append a·b + c, fused where the machine can."""
        product = self.emit(f"fmul contract {self.vector} {a}, {b}")
        return self.emit(f"fadd contract {self.vector} {product}, {c}")

    def shuffle(self, a: str, b: str, width: int, mask: list[int]) -> str:
        """Append a shuffle of two vectors of `width`; the mask counts through both."""
        kind = f"<{width} x {self.real.name}>"
        picks = ", ".join(f"i32 {i}" for i in mask)
        return self.emit(f"shufflevector {kind} {a}, {kind} {b}, <{len(mask)} x i32> <{picks}>")


class WideWriter(Writer):
    """Writes double-precision steps into the function of a single-precision writer."""

    def __init__(self, narrow: Writer) -> None:
        super().__init__(DOUBLE, narrow.lanes)
        self._narrow = narrow

    def emit(self, instruction: str) -> str:
        """Append to the narrow writer's function."""
        return self._narrow.emit(instruction)

    def constant(self, value: float) -> str:
        """Return a literal: the table holds numbers of the narrow type."""
        return splat(value, DOUBLE)


class HasPorts(Protocol):
    """Anything with the inputs and outputs of a program."""

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Return the input ports."""

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Return the output ports."""


class Streams:
    """The arguments of `@rows` for streams: the stride of every port along its axes, and the lengths of these."""

    def __init__(self, program: HasPorts) -> None:
        self.ports = [*program.inputs, *program.outputs]
        self.axes = list(dict.fromkeys(axis for port in self.ports for axis in port.axes))

    def stride(self, port: int, axis: str) -> str:
        """Return the name of a port's stride along an axis, in bytes."""
        return f"%p{port}_by_{axis}"

    @property
    def arguments(self) -> str:
        """Return the arguments, each after a comma."""
        strides = (self.stride(k, axis) for k, port in enumerate(self.ports) for axis in port.axes)
        return "".join(f", i64 {name}" for name in (*strides, *(f"%turns_{axis}" for axis in self.axes)))


def row_choice(lanes: int) -> list[str]:
    """Return the lines that choose among %n rows.

    They make %row0, %row1 …, the rows of the lanes of the first vector, %last, where the last vector starts, and
    %count, how many vectors there are.
    """
    return [
        "%final = sub i64 %n, 1",
        *(f"%row{lane} = call i64 @llvm.umin.i64(i64 {lane}, i64 %final)" for lane in range(lanes)),
        f"%last = call i64 @llvm.usub.sat.i64(i64 %n, i64 {lanes})",
        f"%up = add i64 %n, {lanes - 1}",
        f"%count = udiv i64 %up, {lanes}",
    ]


def row_arguments(ports: int, lanes: int, pointer: str = "ptr noalias") -> str:
    """Return the arguments that the loop needs: per port its address and stride, and the choice of rows."""
    places = [f"{pointer} %p{k}, i64 %p{k}_step" for k in range(ports)]
    return ", ".join([*places, *(f"i64 %row{lane}" for lane in range(lanes)), "i64 %last"])


def open_vector_loop(
    w: Writer, ports: int, first: str = "0", moving: Sequence[str] = (), before: str = "entry"
) -> dict[int, list[str]]:
    """Append the head of the loop; return, per port, the addresses of each lane's row. Code of one vector follows.

    %i counts the vectors from `first` on, %start is the row where one begins. `moving` are pointers that
    :func:`end_vector_loop` moves on; they start as %…0. `before` is the block that ends here.
    """
    lanes = range(w.lanes)
    w.do(*(f"%p{k}_lane{lane} = mul i64 %p{k}_step, %row{lane}" for k in range(ports) for lane in lanes))
    w.do("br label %body", "body:", f"%i = phi i64 [ {first}, %{before} ], [ %next, %done ]")
    w.do(*(f"%{name} = phi ptr [ %{name}0, %{before} ], [ %{name}_next, %done ]" for name in moving))
    w.do(f"%start0 = mul i64 %i, {w.lanes}", "%start = call i64 @llvm.umin.i64(i64 %start0, i64 %last)")
    for k in range(ports):
        w.do(f"%p{k}_far = mul i64 %start, %p{k}_step", f"%p{k}_base = getelementptr i8, ptr %p{k}, i64 %p{k}_far")
        w.do(*(f"%p{k}_row{lane} = getelementptr i8, ptr %p{k}_base, i64 %p{k}_lane{lane}" for lane in lanes))
    return {k: [f"%p{k}_row{lane}" for lane in lanes] for k in range(ports)}


def end_vector_loop(
    w: Writer, count: str = "%count", moving: Sequence[str] = (), by: int = 0, last: Sequence[str] = ()
) -> None:
    """Append the end of the loop, where the `moving` pointers advance by some bytes, and `last` before the return."""
    w.do("br label %done", "done:")
    w.do(*(f"%{name}_next = getelementptr inbounds i8, ptr %{name}, i64 {by}" for name in moving))
    w.do("%next = add i64 %i, 1", f"%more = icmp ult i64 %next, {count}", "br i1 %more, label %body, label %end")
    w.do("end:", *last, "ret void")


def close_vector_loop(w: Writer, streams: Streams, attributes: str = "", *, last: tuple[str, ...] = ()) -> str:
    """Append the end of the loop and `last` before the return; return the text of `@rows` and its table."""
    end_vector_loop(w, last=last)
    arguments = f"{row_arguments(len(streams.ports), w.lanes)}, i64 %count, ptr noalias %k{streams.arguments}"
    return function(f"internal void @rows({arguments}) noinline{attributes}", w.lines) + w.table()
