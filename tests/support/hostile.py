"""Hostile values: what arguments can be that a callable cannot use, and how to find out what becomes of them."""

from __future__ import annotations

import datetime
import math
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import appell

OTHER = appell.load("rx90")
MASKED = np.ma.array([0.1, 0.2], mask=[False, True])


def values() -> dict[str, Any]:
    """Return the hostile values, new ones for each call: generators can be used once."""
    return {
        "None": None,
        "text": "x",
        "empty text": "",
        "bytes": b"x",
        "number as text": "1.0",
        "list of text": ["0.1", "0.2"],
        "nan": math.nan,
        "list of nan": [math.nan, 0.1],
        "inf": math.inf,
        "list of inf": [0.1, -math.inf],
        "huge": 1e300,
        "list of huge": [1e300, -1e300],
        "tiny": 1e-300,
        "list of tiny": [1e-300, 1e-300],
        "subnormal": 5e-324,
        "negative": -1.0,
        "minus one": -1,
        "zero": 0.0,
        "list of zeros": [0.0, 0.0],
        "true": True,
        "list of bool": [True, False],
        "huge integer": 10**400,
        "list of huge integers": [10**400, 0.5],
        "long integer": 2**70,
        "complex": 1j,
        "list of complex": [1j, 0.0],
        "empty": [],
        "empty rows": [[]],
        "empty array": np.zeros((0, 2)),
        "ragged": [[0.1], [0.1, 0.2]],
        "deep": [[[[[0.1]]]]],
        "wrong size": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9],
        "objects": np.array([0.1, None], dtype=object),
        "floats as objects": np.array([0.1, 0.2], dtype=object),
        "masked": MASKED,
        "masked, none of it": np.ma.array([0.1, 0.2]),
        "masked number": np.ma.array(0.5),
        "generator": (x for x in (0.1, 0.2)),
        "dictionary": {"a": 1.0},
        "dictionary of numbers": {0: 1.0},
        "set": {0.1, 0.2},
        "date": np.datetime64("2026-01-01"),
        "duration": np.timedelta64(1, "s"),
        "dates": np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]"),
        "day": datetime.date(2026, 1, 1),
        "structured": np.zeros(2, dtype=[("x", float), ("y", float)]),
        "function": lambda *_: None,
        "function of text": lambda *_: "x",
        "function of nan": lambda *_: math.nan,
        "class": int,
        "object": object(),
        "lock": threading.Lock(),
        "matrix": np.array([[0.1, 0.2], [0.3, 0.4]]),
        "float16": np.array([0.1, 0.2], np.float16),
        "robot": OTHER,
        "list of None": [None],
        "not implemented": NotImplemented,
        "ellipsis": ...,
        "slice": slice(0, 2),
        "range": range(2),
    }


NAMES = tuple(values())


class Subject(NamedTuple):
    """A callable, arguments with which it works, and what is then done with its result."""

    call: Callable[..., Any]
    good: Mapping[str, Any]
    use: Callable[[Any], Any] = lambda result: result
    may_overflow: bool = False
    """Whether numbers that are not finite may lead to such: results of verbs, as those of NumPy's functions."""


def is_large(value: Any) -> bool:
    """Return whether a value has a number that is not finite, or whose powers are not."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return False
    return not (np.abs(array) < 1e100).all() if array.size else False


def is_finite(result: Any) -> bool:
    """Return whether all numbers of a result are finite."""
    if isinstance(result, np.ndarray | float | complex | np.number):
        array = np.asarray(result)
        return array.dtype.kind in "fiub" and bool(np.isfinite(array).all()) and not np.ma.isMaskedArray(result)
    if isinstance(result, Mapping):
        return all(map(is_finite, result.values()))
    if isinstance(result, tuple | list):
        return all(map(is_finite, result))
    return True


def fault(subject: Subject, name: str, value: Any) -> str:
    """Return what is wrong after an argument got a hostile value, empty if nothing."""
    allowed = subject.may_overflow and is_large(value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", appell.AppellWarning)
        if allowed:
            warnings.simplefilter("ignore", RuntimeWarning)
        try:
            result = subject.use(subject.call(**{**subject.good, name: value}))
        except appell.AppellError as error:
            return "" if str(error) and "\n" not in str(error) else f"a message of several lines: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return "" if allowed or is_finite(result) else f"gave {result!r}"
