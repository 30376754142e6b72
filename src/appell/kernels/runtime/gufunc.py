"""NumPy generalised ufuncs from addresses of native loops.

A gufunc gives a kernel all that users expect, at a microsecond per call: leading axes that broadcast, strides,
`out=`, type promotion, overlap checks, and the interpreter lock released. NumPy publishes the C function that makes one
in a capsule; ctypes calls it.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

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
