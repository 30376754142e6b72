"""The short way for plain arrays: a Python callable whose C function is part of the compiled code.

Where an array turns out to be laid out otherwise than :mod:`appell.kernels.llvm.fast_call` assumes, every call takes
the general way.
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

from appell.kernels.llvm.fast_call import CONTEXT, FUNCTIONS, ITEMS, LAYOUT
from appell.kernels.llvm.llvm_writer import Real
from appell.kernels.runtime import memory
from appell.kernels.runtime.gufunc import c_functions
from appell.kernels.runtime.threads import pool
from appell.trace.tape import Port

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
