"""Python callables around native code.

A NumPy generalised ufunc gives a kernel all that users expect, at a microsecond per call: leading axes that broadcast,
strides, `out=`, type promotion, overlap checks, and the interpreter lock released. NumPy publishes the C function that
makes one in a capsule; ctypes calls it. For plain arrays there is a builtin whose C function is part of the compiled
code; where an array turns out to be laid out otherwise than :mod:`appell.kernels.llvm.entries` assumes, every call goes
to the gufunc.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import platform
import struct
import sysconfig
from collections.abc import Sequence
from typing import Any

import numpy as np

from appell.kernels.llvm.entries import CONTEXT, FUNCTIONS, ITEMS, LAYOUT
from appell.kernels.llvm.llvm_writer import Real
from appell.kernels.runtime import memory
from appell.kernels.runtime.threads import pool
from appell.trace.tape import Port

_MAKE = 31
"""Place of PyUFunc_FromFuncAndDataAndSignature in NumPy's table; fixed by its binary interface since 1.0."""
_NONE = -1
"""PyUFunc_None: the operation has no identity."""


class Gufunc:
    """A gufunc and the memory that it points to, which must live as long as it does."""

    def __init__(
        self, name: str, doc: str, inputs: Sequence[Port], outputs: Sequence[Port], loops: dict[str, int]
    ) -> None:
        kinds = [np.dtype(kind) for kind in loops]
        n = len(inputs) + len(outputs)
        self._table = (ctypes.c_void_p * len(loops))(*loops.values())
        self._data = (ctypes.c_void_p * len(loops))()
        self._types = bytes(kind.num for kind in kinds for _ in range(n))
        self._words = (name.encode(), doc.encode(), signature(inputs, outputs).encode())
        memory, sizes = (self._table, self._data, self._types), (len(loops), len(inputs), len(outputs))
        label, text, shapes = self._words
        self.call: Any = _maker()(*memory, *sizes, _NONE, label, text, 0, shapes)


def signature(inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """Return the signature of sizes, for example "(6),(6)->(6,6)"; axes of streams have names.

    >>> signature([Port("q", (6,))], [Port("M", (6, 6))])
    '(6)->(6,6)'
    >>> signature([Port("q", (6,)), Port("tau", (6,), ("step",))], [Port("path", (6,), ("step",))])
    '(6),(step,6)->(step,6)'
    """
    shapes = [
        ",".join(f"({','.join(map(str, (*port.axes, *port.shape)))})" for port in side) for side in (inputs, outputs)
    ]
    return "->".join(shapes)


@functools.cache
def _maker() -> Any:
    table = c_functions("numpy._core.umath", "_UFUNC_API")
    pointer, text, integer = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    arguments = (pointer, pointer, text, *[integer] * 4, text, text, integer, text)
    return ctypes.PYFUNCTYPE(ctypes.py_object, *arguments)(table[_MAKE])


def c_functions(module: str, capsule: str) -> Any:
    """Return the table of C functions that a module of NumPy publishes in a capsule."""
    # a function of its own: the attributes of pythonapi are shared with every other package
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    return ctypes.cast(get(getattr(importlib.import_module(module), capsule), None), ctypes.POINTER(ctypes.c_void_p))


_ARRAY_TYPE, _NEW = 2, 93
"""Places of PyArray_Type and PyArray_New in NumPy's table, fixed by its binary interface."""
_FASTCALL = 0x0080
"""METH_FASTCALL."""


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
    pair = (array, kinds)
    if tuple((ctypes.c_void_p * 3).from_address(id(pair) + 8 * (ITEMS - 1))) != (len(pair), *map(id, pair)):
        return False
    expected = {"type": id(np.ndarray), "data": array.ctypes.data, "ndim": array.ndim, "descr": id(array.dtype)}
    shape = found.pop("shape") or 0
    if shape < 4096 or found != expected | {"flags": array.flags.num}:
        return False  # before the shape's address is followed: it may be none
    return tuple((ctypes.c_int64 * 2).from_address(shape)) == array.shape


def builtin(name: str, real: Real, places: tuple[int, int], outputs: Sequence[Port], general: Any) -> Any:
    """Return a builtin around `@fast_call`."""
    function, context = places
    about = b"Plain arrays the short way, others the general."
    definition = _Definition(name.encode(), function, _FASTCALL, about)
    (ctypes.c_void_p * len(CONTEXT)).from_address(context)[:] = list(_addresses(real))
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    lenders = (functools.partial(_lent, port.shape, np.dtype(real.code)) for port in outputs)
    # self holds the definition, which a builtin reads once more while it is destroyed
    return make(ctypes.addressof(definition), (general, *lenders, definition), None)


def _lent(shape: tuple[int, ...], kind: Any, rows: int) -> Any:
    return memory.empty((rows, *shape), kind)


@functools.cache
def _addresses(real: Real) -> tuple[int | None, ...]:
    """Return the addresses of :data:`CONTEXT`."""
    table = c_functions("numpy._core.multiarray", "_ARRAY_API")
    functions = (ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in FUNCTIONS.values())
    kind, cell = id(np.dtype(real.code)), ctypes.addressof(pool.cell)
    return table[_ARRAY_TYPE], kind, table[_NEW], *functions, id(tuple), id(None), cell
