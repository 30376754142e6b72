"""Tables of numbers in files, before columns are assigned; .npz and .parquet files."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import ReadError
from appell.files import MEGABYTE, shortened
from appell.read.npz import read_arrays
from appell.read.parquet import packages, read_table
from appell.spatial.scalar import Array

QUANTITIES = ("t", "q", "v", "a", "tau", "current")
"""Quantities of a log; other columns are extra."""
ABOUT = "about"
"""The name of the JSON metadata (source, joints, repairs) in files written by appell."""
LARGEST_LOG = 512 * MEGABYTE
"""Largest text file [bytes]."""
SPLIT = "split the log into parts"
PARQUET = ".parquet files need"


@dataclass(frozen=True)
class Table:
    """The columns of a file: their names (None without a header), and their numbers on demand.

    `take` returns the numbers (n, k) of some columns, NaN where missing; `places` are the line, row or message numbers
    of the n rows, `word` is their noun. `groups` are names of several columns. `total` is the number of rows of the
    file, including those already dropped for the reasons in `faults` (what, places).
    """

    names: tuple[str, ...] | None
    width: int
    take: Callable[[Sequence[int]], Array]
    places: Array
    word: str
    total: int
    groups: Mapping[str, Sequence[int]] = field(default_factory=dict)
    faults: tuple[tuple[str, Sequence[int]], ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)


def of_arrays(arrays: Mapping[str, Array], source: str, word: str = "row", about: str = "") -> Table:
    """Return the table of named arrays (n,) or (n, k), all of one length.

    >>> of_arrays({"t": np.arange(3.0), "q": np.zeros((3, 2))}, "a.npz").names
    ('t', 'q1', 'q2')
    """
    lengths = {name: len(array) for name, array in arrays.items() if array.ndim in (1, 2)}
    n = lengths.get("t", max(lengths.values(), default=0))
    if not n:
        raise ReadError("has no samples", source)
    for name in QUANTITIES:
        if name in arrays and lengths.get(name) != n:
            raise ReadError(f"{name}: expected {n} rows, one per sample, got shape {arrays[name].shape}", source)
    columns: dict[str, Array] = {}
    groups: dict[str, list[int]] = {}
    for name, array in arrays.items():
        if lengths.get(name) == n and array.dtype.kind in "fiub":
            parts = array.reshape(n, -1).T
            names = labels(name, array)
            groups[name] = list(range(len(columns), len(columns) + len(parts)))
            columns |= dict(zip(names, parts, strict=True))
    values = np.column_stack(list(columns.values())).astype(float) if columns else np.empty((n, 0))
    return Table(
        tuple(columns), len(columns), lambda k: values[:, list(k)], np.arange(n), word, n, groups, about=parsed(about)
    )


def labels(name: str, array: Array) -> list[str]:
    """Return one name per column of an array: its own for (n,), numbered from 1 for (n, k)."""
    return [name] if array.ndim == 1 else [f"{name}{k + 1}" for k in range(array.shape[1])]


def parsed(about: str) -> dict[str, Any]:
    """Return the source, joints and repairs stored in a file written by appell; invalid entries are ignored."""
    try:
        value = json.loads(about or "{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    lists: dict[str, list[Any]] = {key: x for key, x in value.items() if isinstance(x, list)}
    joints, repairs = lists.get("joints", []), lists.get("repairs", [])
    return {
        "source": value["source"] if isinstance(value.get("source"), str) else "",
        "joints": joints if all(isinstance(name, str) for name in joints) else [],
        "repairs": [x for x in repairs if isinstance(x, list) and [type(y) for y in x] == [str, str, int]],
    }


def read_npz(path: Path) -> Table:
    """Return the arrays of an .npz file."""
    arrays = read_arrays(path)
    about = str(arrays.pop(ABOUT, ""))
    return of_arrays(arrays, shortened(path), about=about)


def npz(columns: Mapping[str, Array], about: Mapping[str, Any]) -> bytes:
    """Return an .npz file of named arrays."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **{ABOUT: np.array(json.dumps(about)), **columns})  # type: ignore[arg-type]  # names
    return stream.getvalue()


def read_parquet(path: Path) -> Table:
    """Return the numeric columns of a .parquet file; lists of equal length are several columns."""
    content, source = read_table(path, PARQUET, too_large=SPLIT), shortened(path)
    arrays = {}
    for name, column in zip(content.column_names, content.columns, strict=True):
        array = column.to_numpy()
        if array.dtype == object:  # lists, or columns with missing values of other types
            try:
                array = np.array([np.asarray(x, dtype=float) for x in array], dtype=float)
            except (TypeError, ValueError):
                continue
        arrays[name] = array
    metadata = content.schema.metadata or {}
    return of_arrays(arrays, source, about=metadata.get(ABOUT.encode(), b"").decode(errors="replace"))


def parquet(columns: Mapping[str, Array], about: Mapping[str, Any]) -> bytes:
    """Return a .parquet file with one column per number."""
    arrow, parquet_ = packages(PARQUET)
    flat: dict[str, Array] = {}
    for name, array in columns.items():
        flat |= dict(zip(labels(name, array), array.reshape(len(array), -1).T, strict=True))
    content = arrow.table(flat).replace_schema_metadata({ABOUT: json.dumps(about)})
    stream = io.BytesIO()
    parquet_.write_table(content, stream)
    return stream.getvalue()
