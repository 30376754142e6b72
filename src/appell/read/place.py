"""Positions of values in files, and the errors that name them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from appell.errors import ReadError
from appell.files import DESCRIPTION, as_path, file_bytes, shortened
from appell.messages import alternatives


@dataclass(frozen=True)
class Place:
    """A file, a line if known, and the path to the value, such as ``joints[2].axis``.

    >>> print(Place("arm.toml").at("joints").at(2).at("axis").error("expected 3 numbers"))
    arm.toml: joints[2].axis: expected 3 numbers
    """

    source: str = ""
    line: int | None = None
    path: str = ""

    def at(self, key: str | int) -> Place:
        """Return the place of an entry of this table or list."""
        if isinstance(key, int):
            return replace(self, path=f"{self.path}[{key}]")
        return replace(self, path=f"{self.path}.{key}" if self.path else key)

    def error(self, message: str) -> ReadError:
        """Return an error at this place."""
        return ReadError(f"{self.path}: {message}" if self.path else message, self.source, self.line)


class Contents(NamedTuple):
    """The bytes of a robot file, their name in error messages, and whether they were given as text."""

    data: bytes
    source: str
    is_text: bool


def contents(
    path_or_text: str | os.PathLike[str],
    is_text: Callable[[str], bool] = lambda _: False,
    source: str | None = None,
    most: int = DESCRIPTION,
) -> Contents:
    """Return the content: the text itself if `is_text`, else the bytes of the file it names.

    `source` is its name in error messages, by default its path. `most` is the largest accepted size [bytes].

    Raises
    ------
    ReadError
        When the regular file does not exist, or is larger than `most`.
    """
    if isinstance(path_or_text, str) and is_text(path_or_text):
        # A lone surrogate cannot be UTF-8; it passes here so that the parser reports it with its line.
        return Contents(path_or_text.encode("utf-8", "surrogatepass"), source or "<text>", True)
    path = as_path(path_or_text, "read")
    return Contents(file_bytes(path, most), source or shortened(path), False)


def check_keys(table: Mapping[str, object], known: Iterable[str], place: Place, required: Iterable[str] = ()) -> None:
    """Reject unknown keys, so that a typing error is not silently ignored, and missing ones.

    >>> check_keys({"mas": 1.0}, ["mass", "centre"], Place("arm.toml", path="links[0]"))
    Traceback (most recent call last):
    ...
    appell.errors.ReadError: arm.toml: links[0]: unknown key 'mas'; did you mean 'mass'? known: 'mass', 'centre'
    """
    known = list(known)
    for key in table:
        if key not in known:
            raise place.error(f"unknown key '{key}'; {alternatives(key, known, most=20)}")
    for key in required:
        if key not in table:
            raise place.error(f"missing key '{key}'; add it")
