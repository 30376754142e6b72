"""One case of a study: its call and its outcome."""

from __future__ import annotations

import functools
import inspect
import pickle
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from appell.errors import InputError
from appell.extras import extra, is_installed
from appell.kernels.runtime.threads import in_one_thread
from appell.messages import shown
from appell.studies.space import separate

Values = Mapping[str, NDArray[Any]]
Case = tuple[int, Mapping[str, Any]]
"""A case's number and its arguments."""


class Outcome(NamedTuple):
    """The outcome of a case: its values, or its error."""

    case: int
    values: Values | None
    error: str = ""


class Task(NamedTuple):
    """The function of all cases, and the seed of its random numbers, if any."""

    function: Callable[..., Any]
    seed: int
    takes_rng: bool

    def outcome(self, number: int, case: Mapping[str, Any]) -> Outcome:
        """Return the outcome of a case; its arrays are the function's own, an exception an error of this case only."""
        rng = {"rng": np.random.default_rng([self.seed, number])} if self.takes_rng else {}
        try:
            given = {name: separate(value) for name, value in case.items()}
            return Outcome(number, checked(self.function(**given, **rng)))
        except Exception as error:
            return Outcome(number, None, _description(error))

    def outcomes(self, cases: Sequence[Case]) -> tuple[list[Outcome], float]:
        """Return the outcomes of some cases, and their duration [s]; their batches use one thread each."""
        start = time.perf_counter()
        with in_one_thread():
            found = [self.outcome(number, case) for number, case in cases]
        return found, time.perf_counter() - start


def task(function: Any, names: Sequence[str], seed: int) -> Task:
    """Return the task of a function called with keyword arguments.

    Raises
    ------
    InputError
        When it is not a function, or cannot be called with these names.
    """
    if not callable(function):
        raise InputError(f"sweep: expected a function, got {shown(function)}")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return Task(function, seed, takes_rng=False)
    takes_rng = "rng" in signature.parameters and "rng" not in names
    given = dict.fromkeys([*names, *(["rng"] if takes_rng else [])])
    try:
        signature.bind(**given)
    except TypeError as error:
        raise InputError(
            f"sweep: the cases do not match the function {_name(function)}{signature}: {error}; the cases have "
            f"{', '.join(names)}"
        ) from None
    return Task(function, seed, takes_rng)


_unpacking = threading.Lock()
"""Held while a task is unpickled: a worker of Dask may have several threads."""


@functools.lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> Task:
    """Return a task in a worker, unpickled once, so that its robots compile once."""
    return pickle.loads(packed)  # type: ignore[no-any-return]


def work(packed: bytes, cases: Sequence[Case]) -> tuple[list[Outcome], float]:
    """Return the outcomes of some cases, in another process."""
    with _unpacking:
        given = _unpacked(packed)
    return given.outcomes(cases)


def packed(given: Task) -> bytes:
    """Return a task as bytes for other processes, by cloudpickle where it is installed.

    Raises
    ------
    InputError
        When the function cannot be pickled.
    """
    is_better = is_installed("cloudpickle")  # required for functions of notebooks and scripts; a dependency of Dask
    pickler = extra("cloudpickle", "functions of scripts need") if is_better else pickle
    try:
        return pickler.dumps(given)  # type: ignore[no-any-return]
    except Exception as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"sweep: the function {_name(given.function)} cannot be sent to other processes ({reason}); define it at "
            "the top of a module, or use engine='threads'"
        ) from None


def checked(values: Any) -> Values:
    """Return the values of a case as arrays of real numbers.

    >>> checked({"peak": 2.0})
    {'peak': array(2.)}
    """
    if not isinstance(values, Mapping) or not values or not all(isinstance(name, str) for name in values):
        raise InputError(f"the function must return a dict of numbers or arrays by name, got {shown(values)}")
    found = {name: np.array(value) for name, value in values.items()}
    for name, value in found.items():
        if value.dtype.kind not in "fiub":
            raise InputError(f"the value '{name}' must be a real number or an array of them, got {shown(values[name])}")
    return {name: value.astype(_portable(value.dtype), copy=False) for name, value in found.items()}


def _portable(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return the type in which values are recorded: in this machine's byte order, of at most 64 bits."""
    return np.dtype(float) if kind.itemsize > np.dtype(float).itemsize else kind.newbyteorder("=")


def _description(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    at = f" ({frames[-1].name}, line {frames[-1].lineno})" if len(frames) > 1 else ""
    return f"{type(error).__name__}: {error}{at}"


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
