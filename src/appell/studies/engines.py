"""Cases and the engines that run them: threads, processes, or a Dask cluster.

The driver keeps few chunks of cases in flight, each about a second of work. When a worker dies, the cases that
were in flight run again one at a time, so that a case that crashes its worker is identified and recorded as failed.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import multiprocessing
import os
import pickle
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures import ThreadPoolExecutor as Threads
from multiprocessing.connection import wait as wait_for
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from appell.arguments import whole
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


class CaseTask(NamedTuple):
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


def task(function: Any, names: Sequence[str], seed: int) -> CaseTask:
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
        return CaseTask(function, seed, takes_rng=False)
    takes_rng = "rng" in signature.parameters and "rng" not in names
    given = dict.fromkeys([*names, *(["rng"] if takes_rng else [])])
    try:
        signature.bind(**given)
    except TypeError as error:
        raise InputError(
            f"sweep: the cases do not match the function {_name(function)}{signature}: {error}; the cases have "
            f"{', '.join(names)}"
        ) from None
    return CaseTask(function, seed, takes_rng)


_unpacking = threading.Lock()
"""Held while a task is unpickled: a worker of Dask may have several threads."""


@functools.lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> CaseTask:
    """Return a task in a worker, unpickled once, so that its robots compile once."""
    return pickle.loads(packed)


def work(packed: bytes, cases: Sequence[Case]) -> tuple[list[Outcome], float]:
    """Return the outcomes of some cases, in another process."""
    with _unpacking:
        given = _unpacked(packed)
    return given.outcomes(cases)


def packed(given: CaseTask) -> bytes:
    """Return a task as bytes for other processes, by cloudpickle where it is installed.

    Raises
    ------
    InputError
        When the function cannot be pickled.
    """
    is_better = is_installed("cloudpickle")  # required for functions of notebooks and scripts; a dependency of Dask
    pickler = extra("cloudpickle", "functions of scripts need") if is_better else pickle
    try:
        return pickler.dumps(given)
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


ENGINES = ("threads", "processes", "dask")
CHUNK = 1.0
"""Work per chunk [s], the most that a killed driver loses per worker."""
DEATHS = 3
"""Number of workers that a case may crash before it counts as failed."""


def follow_driver() -> None:
    """End this worker process when the driver ends, however it ends: the pool's own shutdown needs a living driver."""
    driver = multiprocessing.parent_process()
    assert driver is not None

    def follow() -> None:
        wait_for([driver.sentinel])
        os._exit(1)

    threading.Thread(target=follow, name="appell-follow", daemon=True).start()


class WorkerPool:
    """Workers that run chunks of cases, restarted after a crash."""

    def __init__(self, task: CaseTask, engine: Any, workers: int | None) -> None:
        self._task, self._engine, self._closing = task, engine, contextlib.ExitStack()
        is_cluster = (isinstance(engine, str) and "://" in engine) or hasattr(engine, "get_executor")
        self.name = engine if engine in ENGINES else "dask" if is_cluster else ""
        if not self.name:
            raise InputError(
                f"sweep: unknown engine {shown(engine)}; known: 'threads', 'processes', 'dask', the address of a Dask "
                "scheduler such as 'tcp://host:8786', or a dask.distributed.Client"
            )
        self.count = whole("sweep: workers", workers) if workers is not None else os.cpu_count() or 1
        self._packed = packed(task) if self.name != "threads" else b""
        self._client: Any = None

    def __enter__(self) -> WorkerPool:
        if self.name == "dask":
            distributed = extra("distributed", "engine='dask' needs")
            client = self._engine
            if client == "dask":
                cluster = distributed.LocalCluster(
                    n_workers=self.count, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
                )
                client = self._closing.enter_context(distributed.Client(self._closing.enter_context(cluster)))
            elif isinstance(client, str):
                try:
                    client = self._closing.enter_context(distributed.Client(client, timeout="10s"))
                except (OSError, ValueError) as error:
                    raise InputError(f"sweep: no Dask scheduler found at '{self._engine}' ({error})") from None
            self._client = client
            self.count = max(len(client.scheduler_info(n_workers=-1)["workers"]), 1)
        self.renew()
        return self

    def __exit__(self, *error: object) -> None:
        self._executor.shutdown(wait=False, **({} if self._client is not None else {"cancel_futures": True}))
        self._closing.close()

    def renew(self) -> None:
        """Create the executor, again after a crash."""
        if self._client is not None:
            self._executor: Executor = self._client.get_executor(pure=False, retries=0)
        elif self.name == "threads":
            self._executor = Threads(self.count, "appell-sweep")
        else:
            context = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(self.count, context, initializer=follow_driver)

    def submit(self, cases: Sequence[Case]) -> Future[Any]:
        """Send a chunk of cases to a worker."""
        if self.name == "threads":
            return self._executor.submit(self._task.outcomes, cases)
        return self._executor.submit(work, self._packed, cases)

    @functools.cached_property
    def deaths(self) -> tuple[type[BaseException], ...]:
        """Return the exceptions of workers that died.

        Of a worker that dies while its result is on the way, Dask's executor takes the result for an exception, and
        raises a ValueError. Errors of cases are among the outcomes.
        """
        if self._client is None:
            return (BrokenExecutor,)
        return (BrokenExecutor, extra("distributed", "engine='dask' needs").KilledWorker, ValueError)


def outcomes(engine: WorkerPool, cases: Iterator[Case], total: int) -> Iterator[list[Outcome]]:
    """Yield the outcomes of cases, chunk by chunk, in any order."""
    flying: dict[Future[Any], list[Case]] = {}
    suspects: deque[tuple[Case, int]] = deque()
    """Cases in flight when a worker died, each with the number of workers that it crashed alone."""
    size, left, alive = 1, total, False

    while True:
        if suspects:
            if not flying:
                flying[engine.submit([suspects[0][0]])] = [suspects[0][0]]
        else:
            while len(flying) < 2 * engine.count and (chunk := list(itertools.islice(cases, size))):
                flying[engine.submit(chunk)] = chunk
        if not flying:
            return
        done, _ = wait(flying, return_when=FIRST_COMPLETED)
        for future in done:
            chunk = flying.pop(future)
            try:
                found, seconds = future.result()
            except engine.deaths:
                lost = [chunk, *flying.values()] if engine.name == "processes" else [chunk]
                if engine.name == "processes":
                    flying.clear()
                    engine.renew()
                yield from _judged(suspects, [case for each in lost for case in each], alive)
                break
            alive = True
            if suspects and chunk == [suspects[0][0]]:
                suspects.popleft()
            left -= len(found)
            share = max(left // (4 * engine.count), 1)
            size = int(min(max(CHUNK * len(found) / max(seconds, 1e-9), 1), share))
            yield found


def _judged(suspects: deque[tuple[Case, int]], lost: list[Case], alive: bool) -> Iterator[list[Outcome]]:
    """Add the cases lost with a worker to the suspects; yield the failure of one that crashed too many workers."""
    if suspects and lost == [suspects[0][0]]:
        case, deaths = suspects.popleft()
        if deaths + 1 < DEATHS:
            suspects.appendleft((case, deaths + 1))
        elif not alive:
            raise InputError(
                "sweep: the worker processes exit on start; in a script, call sweep under if __name__ == '__main__':"
            )
        else:
            yield [Outcome(case[0], None, f"its worker process crashed {DEATHS} times")]
    else:
        suspects.extend((case, 0) for case in lost)
