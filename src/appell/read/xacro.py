"""Xacro files: expanded to URDF, SDF or MJCF text by the xacro package.

Xacro is a language of macros whose expressions are Python. The package keeps Python's builtins from them, which stops
accidents and not attacks: a xacro file is a program, and one from a stranger should be read before it is loaded. Beside
that, the limits of the other readers hold here too: every file is a regular file of bounded size without document types
and entities, and so is the expanded text.
"""

from __future__ import annotations

import contextlib
import io
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from appell.errors import AppellError, AppellWarning, InputError, ReadError
from appell.model.build import alternatives
from appell.read.extras import extra
from appell.read.packages import PACKAGES_REMEDY, find_package
from appell.read.regular import DESCRIPTION, MEGABYTE, file_bytes, shortened

ARGUMENT = "give it as xacro={'name': 'value'}"
_LOCK = threading.Lock()
"""The package keeps its state in its module: one file at a time."""


class _Arguments(dict[str, str]):
    """Arguments of a xacro file, which remember the names that the file declares."""

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
        The file, commonly ``robot.urdf.xacro``.
    arguments
        Values for its ``<xacro:arg>``, by name: text, numbers or truth values.
    packages
        Folders of the ROS packages that ``$(find …)`` may mean, before those that ROS knows and those above the file.

    Raises
    ------
    ReadError
        When xacro is not installed or does not expand the file; the message names the file that has the fault.
    """
    source = shortened(file)
    try:
        xacro = extra("xacro", "xacro files need", f"expand it first: xacro {file.name} > robot.urdf")
        substitution = extra("xacro.substitution_args", "xacro files need")
    except InputError as error:
        raise ReadError(str(error), source) from None
    given = _Arguments({name: _text(name, value) for name, value in (arguments or {}).items()})
    with _LOCK, _patched(xacro, substitution, file, packages), contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            xacro.init_stacks(str(file))
            document = xacro.parse(None, str(file))
            xacro.process_doc(document, mappings=given, verbosity=0)
            text = str(document.toprettyxml(indent="  "))
        except Exception as error:  # whatever an expression may raise
            raise _fault(error, source, [shortened(Path(name)) for name in xacro.filestack or () if name]) from None
    if len(text) > DESCRIPTION:
        size, most = len(text) / MEGABYTE, DESCRIPTION / MEGABYTE
        raise ReadError(f"expands to {size:.4g} MB, more than the {most:g} MB that are read", source)
    unknown = [name for name in given if arguments and name in arguments and name not in given.declared]
    if unknown:
        hint = alternatives(unknown[0], given.declared)
        raise ReadError(f"there is no argument '{unknown[0]}' in the file; {hint}", source)
    remarks = dict.fromkeys(line.strip() for line in said.getvalue().splitlines() if line.strip())
    if remarks:
        warnings.warn(f"{source}: xacro: {'; '.join(remarks)}", AppellWarning, stacklevel=4)
    return text


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise InputError(f"load: xacro: expected text, a number or a truth value for '{name}', got {type(value).__name__}")


@contextlib.contextmanager
def _patched(xacro: Any, substitution: Any, file: Path, packages: Sequence[Path]) -> Iterator[None]:
    """Let xacro find packages without ROS, and read files as the other readers do."""
    parse, find = xacro.parse, substitution._eval_find
    known = substitution._eval_dict.get("find")

    def found(name: str) -> str:
        folder = find_package(name, packages, file)
        if folder is None:
            raise ReadError(f"$(find {name}): there is no package '{name}'; {PACKAGES_REMEDY}", shortened(file))
        return str(folder)

    def read(given: object, name: str | None = None) -> Any:
        if given is not None or name is None:
            return parse(given, name)
        data = file_bytes(Path(name)).removeprefix(b"\xef\xbb\xbf").lstrip()
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise ReadError(
                "document types and entities are not allowed here; remove <!DOCTYPE>", shortened(Path(name))
            )
        return parse(io.BytesIO(data), name)

    xacro.parse, substitution._eval_find, substitution._eval_dict["find"] = read, found, found
    try:
        yield
    finally:
        xacro.parse, substitution._eval_find, substitution._eval_dict["find"] = parse, find, known


def _fault(error: Exception, source: str, files: Sequence[str]) -> ReadError:
    """Return the error for what went wrong in the last of the files that were open."""
    inner: object = error
    while inner is not None and not isinstance(inner, AppellError):
        inner = getattr(inner, "exc", None)
    place = files[-1] if files else source
    by = f" (included by {', '.join(reversed(files[:-1]))})" if len(files) > 1 else ""
    if isinstance(inner, AppellError):
        return ReadError(f"{inner}{by if by and place in str(inner) else ''}")
    if isinstance(error, ExpatError):
        return ReadError(f"not readable as XML: {error}{by}", place, error.lineno)
    said = " ".join(str(error).split()) or type(error).__name__
    remedy = f"; {ARGUMENT}" if "substitution argument" in said else ""
    if isinstance(error, RecursionError):
        said, remedy = "its macros call each other without end", "; give the recursion an <xacro:if> that ends it"
    return ReadError(f"xacro: {said}{by}{remedy}", place)
