"""Xacro files, expanded to URDF, SDF or MJCF text by the xacro package.

Xacro is a macro language with Python expressions. The package hides Python's builtins from them, which prevents
accidents and not attacks: a xacro file is a program, and should be loaded only if trusted. The limits of the other
readers apply here too: every file is a regular file of bounded size without document types and entities, and so is the
expanded text.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from appell.errors import AppellError, InputError, ReadError, warn
from appell.extras import extra
from appell.files import DESCRIPTION, MEGABYTE, file_bytes, shortened
from appell.messages import alternatives
from appell.read.packages import PACKAGES_REMEDY, find_package

ARGUMENT = "give it as xacro={'name': 'value'}"
_LOCK = threading.Lock()
"""The package has global state, so one file is expanded at a time."""


class _OwnErrors(io.StringIO):
    """The standard error of the thread that made it; that of other threads goes where it went before."""

    def __init__(self) -> None:
        super().__init__()
        self._thread, self._others = threading.get_ident(), sys.stderr

    def write(self, text: str) -> int:
        """Keep a text, or pass it on."""
        return super().write(text) if threading.get_ident() == self._thread else self._others.write(text)


class _Arguments(dict[str, str]):
    """Arguments of a xacro file, and the names that the file declares."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self.declared: dict[str, None] = {}

    def __contains__(self, name: object) -> bool:
        self.declared[str(name)] = None
        return super().__contains__(name)


def expanded(file: Path, arguments: Mapping[str, object] | None = None, packages: Sequence[Path] = ()) -> str:
    """Return the text that a xacro file expands to.

    Parameters
    ----------
    file
        The file, usually ``robot.urdf.xacro``.
    arguments
        Values for its ``<xacro:arg>``, by name: text, numbers or truth values.
    packages
        Folders of ROS packages for ``$(find …)``, searched before those of ROS and those above the file.

    Raises
    ------
    ReadError
        When xacro is not installed or cannot expand the file; the message names the faulty file.
    """
    source = shortened(file)
    try:
        xacro = extra("xacro", "xacro files need", f"expand it first: xacro {file.name} > robot.urdf")
        substitution = extra("xacro.substitution_args", "xacro files need")
    except InputError as error:
        raise ReadError(str(error), source) from None
    given = _Arguments({name: _text(name, value) for name, value in (arguments or {}).items()})
    with _LOCK, _patched(xacro, substitution, file, packages), contextlib.redirect_stderr(_OwnErrors()) as errors:
        try:
            xacro.init_stacks(str(file))
            document = xacro.parse(None, str(file))
            xacro.process_doc(document, mappings=given, verbosity=0)
            text = str(document.toprettyxml(indent="  "))
        except Exception as error:  # any error of an expression
            raise _fault(error, source, [shortened(Path(name)) for name in xacro.filestack or () if name]) from None
    if len(text) > DESCRIPTION:
        size, most = len(text) / MEGABYTE, DESCRIPTION / MEGABYTE
        raise ReadError(f"expands to {size:.4g} MB, more than the limit of {most:g} MB", source)
    unknown = [name for name in given if arguments and name in arguments and name not in given.declared]
    if unknown:
        hint = alternatives(unknown[0], given.declared)
        raise ReadError(f"the file has no argument '{unknown[0]}'; {hint}", source)
    remarks = dict.fromkeys(line.strip() for line in errors.getvalue().splitlines() if line.strip())
    if remarks:
        warn(f"{source}: xacro: {'; '.join(remarks)}")
    return text


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise InputError(f"load: xacro: expected text, a number or a truth value for '{name}', got {type(value).__name__}")


@contextlib.contextmanager
def _patched(xacro: Any, substitution: Any, file: Path, packages: Sequence[Path]) -> Iterator[None]:
    """Make xacro find packages without ROS, and read files as the other readers do."""
    parse, find = xacro.parse, substitution._eval_find
    known = substitution._eval_dict.get("find")

    def found(name: str) -> str:
        folder = find_package(name, packages, file)
        if folder is None:
            raise ReadError(f"$(find {name}): package '{name}' not found; {PACKAGES_REMEDY}", shortened(file))
        return str(folder)

    def read(given: object, name: str | None = None) -> Any:
        if given is not None or name is None:
            return parse(given, name)
        data = file_bytes(Path(name)).removeprefix(b"\xef\xbb\xbf").lstrip()
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise ReadError("document types and entities are not supported; remove <!DOCTYPE>", shortened(Path(name)))
        return parse(io.BytesIO(data), name)

    xacro.parse, substitution._eval_find, substitution._eval_dict["find"] = read, found, found
    try:
        yield
    finally:
        xacro.parse, substitution._eval_find, substitution._eval_dict["find"] = parse, find, known


def _fault(error: Exception, source: str, files: Sequence[str]) -> ReadError:
    """Return the error with the file that was open last."""
    inner: object = error
    while inner is not None and not isinstance(inner, AppellError):
        inner = getattr(inner, "exc", None)
    place = files[-1] if files else source
    by = f" (included by {', '.join(reversed(files[:-1]))})" if len(files) > 1 else ""
    if isinstance(inner, AppellError):
        return ReadError(f"{inner}{by if by and place in str(inner) else ''}")
    if isinstance(error, ExpatError):
        return ReadError(f"not readable as XML: {error}{by}", place, error.lineno)
    reason = " ".join(str(error).split()) or type(error).__name__
    remedy = f"; {ARGUMENT}" if "substitution argument" in reason else ""
    if isinstance(error, RecursionError):
        reason, remedy = (
            "its macros call each other recursively without end",
            "; give the recursion an <xacro:if> that ends it",
        )
    return ReadError(f"xacro: {reason}{by}{remedy}", place)
