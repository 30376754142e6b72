"""The short way for one sample: a Python callable whose C function is part of the compiled code.

A gufunc takes about a microsecond to look at its arguments, several times what the dynamics of an arm takes. When every
argument is a plain float64 array of the right size, with its numbers side by side, there is nothing to look for: this
function checks just that, makes the result arrays and runs the tape on one row. Anything else it passes on, untouched,
to the general callable. It reads the fields of NumPy's array object that NumPy's own headers publish as its binary
interface; where an array turns out to be laid out otherwise, every call takes the general way.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import struct
import sysconfig
from collections.abc import Sequence
from typing import Any

import numpy as np

from appell.kernels.llvm.llvm_writer import fetch, function
from appell.kernels.llvm.ufunc_loop import HasPorts
from appell.kernels.runtime.gufunc import c_functions
from appell.trace.tape import Port

LAYOUT = {
    "type": (8, "ptr"),
    "data": (16, "ptr"),
    "ndim": (24, "i32"),
    "shape": (32, "ptr"),
    "descr": (56, "ptr"),
    "flags": (64, "i32"),
}
"""Byte offsets and types of the fields of an array object on a 64-bit machine."""
_WELL_BEHAVED = 0x0001 | 0x0100
"""NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED."""
_ARRAY_TYPE, _NEW = 2, 93
"""Places of PyArray_Type and PyArray_New in NumPy's table, fixed by its binary interface."""
_FASTCALL = 0x0080
"""METH_FASTCALL."""
CONTEXT = ("array", "double", "new", "call", "tuple", "set", "release")
"""The addresses in `@context`: the array type, the double type, PyArray_New, PyObject_Vectorcall, PyTuple_New,
PyTuple_SetItem, Py_DecRef."""


class _Definition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@functools.cache
def available() -> bool:
    """Return whether this interpreter and its arrays are laid out as this module assumes."""
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    known = platform.python_implementation() == "CPython" and struct.calcsize("P") == 8 and not free_threaded
    return known and _layout_holds()


def _layout_holds() -> bool:
    """Return whether the fields of an array with known contents are where :data:`LAYOUT` places them."""
    array = np.zeros((2, 3))
    kinds: dict[str, Any] = {"ptr": ctypes.c_void_p, "i32": ctypes.c_int32}
    found = {name: kinds[kind].from_address(id(array) + offset).value for name, (offset, kind) in LAYOUT.items()}
    expected = {"type": id(np.ndarray), "data": array.ctypes.data, "ndim": array.ndim, "descr": id(array.dtype)}
    shape = found.pop("shape") or 0
    if shape < 4096 or found != expected | {"flags": array.flags.num}:
        return False  # before the shape's address is followed: it may be none
    return tuple((ctypes.c_int64 * 2).from_address(shape)) == array.shape


def takes(tape_inputs: Any, tape_outputs: Any) -> bool:
    """Return whether programs with these ports have a short way: vectors in, arrays out."""
    return all(port.shape for port in tape_outputs) and all(len(port.shape) == 1 for port in tape_inputs)


def text(tape: HasPorts, lanes: int) -> str:
    """Return the LLVM text of `@fast_call`, the C function, and of `@context`, the addresses it is given at loading."""
    n = len(tape.inputs)
    lines = [line for index, name in enumerate(CONTEXT) for line in fetch(name, "ptr", "@context", index)]
    lines += [f"%right = icmp eq i64 %count, {n}", "br i1 %right, label %check0, label %general"]
    for k, port in enumerate(tape.inputs):
        lines += [
            f"check{k}:",
            *fetch(f"a{k}", "ptr", "%args", k),
            *_fields(k, "type"),
            f"%is_array{k} = icmp eq ptr %type{k}, %array",
            f"br i1 %is_array{k}, label %look{k}, label %general",
            f"look{k}:",
            *_fields(k, "ndim", "descr", "flags", "shape", "data"),
            f"%is_row{k} = icmp eq i32 %ndim{k}, 1",
            f"%is_double{k} = icmp eq ptr %descr{k}, %double",
            f"%behaves{k} = and i32 %flags{k}, {_WELL_BEHAVED}",
            f"%is_plain{k} = icmp eq i32 %behaves{k}, {_WELL_BEHAVED}",
            f"%both{k} = and i1 %is_row{k}, %is_double{k}",
            f"%fits{k} = and i1 %both{k}, %is_plain{k}",
            f"br i1 %fits{k}, label %size{k}, label %general",
            f"size{k}:",
            f"%length{k} = load i64, ptr %shape{k}",
            f"%matches{k} = icmp eq i64 %length{k}, {port.shape[0]}",
            f"br i1 %matches{k}, label %{f'check{k + 1}' if k + 1 < n else 'run'}, label %general",
        ]
    places = [f"ptr %place{k}, i64 0" for k in range(len(tape.outputs))]
    rows = ", ".join([f"ptr %data{k}, i64 0" for k in range(n)] + places + ["i64 0"] * lanes)
    lines += [
        *(_one(tape.outputs[0]) if len(tape.outputs) == 1 else _several(tape.outputs)),
        "compute:",
        f"call void @rows({rows}, i64 0, i64 1, ptr @constants)",
        "br label %end",
        "general:",
        "%passed = call ptr %call(ptr %self, ptr %args, i64 %count, ptr null)",
        "ret ptr %passed",
        "end:",
        "ret ptr %result",
    ]
    extents = (
        f"@extents{k} = internal constant [{len(port.shape)} x i64] [{', '.join(f'i64 {n}' for n in port.shape)}]\n"
        for k, port in enumerate(tape.outputs)
    )
    return f"@context = global [{len(CONTEXT)} x ptr] zeroinitializer\n{''.join(extents)}" + function(
        "ptr @fast_call(ptr %self, ptr %args, i64 %count)", lines
    )


def _one(port: Port) -> list[str]:
    """Return the lines that make the one result array."""
    return [
        "run:",
        f"%result = call ptr %new({_new(0, port)})",
        "%made = icmp ne ptr %result, null",
        "br i1 %made, label %place, label %end",
        "place:",
        *_field("%result", "data", "place0"),
        "br label %compute",
    ]


def _several(ports: Sequence[Port]) -> list[str]:
    """Return the lines that make a tuple of result arrays; the tuple owns each from its making on."""
    lines = [
        "run:",
        f"%result = call ptr %tuple(i64 {len(ports)})",
        "%made = icmp ne ptr %result, null",
        "br i1 %made, label %make0, label %end",
    ]
    for k, port in enumerate(ports):
        following = f"make{k + 1}" if k + 1 < len(ports) else "compute"
        lines += [
            f"make{k}:",
            f"%result{k} = call ptr %new({_new(k, port)})",
            f"%made{k} = icmp ne ptr %result{k}, null",
            f"br i1 %made{k}, label %keep{k}, label %failed",
            f"keep{k}:",
            f"%kept{k} = call i32 %set(ptr %result, i64 {k}, ptr %result{k})",
            *_field(f"%result{k}", "data", f"place{k}"),
            f"br label %{following}",
        ]
    return [*lines, "failed:", "call void %release(ptr %result)", "ret ptr null"]


def _new(k: int, port: Port) -> str:
    kind = np.dtype(float).num
    return f"ptr %array, i32 {len(port.shape)}, ptr @extents{k}, i32 {kind}, ptr null, ptr null, i32 0, i32 0, ptr null"


def _fields(k: int, *names: str) -> list[str]:
    return [line for name in names for line in _field(f"%a{k}", name, f"{name}{k}")]


def _field(array: str, field: str, name: str) -> list[str]:
    """Return the lines that load a field of an array object as %name."""
    offset, kind = LAYOUT[field]
    return fetch(name, kind, array, offset, "i8")


class FastCall:
    """A builtin around `@fast_call`, and what it points to."""

    def __init__(self, name: str, function: int, context: int, general: Any) -> None:
        self._name = name.encode()
        self._definition = _Definition(
            self._name, function, _FASTCALL, b"One sample the short way, others the general."
        )
        (ctypes.c_void_p * len(CONTEXT)).from_address(context)[:] = list(_addresses())
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        self.call: Any = make(ctypes.addressof(self._definition), general, None)


@functools.cache
def _addresses() -> tuple[int | None, ...]:
    """Return the addresses of :data:`CONTEXT`."""
    table, python = c_functions("numpy._core.multiarray", "_ARRAY_API"), ctypes.pythonapi
    functions = (python.PyObject_Vectorcall, python.PyTuple_New, python.PyTuple_SetItem, python.Py_DecRef)
    addresses = (ctypes.cast(function, ctypes.c_void_p).value for function in functions)
    return table[_ARRAY_TYPE], id(np.dtype(np.float64)), table[_NEW], *addresses
