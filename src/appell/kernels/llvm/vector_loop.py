"""The frame of functions that run some code on one vector of rows after the other.

Lane j reads row min(j, rows − 1), so fewer samples than lanes need no other code, and the last vector of a long run
starts early enough to end on the last row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from appell.kernels.llvm.llvm_writer import Writer, function
from appell.trace.tape import Port


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
