"""Studies: a function over all cases of a space, on any engine, with a checkpoint that survives kill -9."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.arguments import truth, whole
from appell.display import card, table
from appell.files import extension, write
from appell.kernels.runtime.native import silent
from appell.studies.engines import Outcome, Values, WorkerPool, outcomes, task
from appell.studies.space import Space, as_space
from appell.studies.store import Checkpoint, Identity, column_of, digest, parquet_bytes

FAILURES = 10
"""Failed cases that a notebook lists."""
INTERRUPTED = "interrupted (Ctrl-C)"
Report = Callable[[int, int], None]
"""Receives the number of newly finished cases, and how many of them failed."""


@dataclass(frozen=True)
class Study:
    """The cases of a study and their outcomes; :meth:`load` reads partial results of a running study.

    Parameters
    ----------
    cases : Space
        The arguments of all cases, in order; ``study.cases[3]`` is a dict.
    outcomes : sequence of Outcome
        The outcomes of the finished cases, in order.
    seconds : float
        Wall time of this run [s].
    ended_early : str
        Empty, or the reason why cases are missing.

    Examples
    --------
    >>> import appell, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     study = appell.sweep(lambda x: {"y": x**2}, {"x": [1.0, 2.0]}, checkpoint=folder + "/squares")
    ...     again = appell.Study.load(folder + "/squares")
    ...     study.save(folder + "/squares.csv").name
    'squares.csv'
    >>> again.values["y"]
    array([1., 4.])
    """

    cases: Space
    """The arguments of all cases, in order; ``study.cases[3]`` is a dict."""
    outcomes: Sequence[Outcome] = field(repr=False)
    """The outcomes of the finished cases, in order."""
    seconds: float = 0.0
    """Wall time of this run [s]."""
    ended_early: str = ""
    """Empty, or the reason why cases are missing."""

    @cached_property
    def _layout(self) -> dict[str, tuple[int, ...]]:
        """Return names and shapes of the values, from the first successful case."""
        first: Values = next((x.values for x in self.outcomes if x.values is not None), {})
        return {name: value.shape for name, value in first.items()}

    @cached_property
    def _succeeded(self) -> list[Outcome]:
        return [x for x in self.outcomes if x.values is not None and self._misfit(x.values) == ""]

    def _misfit(self, values: Values) -> str:
        own, first = {name: value.shape for name, value in values.items()}, self._layout
        return "" if own == first else f"InputError: its values have shapes {own}, those of the first case {first}"

    @cached_property
    def values(self) -> dict[str, NDArray[Any]]:
        """Return every value as an array in the order of cases, (cases, …); NaN for failed and missing cases."""
        places = [x.case for x in self._succeeded]
        found = {}
        for name, shape in self._layout.items():
            given = np.stack([(x.values or {})[name] for x in self._succeeded])
            is_whole = len(places) == len(self.cases)
            column = np.full((len(self.cases), *shape), 0 if is_whole else np.nan, given.dtype if is_whole else float)
            column[places] = given
            found[name] = column
        return found

    @cached_property
    def done(self) -> NDArray[np.bool_]:
        """Return which cases are finished, including failed ones."""
        mask = np.zeros(len(self.cases), dtype=bool)
        mask[[x.case for x in self.outcomes]] = True
        return mask

    @cached_property
    def failed(self) -> list[tuple[dict[str, Any], str]]:
        """Return the cases that failed, each with its error."""
        wrong = ((x.case, x.error if x.values is None else self._misfit(x.values)) for x in self.outcomes)
        return [(self.cases[case], error) for case, error in wrong if error]

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> Study:
        """Read the study of a checkpoint, with its outcomes so far.

        Parameters
        ----------
        folder
            The ``checkpoint=`` of :func:`appell.sweep`.

        Returns
        -------
        Study

        Raises
        ------
        InputError
            When the folder is not a checkpoint.
        ReadError
            When one of its files is damaged; the message names it.
        """
        store = Checkpoint(folder)
        store.manifest()
        return Study(store.space(), store.outcomes())

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write cases, values and errors as one table; in .csv, arrays have one column per entry.

        Parameters
        ----------
        path : str or path
            The file, .parquet or .csv.

        Returns
        -------
        Path
            The file's path.
        """
        errors = [""] * len(self.cases)
        for x in self.outcomes:
            errors[x.case] = x.error or (self._misfit(x.values) if x.values is not None else "")
        columns: dict[str, Any] = {**self.cases.columns, **self.values, "error": errors}
        if extension("study.save", path, (".parquet", ".csv")) == ".parquet":
            return write(path, parquet_bytes({name: column_of(x) for name, x in columns.items()}))
        return write(path, _csv(columns, len(self.cases)))

    def __repr__(self) -> str:
        done = int(self.done.sum())
        early = f", ended early: {self.ended_early}" if self.ended_early else ""
        return f"<Study: {done} of {len(self.cases)} cases, {len(self.failed)} failed, {self.seconds:.1f} s{early}>"

    def _repr_html_(self) -> str:
        columns: dict[str, Any] = {**self.cases.columns, **self.values}
        shown = ([_brief(column[k]) for column in columns.values()] for k in range(len(self.cases)))
        failed = [f"{case}: {error}" for case, error in self.failed[:FAILURES]]
        return card(repr(self).strip("<>"), table(tuple(columns), shown, len(self.cases)), *failed)


def _brief(value: Any) -> object:
    """Return a value as a cell: a number as it is, of an array its shape."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"array {value.shape}"
    plain = value.item() if isinstance(value, np.generic | np.ndarray) else value
    return plain if isinstance(plain, int | float) else str(plain)


def sweep(
    function: Callable[..., Any],
    space: Any,
    *,
    engine: Any = "threads",
    workers: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> Study:
    """Call a function for every case of a space, in parallel; results do not depend on engine, workers or order.

    A case that raises an exception is recorded with its error and does not stop the others. With a checkpoint, an
    interrupted study resumes: recorded cases are not computed again.

    Parameters
    ----------
    function
        Called as ``function(**case)``. It returns a dict of numbers or arrays, with the same names and shapes for every
        case. If it has an argument ``rng``, it receives a random generator for its case.
    space
        A space of :mod:`appell.space`, a dict of sequences (their grid), or a list of dicts.
    engine
        "threads" (the default; kernels run in parallel), "processes", "dask" (a cluster of processes on this machine),
        the address of a Dask scheduler such as ``"tcp://host:8786"``, or a ``dask.distributed.Client``. Robots are
        sent as models; each worker compiles once, or loads the compiled code from its cache.
    workers
        Number of threads or processes. Default: all cores. A cluster has its own number.
    checkpoint
        A folder for results and the identity of the study. A folder of a study with another function, robot, space or
        seed is an error.
    seed
        Seed of the random numbers; each case has its own generator.
    progress
        True shows the rate and the remaining time on stderr; by default where that is a terminal.

    Returns
    -------
    Study
        ``cases``, ``values`` by name in the order of cases, and ``failed``. After Ctrl-C it has the cases so far.

    Raises
    ------
    InputError
        When the arguments are inconsistent, or the checkpoint belongs to another study.

    Examples
    --------
    >>> import appell
    >>> robot = appell.load("two-link")
    >>> def reach(q1, q2):
    ...     return {"tool": robot.pose([q1, q2], "link2")[:3, 3]}
    >>> study = appell.sweep(reach, {"q1": [0.0, 0.5], "q2": [0.0, 1.0, 2.0]})
    >>> study.values["tool"].shape, study.failed
    ((6, 3), [])
    """
    cases = as_space(space)
    given = task(function, cases.names, whole("sweep: seed", seed, 0))
    store = None if checkpoint is None else Checkpoint(checkpoint)
    start, known = time.perf_counter(), []
    if store is not None:
        own = Identity().add(function).digests
        store.begin({**own, "space": digest(cases.columns), "seed": seed, "cases": len(cases)}, cases)
        known = store.outcomes()
    recorded = {outcome.case for outcome in known}
    rest = [k for k in range(len(cases)) if k not in recorded]
    found, early = list(known), ""
    is_shown = sys.stderr.isatty() if progress is None else truth("sweep: progress", progress)
    running = WorkerPool(given, engine, workers)
    if rest:
        with running, _bar(is_shown, len(cases), len(known)) as report:
            try:
                for chunk in outcomes(running, ((k, cases[k]) for k in rest), len(rest)):
                    found.extend(chunk)
                    if store is not None:
                        store.add(chunk)
                    report(len(chunk), sum(x.values is None for x in chunk))
            except KeyboardInterrupt:
                early = INTERRUPTED
    if store is not None:
        store.merge()
    found.sort(key=lambda x: x.case)
    return Study(cases, found, time.perf_counter() - start, early)


@contextlib.contextmanager
def _bar(is_shown: bool, total: int, done: int) -> Iterator[Report]:
    """Yield a function that updates a progress bar with rate and remaining time, shown if wanted."""
    if not is_shown:
        yield lambda more, failed: None
        return
    from rich.console import Console  # noqa: PLC0415  (only where a bar is shown)
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    start, tally = time.perf_counter(), [0, 0]
    with silent(), Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("cases", total=total, completed=done)

        def report(more: int, failed: int) -> None:
            tally[0] += more
            tally[1] += failed
            rate = tally[0] / max(time.perf_counter() - start, 1e-9)
            words = f"{rate:.3g} cases/s" + (f", {tally[1]} failed" if tally[1] else "")
            progress.update(bar, completed=done + tally[0], description=words)

        yield report


def _csv(columns: dict[str, Any], rows: int) -> str:
    """Return columns as text, arrays with one column per entry."""
    flat: dict[str, Sequence[Any]] = {}
    for name, column in columns.items():
        shape = np.shape(column)[1:] if isinstance(column, np.ndarray) else ()
        for at in np.ndindex(*shape):
            flat[name + "".join(f"[{k}]" for k in at)] = column[(slice(None), *at)] if shape else column
    lines = [",".join(map(_quoted, flat))]
    lines += [",".join(_quoted(column[k]) for column in flat.values()) for k in range(rows)]
    return "\n".join(lines) + "\n"


def _quoted(value: Any) -> str:
    text = repr(value.item()) if isinstance(value, np.generic) else str(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\n\r') else text
