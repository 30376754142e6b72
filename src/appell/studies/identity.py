"""The identity of a study: digests of its function, its robots and its cases, for comparison with a checkpoint."""

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from appell.robot.robot import Robot


class Identity:
    """A digest of values and of functions with their references, with a separate digest of robots.

    A function contributes its source, its defaults, its captured variables and the global variables it uses; functions
    of its own module contribute their source, those of other modules their names.
    """

    def __init__(self) -> None:
        self._digest, self._robots = hashlib.sha256(), hashlib.sha256()
        self._seen: set[int] = set()

    def add(self, value: Any) -> Identity:
        """Add a value; return this identity."""
        if isinstance(value, Robot):
            _, (kind, formulation) = value.__reduce__()
            self._robots.update(f"{kind.text()}{formulation}".encode())
        elif isinstance(value, functools.partial):
            self._all((value.func, value.args, value.keywords))
        elif isinstance(value, types.MethodType):
            self._all((value.__func__.__qualname__, value.__self__))
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, np.ndarray):
            self._all((value.dtype.str, value.shape))
            self._digest.update(
                np.ascontiguousarray(value).tobytes() if value.dtype != object else repr(value).encode()
            )
        elif isinstance(value, Mapping):
            self._all(x for item in value.items() for x in item)
        elif isinstance(value, list | tuple):
            self._all((len(value), *value))
        elif isinstance(value, types.ModuleType | types.BuiltinFunctionType | type):
            self._digest.update(f"{getattr(value, '__module__', '')}.{value.__name__}".encode())
        else:
            self._digest.update(_bytes(value))
        return self

    def _all(self, values: Iterable[Any]) -> None:
        for value in values:
            self.add(value)
            self._digest.update(b"\0")

    def _function(self, function: types.FunctionType) -> None:
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        self._digest.update(_source(function).encode())
        self._all((function.__defaults__ or (), function.__kwdefaults__ or {}))
        captured = inspect.getclosurevars(function)
        for name, value in sorted({**captured.globals, **captured.nonlocals}.items()):
            is_foreign = isinstance(value, types.FunctionType) and value.__module__ != function.__module__
            self._digest.update(name.encode())
            self.add(f"{value.__module__}.{value.__qualname__}" if is_foreign else value)

    @property
    def digests(self) -> dict[str, str]:
        """Return the digest of everything except robots, and that of robots."""
        return {"function": self._digest.hexdigest(), "robot": self._robots.hexdigest()}


def digest(value: Any) -> str:
    """Return the digest of a value.

    >>> digest([1.0, "a"]) == digest([1.0, "a"]), digest([1.0]) == digest([2.0])
    (True, False)
    """
    found = Identity().add(value).digests
    return hashlib.sha256((found["function"] + found["robot"]).encode()).hexdigest()


def _source(function: types.FunctionType) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # interactive code has no source: its byte code instead
        code = function.__code__
        return f"{sys.version_info[:2]} {code.co_code.hex()} {code.co_names} {_constants(code)}"


def _constants(code: types.CodeType) -> list[Any]:
    return [_constants(x) if isinstance(x, types.CodeType) else x for x in code.co_consts]


def _bytes(value: Any) -> bytes:
    try:
        return pickle.dumps(value, protocol=4)
    except Exception:  # unpicklable values by their text
        return repr(value).encode()
