"""Where a value stands in what is being read, and the errors that say so."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from appell.errors import ReadError
from appell.model.build import alternatives
from appell.read.regular import DESCRIPTION, as_path, file_bytes, shortened


@dataclass(frozen=True)
class Place:
    """A file, a line of it where one is known, and the way to the value, such as ``joints[2].axis``.

    >>> print(Place("arm.toml").at("joints").at(2).at("axis").error("expected 3 numbers"))
    arm.toml: joints[2].axis: expected 3 numbers
    """

    source: str = ""
    line: int | None = None
    path: str = ""

    def at(self, key: str | int) -> Place:
        """Return the place of an entry of the table or list that stands here."""
        if isinstance(key, int):
            return replace(self, path=f"{self.path}[{key}]")
        return replace(self, path=f"{self.path}.{key}" if self.path else key)

    def error(self, message: str) -> ReadError:
        """Return the error that something is wrong here."""
        return ReadError(f"{self.path}: {message}" if self.path else message, self.source, self.line)


class Contents(NamedTuple):
    """The bytes of a robot's description, what errors call them, and whether they came as text."""

    data: bytes
    source: str
    is_text: bool


def contents(
    path_or_text: str | os.PathLike[str],
    is_text: Callable[[str], bool] = lambda _: False,
    source: str | None = None,
    most: int = DESCRIPTION,
) -> Contents:
    """Return what to read: the text itself where `is_text` says so, else the bytes of the file it names.

    `source` is what errors about its contents call it; its path unless given. `most` is the largest file read [bytes].

    Raises
    ------
    ReadError
        When there is no such regular file, or it is larger than `most`.
    """
    if isinstance(path_or_text, str) and is_text(path_or_text):
        # A lone surrogate cannot be UTF-8; it passes here so that the parser reports it with its line.
        return Contents(path_or_text.encode("utf-8", "surrogatepass"), source or "<text>", True)
    path = as_path(path_or_text, "read")
    return Contents(file_bytes(path, most), source or shortened(path), False)


def check_keys(table: Mapping[str, object], known: Iterable[str], place: Place) -> None:
    """Refuse keys that mean nothing here, so that a typing error is not silently a default.

    >>> check_keys({"mas": 1.0}, ["mass", "centre"], Place("arm.toml", path="links[0]"))
    Traceback (most recent call last):
    ...
    appell.errors.ReadError: arm.toml: links[0]: unknown key 'mas'; did you mean 'mass'? known: 'mass', 'centre'
    """
    known = list(known)
    for key in table:
        if key not in known:
            raise place.error(f"unknown key '{key}'; {alternatives(key, known, most=20)}")
