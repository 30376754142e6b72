"""Tables of numbers in files, before columns are assigned: .npz, .parquet and text."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import ReadError
from appell.files import MEGABYTE, file_bytes, shortened
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
class LogTable:
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


def of_arrays(arrays: Mapping[str, Array], source: str, word: str = "row", about: str = "") -> LogTable:
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
    return LogTable(
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


def read_npz(path: Path) -> LogTable:
    """Return the arrays of an .npz file."""
    arrays = read_arrays(path)
    return of_arrays(arrays, shortened(path), about=str(arrays.pop(ABOUT, "")))


def npz_bytes(columns: Mapping[str, Array], about: Mapping[str, Any]) -> bytes:
    """Return an .npz file of named arrays."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **{ABOUT: np.array(json.dumps(about)), **columns})  # type: ignore[arg-type]  # names
    return stream.getvalue()


def read_parquet(path: Path) -> LogTable:
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


def parquet_bytes(columns: Mapping[str, Array], about: Mapping[str, Any]) -> bytes:
    """Return a .parquet file with one column per number."""
    arrow, parquet = packages(PARQUET)
    flat: dict[str, Array] = {}
    for name, array in columns.items():
        flat |= dict(zip(labels(name, array), array.reshape(len(array), -1).T, strict=True))
    content = arrow.table(flat).replace_schema_metadata({ABOUT: json.dumps(about)})
    stream = io.BytesIO()
    parquet.write_table(content, stream)
    return stream.getvalue()


# Text, with or without header, separated by commas, semicolons, tabs or spaces

COMMENT = "#"
PEEK = 4096
"""Number of bytes checked to distinguish text from a binary file; an interrupted recorder may write NUL bytes later."""
MARK = f"{COMMENT} appell {ABOUT} "


def read_text(path: Path) -> LogTable:
    """Return the table of a text file; rows with a wrong number of fields are listed in its faults."""
    source = shortened(path)
    data = file_bytes(path, LARGEST_LOG, SPLIT)
    if b"\0" in data[:PEEK]:
        raise ReadError("has NUL bytes (a binary file or UTF-16); expected text in UTF-8", source)
    content = data.decode("utf-8-sig", errors="replace")
    numbered = [(k, line.strip(" \r")) for k, line in enumerate(content.split("\n"), 1)]
    numbered = [(k, line) for k, line in numbered if line]
    comments = [line for _, line in numbered if line.startswith(COMMENT)]
    numbered = [(k, line.replace('"', "")) for k, line in numbered if not line.startswith(COMMENT)]
    if not numbered:
        raise ReadError("has no rows", source)
    delimiter = _delimiter([line for _, line in numbered[:200]])
    if _has_decimal_commas(delimiter, (line for _, line in numbered[1:50])):
        numbered = [(k, line.replace(",", ".")) for k, line in numbered]
    rows = [(k, line.split(delimiter)) for k, line in numbered]
    width = Counter(len(fields) for _, fields in rows).most_common(1)[0][0]
    if _ends_blank(rows, width):  # every row ends with a delimiter
        width -= 1
        rows = [(k, fields[:-1] if not fields[-1].strip() else fields) for k, fields in rows]
    names, rows = _header(rows, width, comments, delimiter)
    if not rows:
        raise ReadError("has no rows below its header", source)
    wrong = [(k, len(fields)) for k, fields in rows if len(fields) != width]
    good = [(k, fields) for k, fields in rows if len(fields) == width]
    cells = [fields for _, fields in good]
    about = next((line.removeprefix(MARK) for line in comments if line.startswith(MARK)), "")
    return LogTable(
        names=names,
        width=width,
        take=lambda columns: _numbers(cells, columns),
        places=np.array([k for k, _ in good]),
        word="line",
        total=len(rows),
        faults=tuple(_wrong_sizes(wrong, width, rows[-1][0])),
        about=parsed(about),
    )


def _delimiter(lines: Sequence[str]) -> str | None:
    """Return the delimiter of most lines; None is white space."""
    for mark in ("\t", ";", ","):
        count, votes = Counter(line.count(mark) for line in lines).most_common(1)[0]
        if count and 2 * votes >= len(lines):
            return mark
    return None


def _has_decimal_commas(delimiter: str | None, lines: Iterable[str]) -> bool:
    sample = "".join(lines)
    return delimiter != "," and "," in sample and "." not in sample


def _ends_blank(rows: Sequence[tuple[int, list[str]]], width: int) -> bool:
    last = [not fields[-1].strip() for _, fields in rows if len(fields) == width]
    return width > 1 and 2 * sum(last) > len(last)


def _header(
    rows: list[tuple[int, list[str]]], width: int, comments: Sequence[str], delimiter: str | None
) -> tuple[tuple[str, ...] | None, list[tuple[int, list[str]]]]:
    """Return the column names, from the first row of text or a comment of equal length, and the rows below."""
    for k, (_, fields) in enumerate(rows[:50]):
        if len(fields) == width and 2 * sum(not is_number(x) for x in fields) > width:
            return tuple(x.strip() for x in fields), rows[:k] + rows[k + 1 :]
        if len(fields) == width:
            break
    for comment in comments:  # as NumPy's savetxt writes it
        words = comment.lstrip(COMMENT + " ").split(delimiter)
        if len(words) == width and not comment.startswith(MARK) and not any(is_number(x) for x in words):
            return tuple(x.strip() for x in words), rows
    return None, rows


def is_number(field: str) -> bool:
    """Return whether a text is a number.

    >>> is_number("1e-3"), is_number("x")
    (True, False)
    """
    try:
        float(field)
    except ValueError:
        return False
    return True


def _numbers(cells: Sequence[Sequence[str]], columns: Sequence[int]) -> Array:
    """Return the numbers of some columns, NaN where a field is not a number."""
    values = np.empty((len(cells), len(columns)))
    for row, fields in enumerate(cells):
        try:
            values[row] = [float(fields[k]) for k in columns]
        except ValueError:
            values[row] = [float(fields[k]) if is_number(fields[k]) else np.nan for k in columns]
    return values


def _wrong_sizes(wrong: Sequence[tuple[int, int]], width: int, last: int) -> Iterable[tuple[str, list[int]]]:
    """Return the faults of lines; a short last line is a truncated file."""
    for size in sorted({n for _, n in wrong}):
        reason = f"left out: {size} field{'s' if size > 1 else ''}, expected {width}"
        lines = [k for k, n in wrong if n == size]
        if size < width and last in lines:
            yield f"{reason}; the file is truncated", [last]
            lines.remove(last)
        if lines:
            yield reason, lines


def csv_text(columns: Mapping[str, Array], about: Mapping[str, Any]) -> str:
    """Return named arrays as .csv text: a comment with the metadata, a header, and all digits."""
    names = [name for key, array in columns.items() for name in labels(key, array)]
    rows = np.column_stack(list(columns.values())).tolist()
    lines = [MARK + json.dumps(about), ",".join(names), *(",".join(map(repr, row)) for row in rows)]
    return "\n".join(lines) + "\n"
