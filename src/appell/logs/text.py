"""Tables of numbers as text, with or without header, separated by commas, semicolons, tabs or spaces."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import ReadError
from appell.files import file_bytes, shortened
from appell.logs.table import ABOUT, LARGEST_LOG, SPLIT, Table, labels, parsed
from appell.spatial.scalar import Array

COMMENT = "#"
PEEK = 4096
"""Number of bytes checked to distinguish text from a binary file; an interrupted recorder may write NUL bytes later."""
MARK = f"{COMMENT} appell {ABOUT} "


def read_text(path: Path) -> Table:
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
    return Table(
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


def encoded(columns: Mapping[str, Array], about: Mapping[str, Any]) -> str:
    """Return named arrays as .csv text: a comment with the metadata, a header, and all digits."""
    names = [name for key, array in columns.items() for name in labels(key, array)]
    rows = np.column_stack(list(columns.values())).tolist()
    lines = [MARK + json.dumps(about), ",".join(names), *(",".join(map(repr, row)) for row in rows)]
    return "\n".join(lines) + "\n"
