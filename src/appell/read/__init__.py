"""Files and tables to models: URDF, xacro, MJCF, SDF, appell's TOML, Denavit–Hartenberg tables; errors name lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from appell.errors import FragmentError, InputError, ReadError
from appell.model.build import listed
from appell.model.model import Model
from appell.read.dh import from_dh
from appell.read.mjcf import read_mjcf
from appell.read.packages import Folders, located, package_folders
from appell.read.regular import file_bytes, is_file, shortened
from appell.read.sdf import read_sdf
from appell.read.toml import read_toml
from appell.read.urdf import read_urdf
from appell.read.xacro import expanded
from appell.read.xml import elements, outermost, tag

__all__ = ["READERS", "from_dh", "read", "read_mjcf", "read_sdf", "read_toml", "read_urdf"]


ROOTS: dict[str, Callable[..., Model]] = {"robot": read_urdf, "mujoco": read_mjcf, "sdf": read_sdf}
"""What reads a document, by its outermost element."""


def _read_xml(path: Path, *, gravity: Sequence[float] | None = None) -> Model:
    root = outermost(path)
    if root == "mujocoinclude":
        what = "a fragment of MJCF (<mujocoinclude>), not a robot"
        raise FragmentError(f"{what}; load the file that includes it{_named(path)}", shortened(path), 1)
    try:
        return ROOTS.get(root, read_urdf)(path, gravity=gravity)
    except ReadError as error:
        includers = _named(path) if root == "mujoco" else ""
        if includers:
            said = str(error).removeprefix(f"{shortened(path)}:").strip()
            raise FragmentError(
                f"a part of other files; load one of them{includers} ({said})", shortened(path)
            ) from None
        raise


def _named(path: Path) -> str:
    """Return the files beside a fragment that include it, for a message; "" where there are none."""
    others = (file for folder in (path.parent, path.parent.parent) for file in sorted(folder.glob("*.xml")))
    names = [file.name for file in islice(others, FRAGMENTS) if file != path and _includes(file, path)]
    return f": {listed(names, 4)}" if names else ""


def _includes(file: Path, path: Path) -> bool:
    every = elements(file_bytes(file)) if is_file(file) else ()
    return any(tag(e) == "include" and Path(e.get("file", "")).name == path.name for e in every)


FRAGMENTS = 200
"""The most files that are looked through for the one that includes a fragment."""

READERS: dict[str, Callable[..., Model]] = {
    ".urdf": read_urdf,
    ".xml": _read_xml,
    ".mjcf": read_mjcf,
    ".sdf": read_sdf,
    ".toml": read_toml,
}
"""What reads a file, by the end of its name; an .xml is read by its outermost element."""
XACRO = ".xacro"
BODIES = ("link", "body", "worldbody", "include")
"""Elements of which a robot's file has at least one."""


def read(
    path: str | os.PathLike[str],
    *,
    gravity: Sequence[float] | None = None,
    xacro: Mapping[str, object] | None = None,
    packages: Folders = (),
) -> Model:
    """Return the model of a robot's file, by the end of its name: .urdf, .sdf, .mjcf, .xml, .xacro or .toml.

    Parameters
    ----------
    path
        The file.
    gravity
        Gravity in world axes [m/s²]; the file's own, or 9.81 along −z, unless given.
    xacro
        Values for the arguments of a xacro file, by name.
    packages
        Folders of ROS packages, for ``$(find …)`` in xacro and for a path that begins with ``package://``.

    Raises
    ------
    ReadError
        When the file is of another kind, cannot be read or does not describe a robot; the message names the file and,
        where the format tells it, the line.
    InputError
        When gravity is not three finite numbers.

    Examples
    --------
    >>> read("robot.step")
    Traceback (most recent call last):
    ...
    appell.errors.ReadError: robot.step: unknown kind of file '.step'; known are '.urdf', '.xml', '.mjcf', '.sdf',
    '.toml', '.xacro'
    """
    folders = package_folders(packages)
    file = located(path, folders)
    suffix = file.suffix.lower()
    if suffix == XACRO:
        return _read_xacro(file, gravity, xacro, folders)
    if xacro is not None:
        raise InputError(f"load: xacro= is for files that end in .xacro; '{shortened(file)}' does not")
    if suffix not in READERS:
        unknown = f"unknown kind of file '{shortened(Path(suffix))}'"
        kind = unknown if suffix else "a file without an ending such as .urdf"
        raise ReadError(f"{kind}; known are {listed([*READERS, XACRO])}", shortened(file))
    return READERS[suffix](file, gravity=gravity)


def _read_xacro(
    file: Path, gravity: Sequence[float] | None, arguments: Mapping[str, object] | None, packages: Sequence[Path]
) -> Model:
    """Return the model of what a xacro file expands to; lines in messages are those of the expanded text."""
    text = expanded(file, arguments, packages)
    if not any(tag(element) in BODIES for element in elements(text.encode())):
        remedy = "load a file that calls its macros"
        raise FragmentError(
            f"it expands to no link: it defines macros or properties for other files; {remedy}", shortened(file)
        )
    reader = ROOTS.get(outermost(text.encode()), read_urdf)
    return replace(reader(text, gravity=gravity, source=f"{shortened(file)} (expanded)"), source=str(file))
