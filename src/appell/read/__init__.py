"""Readers of robot files and tables: URDF, xacro, MJCF, SDF, appell's TOML, Denavit–Hartenberg tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from appell.errors import FragmentError, InputError, ReadError
from appell.files import file_bytes, is_file, shortened
from appell.messages import listed
from appell.model.model import Model
from appell.read.dh import from_dh
from appell.read.mjcf import read_mjcf
from appell.read.packages import Folders, located, package_folders
from appell.read.sdf import read_sdf
from appell.read.toml import read_toml
from appell.read.urdf import read_urdf
from appell.read.xacro import expanded
from appell.read.xml import elements, outermost, tag

__all__ = ["READERS", "from_dh", "read", "read_mjcf", "read_sdf", "read_toml", "read_urdf"]


ROOTS: dict[str, Callable[..., Model]] = {"robot": read_urdf, "mujoco": read_mjcf, "sdf": read_sdf}
"""The reader of each root element."""


def _read_xml(path: Path, *, gravity: Sequence[float] | None = None) -> Model:
    root = outermost(path)
    if root == "mujocoinclude":
        what = "is an MJCF fragment (<mujocoinclude>), not a robot"
        raise FragmentError(f"{what}; load the file that includes it{_named(path)}", shortened(path), 1)
    try:
        return ROOTS.get(root, read_urdf)(path, gravity=gravity)
    except ReadError as error:
        includers = _named(path) if root == "mujoco" else ""
        if includers:
            reason = str(error).removeprefix(f"{shortened(path)}:").strip()
            raise FragmentError(
                f"is a part of other files; load one of them{includers} ({reason})", shortened(path)
            ) from None
        raise


def _named(path: Path) -> str:
    """Return the files in the folder of a fragment that include it, for a message; "" if there are none."""
    others = (file for folder in (path.parent, path.parent.parent) for file in sorted(folder.glob("*.xml")))
    names = [file.name for file in islice(others, FRAGMENTS) if file != path and _includes(file, path)]
    return f": {listed(names, 4)}" if names else ""


def _includes(file: Path, path: Path) -> bool:
    every = elements(file_bytes(file)) if is_file(file) else ()
    return any(tag(e) == "include" and Path(e.get("file", "")).name == path.name for e in every)


FRAGMENTS = 200
"""The largest number of files searched for the one that includes a fragment."""

READERS: dict[str, Callable[..., Model]] = {
    ".urdf": read_urdf,
    ".xml": _read_xml,
    ".mjcf": read_mjcf,
    ".sdf": read_sdf,
    ".toml": read_toml,
}
"""The reader of each extension; an .xml file is read by its root element."""
XACRO = ".xacro"
BODIES = ("link", "body", "worldbody", "include")
"""Elements of which a robot file has at least one."""


def read(
    path: str | os.PathLike[str],
    *,
    gravity: Sequence[float] | None = None,
    xacro: Mapping[str, object] | None = None,
    packages: Folders = (),
) -> Model:
    """Return the model of a robot file, by its extension: .urdf, .sdf, .mjcf, .xml, .xacro or .toml.

    Parameters
    ----------
    path
        The file.
    gravity
        Gravity in world axes [m/s²]; by default that of the file, or 9.81 along −z.
    xacro
        Values for the arguments of a xacro file, by name.
    packages
        Folders of ROS packages, for ``$(find …)`` in xacro and for a path that begins with ``package://``.

    Raises
    ------
    ReadError
        When the extension is unknown, or the file cannot be read or does not describe a robot; the message names the
        file and, if known, the line.
    InputError
        When gravity is not three finite numbers.

    Examples
    --------
    >>> read("robot.step")
    Traceback (most recent call last):
    ...
    appell.errors.ReadError: robot.step: unknown extension '.step'; known: '.urdf', '.xml', '.mjcf', '.sdf', '.toml',
    '.xacro'
    """
    folders = package_folders(packages)
    file = located(path, folders)
    suffix = file.suffix.lower()
    if suffix == XACRO:
        return _read_xacro(file, gravity, xacro, folders)
    if xacro is not None:
        raise InputError(f"load: xacro= is for .xacro files; '{shortened(file)}' has another extension")
    if suffix not in READERS:
        unknown = f"unknown extension '{shortened(Path(suffix))}'"
        kind = unknown if suffix else "no extension"
        raise ReadError(f"{kind}; known: {listed([*READERS, XACRO])}", shortened(file))
    return READERS[suffix](file, gravity=gravity)


def _read_xacro(
    file: Path, gravity: Sequence[float] | None, arguments: Mapping[str, object] | None, packages: Sequence[Path]
) -> Model:
    """Return the model of an expanded xacro file; line numbers in messages are those of the expanded text."""
    text = expanded(file, arguments, packages)
    if not any(tag(element) in BODIES for element in elements(text.encode())):
        remedy = "load a file that calls its macros"
        raise FragmentError(
            f"it expands to no link, only to macros or properties for other files; {remedy}", shortened(file)
        )
    reader = ROOTS.get(outermost(text.encode()), read_urdf)
    return replace(reader(text, gravity=gravity, source=f"{shortened(file)} (expanded)"), source=str(file))
