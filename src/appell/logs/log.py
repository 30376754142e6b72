"""Logs: recorded signals of a robot, and the repairs made while reading them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from appell.display import Html, card, number
from appell.display import table as table_html
from appell.errors import InputError
from appell.files import extension, write
from appell.logs import joint_states, table
from appell.spatial.scalar import Array

PER_VELOCITY = ("v", "a", "tau", "current")
"""The quantities of a log that have one column per velocity."""
WRITERS: Mapping[str, Callable[[Mapping[str, Array], Mapping[str, Any]], str | bytes]] = {
    ".csv": table.csv_text,
    ".npz": table.npz_bytes,
    ".parquet": table.parquet_bytes,
    ".mcap": joint_states.encoded,
}


@dataclass(frozen=True)
class Repair:
    """A change to recorded data: what was dropped, filled or changed, where, and the number of samples.

    >>> print(Repair("left out: 20 fields, expected 31", "line 6107", 1))
    line 6107: left out: 20 fields, expected 31
    """

    what: str
    where: str
    count: int

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def spans(numbers: Iterable[int], word: str) -> str:
    """Return integers as compact ranges after their noun.

    >>> spans([2, 3, 4, 5004], "line"), spans([7], "row"), spans([1, 2], "line")
    ('lines 2–4 and 5004', 'row 7', 'lines 1 and 2')
    """
    ordered = np.unique(np.fromiter(numbers, dtype=int))
    runs = np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1)
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]}–{run[-1]}"] if len(run) > 2 else [str(x) for x in run]
    if len(parts) > 12:  # too long to print
        parts = [*parts[:10], f"{len(parts) - 10} more places"]
    body = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{word if len(ordered) == 1 else word + 's'} {body}"


@dataclass(frozen=True)
class Log:
    """A recording of a robot: times, positions, and optionally velocities, torques and motor currents.

    Attributes
    ----------
    t : array, shape (n,)
        Times [s], strictly increasing.
    q : array, shape (n, nq)
        Joint positions [rad, m].
    v, a : array, shape (n, nv), or None
        Recorded velocities [rad/s, m/s] and accelerations [rad/s², m/s²].
    tau : array, shape (n, nv), or None
        Joint torques [N·m] or forces [N].
    current : array, shape (n, nv), or None
        Motor currents [A].
    extra : mapping
        Other columns by name, each (n,) or (n, k).
    source : str
        The file's name.
    repairs : tuple of Repair
        All dropped, filled or changed samples.
    joint_names : tuple of str
        The joints in the order of the columns, if known from the file or a robot.

    Examples
    --------
    >>> log = Log.from_arrays(t=[0.0, 0.1, 0.2], q=[[0.0], [0.1], [0.2]], tau=[[1.0], [1.1], [1.2]])
    >>> print(log)
    log: 3 samples of 1 joint, 0.2 s at 10 Hz; q, tau
    """

    t: Array
    q: Array
    v: Array | None = None
    a: Array | None = None
    tau: Array | None = None
    current: Array | None = None
    extra: Mapping[str, Array] = field(default_factory=lambda: MappingProxyType({}))
    source: str = ""
    repairs: tuple[Repair, ...] = ()
    joint_names: tuple[str, ...] = ()

    @staticmethod
    def from_arrays(
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike | None = None,
        a: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        current: ArrayLike | None = None,
    ) -> Log:
        """Return a log of arrays, with one row per sample.

        Parameters
        ----------
        t : array_like, shape (n,)
            Times [s], strictly increasing.
        q : array_like, shape (n, nq)
            Joint positions [rad, m].
        v, a : array_like, shape (n, nv), optional
            Velocities and accelerations.
        tau : array_like, shape (n, nv), optional
            Joint torques [N·m] or forces [N].
        current : array_like, shape (n, nv), optional
            Motor currents [A].

        Returns
        -------
        Log
            The log.

        Raises
        ------
        InputError
            When shapes differ, a number is not finite, or times do not increase; the message names the array and the
            row.

        Examples
        --------
        >>> len(Log.from_arrays([0.0, 0.01], [[0.0, 1.0], [0.1, 1.0]]))
        2
        """
        times = _numbers("t", t)
        if times.ndim != 1 or len(times) < 2:
            raise InputError(f"t: expected two or more times (n,), got shape {times.shape}")
        steps = np.diff(times)
        if (steps <= 0.0).any():
            k = int(np.argmax(steps <= 0.0))
            raise InputError(f"t: expected increasing times, got {times[k]:g} s then {times[k + 1]:g} s at row {k + 1}")
        given = {"q": q, "v": v, "a": a, "tau": tau, "current": current}
        arrays: dict[str, Any] = {name: _numbers(name, value) for name, value in given.items() if value is not None}
        width = next((arrays[name].shape[-1] for name in PER_VELOCITY if name in arrays and arrays[name].ndim == 2), 0)
        for name, array in arrays.items():
            columns = "nq" if name == "q" else width or "nv"
            if array.ndim != 2 or len(array) != len(times) or (name != "q" and array.shape[1] != width):
                raise InputError(
                    f"{name}: expected shape ({len(times)}, {columns}), one row for each time, got {array.shape}"
                )
        return Log(times, **arrays)

    def __len__(self) -> int:
        return len(self.t)

    def __str__(self) -> str:
        joints = f"{self.q.shape[1]} joint{'s' if self.q.shape[1] > 1 else ''}"
        rate = f" at {1.0 / np.median(np.diff(self.t)):.4g} Hz" if len(self) > 1 else ""
        names = ", ".join([*(x for x in ("q", *PER_VELOCITY) if getattr(self, x) is not None), *self.extra])
        span = self.t[-1] - self.t[0] if len(self) else 0.0
        head = f"{self.source or 'log'}: {len(self)} samples of {joints}, {span:.6g} s{rate}; {names}"
        return "\n".join([head, *(f"  {repair}" for repair in self.repairs)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *repairs = str(self).splitlines()
        signals = {name: getattr(self, name) for name in ("q", *PER_VELOCITY)}
        return card(head, ranges(self.joint_names, signals), *repairs)

    def crop(self, t0: float, t1: float) -> Log:
        """Return the samples with t0 ≤ t ≤ t1.

        Parameters
        ----------
        t0, t1 : float
            First and last time [s].

        Returns
        -------
        Log
            The cropped log.

        Raises
        ------
        InputError
            When no sample is in this range.

        Examples
        --------
        >>> Log.from_arrays([0.0, 0.1, 0.2], [[0.0], [0.1], [0.2]]).crop(0.05, 0.25).t
        array([0.1, 0.2])
        """
        inside = (self.t >= t0) & (self.t <= t1)
        if not inside.any():
            raise InputError(
                f"crop: no samples from {t0:g} to {t1:g} s; the log is from {self.t[0]:g} to {self.t[-1]:g} s"
            )
        arrays = {x: getattr(self, x)[inside] for x in ("t", "q", *PER_VELOCITY) if getattr(self, x) is not None}
        extra = MappingProxyType({name: array[inside] for name, array in self.extra.items()})
        return replace(self, **arrays, extra=extra)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the log to a file that :func:`appell.read_log` reads.

        An .mcap file has JSON messages with the fields of a JointState; its times are rounded to nanoseconds.

        Parameters
        ----------
        path : str or path
            A file with the extension .csv, .npz, .parquet or .mcap.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        InputError
            When the extension is unknown or the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> from appell.logs.read_log import read_log
        >>> log = Log.from_arrays([0.0, 0.1], [[0.0], [0.1]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = read_log(log.save(folder + "/log.csv"))
        >>> bool((again.q == log.q).all())
        True
        """
        form = extension("log.save", path, tuple(WRITERS))
        columns = {x: getattr(self, x) for x in ("t", "q", *PER_VELOCITY) if getattr(self, x) is not None}
        about = {"source": self.source, "joints": list(self.joint_names), "repairs": [astuple(x) for x in self.repairs]}
        return write(path, WRITERS[form]({**columns, **self.extra}, about))


def ranges(names: Sequence[str], signals: Mapping[str, Array | None]) -> Html:
    """Return a table of the least and greatest values of signals (n, k), one row per joint.

    >>> ranges(["elbow"], {"q": np.array([[0.0], [1.5]]), "v": None}).count("0 … 1.5")
    1
    """
    known = {name: x for name, x in signals.items() if x is not None and len(x)}
    widest = max((x.shape[1] for x in known.values()), default=0)
    labels = list(names) if len(names) == widest else [str(k) for k in range(widest)]
    rows = [
        (
            label,
            *(
                f"{number(float(x[:, k].min()))} … {number(float(x[:, k].max()))}" if k < x.shape[1] else None
                for x in known.values()
            ),
        )
        for k, label in enumerate(labels)
    ]
    return table_html(("joint", *known), rows)


def _numbers(name: str, value: ArrayLike) -> Array:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected an array of numbers, got {type(value).__name__}") from None
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise InputError(f"{name}: expected finite numbers, got {array[row]} in row {row}; remove such rows")
    return array
