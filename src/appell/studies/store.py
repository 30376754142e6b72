"""A checkpoint: a folder with a manifest, the cases, and the outcomes so far in parts that are written atomically.

The parts are Parquet files with one row per case: its number, its error, and its values, arrays as lists with their
shape in the column's metadata. A part exists completely or not at all, so that a killed driver loses no recorded case;
a case in two parts has the same values in both. The name of a file ends in a digest of its content, so that damage
anywhere in it is one error, which names it.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import io
import json
import pickle
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import InputError, ReadError
from appell.files import file_bytes, shortened, write
from appell.messages import listed
from appell.read.parquet import packages, read_table
from appell.robot.robot import Robot
from appell.studies.engines import Outcome
from appell.studies.space import Space

MANIFEST, CASES, PART = "manifest.json", "cases-*.parquet", "part-*.parquet"
FORMAT = 2
MERGED = 64
"""Number of parts that are merged into one."""
CASE, ERROR, VALUE = "case", "error", "value."
"""Columns of a part; those of values have this prefix, so that their names do not clash with the others."""
ENTRIES = {"function": str, "robot": str, "space": str, "seed": int, "cases": int}
"""The entries of a manifest beside its format: digests, the seed, the number of cases."""
NEEDED = "checkpoints need"
AGAIN = "delete the file and run the study again"


class Checkpoint:
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
            if not any(self.folder.glob(CASES)):
                self._write_cases(space)
            return
        try:
            is_used = any(self.folder.iterdir())
        except FileNotFoundError:
            is_used = False
        except (OSError, ValueError) as error:  # a file, a folder without access, a NUL in the name
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"sweep: '{shortened(self.folder)}' cannot be a checkpoint: {reason}") from None
        if is_used:
            raise InputError(f"sweep: the folder '{self.folder}' is not empty and not a checkpoint; choose another one")
        self._write_cases(space)
        write(self.folder / MANIFEST, json.dumps(wanted, indent=2) + "\n")

    def _write_cases(self, space: Space) -> None:
        self._write("cases", parquet_bytes({name: column_of(values) for name, values in space.columns.items()}))

    def _write(self, name: str, content: bytes) -> Path:
        return write(self.folder / f"{name}-{_digest(content)}.parquet", content)

    def manifest(self) -> dict[str, Any]:
        """Return the manifest of the study: digests, seed, number of cases."""
        name = shortened(self.folder)
        try:
            found = json.loads(file_bytes(self.folder / MANIFEST))
        except (ReadError, ValueError, RecursionError) as error:  # no file, no UTF-8, no JSON, JSON nested without end
            raise InputError(f"'{name}' is not a checkpoint of appell.sweep: {MANIFEST}: {error}") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise InputError(f"'{name}': {MANIFEST} does not have format {FORMAT}; it was written by another version")
        wrong = [key for key, kind in ENTRIES.items() if type(found.get(key)) is not kind]
        if wrong:
            raise InputError(f"'{name}': {MANIFEST} is damaged: no {listed(wrong)}; choose another folder")
        return found

    def space(self) -> Space:
        """Return the cases."""
        path, count = next(iter(sorted(self.folder.glob(CASES))), self.folder / CASES), self.manifest()["cases"]
        space = Space(_read(path))
        if len(space) != count:
            raise _damaged(path, f"{len(space)} cases, where {MANIFEST} has {count}")
        return space

    def add(self, found: Sequence[Outcome]) -> list[Path]:
        """Record outcomes as parts, and return these; values of different shape are in different parts."""
        return [self._write(f"part-{same[0].case:09d}", parquet_bytes(_table(same))) for same in _alike(found)]

    def outcomes(self) -> list[Outcome]:
        """Return all recorded outcomes in the order of cases, each once; merge the parts where there are many."""
        count = self.manifest()["cases"]
        found: dict[int, Outcome] = {}
        for part in sorted(self.folder.glob(PART)):
            try:
                rows = _outcomes(part, count)
            except ReadError:
                if part.exists():
                    raise
                continue  # merged in the meantime by the driver
            for outcome in rows:
                found.setdefault(outcome.case, outcome)
        return [found[case] for case in sorted(found)]

    def merge(self) -> None:
        """Merge the parts if there are many."""
        parts = sorted(self.folder.glob(PART))
        if len(parts) > MERGED:
            merged = self.add(self.outcomes())
            for part in parts:
                if part not in merged:
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
    return {
        CASE: np.array([o.case for o in same]),
        ERROR: [_text(o.error) for o in same],
        **{VALUE + name: x for name, x in values.items()},
    }


def _outcomes(path: Path, count: int) -> list[Outcome]:
    """Return the outcomes of a part of a study of so many cases."""
    columns = _read(path)
    cases, errors = columns[CASE], columns[ERROR]
    if not (cases < count).all():
        raise _damaged(path, f"a case number outside of the study's {count} cases")
    values = {name.removeprefix(VALUE): x for name, x in columns.items() if name.startswith(VALUE)}
    rows = enumerate(zip(cases, errors, strict=True))
    return [
        Outcome(int(case), {name: x[k] for name, x in values.items()} if values else None, error or "")
        for k, (case, error) in rows
    ]


def _damaged(path: Path, what: str) -> ReadError:
    return ReadError(f"is damaged: {what}; {AGAIN}", shortened(path))


# Parquet


def column_of(values: Sequence[Any]) -> Any:
    """Return a column of a table: an array of numbers, or text."""
    try:
        array = np.asarray(values)
    except ValueError:  # of several shapes
        array = None
    return array if array is not None and array.dtype.kind in "fiub" else [_text(str(x)) for x in values]


def _text(given: str) -> str:
    """Return text that UTF-8 can encode: names of files may contain lone surrogates."""
    return given.encode("utf-8", "backslashreplace").decode()


def parquet_bytes(columns: Mapping[str, Any]) -> bytes:
    """Return columns as a Parquet file; arrays of more than one axis are lists with their shape in the metadata."""
    arrow, parquet = packages(NEEDED)
    arrays, fields = [], []
    for name, column in columns.items():
        shape = np.shape(column)[1:] if isinstance(column, np.ndarray) else ()
        flat = arrow.array(np.ascontiguousarray(column).reshape(-1) if shape else column)
        if 0 in shape:  # lists of no entries have only their shape
            array = arrow.array(np.zeros(len(column), bool))
        else:
            array = arrow.FixedSizeListArray.from_arrays(flat, int(np.prod(shape))) if shape else flat
        arrays.append(array)
        fields.append(arrow.field(name, array.type, metadata={"shape": json.dumps(shape)} if shape else None))
    file = io.BytesIO()
    parquet.write_table(arrow.Table.from_arrays(arrays, schema=arrow.schema(fields)), file)
    return file.getvalue()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _read(path: Path) -> dict[str, Any]:
    """Return the columns of a Parquet file: arrays of numbers (rows, …), and lists of text."""
    if path.stem.rpartition("-")[2] != _digest(file_bytes(path, sys.maxsize)):
        raise _damaged(path, "its content does not have the digest in its name")
    content = read_table(path, NEEDED, AGAIN)
    return {field.name: _entries(field, column) for field, column in zip(content.schema, content.columns, strict=True)}


def _entries(field: Any, column: Any) -> Any:
    """Return a column's text, or its numbers in the shape that :func:`parquet_bytes` wrote into the metadata."""
    if packages(NEEDED)[0].types.is_string(field.type):
        return column.to_pylist()
    shape = json.loads((field.metadata or {}).get(b"shape", b"[]"))
    if 0 in shape:
        return np.zeros((len(column), *shape))
    whole = column.combine_chunks()
    return (whole.flatten() if shape else whole).to_numpy(zero_copy_only=False).reshape(len(column), *shape)


# The identity of a study: digests of its function, its robots and its cases


class Identity:
    """A digest of values and of functions with their references, with a separate digest of robots.

    A function contributes its source, its defaults, its captured variables and the global variables it uses; functions
    of its own module contribute their source, those of other modules their names.
    """

    def __init__(self) -> None:
        self._digest, self._robots = hashlib.sha256(), hashlib.sha256()
        self._seen: set[int] = set()

    def add(self, value: Any) -> Identity:
        """Add a value; return this identity."""
        if isinstance(value, Robot):
            _, (kind, formulation) = value.__reduce__()
            self._robots.update(f"{kind.text()}{formulation}".encode())
        elif isinstance(value, functools.partial):
            self._all((value.func, value.args, value.keywords))
        elif isinstance(value, types.MethodType):
            self._all((value.__func__.__qualname__, value.__self__))
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, np.ndarray):
            self._all((value.dtype.str, value.shape))
            self._digest.update(
                np.ascontiguousarray(value).tobytes() if value.dtype != object else repr(value).encode()
            )
        elif isinstance(value, Mapping):
            self._all(x for item in value.items() for x in item)
        elif isinstance(value, list | tuple):
            self._all((len(value), *value))
        elif isinstance(value, types.ModuleType | types.BuiltinFunctionType | type):
            self._digest.update(f"{getattr(value, '__module__', '')}.{value.__name__}".encode())
        else:
            self._digest.update(_bytes(value))
        return self

    def _all(self, values: Iterable[Any]) -> None:
        for value in values:
            self.add(value)
            self._digest.update(b"\0")

    def _function(self, function: types.FunctionType) -> None:
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        self._digest.update(_source(function).encode())
        self._all((function.__defaults__ or (), function.__kwdefaults__ or {}))
        captured = inspect.getclosurevars(function)
        for name, value in sorted({**captured.globals, **captured.nonlocals}.items()):
            is_foreign = isinstance(value, types.FunctionType) and value.__module__ != function.__module__
            self._digest.update(name.encode())
            self.add(f"{value.__module__}.{value.__qualname__}" if is_foreign else value)

    @property
    def digests(self) -> dict[str, str]:
        """Return the digest of everything except robots, and that of robots."""
        return {"function": self._digest.hexdigest(), "robot": self._robots.hexdigest()}


def digest(value: Any) -> str:
    """Return the digest of a value.

    >>> digest([1.0, "a"]) == digest([1.0, "a"]), digest([1.0]) == digest([2.0])
    (True, False)
    """
    found = Identity().add(value).digests
    return hashlib.sha256((found["function"] + found["robot"]).encode()).hexdigest()


def _source(function: types.FunctionType) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):  # interactive code has no source: its byte code instead
        code = function.__code__
        return f"{sys.version_info[:2]} {code.co_code.hex()} {code.co_names} {_constants(code)}"


def _constants(code: types.CodeType) -> list[Any]:
    return [_constants(x) if isinstance(x, types.CodeType) else x for x in code.co_consts]


def _bytes(value: Any) -> bytes:
    try:
        return pickle.dumps(value, protocol=4)
    except Exception:  # unpicklable values by their text
        return repr(value).encode()
