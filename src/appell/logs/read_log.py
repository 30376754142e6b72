"""Reading of logs: .csv and other text, .npz, .parquet, .mcap; corrupt rows are dropped and listed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError, ReadError
from appell.files import as_path, shortened
from appell.logs.columns import Choice, ColumnPlan, Columns, parsed, plan
from appell.logs.joint_states import read_mcap
from appell.logs.log import PER_VELOCITY, Log, Repair, spans
from appell.logs.table import QUANTITIES, LogTable, read_npz, read_parquet, read_text
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

READERS: Mapping[str, Callable[[Path], LogTable]] = {
    ".csv": read_text,
    ".txt": read_text,
    ".tsv": read_text,
    ".dat": read_text,
    ".npz": read_npz,
    ".parquet": read_parquet,
    ".mcap": read_mcap,
}
LONGEST_PERIOD = 100.0
"""Median time step [s] above which times are in another unit."""


def read_log(
    path: str | os.PathLike[str],
    columns: Columns | None = None,
    *,
    gains: ArrayLike | None = None,
    robot: Robot | None = None,
) -> Log:
    r"""Read a log from a file.

    Corrupt rows are dropped and listed in the log's `repairs`: a wrong number of fields, a field that is not a finite
    number, decreasing time, or a jump that no robot can make.

    Parameters
    ----------
    path : str or path
        A text file (.csv, .txt, .tsv, .dat; commas, semicolons, tabs or spaces; with or without header), .npz, .parquet
        or .mcap (JointState messages in JSON or in CDR of ROS 2).
    columns : dict or str, optional
        The columns of t, q, v, a, tau [N·m] and current [A]; any other name goes to `Log.extra`. As a dict or as text:
        ``"t=0,q=1:7,v=7:13"`` counts from 0, ends of ranges excluded; names, lists of names and patterns work with a
        header: ``{"t": "time", "q": "q_*"}``. A factor converts to SI units: ``"t=1e-9*stamp"``. For .mcap, "topic"
        selects a topic. Default: from the header.
    gains : array_like, optional
        Torque constants of the joints [N·m/A]; then tau = gains·current.
    robot : Robot, optional
        If given, columns with joint names are sorted in the order of ``robot.actuators``, and the number of columns is
        checked.

    Returns
    -------
    Log
        The log, with its repairs.

    Raises
    ------
    ReadError
        When the file is not found, is not a log, most of its rows are corrupt, or the map does not match it.
    InputError
        When the map or the gains are invalid.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "log.csv").write_text("0.0,1.5,2.0\n0.1,1.6,2.1\n0.2,1.7,2.2\n0.3,1.7\n")
    ...     print(read_log(folder + "/log.csv", "t=0,q=1,tau=2"))
    log.csv: 3 samples of 1 joint, 0.2 s at 10 Hz; q, tau
      line 4: left out: 2 fields, expected 3; the file is truncated
    """
    place = as_path(path, "read_log")
    table = open_table(place, columns)
    source = shortened(place)
    chosen = plan(columns, table, robot, source)
    _check_sizes(chosen, robot, source)
    values = _values(table, chosen.wanted)
    good, repairs = _good_rows(table, values, source)
    extra, dropped = _extra(table, chosen, values, good)
    known = {x: values[x][good] for x in QUANTITIES if x in values}
    log = Log(
        t=known.pop("t")[:, 0],
        **known,
        extra=MappingProxyType(extra),
        source=place.name,
        repairs=(*_former(table, place.name), *repairs, *dropped),
        joint_names=chosen.joints or tuple(table.about.get("joints", ())),
    )
    return log if gains is None else with_gains(log, gains)


def with_gains(log: Log, gains: ArrayLike) -> Log:
    """Return the log with tau = gains·current.

    >>> log = Log.from_arrays([0.0, 0.1], [[0.0], [0.0]], current=[[2.0], [3.0]])
    >>> with_gains(log, [10.0]).tau.tolist()
    [[20.0], [30.0]]
    """
    if log.current is None:
        raise InputError(f"gains: {log.source or 'the log'} has no currents; map them, for example current=13:19")
    factors = np.asarray(gains, dtype=float)
    size = log.current.shape[1]
    if factors.shape not in ((), (size,)) or not np.isfinite(factors).all() or (factors == 0.0).any():
        raise InputError(f"gains: expected {size} numbers [N·m/A], one per joint, none of them zero, got {gains!r}")
    tau = factors * log.current
    if log.tau is None or np.array_equal(tau, log.tau):
        return replace(log, tau=tau)
    repair = Repair("recorded torques replaced by gains × current", "tau", len(log))
    return replace(log, tau=tau, repairs=(*log.repairs, repair))


def open_table(place: Path, columns: Columns | None = None) -> LogTable:
    """Return the table in a file, by its extension; only the topic of `columns` is used."""
    suffix = place.suffix.lower()
    if suffix not in READERS:
        raise InputError(f"{shortened(place)}: unknown extension; expected {', '.join(READERS)}")
    if suffix == ".mcap" and columns is not None:
        topic = (parsed(columns) if isinstance(columns, str) else columns).get("topic")
        return read_mcap(place, topic[0] if isinstance(topic, list) else topic)
    return READERS[suffix](place)


def _check_sizes(chosen: ColumnPlan, robot: Robot | None, source: str) -> None:
    sizes = {name: len(choice.columns) for name, choice in chosen.wanted.items()}
    expected = {}
    if robot is not None:  # one coordinate per motor, or all of the robot's where a joint has several
        q = robot.nu if robot.nu == len(robot.actuators) else robot.nq
        expected = dict.fromkeys(PER_VELOCITY, robot.nu) | {"q": q}
    named = {name: n for name, n in sizes.items() if name in PER_VELOCITY}
    for name, n in sizes.items():
        if n != expected.get(name, n):
            owner = robot.name if robot is not None else ""
            raise ReadError(f"{name}: {n} columns, but robot '{owner}' needs {expected[name]}", source)
    if len(set(named.values())) > 1:
        listed = ", ".join(f"{name} {n}" for name, n in named.items())
        raise ReadError(f"expected equal numbers of columns for all quantities, got {listed}", source)


def _values(table: LogTable, choices: Mapping[str, Choice]) -> dict[str, Array]:
    """Return the numbers (n, k) of each quantity, in one pass through the file."""
    ends = np.cumsum([len(choice.columns) for choice in choices.values()]).tolist()
    everything = table.take([k for choice in choices.values() for k in choice.columns])
    parts = np.split(everything, ends[:-1], axis=1) if ends else []
    return {name: choice.factor * part for (name, choice), part in zip(choices.items(), parts, strict=True)}


def _good_rows(table: LogTable, values: Mapping[str, Array], source: str) -> tuple[Array, list[Repair]]:
    """Return the indices of the valid rows, and the faults of the others."""
    finite = np.isfinite(np.concatenate(list(values.values()), axis=1)).all(axis=1)
    rows = np.flatnonzero(finite)
    others = np.concatenate([values["t"][:, :0], *(x for name, x in values.items() if name not in ("t", "q"))], axis=1)
    fits, repeats = verdict(values["t"][rows, 0], values["q"][rows], others[rows])
    faults = [
        *table.faults,
        ("left out: not a finite number", table.places[~finite]),
        (
            "left out: inconsistent with adjacent rows (time decreases or a value jumps)",
            table.places[rows[~fits & ~repeats]],
        ),
        ("left out: repeated time", table.places[rows[repeats]]),
    ]
    repairs = [Repair(what, spans(places, table.word), len(places)) for what, places in faults if len(places)]
    kept = rows[fits]
    if 2 * (len(kept) + int(repeats.sum())) < table.total or len(kept) < 2:
        listed = "; ".join(str(repair) for repair in repairs) or "too few rows"
        raise ReadError(
            f"only {len(kept)} of {table.total} rows are valid: {listed}; check the map of columns and the file", source
        )
    t = values["t"][kept, 0]
    period = float(np.median(np.diff(t)))
    if period > LONGEST_PERIOD:
        raise ReadError(
            f"the time step is {period:g} s; if times are in nanoseconds, map them as t=1e-9*… (ms: 1e-3*…, µs: "
            "1e-6*…)",
            source,
        )
    return kept, repairs


def _extra(
    table: LogTable, chosen: ColumnPlan, values: Mapping[str, Array], good: Array
) -> tuple[dict[str, Array], list[Repair]]:
    """Return the other columns: those in the map, and the numeric columns of the header."""
    extra = {name: _flat(x[good]) for name, x in values.items() if name not in QUANTITIES}
    dropped = []
    for name, array in _values(table, chosen.others).items():
        if np.isfinite(array[good]).all():
            extra[name] = _flat(array[good])
        else:
            dropped.append(name)
    if not dropped:
        return extra, []
    where = f"column{'s' if len(dropped) > 1 else ''} {', '.join(dropped)}"
    return extra, [Repair("not read: not numeric", where, len(dropped))]


def _flat(array: Array) -> Array:
    return array[:, 0] if array.shape[1] == 1 else array


def _former(table: LogTable, name: str) -> list[Repair]:
    """Return the repairs stored in a file written by appell; their lines refer to the original file."""
    origin = table.about.get("source", "")
    suffix = f" of {origin}" if origin and origin != name else ""
    repairs = [Repair(*entry) for entry in table.about.get("repairs", [])]
    return [x if " of " in x.where else replace(x, where=x.where + suffix) for x in repairs]


# Consistency of the rows: time increases and joint positions do not jump

FASTEST = 100.0
"""Largest plausible joint speed [rad/s or m/s]; 20 times the typical speed if that is more."""
LARGEST = 1e9
"""Largest plausible position, speed, torque or current."""
PAUSE = 100.0
"""Isolated rows belong to the recording if they are at most this many periods away."""
FEW = 10
MARGIN = 5
"""Number of rows next to a break that are checked one by one, because adjacent rows do not show which is wrong."""


class RowVerdict(NamedTuple):
    """Per row: whether it belongs to the recording, and whether it repeats the previous time."""

    fits: Array
    repeats: Array


@np.errstate(over="ignore")  # of invalid times, whose rows are rejected
def verdict(t: Array, q: Array, others: Array) -> RowVerdict:
    """Return the consistent rows: the longest chain with increasing time and plausible joint speeds.

    Two long segments may be separated by a long pause. A few isolated rows far away in time are rejected.

    >>> t = np.array([5.0, 5.1, 0.0, 5.2, 5.3, 1e99, 5.4])
    >>> verdict(t, np.zeros((7, 1)), np.zeros((7, 0))).fits
    array([ True,  True, False,  True,  True, False,  True])
    """
    n = len(t)
    sane = np.asarray((np.abs(q) < LARGEST).all(axis=1) & (np.abs(others) < LARGEST).all(axis=1))
    repeats = np.zeros(n, dtype=bool)
    repeats[1:] = (t[1:] == t[:-1]) & sane[1:] & sane[:-1]
    candidates = np.flatnonzero(sane & ~repeats)
    fits = np.zeros(n, dtype=bool)
    if len(candidates):
        fits[candidates[_chain(t[candidates], q[candidates])]] = True
    # a repeated time is as valid as its first row
    leader = np.maximum.accumulate(np.where(repeats, 0, np.arange(n)))
    return RowVerdict(fits, repeats & fits[leader])


def _chain(t: Array, q: Array) -> Array:
    """Return the rows of the longest chain."""
    if len(t) < 2:
        return np.arange(len(t))
    dt = np.diff(t)
    period = float(np.median(dt[dt > 0.0])) if (dt > 0.0).any() else 1.0
    steps = _distance(q[1:], q[:-1])
    usual = np.percentile(steps / np.maximum(dt, period)[:, None], 90.0, axis=0)
    speed = np.maximum(FASTEST, 20.0 * usual)
    reached = (steps <= speed * np.maximum(dt, period)[:, None]).all(axis=1)
    leaps, pauses = (dt <= 0.0) | ~reached, dt > PAUSE * period
    if not (leaps | pauses).any():
        return np.arange(len(t))
    starts, ends, sizes = _runs(leaps, pauses)
    return _longest(t, q, speed, period, (starts, ends, sizes))


def _distance(x: Array, y: Array) -> Array:
    """Return the distance of coordinates; a full revolution is a wrapped counter and not a jump."""
    gap = np.abs(x - y)
    return np.asarray(np.minimum(gap, np.abs(gap - 2.0 * np.pi)))


def _runs(leaps: Array, pauses: Array) -> tuple[Array, Array, Array]:
    """Return the first and last row of the segments between breaks, and the length of each segment's run.

    Next to a jump the segments are single rows.
    """
    n = len(leaps) + 1
    cut = leaps | pauses
    run = np.concatenate([[0], np.cumsum(cut)])
    sizes = np.bincount(run)[run]
    for k in np.flatnonzero(leaps):
        cut[max(k - MARGIN, 0) : k + MARGIN + 1] = True
    starts = np.concatenate([[0], np.flatnonzero(cut) + 1])
    ends = np.concatenate([np.flatnonzero(cut), [n - 1]])
    return starts, ends, sizes[starts]


def _longest(t: Array, q: Array, speed: Array, period: float, runs: tuple[Array, Array, Array]) -> Array:
    """Return the rows of the longest chain of segments, linked by increasing time and reachable distances."""
    starts, ends, sizes = runs
    best, before = ends - starts + 1, np.full(len(starts), -1)
    for k in range(1, len(starts)):
        dt = t[starts[k]] - t[ends[:k]]
        near = _distance(q[starts[k]], q[ends[:k]]) <= speed * np.maximum(dt, period)[:, None]
        is_lone = np.minimum(best[:k], max(int(sizes[k]), int(ends[k] - starts[k]) + 1)) < FEW
        linked = (dt > 0.0) & near.all(axis=1) & ~(is_lone & (dt > PAUSE * period))
        if linked.any():
            scores = np.where(linked, best[:k], 0)
            # the latest of equal ones, which is the nearest
            before[k] = k - 1 - int(np.argmax(scores[::-1]))
            best[k] += scores[before[k]]
    kept: list[Array] = []
    k = int(np.argmax(best))
    while k >= 0:
        kept.append(np.arange(starts[k], ends[k] + 1))
        k = int(before[k])
    return np.concatenate(kept[::-1])
