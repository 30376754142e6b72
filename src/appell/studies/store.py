"""A checkpoint: a folder with a manifest, the cases, and the outcomes so far in parts that are written atomically.

The parts are Parquet files with one row per case: its number, its error, and its values, arrays as lists with their
shape in the column's metadata. A part exists completely or not at all, so that a killed driver loses no recorded case;
a case in two parts has the same values in both.
"""

from __future__ import annotations

import contextlib
import io
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import InputError
from appell.read.extras import extra
from appell.read.files import write
from appell.studies.outcome import Outcome
from appell.studies.space import Space

MANIFEST, CASES, PART = "manifest.json", "cases.parquet", "part-*.parquet"
FORMAT = 1
MERGED = 64
"""Number of parts that are merged into one."""
CASE, ERROR = "case", "error"


class Store:
    """The checkpoint of a study in a folder."""

    def __init__(self, folder: Any) -> None:
        try:
            self.folder = Path(folder)
        except TypeError:
            raise InputError(f"sweep: expected a folder as checkpoint, got {type(folder).__name__}") from None

    def begin(self, manifest: Mapping[str, Any], space: Space) -> None:
        """Create the folder, or check that it belongs to the same study.

        Raises
        ------
        InputError
            When the folder belongs to another study, or cannot be written.
        """
        wanted = {"format": FORMAT, **manifest}
        if (self.folder / MANIFEST).exists():
            found = self.manifest()
            other = [name for name in wanted if found.get(name) != wanted[name]]
            if other:
                raise InputError(
                    f"sweep: the checkpoint '{self.folder}' belongs to a study with a different {' and '.join(other)}; "
                    "choose another folder, or delete this one"
                )
            return
        if self.folder.exists() and any(self.folder.iterdir()):
            raise InputError(f"sweep: the folder '{self.folder}' is not empty and not a checkpoint; choose another one")
        write(self.folder / CASES, parquet_bytes({name: _column(values) for name, values in space.columns.items()}))
        write(self.folder / MANIFEST, json.dumps(wanted, indent=2) + "\n")

    def manifest(self) -> dict[str, Any]:
        """Return the manifest of the study: digests, seed, number of cases."""
        try:
            found = json.loads((self.folder / MANIFEST).read_text())
        except (OSError, ValueError) as error:
            raise InputError(f"'{self.folder}' is not a checkpoint of appell.sweep: {MANIFEST}: {error}") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise InputError(
                f"'{self.folder}': {MANIFEST} does not have format {FORMAT}; it was written by another version"
            )
        return found

    def space(self) -> Space:
        """Return the cases."""
        return Space(_read(self.folder / CASES))

    def add(self, found: Sequence[Outcome]) -> None:
        """Record outcomes as parts; values of different shape are in different parts."""
        for same in _alike(found):
            write(self.folder / f"part-{same[0].case:09d}-{secrets.token_hex(4)}.parquet", parquet_bytes(_table(same)))

    def outcomes(self) -> list[Outcome]:
        """Return all recorded outcomes in the order of cases, each once; merge the parts where there are many."""
        parts = sorted(self.folder.glob(PART))
        found: dict[int, Outcome] = {}
        for part in parts:
            with contextlib.suppress(FileNotFoundError):  # merged in the meantime by the driver
                for outcome in _rows(_read(part)):
                    found.setdefault(outcome.case, outcome)
        return [found[case] for case in sorted(found)]

    def merge(self) -> None:
        """Merge the parts if there are many."""
        parts = sorted(self.folder.glob(PART))
        if len(parts) > MERGED:
            self.add(self.outcomes())
            for part in parts:
                part.unlink(missing_ok=True)


def _alike(found: Iterable[Outcome]) -> Iterator[list[Outcome]]:
    groups: dict[Any, list[Outcome]] = {}
    for outcome in found:
        key = outcome.values and tuple((n, x.shape, x.dtype.str) for n, x in outcome.values.items())
        groups.setdefault(key, []).append(outcome)
    yield from groups.values()


def _table(same: Sequence[Outcome]) -> dict[str, Any]:
    first = same[0].values or {}
    values = {name: np.stack([(outcome.values or {})[name] for outcome in same]) for name in first}
    return {CASE: np.array([o.case for o in same]), ERROR: [o.error for o in same], **_renamed(values)}


def _renamed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values under names that do not clash with the columns of a part."""
    return {f"value.{name}": value for name, value in values.items()}


def _rows(columns: Mapping[str, Any]) -> Iterator[Outcome]:
    values = {name.removeprefix("value."): x for name, x in columns.items() if name.startswith("value.")}
    for k, (case, error) in enumerate(zip(columns[CASE], columns[ERROR], strict=True)):
        yield Outcome(int(case), {name: x[k] for name, x in values.items()} if values else None, error or "")


# Parquet


def _column(values: Sequence[Any]) -> Any:
    """Return a column of a space: an array of numbers, or text."""
    array = np.asarray(values) if _is_regular(values) else None
    return array if array is not None and array.dtype.kind in "fiub" else [str(x) for x in values]


def _is_regular(values: Sequence[Any]) -> bool:
    return len({np.shape(x) if isinstance(x, np.ndarray | list | tuple) else () for x in values}) == 1


def parquet_bytes(columns: Mapping[str, Any]) -> bytes:
    """Return columns as a Parquet file; arrays of more than one axis are lists with their shape in the metadata."""
    arrow, parquet = _pyarrow()
    arrays, fields = [], []
    for name, column in columns.items():
        shape = np.shape(column)[1:] if isinstance(column, np.ndarray) else ()
        flat = arrow.array(np.ascontiguousarray(column).reshape(-1) if shape else column)
        array = arrow.FixedSizeListArray.from_arrays(flat, int(np.prod(shape))) if shape else flat
        arrays.append(array)
        fields.append(arrow.field(name, array.type, metadata={"shape": json.dumps(shape)} if shape else None))
    file = io.BytesIO()
    parquet.write_table(arrow.Table.from_arrays(arrays, schema=arrow.schema(fields)), file)
    return file.getvalue()


def _read(path: Path) -> dict[str, Any]:
    """Return the columns of a Parquet file."""
    arrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(io.BytesIO(path.read_bytes()))
    except arrow.ArrowInvalid as error:
        raise InputError(f"{path}: corrupt: {error}; delete the file to compute its cases again") from None
    columns: dict[str, Any] = {}
    for field, chunked in zip(table.schema, table.columns, strict=True):
        column = chunked.combine_chunks()
        shape = json.loads((field.metadata or {}).get(b"shape", b"[]"))
        if shape:
            columns[field.name] = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, *shape)
        else:
            is_text = arrow.types.is_string(field.type)
            columns[field.name] = column.to_pylist() if is_text else column.to_numpy(zero_copy_only=False)
    return columns


def _pyarrow() -> tuple[Any, Any]:
    return extra("pyarrow", "checkpoints need"), extra("pyarrow.parquet", "checkpoints need")
